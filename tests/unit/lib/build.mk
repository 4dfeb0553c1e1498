# SPDX-License-Identifier: MIT

lib_fake := $(addprefix tests/unit/lib/,fake.c fake_chip.c fake_memory.c fake_jobs.c fake_fence.c)

$(eval $(call unit_test,lib-va,tests/unit/lib/va.c,,$(LIBTRN)))
$(eval $(call unit_test,lib-box,tests/unit/lib/box.c,,$(LIBTRN)))
$(eval $(call unit_test,lib-ring,tests/unit/lib/ring.c,libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-device,tests/unit/lib/device.c $(lib_fake),libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-memory,tests/unit/lib/memory.c $(lib_fake),libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-queue,tests/unit/lib/queue.c tests/unit/lib/fake_queue.c $(lib_fake),libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-exec,tests/unit/lib/exec.c tests/unit/lib/fake_queue.c $(lib_fake),libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-cost,tests/unit/lib/cost.c tests/unit/lib/fake_queue.c $(lib_fake),libdrm,$(LIBTRN)))
$(eval $(call unit_test,lib-transfer,tests/unit/lib/transfer.c tests/unit/lib/fake_queue.c $(lib_fake),libdrm,$(LIBTRN)))

# The layout for 32 bits is read from an object file, so that no 32-bit library is needed.
$(eval $(call unit_test,uapi-layout,tests/unit/lib/uapi_layout.c,,))
$(O)/tests/unit/uapi-layout: $(O)/tests/unit/uapi-layout.32
$(O)/tests/unit/uapi-layout.32: tests/unit/lib/uapi_layout32.c tests/unit/lib/uapi_layout.h \
		include/uapi/drm/trn_accel.h include/hw/trn_queue.h
	@mkdir -p $(@D)
	@echo "  CC32    $@"
	$(Q)$(CC) -m32 -std=gnu11 -fno-pie $(WARNINGS) -Iinclude -Iinclude/uapi $(pkg_cflags) -c \
		-o $@.o $<
	$(Q)objcopy -O binary -j .rodata $@.o $@
