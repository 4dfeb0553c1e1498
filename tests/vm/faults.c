/* SPDX-License-Identifier: MIT */
/*
 * faults [TEXT]: each fault, or each with TEXT in its name, of Documentation/recovery.rst, in a
 * kernel queue and in a user queue, beside queues that copy data and check it: of the same context,
 * of another one, and of another chip.  What becomes of each is what the table there says.  Prints
 * the table as it goes.
 *
 * The last fault is a chip's death for good, hence a boot of its own, with two chips or more.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hw/trn_admin.h>
#include <tests/check_run.h>

#include "chip.h"
#include "faults_table.h"

#define LIMIT_MS	300 /* of the guilty queue */
/* What the chip may say that an admin command or an ENABLE change takes, at most. */
#define CHIP_TIMEOUT_MS 10000

/* What the kernel tells of each. */
static const char *const rung_events[] = {
	[NONE] = NULL,
	[QUEUE] = "TRN_RESET=queue",
	[CONTEXT] = "TRN_RESET=context",
	[CORE] = "TRN_RESET=core",
	[FUNCTION] = "TRN_RESET=function",
	[WEDGED] = "WEDGED=rebind,bus-reset",
};

static const char *only; /* faults with this in their name, NULL = all */

/* ---- who is there ---------------------------------------------------- */

enum {
	GUILTY,
	SIBLING_KERNEL,
	SIBLING_USER,
	OTHER_KERNEL,
	OTHER_USER,
	OTHER_PROGRAM,
	ELSEWHERE_KERNEL,
	ELSEWHERE_USER,
	WORKERS
};

static struct worker worker[WORKERS];
static int fd, other_fd, elsewhere_fd, events;
static uint32_t context;
static struct drm_trn_query_recovery before, elsewhere_before;

static void make_guilty(const struct fault *fault, bool user)
{
	/* What happens to the chip comes before the limit. */
	uint32_t limit_ms = fault->where == IN_CHIP && fault->provoke ? 0 : LIMIT_MS;

	if (fault->exec)
		worker_make_exec(&worker[GUILTY], fd, context, 0, user, limit_ms);
	else
		worker_make(&worker[GUILTY], fd, context, 0, user, limit_ms);
}

static void make_workers(const struct fault *fault, bool user)
{
	uint32_t other, elsewhere;
	int i;

	fd = guest_open(0);
	other_fd = guest_open(0);
	elsewhere_fd = guest_open(1);
	context = guest_context(fd);
	other = guest_context(other_fd);
	elsewhere = guest_context(elsewhere_fd);
	make_guilty(fault, user);
	worker_make(&worker[SIBLING_KERNEL], fd, context, 1, false, 0);
	worker_make(&worker[SIBLING_USER], fd, context, 2, true, 0);
	worker_make(&worker[OTHER_KERNEL], other_fd, other, 3, false, 0);
	worker_make(&worker[OTHER_USER], other_fd, other, 4, true, 0);
	worker_make_exec(&worker[OTHER_PROGRAM], other_fd, other, 5, true, 0);
	worker_make(&worker[ELSEWHERE_KERNEL], elsewhere_fd, elsewhere, 6, false, 0);
	worker_make(&worker[ELSEWHERE_USER], elsewhere_fd, elsewhere, 7, true, 0);
	before = chip_recovery(fd);
	elsewhere_before = chip_recovery(elsewhere_fd);
	for (i = SIBLING_KERNEL; i < WORKERS; i++) {
		worker_start(&worker[i]);
		ck_assert_msg(worker_goes_on(&worker[i], 1, 30 * SECOND), "worker %d: %d", i,
			      worker[i].error);
	}
	guest_fails(worker_copy(&worker[GUILTY], trn_deadline(30 * SECOND)), 0);
}

