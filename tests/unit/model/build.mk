# SPDX-License-Identifier: MIT
CFLAGS_tests/unit/model/function_formulas.c := -ffp-contract=off # a second computation, to the bit
$(eval $(call unit_test,model,$(wildcard tests/unit/model/*.c) $(vdev_model_sources),$(vdev_model_packages),-lm))
