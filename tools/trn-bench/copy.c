/* SPDX-License-Identifier: MIT */
#include "copy.h"

#include <string.h>

#include "pattern.h"
#include "timing.h"

#define QUEUE_ENTRIES 256
#define SEED	      20260401
/* memcpy is timed so often, between the repeats: what else the host does hits all alike. */
#define PEER_TURNS    5

/* What the legs move between. */
struct path {
	struct trn_context *context;
	struct trn_buffer *buffer[LEGS + 1]; /* host, HBM, HBM, host */
	void *source;
	void *destination;
};

static void free_path(struct path *path)
{
	int i;

	for (i = LEGS; i >= 0; i--)
		trn_buffer_destroy(path->buffer[i]);
	trn_context_destroy(path->context);
}

/* On failure the caller frees what there is. */
static int make_path(struct trn_device *device, uint64_t size, struct path *path)
{
	/* Two places in HBM that are as far from each other as the chip allows. */
	uint32_t last_stack = trn_device_info(device)->hbm_stacks - 1;
	const struct {
		enum trn_placement placement;
		uint32_t stack;
	} place[LEGS + 1] = {
		{ TRN_PLACEMENT_HOST, TRN_STACK_ANY },
		{ TRN_PLACEMENT_HBM, 0 },
		{ TRN_PLACEMENT_HBM, last_stack },
		{ TRN_PLACEMENT_HOST, TRN_STACK_ANY },
	};
	int i, error;

	error = trn_context_create(device, &path->context);
	for (i = 0; !error && i <= LEGS; i++)
		error = trn_buffer_create(path->context, place[i].placement, place[i].stack, size,
					  0, &path->buffer[i]);
	if (!error)
		error = trn_buffer_map(path->buffer[0], &path->source);
	if (!error)
		error = trn_buffer_map(path->buffer[LEGS], &path->destination);
	return error;
}

/* Queues the same copy so many times, and waits for the last: a queue works in order. */
static int move(struct trn_queue *queue, struct path *path, uint64_t size, int leg, uint32_t times)
{
	uint64_t sequence = 0;
	int error = 0;

	while (!error && times--)
		error = trn_copy_async(queue, path->buffer[leg + 1], 0, path->buffer[leg], 0, size,
				       &sequence);
	return error ? error : trn_queue_wait(queue, sequence, TRN_FOREVER);
}

/*
 * Moves everything once, so that no leg is the first to touch its memory, and then overwrites
 * it, so that what arrives was moved by the legs that are timed.  Not with zeroes, for which
 * a device need not keep memory.
 */
static int warm_up(struct trn_queue *queue, struct path *path, uint64_t size)
{
	int leg, error = 0;

	for (leg = 0; !error && leg < LEGS; leg++)
		error = move(queue, path, size, leg, 1);
	for (leg = 0; !error && leg < LEGS; leg++)
		error = trn_fill(queue, path->buffer[leg + 1], 0, size, UINT64_MAX, 8);
	return error;
}

static void keep_shortest(int64_t *shortest, int64_t ns)
{
	if (ns && (!*shortest || ns < *shortest))
		*shortest = ns;
}

static int time_leg(struct trn_queue *queue, struct path *path, int leg, uint32_t times,
		    struct bench_copy_result *result)
{
	int64_t start = trn_deadline(0);
	int error = move(queue, path, result->size, leg, times);

	keep_shortest(&result->leg_ns[leg], (trn_deadline(0) - start) / times);
	return error;
}

/* So many repeats of each leg, and as many of memcpy. */
static int take_turn(struct trn_queue *queue, struct path *path, uint32_t repeats,
		     uint32_t in_flight, struct bench_copy_result *result)
{
	uint32_t repeat;
	int leg, error = 0;

	for (repeat = 0; !error && repeat < repeats; repeat++)
		for (leg = 0; !error && leg < LEGS; leg++)
			error = time_leg(queue, path, leg, in_flight, result);
	if (!error)
		keep_shortest(&result->memcpy_ns,
			      bench_memcpy_ns(result->size, in_flight, repeats));
	return error;
}

static int time_legs(struct trn_queue *queue, struct path *path,
		     const struct bench_options *options, struct bench_copy_result *result)
{
	uint32_t repeat = options->repeat;
	int error = 0, turns;

	for (turns = PEER_TURNS; !error && turns && repeat; turns--) {
		uint32_t repeats = (repeat + (uint32_t)turns - 1) / (uint32_t)turns;

		bench_progress("device %u, %llu bytes, %s queue: %u repeats left", result->device,
			       (unsigned long long)result->size,
			       result->mode == TRN_QUEUE_KERNEL ? "kernel" : "user", repeat);
		error = take_turn(queue, path, repeats, options->in_flight, result);
		repeat -= repeats;
	}
	return error;
}

static int run(struct path *path, const struct bench_options *options,
	       struct bench_copy_result *result)
{
	struct trn_queue *queue;
	int error;

	error = trn_queue_create(path->context, result->mode, QUEUE_ENTRIES, &queue);
	if (error)
		return error;
	error = warm_up(queue, path, result->size);
	if (!error)
		error = time_legs(queue, path, options, result);
	trn_queue_destroy(queue);
	result->source_checksum = pattern_checksum(path->source, result->size);
	result->destination_checksum = pattern_checksum(path->destination, result->size);
	return error;
}

int bench_copy(const struct trn_device_entry *entry, const struct bench_options *options,
	       struct bench_copy_result results[BENCH_COPY_RESULTS])
{
	struct trn_device *device;
	struct path path = { 0 };
	int mode, count = 0, error;
	uint64_t size;

	error = trn_device_open_path(entry->node, &device);
	if (error)
		return error;
	error = make_path(device, options->last_size, &path);
	if (error)
		goto free_path;
	pattern_fill(path.source, options->last_size, SEED + entry->index);

	for (size = options->first_size; !error && size <= options->last_size; size *= 4) {
		for (mode = 0; !error && mode < 2; mode++) {
			struct bench_copy_result *result = &results[count];

			if (!options->queue[mode])
				continue;
			*result = (struct bench_copy_result){
				.device = entry->index,
				.mode = mode,
				.size = size,
			};
			memcpy(result->pci, entry->pci, sizeof(result->pci));
			error = run(&path, options, result);
			count++;
		}
	}

free_path:
	free_path(&path);
	trn_device_close(device);
	return error ? error : count;
}