/* Makes the chip execute an admin command; whether that succeeds is the fault's affair. */
static void send_admin_command(void)
{
	struct drm_trn_queue_create create = {
		.context = worker[OTHER_KERNEL].context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = 4,
	};
	struct drm_trn_queue_destroy destroy;

	if (guest_ioctl(other_fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create))
		return;
	destroy = (struct drm_trn_queue_destroy){ .queue = create.queue };
	guest_ioctl(other_fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy);
}

/* A packet that takes so long that whoever waits sleeps, and needs the interrupt. */
static int sleep_for_packet(struct worker *guilty, int64_t deadline)
{
	const struct trn_packet packet = worker_long_packet(guilty, UINT64_C(1) << 31);
	int error = worker_submit(guilty, &packet, 1);

	return error ? error : worker_wait(guilty, deadline);
}

/* What the guilty queue has from the fault, which happens at *@when or later. */
static int commit(const struct fault *fault, int64_t *when)
{
	struct chip_queue queue = chip_queue(0, fd, worker[GUILTY].queue);
	int64_t deadline = trn_deadline(120 * SECOND);
	struct trn_packet packets[2];
	int error = 0;

	*when = trn_deadline(0);
	switch (fault->where) {
	case IN_QUEUE:
		chip_request("inject", "\"chip\":0,\"queue\":%u,%s", queue.number, fault->inject);
		break;
	case IN_VECTOR:
		chip_request("inject", "\"chip\":0,\"vector\":%u,%s", queue.vector, fault->inject);
		break;
	case IN_ADMIN:
		chip_request("inject", "\"chip\":0,%s", fault->inject);
		send_admin_command();
		break;
	case IN_CHIP:
		if (fault->provoke)
			error = fault->provoke(&worker[GUILTY]);
		chip_request("inject", "\"chip\":0,%s", fault->inject);
		if (fault->provoke)
			return error ? error : worker_wait(&worker[GUILTY], deadline);
		break;
	case UNPLUGGED:
		chip_request("unplug", "\"chip\":0");
		break;
	case BY_ITSELF:
		error = fault->provoke(&worker[GUILTY]);
		return error ? error : worker_wait(&worker[GUILTY], deadline);
	}
	/* Without the time that it takes to tell the chip. */
	if (fault->where != IN_ADMIN)
		*when = trn_deadline(0);
	if (fault->where == IN_VECTOR) {
		error = sleep_for_packet(&worker[GUILTY], deadline);
		if (error)
			return error;
	}
	/* Of a chip's fault the queue learns sooner or later. */
	do {
		if (fault->where == IN_QUEUE) {
			error = worker_submit(&worker[GUILTY], packets,
					      worker_copies(&worker[GUILTY], packets));
			if (!error)
				error = worker_wait(&worker[GUILTY], deadline);
		} else {
			error = worker_copy(&worker[GUILTY], deadline);
		}
	} while (!error && fault->guilty != &finish && trn_deadline(0) < deadline);
	return error;
}

/* ---- what becomes of them -------------------------------------------- */

static uint32_t status_of(struct worker *worker)
{
	int64_t deadline = trn_deadline(SECOND);
	uint32_t status;

	/* Another thread may be about to write it. */
	while (!(status = __atomic_load_n(&worker->control->status, __ATOMIC_ACQUIRE)) &&
	       trn_deadline(0) < deadline)
		usleep(1000);
	return status;
}

static void check_outcome(const char *who, struct worker *worker, int error,
			  const struct outcome *outcome)
{
	int wanted = worker->user ? outcome->wait : outcome->job;

	ck_assert_msg(error == wanted, "%s, %s queue: %d, not %d", who,
		      worker->user ? "user" : "kernel", error, wanted);
	if (worker->user && outcome->status)
		ck_assert_msg(status_of(worker) == outcome->status,
			      "%s: the control page says %u, not %u", who, worker->control->status,
			      outcome->status);
	if (worker->user && !outcome->status)
		ck_assert_uint_eq(worker->control->status, TRN_CONTROL_RUNNING);
}

