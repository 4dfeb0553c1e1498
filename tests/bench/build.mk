# SPDX-License-Identifier: MIT
# Benchmarks that need no guest.

define bench_program
$(call link,$(O)/tests/bench/$(1),$(2),$(3),$(4))
bench_programs += $(O)/tests/bench/$(1)
endef

$(eval $(call bench_program,matmul,$(addprefix tests/bench/,matmul.c timing.c) tests/check_abort.c \
	$(addprefix tests/unit/model/,rig.c program.c) $(vdev_model_sources),$(vdev_model_packages),-lm))
$(eval $(call bench_program,neff-load,$(addprefix tests/bench/,neff_load.c timing.c),\
	$(neff_packages),$(LIBTRN)))

.PHONY: bench-programs
bench-programs: $(bench_programs)
	@:
