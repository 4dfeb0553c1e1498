/* SPDX-License-Identifier: MIT */
#include "spinner.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

struct spinner {
	pthread_t thread;
	cpu_set_t cpus; /* of the thread that started it */
	int32_t number; /* atomic, 0 until it spins */
	bool stop;	/* atomic */
};

static void *spin(void *argument)
{
	const struct sched_param parameters = { 0 };
	struct spinner *spinner = argument;

	/* Lowers its own priority, which anybody may. */
	sched_setscheduler(0, SCHED_IDLE, &parameters);
	__atomic_store_n(&spinner->number, (int32_t)gettid(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&spinner->stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

int spinner_start(struct spinner **result)
{
	struct spinner *spinner = calloc(1, sizeof(*spinner));
	cpu_set_t here;
	int error;

	if (!spinner)
		return bench_fail(-ENOMEM, "no host memory");
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (sched_getaffinity(0, sizeof(spinner->cpus), &spinner->cpus) ||
	    sched_setaffinity(0, sizeof(here), &here)) {
		error = bench_fail(-errno, "cannot stay on one CPU: %s", strerror(errno));
		free(spinner);
		return error;
	}
	error = pthread_create(&spinner->thread, NULL, spin, spinner);
	if (error) {
		sched_setaffinity(0, sizeof(spinner->cpus), &spinner->cpus);
		free(spinner);
		return bench_fail(-error, "cannot start a thread: %s", strerror(error));
	}
	while (!__atomic_load_n(&spinner->number, __ATOMIC_ACQUIRE))
		sched_yield();
	*result = spinner;
	return 0;
}

void spinner_stop(struct spinner *spinner)
{
	if (!spinner)
		return;
	__atomic_store_n(&spinner->stop, true, __ATOMIC_RELAXED);
	pthread_join(spinner->thread, NULL);
	sched_setaffinity(0, sizeof(spinner->cpus), &spinner->cpus);
	free(spinner);
}

int32_t spinner_thread(const struct spinner *spinner)
{
	return __atomic_load_n(&spinner->number, __ATOMIC_RELAXED);
}