/* Ends a worker in the background: it goes on for a while, or has its error. */
static int end_innocent(struct worker *worker, const struct outcome *outcome)
{
	int error;
	bool ended;

	ended = !worker_goes_on(worker, outcome == &finish ? 3 : UINT32_MAX, 60 * SECOND);
	error = worker_stop(worker);
	return ended && !error ? -ETIME : error;
}

/* Longest time until the guilty has its error, by recovery.rst, "Limits". */
static int64_t bound(const struct fault *fault)
{
	unsigned int command = chip_parameter("admin_timeout_ms") ?: CHIP_TIMEOUT_MS;
	int64_t ms = 2 * chip_parameter("heartbeat_ms");

	if (fault->after_limit)
		ms += LIMIT_MS;
	if (fault->where == IN_ADMIN || fault->rung == QUEUE)
		ms += command;
	/* QUEUE_RESET and CONTEXT_RESET, and then the function's, off and on. */
	if (fault->rung >= CONTEXT)
		ms += 2 * command;
	if (fault->rung >= FUNCTION)
		ms += 2 * CHIP_TIMEOUT_MS;
	return ms * MS;
}

static void check_reason(const struct fault *fault)
{
	struct drm_trn_queue_error error = { .queue = worker[GUILTY].queue };

	if (!fault->reason)
		return;
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_ERROR, &error), 0);
	ck_assert_uint_eq(error.reason, fault->reason);
	if (fault->address)
		ck_assert_uint_eq(error.address, fault->address);
	if (fault->reason == TRN_STOP_FAULT_UNMAPPED)
		ck_assert_uint_ne(error.address, 0);
}

static void check_counters(const struct fault *fault)
{
	struct drm_trn_query_recovery now = chip_recovery(elsewhere_fd);
	uint64_t queues;

	ck_assert_mem_eq(&now, &elsewhere_before, sizeof(now));
	now = chip_recovery(fd);
	queues = now.queue_stops + now.queue_resets - before.queue_stops - before.queue_resets;
	if (fault->rung == NONE)
		ck_assert_mem_eq(&now, &before, sizeof(now));
	if (fault->rung == QUEUE)
		ck_assert_uint_eq(queues, 1);
	ck_assert_uint_eq(now.context_resets - before.context_resets,
			  fault->rung == CONTEXT || fault->rung == CORE);
	ck_assert_uint_eq(now.core_resets - before.core_resets, fault->rung == CORE);
	ck_assert_uint_eq(now.function_resets - before.function_resets, fault->rung == FUNCTION);
	if (fault->rung == FUNCTION)
		ck_assert_uint_ge(now.contexts_lost - before.contexts_lost, 2);
	else
		ck_assert_uint_eq(now.contexts_lost, before.contexts_lost);
}

/* A context of the file is of no use any more, but to be destroyed. */
static void check_lost(void)
{
	struct drm_trn_queue_create create = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = 4,
	};
	struct drm_trn_context_destroy destroy = { .context = context };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), -EIO);
	guest_fails(guest_unbind(fd, context, worker[GUILTY].va, 4096), -EIO);
	guest_fails(worker_destroy_queue(&worker[GUILTY]), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy), 0);
}

static void check_new_context(int file, bool exec)
{
	uint32_t fresh = guest_context(file);
	struct worker next[2];
	int i;

	for (i = 0; i < 2; i++) {
		if (exec)
			worker_make_exec(&next[i], file, fresh, 10 + i, i, 0);
		else
			worker_make(&next[i], file, fresh, 10 + i, i, 0);
		guest_fails(worker_copy(&next[i], trn_deadline(30 * SECOND)), 0);
	}
}

