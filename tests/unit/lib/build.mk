# SPDX-License-Identifier: MIT

lib_fake := tests/unit/lib/fake.c

$(eval $(call unit_test,lib-va,tests/unit/lib/va.c,,$(LIBTRN)))
$(eval $(call unit_test,lib-ring,tests/unit/lib/ring.c,libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-device,tests/unit/lib/device.c $(lib_fake),libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-queue,tests/unit/lib/queue.c $(lib_fake),libdrm,$(LIBTRN)))
