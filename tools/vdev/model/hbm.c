// SPDX-License-Identifier: MIT
#include "hbm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_PAGE   4096ULL

/* Smaller pieces are not worth a system call that unmaps them from every client. */
#define DISCARD_MIN (64ULL << 10)

int trn_hbm_init(struct trn_hbm *hbm, uint64_t size, uint64_t aperture, uint64_t kept)
{
	int err;

	hbm->size = size;
	hbm->kept = kept;
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

static bool has_too_much(const struct trn_hbm *hbm)
{
	struct stat file;

	return !fstat(hbm->fd, &file) && (uint64_t)file.st_blocks * 512 > hbm->kept;
}

static bool discard(const struct trn_hbm *hbm, uint64_t first, uint64_t end)
{
	return !fallocate(hbm->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first, end - first);
}

void trn_hbm_zero(const struct trn_hbm *hbm, uint64_t address, size_t length)
{
	uint64_t end = address + length;
	uint64_t first_page = (address + FILE_PAGE - 1) & ~(FILE_PAGE - 1);
	uint64_t end_page = end & ~(FILE_PAGE - 1);

	/* Of a page of which a part is kept only bytes are written: others may write the rest. */
	if (end_page >= first_page + DISCARD_MIN && has_too_much(hbm) &&
	    discard(hbm, first_page, end_page)) {
		memset(hbm->memory + address, 0, first_page - address);
		memset(hbm->memory + end_page, 0, end - end_page);
	} else {
		memset(hbm->memory + address, 0, length);
	}
}
