# SPDX-License-Identifier: MIT
# Fuzz targets, for clang (`make fuzz` in the top directory), and what writes their first inputs.

FUZZ_CFLAGS := -O1 -g -fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping

define fuzz_target
$(call link,$(O)/tests/fuzz/$(1),$(2),$(3),$(4))
$(O)/tests/fuzz/$(1): BUILD_LDFLAGS += -fsanitize=fuzzer -fprofile-instr-generate
fuzz_targets += $(O)/tests/fuzz/$(1)
endef

$(eval $(call fuzz_target,neff,tests/fuzz/neff.c tests/check_abort.c $(addprefix tests/unit/neff/,craft.c meter.c),\
	$(neff_packages),$(LIBTRN)))
$(eval $(call fuzz_target,assembler,tests/fuzz/assembler.c $(addprefix tools/trn-neff/,asm.c instruction.c),\
	$(neff_packages),$(LIBTRN)))
$(eval $(call fuzz_target,core,tests/fuzz/core.c tests/check_abort.c $(addprefix tests/unit/model/,rig.c program.c) \
	$(vdev_model_sources),$(vdev_model_packages),-lm))

$(eval $(call link,$(O)/tests/fuzz/seeds,tests/fuzz/seeds.c $(addprefix tools/trn-neff/,asm.c instruction.c),\
	$(neff_packages),$(LIBTRN)))

.PHONY: fuzz-targets fuzz-seeds fuzz-run
fuzz-targets: $(fuzz_targets)
	@:
fuzz-seeds: $(O)/tests/fuzz/seeds
	@:

fuzz-run:	# the targets one by one, in the world
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_RUNS=$(FUZZ_RUNS) tests/fuzz/run $(O) build/world/tests/fuzz/seeds $(fuzz_targets)
