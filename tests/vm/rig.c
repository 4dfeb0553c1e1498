/* SPDX-License-Identifier: MIT */
#include "rig.h"

struct rig rig_make(unsigned int chip, enum trn_queue_mode mode)
{
	struct rig rig;

	guest_ok(trn_device_open(chip, &rig.device));
	guest_ok(trn_context_create(rig.device, &rig.context));
	guest_ok(trn_queue_create(rig.context, mode, 32, &rig.queue));
	return rig;
}

void rig_free(struct rig *rig)
{
	guest_ok(trn_queue_destroy(rig->queue));
	guest_ok(trn_context_destroy(rig->context));
	guest_ok(trn_device_close(rig->device));
}

struct trn_buffer *rig_buffer(struct rig *rig, enum trn_placement placement, uint64_t size,
			      uint32_t flags)
{
	struct trn_buffer *buffer;

	guest_ok(trn_buffer_create(rig->context, placement, TRN_STACK_ANY, size, flags, &buffer));
	return buffer;
}