/* Nobody helps: the next job works, of the context if it is still there, and of a new one. */
static void check_next(const struct fault *fault)
{
	int fresh;

	if (fault->rung == FUNCTION) {
		check_lost();
	} else if (fault->guilty != &finish) {
		guest_fails(worker_destroy_queue(&worker[GUILTY]), 0);
		worker_renew(&worker[GUILTY], LIMIT_MS);
		guest_fails(worker_copy(&worker[GUILTY], trn_deadline(30 * SECOND)), 0);
	}
	check_new_context(fd, fault->exec);
	fresh = guest_open(0);
	check_new_context(fresh, fault->exec);
	close(fresh);
}

/* A chip that is gone: another one comes to its place on the bus. */
static void check_replaced(const struct fault *fault, const char *address)
{
	struct drm_trn_context_create create = { 0 };
	unsigned int chips = guest_chips();
	int fresh;

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_CREATE, &create), -ENODEV);
	if (fault->where != UNPLUGGED)
		chip_request("unplug", "\"chip\":0");
	close(fd);
	close(other_fd);
	chip_remove(address);
	chip_expect(chips - 1);
	chip_request("plug", "\"chip\":0");
	chip_rescan();
	chip_expect(chips);
	fresh = guest_open(0);
	check_new_context(fresh, fault->exec);
	close(fresh);
}

/* "finish" or "EIO", of both ways to submit. */
static const char *describe(const int *error, char text[32])
{
	const char *kernel = error[0] ? strerrorname_np(-error[0]) : "finish";
	const char *user = error[1] ? strerrorname_np(-error[1]) : "finish";

	if (error[0] == error[1])
		snprintf(text, 32, "%s", kernel);
	else
		snprintf(text, 32, "%s, %s", kernel, user);
	return text;
}

/* The highest rung that the counters tell of. */
static const char *rung_reached(void)
{
	struct drm_trn_query_recovery now = { 0 };
	struct drm_trn_query query = {
		.query = DRM_TRN_QUERY_RECOVERY,
		.size = sizeof(now),
		.pointer = (uintptr_t)&now,
	};
	struct drm_trn_context_create create = { 0 };

	/* Which waits for the end of a reset. */
	guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_CREATE, &create);
	if (guest_ioctl(fd, DRM_IOCTL_TRN_QUERY, &query) == -ENODEV)
		return "wedged";
	if (now.function_resets > before.function_resets)
		return "function";
	if (now.core_resets > before.core_resets)
		return "core";
	if (now.context_resets > before.context_resets)
		return "context";
	if (now.queue_stops + now.queue_resets > before.queue_stops + before.queue_resets)
		return "queue";
	return "none";
}

static void print_row(const struct fault *fault, bool user, const int error[WORKERS], int64_t took)
{
	char text[3][32];

	printf("%-33s | %-6s | %-6s after %5lld ms | %-8s | %-8s | %-10s | %s\n", fault->name,
	       user ? "user" : "kernel", error[GUILTY] ? strerrorname_np(-error[GUILTY]) : "finish",
	       (long long)(took / MS), describe(&error[SIBLING_KERNEL], text[0]),
	       describe(&error[OTHER_KERNEL], text[1]), describe(&error[ELSEWHERE_KERNEL], text[2]),
	       rung_reached());
	fflush(stdout);
}

/* Events and dumps: a queue that the chip stops itself is no event. */
static void check_told(const struct fault *fault, const char *address)
{
	const char *event = rung_events[fault->rung];
	bool expected = event != NULL;

	if (fault->rung == QUEUE)
		expected = chip_recovery(fd).queue_resets > before.queue_resets;
	if (event)
		ck_assert_msg(chip_event_seen(events, event) == expected, "uevent %s: %s", event,
			      expected ? "none" : "not wanted");
	if (fault->rung >= QUEUE && fault->rung <= FUNCTION)
		ck_assert_msg(chip_dump_taken(address), "no devcoredump");
}

