/* SPDX-License-Identifier: MIT */
#include "submit.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cost.h"
#include "error.h"
#include "instructions.h"
#include "job.h"
#include "nvme.h"
#include "samples.h"
#include "submit_user.h"

/* Of a round's requests those count in which no interrupt came at a wrong time. */
#define ROUNDS_MAX 20

struct rig {
	struct trace *trace;
	struct jobs *jobs;
	struct nvme *nvme;  /* NULL: there is none */
	struct cost *costs; /* of a round */
	uint32_t samples;
	int64_t watching; /* ns that a tracepoint adds */
};

static const struct {
	uint32_t packets;
	enum user_packet user; /* a user queue's */
	int64_t limit;
	/* System calls: those before, and its own; none: a user queue. */
	uint32_t before, calls;
} paths[SUBMIT_PATHS] = {
	[SUBMIT_USER_1] = { .packets = 1 },
	[SUBMIT_USER_32] = { .packets = 32, .limit = 32 * 40 },
	[SUBMIT_USER_EMPTY] = { .packets = 1, .user = USER_EMPTY },
	[SUBMIT_USER_PROGRAM] = { .packets = 1, .user = USER_PROGRAM },
	[SUBMIT_KERNEL_PROGRAM] = { .packets = 1, .calls = 2 },
	[SUBMIT_KERNEL_1] = { .packets = 1, .limit = 6500, .calls = 2 },
	[SUBMIT_KERNEL_32] = { .packets = 32, .limit = 32 * 400, .calls = 2 },
	[SUBMIT_BEHIND_1] = { .packets = 1, .limit = 20000, .before = 1, .calls = 2 },
	[SUBMIT_FLUSH] = { .calls = 1 },
};

uint32_t bench_submit_packets(enum bench_submit_path path)
{
	return paths[path].packets;
}

int64_t bench_submit_limit(enum bench_submit_path path)
{
	return paths[path].limit;
}

static int run_request(struct rig *rig, enum bench_submit_path path)
{
	switch (path) {
	case SUBMIT_FLUSH:
		return nvme_flush(rig->nvme);
	case SUBMIT_KERNEL_PROGRAM:
		return jobs_run_program(rig->jobs);
	case SUBMIT_BEHIND_1:
		return jobs_run_behind_another(rig->jobs, paths[path].packets);
	default:
		return jobs_run(rig->jobs, paths[path].packets);
	}
}

/* As many requests as samples are wanted, and their costs in rig->costs. */
static int run_round(struct rig *rig, enum bench_submit_path path, const enum trace_event *events,
		     size_t event_count, size_t *found)
{
	const struct request request = {
		.pid = (int32_t)getpid(),
		.number = SYS_ioctl,
		.before = paths[path].before,
		.calls = paths[path].calls,
	};
	const struct trace_record *records;
	int error, stop_error;
	size_t count;
	uint32_t i;

	error = trace_start(rig->trace, events, event_count);
	if (error)
		return error;
	for (i = 0; !error && i < rig->samples; i++)
		error = run_request(rig, path);
	stop_error = trace_stop(rig->trace, &records, &count);
	if (error || stop_error)
		return error ? error : stop_error;
	*found = cost_of_requests(records, count, &request, rig->costs, rig->samples);
	return 0;
}

static int fail_rounds(const struct rig *rig)
{
	return bench_fail(-ETIME,
			  "fewer than %u of %u requests slept until their interrupt: is the "
			  "machine busy?",
			  rig->samples, ROUNDS_MAX * rig->samples);
}

/* Medians in ns. */
struct times {
	int64_t submit;
	int64_t fall_asleep;
	int64_t completion;
	int64_t all;
};

/*
 * Of the requests that sleep, with all events.  *sleeps: whether that is most; the others
 * are done before the call gets so far.
 */
static int measure_submit(struct rig *rig, enum bench_submit_path path, struct samples samples[3],
			  struct times *times, bool *sleeps)
{
	static const enum trace_event events[] = {
		TRACE_ENTER,
		TRACE_EXIT,
		TRACE_INTERRUPT,
		TRACE_SWITCH,
	};
	/* A job behind another waits for that one's interrupt too. */
	uint32_t round, interrupts = 1 + paths[path].before;
	size_t found, i, all = 0, slept = 0;
	int error;

