/* SPDX-License-Identifier: MIT */
/* High-bandwidth memory: a sparse file, mapped once. */
#ifndef TRN_VDEV_HBM_H
#define TRN_VDEV_HBM_H

#include <stddef.h>
#include <stdint.h>

struct trn_hbm {
	int fd;
	uint8_t *memory;
	uint64_t size; /* bytes of HBM */
	uint64_t kept; /* bytes of memory that trn_hbm_zero() leaves; to get them again is slow */
	size_t file_size; /* >= size: BAR 2 may be rounded up beyond HBM */
};

/* 0 or negative errno. */
int trn_hbm_init(struct trn_hbm *hbm, uint64_t size, uint64_t aperture, uint64_t kept);
void trn_hbm_destroy(struct trn_hbm *hbm);

/* Gives all pages back; HBM then reads as zero. */
void trn_hbm_discard(struct trn_hbm *hbm);

/*
 * How many of the bytes at [address, address + length) were never written,
 * counted from address.  They read as zero; reading them through the mapping
 * would allocate them.
 */
size_t trn_hbm_hole(const struct trn_hbm *hbm, uint64_t address, size_t length);

/*
 * Makes [address, address + length) read as zero.  Whole pages go back to the system
 * while HBM takes more than hbm->kept; bytes beside the range are not touched at any time.
 */
void trn_hbm_zero(const struct trn_hbm *hbm, uint64_t address, size_t length);

#endif /* TRN_VDEV_HBM_H */
