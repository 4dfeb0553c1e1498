# SPDX-License-Identifier: MIT

$(eval $(call guest_program,example-scale,Documentation/examples/scale.c,libdrm $(neff_packages),$(LIBTRN)))
