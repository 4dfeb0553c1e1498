/* SPDX-License-Identifier: MIT */
/*
 * Accesses to memory that software may write at the same time: control pages,
 * page tables, fences, the phase of a completion.  One load or store each, so
 * that what was checked is what is used.
 */
#ifndef TRN_VDEV_SHARED_H
#define TRN_VDEV_SHARED_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

static inline uint32_t trn_load32(const __le32 *p)
{
	return le32toh(__atomic_load_n(p, __ATOMIC_ACQUIRE));
}

static inline void trn_store32(__le32 *p, uint32_t value)
{
	__atomic_store_n(p, htole32(value), __ATOMIC_RELEASE);
}

static inline void trn_store16(__le16 *p, uint16_t value)
{
	__atomic_store_n(p, htole16(value), __ATOMIC_RELEASE);
}

static inline uint64_t trn_load64(const __le64 *p)
{
	return le64toh(__atomic_load_n(p, __ATOMIC_ACQUIRE));
}

static inline void trn_store64(__le64 *p, uint64_t value)
{
	__atomic_store_n(p, htole64(value), __ATOMIC_RELEASE);
}

/*
 * Orders an earlier store before a later load, which nothing weaker does.  (A C11 fence
 * does the same, but compilers warn of it under the thread sanitizer.)
 */
static inline void trn_full_barrier(void)
{
	__sync_synchronize();
}

/* For reserved fields, in a private copy. */
static inline bool trn_all_zero(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

#endif /* TRN_VDEV_SHARED_H */
