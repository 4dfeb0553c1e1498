# SPDX-License-Identifier: MIT

$(eval $(call unit_test,builder,tests/unit/builder/builder.c $(example_sources),$(neff_packages),$(LIBTRN) -lm))
one_thread += builder
