# SPDX-License-Identifier: MIT

vm_guest := tests/vm/guest.c
vm_worker := tests/vm/worker.c tests/vm/image.c tests/vm/chip.c $(vm_guest)
vm_guest_memory := tests/vm/guest_memory.c $(vm_guest)
vm_victim := tests/vm/victim.c tests/vm/gate.c $(vm_guest_memory)

$(eval $(call guest_program,memory,tests/vm/memory.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,copy,tests/vm/copy.c tests/vm/rig.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,transfer,tests/vm/transfer.c tests/vm/rig.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,memory_place,tests/vm/memory_place.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,memory_mmap,tests/vm/memory_mmap.c tests/vm/first_chip.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,userptr,tests/vm/userptr.c tests/vm/first_chip.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,dmabuf,tests/vm/dmabuf.c tests/vm/first_chip.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,memory_stress,tests/vm/memory_stress.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,memory_full,tests/vm/memory_full.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,memory_gone,tests/vm/memory_gone.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,memory_cost,tests/vm/memory_cost.c $(addprefix tools/trn-bench/,memory.c document.c report.c timing.c),check libdrm jansson,$(LIBTRN)))
$(eval $(call guest_program,queue,tests/vm/queue.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,execute,tests/vm/execute.c tests/vm/image.c tests/vm/rig.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,program,tests/vm/program.c tests/vm/image.c tests/vm/rig.c $(vm_guest),check libdrm $(neff_packages),$(LIBTRN)))
$(eval $(call guest_program,recovery_dump,tests/vm/recovery_dump.c tests/vm/dump.c tests/vm/chip.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,core_share,tests/vm/core_share.c tests/vm/image.c tests/vm/rig.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,core_recovery,tests/vm/core_recovery.c tests/vm/dump.c $(vm_worker),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,submit,tests/vm/submit.c tests/vm/gate.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,eventfd,tests/vm/eventfd.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,limits,tests/vm/limits.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,storm,tests/vm/storm.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,reload,tests/vm/reload.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,refuse,tests/vm/refuse.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,bind,tests/vm/bind.c tests/vm/gate.c tests/vm/probe.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,isolation,tests/vm/isolation.c tests/vm/probe.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,device_death,tests/vm/device_death.c $(vm_guest),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,faults,tests/vm/faults.c tests/vm/faults_table.c $(vm_worker),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,killed,tests/vm/killed.c $(vm_worker),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,fork,tests/vm/fork.c $(vm_worker),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,never_stops,tests/vm/never_stops.c $(vm_worker),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,queue_gone,tests/vm/queue_gone.c tests/vm/worker.c tests/vm/image.c tests/vm/chip.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,fail_nth,tests/vm/fail_nth.c tests/vm/worker.c tests/vm/image.c tests/vm/chip.c $(vm_guest_memory),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,reset,tests/vm/reset.c tests/vm/chip.c $(vm_victim),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,recover,tests/vm/recover.c tests/vm/chip.c $(vm_victim),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,suspend,tests/vm/suspend.c $(vm_victim),check libdrm,$(LIBTRN)))
$(eval $(call guest_program,aer,tests/vm/aer.c tests/vm/chip.c $(vm_victim),check libdrm,$(LIBTRN)))

# 32-bit, and without any library.
guest32_flags := -m32 -static -nostdlib -ffreestanding -fno-pie -fno-stack-protector
$(O)/tests/vm/guest32: tests/vm/guest32.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) $(guest32_flags) -Iinclude -Iinclude/uapi \
		$(pkg_cflags) -MMD -MP -MF $@.d -o $@ $<
-include $(O)/tests/vm/guest32.d
guest_programs += $(O)/tests/vm/guest32
