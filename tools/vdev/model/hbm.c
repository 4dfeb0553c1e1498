// SPDX-License-Identifier: MIT
#include "hbm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int trn_hbm_init(struct trn_hbm *hbm, uint64_t size, uint64_t aperture)
{
	int err;

	hbm->size = size;
	hbm->file_size = size > aperture ? size : aperture;
	hbm->fd = memfd_create("trn-hbm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (hbm->fd < 0)
		return -errno;
	if (ftruncate(hbm->fd, hbm->file_size) < 0)
		goto close_fd;
	/* Clients map this file: none of them may cut it off under us. */
	if (fcntl(hbm->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		goto close_fd;
	hbm->memory = mmap(NULL, hbm->file_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			   hbm->fd, 0);
	if (hbm->memory == MAP_FAILED)
		goto close_fd;
	return 0;

close_fd:
	err = -errno;
	close(hbm->fd);
	return err;
}

void trn_hbm_destroy(struct trn_hbm *hbm)
{
	munmap(hbm->memory, hbm->file_size);
	close(hbm->fd);
}

void trn_hbm_discard(struct trn_hbm *hbm)
{
	fallocate(hbm->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, hbm->file_size);
}

size_t trn_hbm_hole(const struct trn_hbm *hbm, uint64_t address, size_t length)
{
	off_t data = lseek(hbm->fd, address, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? length : 0;
	return (uint64_t)data - address < length ? (uint64_t)data - address : length;
}
