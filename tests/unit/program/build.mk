# SPDX-License-Identifier: MIT

$(eval $(call unit_test,program,$(addprefix tests/unit/program/,program.c sample.c) \
	tests/unit/lib/fake_queue.c $(lib_fake),libdrm $(neff_packages),$(LIBTRN)))
