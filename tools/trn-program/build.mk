# SPDX-License-Identifier: MIT
example_sources := $(addprefix tools/trn-program/,adam.c attention.c build.c convolution.c matmul.c mlp.c pipeline.c softmax.c)

$(eval $(call program,trn-program,tools/trn-program/main.c $(example_sources),$(neff_packages),$(LIBTRN) -lm))