static void suffer(const struct fault *fault, bool user)
{
	const struct outcome *const outcome[WORKERS] = {
		fault->guilty, fault->siblings, fault->siblings, fault->others,
		fault->others, fault->others,	&finish,	 &finish,
	};
	static const char *const who[WORKERS] = {
		"guilty", "sibling",	   "sibling",	 "other",
		"other",  "other program", "other chip", "other chip",
	};
	char address[CHIP_ADDRESS_SIZE];
	int error[WORKERS], i;
	int64_t began, took;

	chip_address(0, address);
	make_workers(fault, user);
	events = chip_events();
	chip_dump_taken(address);
	error[GUILTY] = commit(fault, &began);
	took = trn_deadline(0) - began;
	for (i = SIBLING_KERNEL; i < WORKERS; i++)
		error[i] = end_innocent(&worker[i], outcome[i]);
	print_row(fault, user, error, took);

	for (i = 0; i < WORKERS; i++)
		check_outcome(who[i], &worker[i], error[i], outcome[i]);
	ck_assert_msg(took <= bound(fault), "it took %lld ms, not %lld", (long long)(took / MS),
		      (long long)(bound(fault) / MS));
	check_reason(fault);
	check_told(fault, address);
	if (fault->rung == WEDGED) {
		check_replaced(fault, address);
		return;
	}
	check_counters(fault);
	check_next(fault);
	close(fd);
	close(other_fd);
	/* Another driver's life, for which resets are counted anew. */
	if (fault->rung == FUNCTION) {
		chip_unbind(address);
		chip_bind(address);
	}
}

START_TEST(fault)
{
	const struct fault *fault = &faults[_i / 2];
	bool user = _i % 2;

	if (fault->modes == (user ? KERNEL : USER) || (only && !strstr(fault->name, only)))
		return;
	if (guest_chips() < 2) {
		fprintf(stderr, "faults: skipped, for two chips\n");
		return;
	}
	suffer(fault, user);
}
END_TEST

/* More than four resets in a minute that nobody asked for: given up, with one line in the log. */
START_TEST(too_many_resets)
{
	unsigned int lines = chip_error_lines(), i;
	char address[CHIP_ADDRESS_SIZE];
	int file = guest_open(1), told = chip_events();
	struct drm_trn_context_create create;
	int64_t deadline;

	chip_address(1, address);
	for (i = 0; i < 5; i++) {
		uint64_t resets = chip_recovery(file).function_resets;

		check_new_context(file, false);
		chip_request("inject", "\"chip\":1,\"fault\":\"fatal\"");
		if (i == 4)
			break;
		deadline = trn_deadline(30 * SECOND);
		while (chip_recovery(file).function_resets == resets)
			ck_assert_int_lt(trn_deadline(0), deadline);
	}
	deadline = trn_deadline(30 * SECOND);
	do {
		create = (struct drm_trn_context_create){ 0 };
		ck_assert_int_lt(trn_deadline(0), deadline);
	} while (guest_ioctl(file, DRM_IOCTL_TRN_CONTEXT_CREATE, &create) != -ENODEV);
	ck_assert(chip_event_seen(told, rung_events[WEDGED]));
	ck_assert_uint_eq(chip_error_lines(), lines + 1);
	close(file);
	chip_unbind(address);
	chip_bind(address);
	file = guest_open(1);
	check_new_context(file, false);
	close(file);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("faults");
	TCase *cases = tcase_create("faults");

	if (argc > 2) {
		fprintf(stderr, "faults: at most one argument, a part of the names of faults\n");
		return 2;
	}
	only = argv[1];

	printf("%-33s | %-6s | %-21s | %-8s | %-8s | %-10s | %s\n", "fault", "mode", "guilty queue",
	       "siblings", "others", "other chip", "rung");
	fflush(stdout);
	tcase_set_timeout(cases, 240);
	if (!only)
		tcase_add_test(cases, too_many_resets);
	tcase_add_loop_test(cases, fault, 0, 2 * fault_count);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
