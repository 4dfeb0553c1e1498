/* SPDX-License-Identifier: MIT */
#include "probe.h"

#define QUEUE_ENTRIES 512

void probe_init(struct probe *probe, int fd, uint32_t context)
{
	uint32_t handle = guest_bo(fd, DRM_TRN_BO_HOST, PROBE_SIZE);

	guest_fails(guest_bind(fd, context, handle, PROBE_VA, PROBE_SIZE), 0);
	*probe = (struct probe){
		.fd = fd,
		.context = context,
		.queue = guest_kernel_queue(fd, context, QUEUE_ENTRIES),
		.syncobj = guest_syncobj(fd),
		.memory = guest_map(fd, handle, PROBE_SIZE),
	};
}

int probe_run(struct probe *probe, const struct trn_packet *packets, uint32_t count,
	      struct drm_trn_queue_error *error)
{
	struct drm_trn_queue_destroy destroy = { .queue = probe->queue };
	int result;

	guest_fails(guest_submit(probe->fd, probe->queue, packets, count, probe->syncobj), 0);
	result = guest_job(probe->fd, probe->syncobj, 30);
	if (!result) {
		/* They and the job's FENCE_WRITE. */
		probe->packet += count + 1;
		return 0;
	}
	if (error) {
		*error = (struct drm_trn_queue_error){ .queue = probe->queue };
		guest_fails(guest_ioctl(probe->fd, DRM_IOCTL_TRN_QUEUE_ERROR, error), 0);
		error->packet -= probe->packet;
	}
	guest_fails(guest_ioctl(probe->fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), 0);
	probe->queue = guest_kernel_queue(probe->fd, probe->context, QUEUE_ENTRIES);
	probe->packet = 0;
	return result;
}

int probe_read(struct probe *probe, uint64_t va, uint64_t *word)
{
	struct trn_packet packet = guest_copy(PROBE_VA, va, sizeof(*word));
	int result = probe_run(probe, &packet, 1, NULL);

	*word = probe->memory[0];
	return result;
}