	for (round = 0; round < ROUNDS_MAX && !samples_full(&samples[0]); round++) {
		error = run_round(rig, path, events, sizeof(events) / sizeof(events[0]), &found);
		if (error)
			return error;
		all += found;
		for (i = 0; i < found; i++) {
			const struct cost *cost = &rig->costs[i];

			if (cost->fall_asleep < 0)
				continue;
			slept++;
			if (cost->submit < 0 || cost->interrupts < interrupts)
				continue;
			samples_add(&samples[0], cost->submit);
			samples_add(&samples[1], cost->fall_asleep);
			samples_add(&samples[2], cost->all - cost->records * rig->watching);
		}
		*sleeps = 2 * slept > all;
		if (!*sleeps)
			return 0;
	}
	if (!samples_full(&samples[0]))
		return fail_rounds(rig);
	times->submit = samples_median(&samples[0]);
	times->fall_asleep = samples_median(&samples[1]);
	times->all = samples_median(&samples[2]);
	return 0;
}

/* Of completing: without recording switches, one of which would be part of it. */
static int measure_completion(struct rig *rig, enum bench_submit_path path, struct samples *samples,
			      struct times *times)
{
	static const enum trace_event events[] = { TRACE_ENTER, TRACE_EXIT, TRACE_INTERRUPT };
	size_t found, i;
	uint32_t round;
	int error;

	for (round = 0; round < ROUNDS_MAX && !samples_full(samples); round++) {
		error = run_round(rig, path, events, sizeof(events) / sizeof(events[0]), &found);
		if (error)
			return error;
		for (i = 0; i < found; i++)
			/* Not those that came before it slept. */
			if (rig->costs[i].interrupt > times->fall_asleep)
				samples_add(samples, rig->costs[i].completion);
	}
	if (!samples_full(samples))
		return fail_rounds(rig);
	times->completion = samples_median(samples);
	return 0;
}

/* The whole call that does not sleep, its interrupt in the middle. */
static int measure_whole(struct rig *rig, enum bench_submit_path path, struct samples *samples,
			 struct times *times)
{
	static const enum trace_event events[] = { TRACE_ENTER, TRACE_EXIT };
	size_t found, i;
	int error;

	error = run_round(rig, path, events, sizeof(events) / sizeof(events[0]), &found);
	if (error)
		return error;
	for (i = 0; i < found; i++)
		samples_add(samples, rig->costs[i].submit);
	times->submit = samples_median(samples);
	return 0;
}

static int measure_times(struct rig *rig, enum bench_submit_path path, struct samples samples[5],
			 struct times *times)
{
	bool sleeps;
	int error, i;

	for (i = 0; i < 5; i++)
		if (!samples_init(&samples[i], rig->samples))
			return bench_fail(-ENOMEM, "no host memory");
	/* Once unseen, so that none is the first to touch anything. */
	error = run_request(rig, path);
	if (!error)
		error = measure_submit(rig, path, samples, times, &sleeps);
	if (error)
		return error;
	if (sleeps)
		return measure_completion(rig, path, &samples[3], times);
	if (paths[path].calls > 1)
		return fail_rounds(rig);
	return measure_whole(rig, path, &samples[4], times);
}

/*
 * In the real-time class: what the fair scheduler has to account for when a thread sleeps and
 * wakes up depends on what else there is, and is nothing that a driver can help.
 */
static int measure_in_real_time(struct rig *rig, enum bench_submit_path path,
				struct samples samples[5], struct times *times)
{
	const struct sched_param real_time = { .sched_priority = 1 };
	struct sched_param before;
	int policy = sched_getscheduler(0), error;

	if (policy < 0 || sched_getparam(0, &before) ||
	    sched_setscheduler(0, SCHED_FIFO, &real_time))
		return bench_fail(-errno, "real-time class: %s: run it as root", strerror(errno));
	error = measure_times(rig, path, samples, times);
	sched_setscheduler(0, policy, &before);
	return error;
}

static int measure_calls(struct rig *rig, enum bench_submit_path path,
			 struct bench_submit_cost *result)
{
	struct times times = { -1, -1, -1, -1 };
	struct samples samples[5] = { 0 };
	int error, i;

