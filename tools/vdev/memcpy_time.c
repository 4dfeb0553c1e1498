/* SPDX-License-Identifier: MIT */
#include "memcpy_time.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/clock.h"

/* Others wait for the control socket meanwhile. */
#define ENOUGH_NS 5000000000

static uint64_t round_time(uint8_t *destination, const uint8_t *source, size_t bytes,
			   unsigned int copies)
{
	uint64_t start = trn_monotonic_ns();

	for (unsigned int i = 0; i < copies; i++) {
		memcpy(destination, source, bytes);
		/* The copy has been made as far as the compiler knows. */
		__asm__ volatile("" : : "r"(destination) : "memory");
	}
	return trn_monotonic_ns() - start;
}

static uint64_t best_time(uint8_t *destination, const uint8_t *source, size_t bytes,
			  unsigned int copies, unsigned int rounds)
{
	uint64_t best = UINT64_MAX, begin = trn_monotonic_ns();

	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t time = round_time(destination, source, bytes, copies);

		if (time < best)
			best = time;
		if (trn_monotonic_ns() - begin > ENOUGH_NS)
			break;
	}
	return best / copies;
}

int trn_memcpy_time(size_t bytes, unsigned int copies, unsigned int rounds, uint64_t *ns)
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
	*ns = best_time(memory + bytes, memory, bytes, copies, rounds);
	munmap(memory, 2 * bytes);
close_fd:
	close(fd);
	return err;
}
