# SPDX-License-Identifier: MIT
$(eval $(call unit_test,isa,$(wildcard tests/unit/isa/*.c) \
	$(addprefix tests/unit/model/, alu_reference.c function_formulas.c program.c rig.c) \
	$(vdev_model_sources),$(vdev_model_packages),-lm))
one_thread += isa
