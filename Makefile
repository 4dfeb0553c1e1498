# SPDX-License-Identifier: MIT
#
# trn: everything is built from here; `make help` lists what there is.
# One non-recursive make: each directory says what it has in its build.mk.

O ?= build
CC ?= cc
V ?= 0
FORCE ?= 0
Q := $(if $(filter 1,$(V)),,@)

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra
SAN ?=
BUILD_CFLAGS = -std=c11 -D_GNU_SOURCE -fPIC -pthread -MMD -MP $(WARNINGS) \
	-Iinclude -Iinclude/uapi -I. $(pkg_cflags) $(CFLAGS) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
BUILD_LDFLAGS = -pthread $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))

# One list for all sources: the packages' include paths do not clash.
packages := libdrm libnl-3.0 libnl-genl-3.0 jansson libarchive libcrypto check
pkg_cflags = $(eval pkg_cflags := $(shell pkg-config --cflags $(packages)))$(pkg_cflags)

programs :=
unit_tests :=
one_thread :=
guest_programs :=

objects = $(patsubst %.c,$(O)/obj/%.o,$(1))

# $(call link,FILE,SOURCES,PACKAGES,LIBS)
define link
$(1): $(call objects,$(2)) $(filter %.a,$(4))
	@mkdir -p $$(@D)
	@echo "  LD      $$@"
	$$(Q)$$(CC) $$(BUILD_LDFLAGS) -o $$@ $(call objects,$(2)) $(4) \
		$(if $(strip $(3)),$$$$(pkg-config --libs $(3)))
all_objects += $(call objects,$(2))
endef

# $(eval $(call program,NAME,SOURCES,PACKAGES,LIBS)) and likewise
define program
$(call link,$(O)/bin/$(1),$(2),$(3),$(4))
programs += $(O)/bin/$(1)
endef

define unit_test
$(call link,$(O)/tests/unit/$(1),$(2),check $(3),$(4))
unit_tests += $(O)/tests/unit/$(1)
endef

define guest_program
$(call link,$(O)/tests/vm/$(1),$(2),$(3),$(4))
guest_programs += $(O)/tests/vm/$(1)
endef

.PHONY: all help
all:

