# SPDX-License-Identifier: MIT

vm_guest := tests/vm/guest.c

$(eval $(call guest_program,memory,tests/vm/memory.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,copy,tests/vm/copy.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,queue,tests/vm/queue.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,refuse,tests/vm/refuse.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,device_death,tests/vm/device_death.c $(vm_guest),check libdrm,$(LIBTRN)))
