/* SPDX-License-Identifier: MIT */
/*
 * Submits through a user queue: no system call, so what they cost is the time that the thread
 * takes for them.
 */
#include "submit_user.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "program.h"
#include "samples.h"

#define ENTRIES	   1024
#define COPY_BYTES 64

struct user_queue {
	struct trn_device *device;
	struct trn_context *context;
	struct trn_buffer *buffer;
	struct trn_buffer *program;
	struct trn_queue *queue, *exec_queue;
};

/* Takes and fills so many packets; false if there are not as many. */
typedef bool (*put_packets)(struct user_queue *user, uint32_t count);

void user_queue_close(struct user_queue *user)
{
	if (!user)
		return;
	trn_queue_destroy(user->queue);
	trn_queue_destroy(user->exec_queue);
	trn_buffer_destroy(user->program);
	trn_buffer_destroy(user->buffer);
	trn_context_destroy(user->context);
	trn_device_close(user->device);
	free(user);
}

static int make_exec_queue(struct user_queue *user)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = TRN_QUEUE_USER,
		.entries = ENTRIES,
		.type = TRN_QUEUE_EXEC,
	};
	void *memory;
	int error;

	error = trn_buffer_create(user->context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, PROGRAM_SIZE, 0,
				  &user->program);
	if (!error)
		error = trn_buffer_map(user->program, &memory);
	if (error)
		return error;
	program_write_empty(memory);
	return trn_queue_create_attributes(user->context, &attributes, &user->exec_queue);
}

int user_queue_open(const struct trn_device_entry *entry, struct user_queue **result)
{
	struct user_queue *user = calloc(1, sizeof(*user));
	int error;

	if (!user)
		return bench_fail(-ENOMEM, "no host memory");
	error = trn_device_open_path(entry->node, &user->device);
	if (!error)
		error = trn_context_create(user->device, &user->context);
	if (!error)
		error = trn_buffer_create(user->context, TRN_PLACEMENT_HOST, TRN_STACK_ANY,
					  2 * COPY_BYTES, 0, &user->buffer);
	if (!error)
		error = trn_queue_create(user->context, TRN_QUEUE_USER, ENTRIES, &user->queue);
	if (!error)
		error = make_exec_queue(user);
	if (error) {
		user_queue_close(user);
		return error;
	}
	*result = user;
	return 0;
}

static bool put_copies(struct user_queue *user, uint32_t count)
{
	uint64_t source = trn_buffer_address(user->buffer), destination = source + COPY_BYTES;
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct trn_packet *packet = trn_queue_packet(user->queue);

		if (!packet)
			return false;
		trn_packet_copy(packet, destination, source, COPY_BYTES);
	}
	return true;
}

static bool put_empty(struct user_queue *user, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct trn_packet *packet = trn_queue_packet(user->queue);

		if (!packet)
			return false;
		trn_packet_nop(packet);
	}
	return true;
}

static bool put_programs(struct user_queue *user, uint32_t count)
{
	const struct trn_exec exec = { .program = trn_buffer_address(user->program) };
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct trn_packet *packet = trn_queue_packet(user->exec_queue);

		if (!packet)
			return false;
		trn_packet_exec(packet, &exec);
	}
	return true;
}

static const put_packets put[] = {
	[USER_COPY] = put_copies,
	[USER_EMPTY] = put_empty,
	[USER_PROGRAM] = put_programs,
};

/* What is measured. */
struct submits {
	struct user_queue *user;
	struct trn_queue *queue;
	put_packets put;
	uint32_t packets; /* of a batch */
};

/* Fills and submits one batch, and adds what that takes to samples. */
static int submit_batch(const struct submits *submits, uint64_t *sequence, struct samples *samples)
{
	int64_t start = bench_now();
	int error;

	if (!submits->put(submits->user, submits->packets))
		return bench_fail(-EIO, "user queue: there is no free packet");
	error = trn_queue_submit(submits->queue, sequence);
	samples_add(samples, bench_now() - start);
	return error;
}

/* Batches until the ring is full, so that none waits; then waits without sleeping. */
static int submit_ring(const struct submits *submits, struct samples *samples)
{
	uint32_t capacity = trn_queue_capacity(submits->queue), i;
	uint32_t batches = capacity / (submits->packets + 1);
	uint64_t sequence = 0;
	int error, done;

	/* With a deadline it would yield the CPU, by a system call. */
	do
		error = trn_queue_reserve(submits->queue, capacity, 0);
	while (error == -ETIME);
	for (i = 0; !error && i < batches; i++)
		error = submit_batch(submits, &sequence, samples);
	if (error)
		return error;
	do
		done = trn_queue_poll(submits->queue, sequence);
	while (!done);
	return done < 0 ? done : 0;
}

static int submit_all(const struct submits *submits, struct samples *samples)
{
	int error = 0;

	samples->count = 0;
	while (!error && !samples_full(samples))
		error = submit_ring(submits, samples);
	return error;
}

/* What it takes to look at the clock. */
static int64_t clock_time(struct samples *samples)
{
	samples->count = 0;
	while (!samples_full(samples)) {
		int64_t start = bench_now();

		samples_add(samples, bench_now() - start);
	}
	return samples_median(samples);
}

/* All system calls of this thread, but for the one that ended the record. */
static uint32_t count_calls(const struct trace_record *records, size_t count)
{
	uint32_t calls = 0;
	size_t i;

	for (i = 0; i < count; i++)
		calls += records[i].event == TRACE_ENTER && records[i].pid == (int32_t)getpid();
	return calls ? calls - 1 : 0;
}

static int trace_calls(const struct submits *submits, struct trace *trace, struct samples *samples,
		       uint32_t *calls)
{
	static const enum trace_event events[] = { TRACE_ENTER };
	const struct trace_record *records;
	int error, stop_error;
	size_t count;

	error = trace_start(trace, events, 1);
	if (error)
		return error;
	error = submit_all(submits, samples);
	stop_error = trace_stop(trace, &records, &count);
	if (error || stop_error)
		return error ? error : stop_error;
	*calls = count_calls(records, count);
	return 0;
}

int user_queue_measure(struct user_queue *user, struct trace *trace, enum user_packet kind,
		       uint32_t packets, uint32_t wanted, struct bench_submit_cost *cost)
{
	const struct submits submits = {
		.user = user,
		.queue = kind == USER_PROGRAM ? user->exec_queue : user->queue,
		.put = put[kind],
		.packets = packets,
	};
	struct samples samples;
	uint32_t calls = 0;
	int64_t ns = 0;
	int error;

	if (!samples_init(&samples, wanted))
		return bench_fail(-ENOMEM, "no host memory");
	/* The first time unseen, so that none is the first to touch anything. */
	error = submit_all(&submits, &samples);
	if (!error)
		error = submit_all(&submits, &samples);
	if (!error) {
		ns = samples_median(&samples);
		ns -= clock_time(&samples);
		error = trace_calls(&submits, trace, &samples, &calls);
	}
	free(samples.ns);
	if (error)
		return error;
	*cost = (struct bench_submit_cost){
		.measured = true,
		.system_calls = (double)calls / wanted,
		.submit = ns,
		.completion = -1,
		.all = -1,
		.cost = ns,
	};
	return 0;
}
