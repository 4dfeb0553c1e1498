/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t *trn_process_word;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_error;
static uint64_t last_id; /* a child has its parent's value and counts on */

static void make_page(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		once_error = -errno;
		return;
	}
	if (madvise(page, size, MADV_WIPEONFORK)) {
		once_error = -errno;
		munmap(page, size);
		return;
	}
	trn_process_word = page;
}

int trn_process_id(uint64_t *id)
{
	uint64_t wiped = 0, fresh;

	pthread_once(&once, make_page);
	if (once_error)
		return once_error;

	*id = __atomic_load_n(trn_process_word, __ATOMIC_RELAXED);
	if (*id)
		return 0;
	fresh = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(trn_process_word, &wiped, fresh, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		*id = fresh;
	else
		*id = wiped;
	return 0;
}
