# SPDX-License-Identifier: GPL-2.0-only
#
# trn.ko.  A lane is a kernel to build for: LANE names it, KDIR is its build tree,
# the module is $(O)/kernel/$(LANE)/trn.ko.
#
# Kernels before 6.13 write objects beside the sources, so each lane has a
# directory of links to them.

LANE ?= host
KDIR ?= /lib/modules/$(shell uname -r)/build
lane_dir = $(abspath $(O))/kernel/$(LANE)
KBUILD_ARGS ?=
# Variables given to this make (O, CC, ...) mean other things to the kernel's.
kernel_make = MAKEFLAGS='$(filter-out -- $(MAKEOVERRIDES),$(MAKEFLAGS))' $(MAKE) --no-print-directory

.PHONY: modules modules-farm modules-clean
modules: modules-farm	## trn.ko for the kernel KDIR, as lane LANE
	$(Q)+$(kernel_make) -C $(KDIR) M=$(lane_dir) $(KBUILD_ARGS) modules

modules-farm:
	@mkdir -p $(lane_dir)/kunit
	@find $(lane_dir) -type l -delete
	@ln -s -t $(lane_dir) $(addprefix $(CURDIR)/,$(wildcard kernel/*.[ch]) kernel/Kbuild kernel/compat include)
	@ln -s -t $(lane_dir)/kunit $(addprefix $(CURDIR)/,$(wildcard tests/kunit/*.[ch]))
	$(Q)kernel/compat/configure $(KDIR) $(lane_dir)/trn_config.h

modules-clean:	## remove the modules of lane LANE
	rm -rf $(lane_dir)

# The lanes of the world (tools/vm/world).
kdir_stable = $(lastword $(sort $(wildcard /usr/lib/modules/6.12.*/build)))
kdir_backports = $(lastword $(sort $(wildcard /usr/lib/modules/7.*/build)))
kdir_debug = $(shell tools/vm/world kernel-dir)/build

.PHONY: modules-stable modules-backports modules-debug
modules-stable modules-backports modules-debug: modules-%:
	$(if $(wildcard $(kdir_$*)/Makefile),,$(error no kernel headers for lane $*: run this in \
		the world (tools/vm/world run -- make ...), after tools/vm/world setup))
	$(Q)+$(MAKE) --no-print-directory modules LANE=$* KDIR=$(kdir_$*)

# What a maintainer would run: warnings are errors here, and only here.
lint_lanes := stable backports
checkpatch = $(O)/kernel/checkpatch
# kmalloc_obj() is younger than the oldest kernel that this builds for.
checkpatch_ignore := ALLOC_WITH_SIZEOF
kernel_sources = $(wildcard kernel/*.[ch] kernel/compat/*.[ch] kernel/compat/probes/*.c tests/kunit/*.[ch])
lint_inputs = $(kernel_sources) $(wildcard include/hw/*.h include/uapi/*/*.h) kernel/Kbuild \
	kernel/build.mk kernel/compat/configure
lint_stamps = $(O)/kernel/checkpatch/passed $(lint_lanes:%=$(O)/kernel/lint-%/passed)

.PHONY: modules-lint
modules-lint: $(lint_stamps)	## W=1, sparse, checkpatch

# KBUILD_CHECKSRC rather than C, which newer kernels drop without a script that
# Debian's headers lack, or with a sparse as old as Debian's.
$(O)/kernel/lint-%/passed: $(lint_inputs)
	$(Q)rm -rf $(@D)
	$(Q)+$(MAKE) --no-print-directory modules LANE=lint-$* KDIR=$(kdir_$*) KBUILD_ARGS="W=1 \
		KCFLAGS=-Werror KBUILD_CHECKSRC=1 CF='-Wsparse-error -include $(CURDIR)/kernel/compat/sparse.h'"
	@touch $@

$(checkpatch)/checkpatch.pl:
	@mkdir -p $(@D)
	$(Q)tar -C $(@D) -xf $(lastword $(sort $(wildcard /usr/src/linux-source-*.tar.xz))) \
		--strip-components=2 --wildcards 'linux-source-*/scripts/checkpatch.pl' \
		'linux-source-*/scripts/spelling.txt' 'linux-source-*/scripts/const_structs.checkpatch'

$(checkpatch)/passed: $(lint_inputs) | $(checkpatch)/checkpatch.pl
	@echo "  CHECKPATCH $(words $(kernel_sources)) files"
	$(Q)$(checkpatch)/checkpatch.pl --no-tree --strict --terse --max-line-length=100 \
		--ignore $(checkpatch_ignore) --file $(kernel_sources)
	@touch $@
