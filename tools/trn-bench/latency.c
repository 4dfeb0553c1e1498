/* SPDX-License-Identifier: MIT */
#include "latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "error.h"
#include "job.h"
#include "nvme.h"
#include "samples.h"
#include "sleeper.h"

#define ENTRIES 64
/* Each way of waiting gets its turn, so that what else the machine does hits all alike. */
#define TURN	50
#define UNTIMED 5 /* first of a turn: the device may have gone to sleep */

struct rig {
	struct trn_device *device;
	struct trn_context *context;
	struct trn_queue *queue; /* user */
	struct sleeper *sleeper;
	struct jobs *jobs;
	struct nvme *nvme; /* NULL: there is none */
};

double bench_latency_limit(enum bench_wait wait)
{
	switch (wait) {
	case WAIT_POLLED:
		return 0.25;
	case WAIT_CALL:
	case WAIT_INTERRUPT:
	case WAIT_KERNEL_QUEUE:
		return 1.0;
	default:
		return 0;
	}
}

static int poll_packet(struct trn_queue *queue)
{
	struct trn_packet *packet;
	uint64_t sequence;
	int result = 0;

	packet = trn_queue_packet(queue);
	if (!packet) {
		result = trn_queue_reserve(queue, 1, TRN_FOREVER);
		if (result)
			return result;
		packet = trn_queue_packet(queue);
	}
	trn_packet_nop(packet);
	result = trn_queue_submit(queue, &sequence);
	while (!result)
		result = trn_queue_poll(queue, sequence);
	return result < 0 ? result : 0;
}

static int run_once(struct rig *rig, int wait)
{
	switch (wait) {
	case WAIT_POLLED:
		return poll_packet(rig->queue);
	case WAIT_CALL:
		return sleeper_run(rig->sleeper);
	case WAIT_INTERRUPT:
		return sleeper_run_interrupt(rig->sleeper);
	case WAIT_KERNEL_QUEUE:
		return jobs_run_empty(rig->jobs);
	case PEER_POLLED:
		return nvme_read_polled(rig->nvme);
	default:
		return nvme_read(rig->nvme);
	}
}

static bool can_run(const struct rig *rig, int wait)
{
	if (wait == PEER_POLLED)
		return rig->nvme && nvme_can_poll(rig->nvme);
	return wait != PEER_INTERRUPT || rig->nvme;
}

/* How often this thread has slept. */
static int64_t count_sleeps(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

/* Adds to *sleeps those of the requests that are timed. */
static int take_turn(struct rig *rig, int wait, struct samples *samples, int64_t *sleeps)
{
	int64_t slept_before;
	int error = 0, i;

	for (i = 0; i < UNTIMED && !error; i++)
		error = run_once(rig, wait);
	slept_before = count_sleeps();
	for (i = 0; i < TURN && !error; i++) {
		int64_t start = bench_now();

		error = run_once(rig, wait);
		samples_add(samples, bench_now() - start);
	}
	*sleeps += count_sleeps() - slept_before;
	return error;
}

static int measure(struct rig *rig, const struct bench_options *options,
		   struct bench_latency_result *result)
{
	struct samples samples[WAITS] = { 0 };
	int64_t sleeps[WAITS] = { 0 };
	int error = 0, turns, wait;

	for (wait = 0; wait < WAITS && !error; wait++)
		if (!samples_init(&samples[wait], options->samples))
			error = bench_fail(-ENOMEM, "no host memory");
	for (turns = 0; !error && !samples_full(&samples[0]); turns++) {
		bench_progress("device %u: %u of %u samples", result->device, samples[0].count,
			       options->samples);
		for (wait = 0; wait < WAITS && !error; wait++)
			if (can_run(rig, wait))
				error = take_turn(rig, wait, &samples[wait], &sleeps[wait]);
	}
	for (wait = 0; wait < WAITS; wait++) {
		if (samples[wait].count) {
			result->ns[wait] = samples_median(&samples[wait]);
			result->slept[wait] = (double)sleeps[wait] / (turns * TURN);
		}
		free(samples[wait].ns);
	}
	return error;
}

static void free_rig(struct rig *rig)
{
	jobs_close(rig->jobs);
	sleeper_close(rig->sleeper);
	trn_queue_destroy(rig->queue);
	trn_context_destroy(rig->context);
	trn_device_close(rig->device);
	nvme_close(rig->nvme);
}

/* On failure the caller frees what there is. */
static int make_rig(const struct trn_device_entry *entry, const struct bench_options *options,
		    struct rig *rig)
{
	int error = nvme_open_peer(options->peer, &rig->nvme);

	if (!error)
		error = trn_device_open_path(entry->node, &rig->device);
	if (!error)
		error = trn_context_create(rig->device, &rig->context);
	if (!error)
		error = trn_queue_create(rig->context, TRN_QUEUE_USER, ENTRIES, &rig->queue);
	if (!error)
		error = sleeper_open(entry->node, &rig->sleeper);
	if (!error)
		error = jobs_open(entry->node, &rig->jobs);
	return error;
}

int bench_latency(const struct trn_device_entry *entry, const struct bench_options *options,
		  struct bench_latency_result *result)
{
	struct rig rig = { 0 };
	int error;

	*result = (struct bench_latency_result){ .device = entry->index };
	memcpy(result->pci, entry->pci, sizeof(result->pci));
	error = make_rig(entry, options, &rig);
	if (!error)
		error = measure(&rig, options, result);
	free_rig(&rig);
	return error;
}
