/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timing.h"

#define PROGRESS_OBJECTS 5000

/*
 * Objects made, bound and freed one after the other in a sample, which is their mean.  What one
 * costs depends on how much larger than it the free block is that it is cut from, anything from
 * none to all sizes there are; of many neighbours the mean does not.
 */
#define BATCH		 32

struct rig {
	struct trn_device *device;
	struct trn_context *context;
	struct trn_range *range; /* BATCH pages, for what is timed */
	struct trn_buffer **live;
	uint32_t count;
	uint64_t page;
};

static int make(struct rig *rig, uint64_t pages, uint32_t flags, struct trn_buffer **buffer)
{
	return trn_buffer_create(rig->context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, pages * rig->page,
				 flags, buffer);
}

/* Of several sizes, and one in four in a hole that a larger one left. */
static int make_live(struct rig *rig, struct trn_buffer **buffer)
{
	int error = make(rig, 1 + rig->count % 8, 0, buffer);

	if (error || rig->count % 4 != 3)
		return error;
	error = trn_buffer_destroy(*buffer);
	return error ? error : make(rig, 1, 0, buffer);
}

static int grow(struct rig *rig, uint32_t count)
{
	int error = 0;

	while (!error && rig->count < count) {
		if (rig->count % PROGRESS_OBJECTS == 0)
			bench_progress("%u of %u objects made", rig->count, count);
		error = make_live(rig, &rig->live[rig->count]);
		if (!error)
			rig->count++;
	}
	return error;
}

/* CPU time of this thread: what it waits for, the chip, is not what is measured. */
static int64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t lap(int64_t *last)
{
	int64_t now = cpu_time(), ns = now - *last;

	*last = now;
	return ns;
}

static int make_batch(struct rig *rig, struct trn_bind *map)
{
	uint32_t i;
	int error = 0;

	for (i = 0; !error && i < BATCH; i++) {
		error = make(rig, 1, TRN_BUFFER_UNBOUND, &map[i].buffer);
		map[i].op = TRN_BIND_MAP;
		map[i].range = rig->range;
		map[i].range_offset = i * rig->page;
		map[i].size = rig->page;
	}
	return error;
}

static int bind_batch(struct rig *rig, const struct trn_bind *binds)
{
	uint32_t i;
	int error = 0;

	for (i = 0; !error && i < BATCH; i++)
		error = trn_bind(rig->context, &binds[i], 1, NULL);
	return error;
}

static void free_batch(const struct trn_bind *map)
{
	uint32_t i;

	for (i = 0; i < BATCH && map[i].buffer; i++)
		trn_buffer_destroy(map[i].buffer);
}

/* times[operation × samples + sample] */
static int sample(struct rig *rig, uint32_t samples, uint32_t number, int64_t *times)
{
	struct trn_bind map[BATCH] = { 0 }, unmap[BATCH] = { 0 };
	struct trn_memory_limits limits;
	int64_t last;
	uint32_t i;
	int error;

	for (i = 0; i < BATCH; i++) {
		unmap[i].op = TRN_BIND_UNMAP;
		unmap[i].range = rig->range;
		unmap[i].range_offset = i * rig->page;
		unmap[i].size = rig->page;
	}
	last = cpu_time();
	error = make_batch(rig, map);
	times[OPERATION_ALLOCATE * samples + number] = lap(&last) / BATCH;
	if (!error)
		error = trn_device_memory_limits(rig->device, &limits);
	times[OPERATION_QUERY * samples + number] = lap(&last);
	if (!error)
		error = bind_batch(rig, map);
	times[OPERATION_BIND * samples + number] = lap(&last) / BATCH;
	if (!error)
		error = bind_batch(rig, unmap);
	times[OPERATION_UNBIND * samples + number] = lap(&last) / BATCH;
	free_batch(map);
	times[OPERATION_FREE * samples + number] = lap(&last) / BATCH;
	return error;
}

static int measure(struct rig *rig, const struct bench_options *options, int64_t *times,
		   struct bench_memory_result *result)
{
	uint32_t live, number, operation;
	int error = 0;

	for (live = 0; !error && live < options->live_count; live++) {
		error = grow(rig, options->live[live]);
		/* Once untimed, so that no sample is the first to touch anything. */
		if (!error)
			error = sample(rig, options->samples, 0, times);
		for (number = 0; !error && number < options->samples; number++)
			error = sample(rig, options->samples, number, times);
		for (operation = 0; !error && operation < OPERATIONS; operation++)
			result->ns[operation][live] = bench_median(
				times + operation * options->samples, options->samples);
	}
	return error;
}

static void free_rig(struct rig *rig)
{
	while (rig->count) {
		if (rig->count % PROGRESS_OBJECTS == 0)
			bench_progress("%u objects left to free", rig->count);
		trn_buffer_destroy(rig->live[--rig->count]);
	}
	trn_range_destroy(rig->range);
	trn_context_destroy(rig->context);
	trn_device_close(rig->device);
	free(rig->live);
}

int bench_memory(const struct trn_device_entry *entry, const struct bench_options *options,
		 struct bench_memory_result *result)
{
	uint32_t most = options->live[options->live_count - 1];
	int64_t *times = calloc((size_t)OPERATIONS * options->samples, sizeof(*times));
	struct rig rig = { .live = calloc(most, sizeof(struct trn_buffer *)) };
	int error = -ENOMEM;

	*result = (struct bench_memory_result){ .device = entry->index };
	memcpy(result->pci, entry->pci, sizeof(result->pci));
	if (!times || !rig.live)
		goto free_rig;
	error = trn_device_open_path(entry->node, &rig.device);
	if (error)
		goto free_rig;
	rig.page = trn_device_info(rig.device)->page_size;
	error = trn_context_create(rig.device, &rig.context);
	if (!error)
		error = trn_range_create(rig.context, 0, BATCH * rig.page, 0, &rig.range);
	if (!error)
		error = measure(&rig, options, times, result);

free_rig:
	free_rig(&rig);
	free(times);
	return error;
}
