# SPDX-License-Identifier: MIT
example_test := tests/unit/examples/run.c tests/unit/model/rig.c $(example_sources) $(vdev_model_sources)
example_packages := $(neff_packages) $(vdev_model_packages)

$(eval $(call unit_test,examples,$(addprefix tests/unit/examples/,main.c matmul.c rows.c networks.c adam.c tensor.c) \
	$(example_test),$(example_packages),$(LIBTRN) -lm))
one_thread += examples