	error = measure_in_real_time(rig, path, samples, &times);
	for (i = 0; i < 5; i++)
		free(samples[i].ns);
	if (error)
		return error;
	*result = (struct bench_submit_cost){
		.measured = true,
		.system_calls = paths[path].calls,
		.submit = times.submit - rig->watching,
		.completion = times.completion < 0 ? -1 : times.completion - rig->watching,
		/* On several CPUs others may be at work at the same time. */
		.all = sysconf(_SC_NPROCESSORS_ONLN) == 1 ? times.all : -1,
	};
	result->cost = result->submit;
	if (result->completion > 0)
		result->cost += result->completion;
	return 0;
}

/* The shortest system call there is, from the outside. */
static int64_t call_time(struct samples *samples)
{
	samples->count = 0;
	while (!samples_full(samples)) {
		int64_t start = bench_now();

		syscall(SYS_getppid);
		samples_add(samples, bench_now() - start);
	}
	return samples_median(samples);
}

/*
 * Between the times of two records lie the end of the work for the first and the beginning
 * of that for the second: one tracepoint's in all.  A system call has two.
 */
static int measure_watching(struct rig *rig)
{
	static const enum trace_event events[] = { TRACE_ENTER, TRACE_EXIT };
	const struct trace_record *records;
	int64_t watched, unwatched;
	struct samples samples;
	size_t count;
	int error;

	if (!samples_init(&samples, rig->samples))
		return bench_fail(-ENOMEM, "no host memory");
	call_time(&samples);
	unwatched = call_time(&samples);
	error = trace_start(rig->trace, events, sizeof(events) / sizeof(events[0]));
	if (!error) {
		watched = call_time(&samples);
		error = trace_stop(rig->trace, &records, &count);
	}
	if (!error)
		rig->watching = (watched - unwatched) / 2;
	free(samples.ns);
	return error;
}

static void free_rig(struct rig *rig)
{
	free(rig->costs);
	nvme_close(rig->nvme);
	jobs_close(rig->jobs);
	trace_close(rig->trace);
}

static int measure_user(struct rig *rig, const struct trn_device_entry *entry,
			enum bench_submit_path path, struct bench_submit_cost *result)
{
	struct user_queue *user;
	int error = user_queue_open(entry, &user);

	if (error)
		return error;
	error = user_queue_measure(user, rig->trace, paths[path].user, paths[path].packets,
				   rig->samples, result);
	user_queue_close(user);
	return error;
}

/* On failure the caller frees what there is. */
static int make_rig(const struct trn_device_entry *entry, const struct bench_options *options,
		    struct rig *rig)
{
	int error;

	rig->costs = calloc(options->samples, sizeof(*rig->costs));
	if (!rig->costs)
		return bench_fail(-ENOMEM, "no host memory");
	error = trace_open(&rig->trace);
	if (!error && options->queue[TRN_QUEUE_KERNEL])
		error = measure_watching(rig);
	if (!error)
		error = nvme_open_peer(options->peer, &rig->nvme);
	if (!error)
		error = jobs_open(entry->node, &rig->jobs);
	return error;
}

int bench_submit(const struct trn_device_entry *entry, const struct bench_options *options,
		 struct bench_submit_result *result)
{
	struct rig rig = { .samples = options->samples };
	int error, path;

	*result = (struct bench_submit_result){
		.device = entry->index,
		.instructions = bench_counts_instructions(),
	};
	memcpy(result->pci, entry->pci, sizeof(result->pci));
	error = make_rig(entry, options, &rig);
	for (path = 0; !error && path < SUBMIT_PATHS; path++) {
		bool calls = paths[path].calls;

		if (!options->queue[calls ? TRN_QUEUE_KERNEL : TRN_QUEUE_USER] ||
		    (path == SUBMIT_FLUSH && !rig.nvme))
			continue;
		bench_progress("device %u: kind of submit %d of %d", entry->index, path + 1,
			       SUBMIT_PATHS);
		if (calls)
			error = measure_calls(&rig, path, &result->path[path]);
		else
			error = measure_user(&rig, entry, path, &result->path[path]);
	}
	result->watching = rig.watching;
	free_rig(&rig);
	return error;
}
