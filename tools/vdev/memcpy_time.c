/* SPDX-License-Identifier: MIT */
#include "memcpy_time.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/clock.h"

#define ROUNDS_MIN 5
#define ROUNDS_MAX 1000
#define ENOUGH_NS  200000000 /* further rounds are not worth their time */

static uint64_t best_time(uint8_t *destination, const uint8_t *source, size_t bytes)
{
	uint64_t best = UINT64_MAX, begin = trn_monotonic_ns(), start = begin, end;

	for (unsigned int i = 0; i < ROUNDS_MAX; i++) {
		memcpy(destination, source, bytes);
		/* The copy has been made as far as the compiler knows. */
		__asm__ volatile("" : : "r"(destination) : "memory");
		end = trn_monotonic_ns();
		if (end - start < best)
			best = end - start;
		if (i + 1 >= ROUNDS_MIN && end - begin > ENOUGH_NS)
			break;
		start = end;
	}
	return best;
}

int trn_memcpy_time(size_t bytes, uint64_t *ns)
{
	int fd = memfd_create("trn-memcpy", MFD_CLOEXEC), err = 0;
	uint8_t *memory;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, 2 * bytes) < 0) {
		err = -errno;
		goto close_fd;
	}
	memory = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto close_fd;
	}
	memset(memory, 1, 2 * bytes);
	*ns = best_time(memory + bytes, memory, bytes);
	munmap(memory, 2 * bytes);
close_fd:
	close(fd);
	return err;
}
