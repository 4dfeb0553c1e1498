/* SPDX-License-Identifier: MIT */
#include "shared_memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES_MAX 16384

/* A slot of the table that the signal handler searches; it may not take a lock. */
struct trn_shared_memory {
	_Atomic uintptr_t base; /* 0: free; written last */
	_Atomic uint64_t size;
	atomic_bool lost;
};

static struct trn_shared_memory table[FILES_MAX];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* taking slots */
static pthread_once_t handler_once = PTHREAD_ONCE_INIT;

static struct trn_shared_memory *find(uintptr_t address)
{
	for (struct trn_shared_memory *memory = table; memory < table + FILES_MAX; memory++) {
		uintptr_t base = atomic_load(&memory->base);

		if (!base || address < base || address - base >= atomic_load(&memory->size))
			continue;
		/* The size may have been that of a file which took the slot meanwhile. */
		if (atomic_load(&memory->base) == base)
			return memory;
	}
	return NULL;
}

/* Whoever accesses a file has it mapped, so its slot stays during this. */
static void handle_sigbus(int signal, siginfo_t *info, void *context)
{
	struct trn_shared_memory *memory = find((uintptr_t)info->si_addr);
	int saved = errno;
	long result = -1;

	(void)context;
	if (memory) {
		atomic_store(&memory->lost, true);
		/* All of it, since a huge page cannot be replaced in part. */
		result = syscall(SYS_mmap, atomic_load(&memory->base), atomic_load(&memory->size),
				 PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	}
	errno = saved;
	/* Not ours: the access is repeated, and kills us. */
	if (result == -1)
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

static void install_handler(void)
{
	const struct sigaction action = { .sa_sigaction = handle_sigbus, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &action, NULL);
}

static struct trn_shared_memory *take_slot(uintptr_t base, uint64_t size)
{
	struct trn_shared_memory *memory = table;

	pthread_mutex_lock(&table_lock);
	while (memory < table + FILES_MAX && atomic_load(&memory->base))
		memory++;
	if (memory < table + FILES_MAX) {
		atomic_store(&memory->lost, false);
		atomic_store(&memory->size, size);
		atomic_store(&memory->base, base);
	} else {
		memory = NULL;
	}
	pthread_mutex_unlock(&table_lock);
	return memory;
}

int trn_shared_memory_map(int fd, uint64_t size, bool writable, struct trn_shared_memory **memory)
{
	int protection = PROT_READ | (writable ? PROT_WRITE : 0);
	void *base;

	pthread_once(&handler_once, install_handler);
	base = mmap(NULL, size, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED) {
		if (errno == EACCES || errno == EPERM)
			return -EACCES;
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	}
	*memory = take_slot((uintptr_t)base, size);
	if (!*memory) {
		munmap(base, size);
		return -ENOSPC;
	}
	return 0;
}

void trn_shared_memory_unmap(struct trn_shared_memory *memory)
{
	void *base = trn_shared_memory_base(memory);
	uint64_t size = atomic_load(&memory->size);

	/* The slot goes first: the addresses may be another's as soon as they are free. */
	atomic_store(&memory->base, 0);
	munmap(base, size);
}

uint8_t *trn_shared_memory_base(struct trn_shared_memory *memory)
{
	return (uint8_t *)atomic_load(&memory->base);
}

bool trn_shared_memory_lost(struct trn_shared_memory *memory)
{
	return atomic_load(&memory->lost);
}