# A directory that others take sources or libraries from comes before them.
include lib/build.mk
include tools/vdev/model/build.mk
include tools/vdev/build.mk
include tools/vm/build.mk
include tools/trn-smi/build.mk
include tools/trn-bench/build.mk
include tools/trn-neff/build.mk
include tools/trn-run/build.mk
include tools/trn-program/build.mk
include kernel/build.mk
include $(wildcard tests/unit/*/build.mk)
include Documentation/examples/build.mk
include tests/bench/build.mk
include tests/fuzz/build.mk
include tests/vm/build.mk

all: $(libraries) $(programs)	## library and tools for this machine

$(O)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(BUILD_CFLAGS) $(CFLAGS_$<) -c -o $@ $<

-include $(patsubst %.o,%.d,$(sort $(all_objects)))

.PHONY: check-unit check-unit-all guest-programs clean
guest-programs: $(guest_programs)

# Tests in which no threads meet (one_thread) have nothing for the thread sanitizer.
wanted_tests := $(if $(filter thread,$(SAN)),$(filter-out $(addprefix $(O)/tests/unit/,$(one_thread)),$(unit_tests)),$(unit_tests))

check-unit: $(wanted_tests) all	## unit tests, on this machine
	$(Q)tests/unit/run $(wanted_tests)

check-unit-all: check-unit	## unit tests, also under the sanitizers
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan SAN=address,undefined check-unit
	$(Q)$(MAKE) --no-print-directory O=$(O)/tsan SAN=thread check-unit

clean:	## remove what was built
	rm -rf $(O)

# What runs in guests is built in the world (tools/vm/world): the same compiler
# and libraries on every host.  These targets start from a bare machine.
WORLD := tools/vm/world
TRN_VM := tools/vm/trn-vm
JOBS := -j$(shell nproc)
world_make = $(WORLD) run -- make --no-print-directory $(JOBS) O=build/world CC=gcc
LANES ?= stable backports debug
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?=
lint_outputs = $(addprefix build/world/,werror clang kernel/checkpatch kernel/lint-*)

fuzz_make = $(world_make) O=build/world/fuzz CC=clang SAN=address,undefined CFLAGS="$(FUZZ_CFLAGS)"

.PHONY: world guest demo check check-native check-fuzz check-guest check-lint fuzz bench bench-matmul
world:	## sysroot and debug kernel, in the cache
	$(Q)$(WORLD) setup

guest:	## all that a guest needs, built in the world
	$(Q)$(WORLD) sysroot
	$(Q)$(world_make) all guest-programs modules-stable modules-backports

demo: guest	## boot two virtual chips, list them, move bytes through them
	$(Q)$(TRN_VM) run --chips 2 $(DEMO_ARGS) -- sh -c 'trn-smi list && trn-bench copy'

# What passed is not run again while nothing has changed, unless FORCE=1.
check: check-native check-lint check-fuzz check-guest	## everything CI runs

check-native:	## unit tests and sanitizers, ABI layout, in the world
	$(Q)$(WORLD) sysroot
	$(Q)tests/unit/if-changed
	$(Q)$(world_make) check-unit-all

check-fuzz:	## what reads files, texts and instructions, on random input
	$(Q)$(WORLD) sysroot
	$(Q)$(world_make) fuzz-seeds
	$(Q)$(fuzz_make) fuzz-targets
	$(Q)$(fuzz_make) FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_RUNS=$(FUZZ_RUNS) fuzz-run

fuzz:	## the same, also if nothing has changed
	$(Q)$(MAKE) --no-print-directory check-fuzz FORCE=1

check-lint:	## compiler warnings as errors, sparse, checkpatch
	$(Q)$(WORLD) sysroot
	$(Q)$(if $(filter 1,$(FORCE)),rm -rf $(lint_outputs))
	$(Q)$(world_make) WARNINGS="-Wall -Wextra -Werror" O=build/world/werror all guest-programs
	$(Q)$(world_make) WARNINGS="-Wall -Wextra -Werror" O=build/world/clang CC=clang all guest-programs
	$(Q)$(world_make) modules-lint
	@echo "lint: passed"

check-guest: guest	## tests in guests, on the kernels LANES
	$(Q)$(if $(filter debug,$(LANES)),$(WORLD) debug-kernel && $(world_make) modules-debug)
	$(Q)tests/vm/run-lanes $(LANES) contract

bench: guest	## benchmarks
	$(Q)$(world_make) bench-programs
	$(Q)$(WORLD) run -- build/world/tests/bench/matmul
	$(Q)$(WORLD) run -- build/world/tests/bench/neff-load
	$(Q)$(TRN_VM) run --chips 1 -- sh -c 'trn-bench copy --size 4K-256M --repeat 5 && \
		echo "The same, one copy at a time:" && \
		trn-bench copy --size 4K-256M --repeat 5 --in-flight 1'
	$(Q)$(TRN_VM) run --chips 1 --icount --timeout 1800 -- trn-bench memory
	$(Q)$(TRN_VM) run --chips 1 --nvme 64M --icount -- trn-bench submit
	$(Q)$(TRN_VM) run --chips 1 --nvme 64M -- trn-bench latency
	$(Q)$(MAKE) --no-print-directory bench-matmul

bench-matmul: guest	## modelled rate of the example matmul at 4096³, without a guest
	$(Q)$(world_make) build/world/tests/unit/examples
	$(Q)TRN_LONG=1 CK_RUN_CASE=large $(WORLD) run -- build/world/tests/unit/examples

help:	## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | sort -u | expand -t 20
	@echo "Variables: O=DIR output (build), V=1 show commands, DEMO_ARGS=… for trn-vm,"
	@echo "LANES='stable backports debug' kernels for check-guest (all),"
	@echo "FORCE=1 also tests and checks that passed and that nothing has changed for,"
	@echo "FUZZ_SECONDS=60 for each target of fuzz, or FUZZ_RUNS=N executions,"
	@echo "TRN_CACHE=DIR world's cache, TRN_LONG=1 long counts in tests."
