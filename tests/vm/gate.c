/* SPDX-License-Identifier: MIT */
#include "gate.h"

#include <drm/drm.h>
#include <drm/vgem_drm.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

static int find_vgem(void)
{
	char path[32];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		char name[8] = "";
		struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%u", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!guest_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	return -1;
}

static int open_vgem(void)
{
	int fd = find_vgem();

	if (fd >= 0)
		return fd;
	if (system("modprobe -q vgem") < 0)
		ck_abort_msg("cannot run modprobe");
	fd = find_vgem();
	ck_assert_msg(fd >= 0, "there is no vgem");
	return fd;
}

void gate_close(struct gate *gate, int fd, uint32_t syncobj, uint64_t point)
{
	struct drm_mode_create_dumb dumb = { .width = 64, .height = 16, .bpp = 32 };
	struct drm_vgem_fence_attach attach = { .flags = VGEM_FENCE_WRITE };
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC, .fd = -1 };
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW, .fd = -1 };
	struct drm_syncobj_handle import = {
		.handle = point ? guest_syncobj(fd) : syncobj,
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};

	gate->vgem = open_vgem();
	guest_fails(guest_ioctl(gate->vgem, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
	gate->handle = dumb.handle;
	attach.handle = dumb.handle;
	guest_fails(guest_ioctl(gate->vgem, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach), 0);
	gate->fence = attach.out_fence;

	prime.handle = dumb.handle;
	guest_fails(guest_ioctl(gate->vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	guest_fails(guest_ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export), 0);
	import.fd = export.fd;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import), 0);
	close(export.fd);
	close(prime.fd);
	if (point) {
		struct drm_syncobj_transfer transfer = {
			.src_handle = import.handle,
			.dst_handle = syncobj,
			.dst_point = point,
		};
		struct drm_syncobj_destroy destroy = { .handle = import.handle };

		guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), 0);
		guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy), 0);
	}
}

void gate_open(struct gate *gate)
{
	struct drm_vgem_fence_signal signal = { .fence = gate->fence };

	guest_fails(guest_ioctl(gate->vgem, DRM_IOCTL_VGEM_FENCE_SIGNAL, &signal), 0);
	close(gate->vgem);
}
