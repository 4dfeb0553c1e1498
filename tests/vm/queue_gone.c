/* SPDX-License-Identifier: MIT */
/*
 * queue_gone unbind|remove|unplug|death: the chip is taken away from a process with an open file,
 * mapped rings and doorbells, exported buffers, and threads that wait in every way there is.  Each
 * wait ends with -ENODEV, nothing raises a signal, and when all is closed the module is not in use
 * any more.
 *
 * After death the guest is spoiled: that has a boot of its own.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "chip.h"
#include "guest_memory.h"
#include "worker.h"

/* Until the last waiter knows. */
#define LIMIT (10 * SECOND)
#define SIZE  (64 * KIB)

static const char *how;
static char address[CHIP_ADDRESS_SIZE];
static unsigned int chips;

static bool is(const char *name)
{
	return !strcmp(how, name);
}

static void take_away(void)
{
	if (is("unbind"))
		chip_unbind(address);
	else if (is("remove"))
		chip_remove(address);
	else if (is("unplug"))
		chip_request("unplug", "\"chip\":0");
	else
		ck_assert_int_eq(system("trn-vmctl vm kill-vdev >/dev/null"), 0);
}

/* When the module was unloaded and loaded meanwhile, which binds what is on the bus. */
static void bring_back(void)
{
	if (is("unplug")) {
		chip_remove(address);
		chip_request("plug", "\"chip\":0");
	}
	if (!is("unbind"))
		chip_rescan();
	chip_expect(chips);
}

/* ---- who waits ------------------------------------------------------- */

enum {
	RUNNING, /* kernel queue with a long job */
	BLOCKED, /* kernel queue whose job waits for that one */
	PARKED,	 /* user queue that waits for a fence that nobody writes */
	BUSY,	 /* user queue that copies */
	QUEUES
};

static struct worker worker[QUEUES];
static int fd, event, fence;

struct waiter {
	const char *name;
	int (*wait)(void);
	pthread_t thread;
	int result;
	int64_t end;
};

static int in_wait(void)
{
	return worker_wait(&worker[PARKED], TRN_FOREVER);
}

static int in_syncobj_wait(void)
{
	return worker_wait(&worker[RUNNING], TRN_FOREVER);
}

static int in_syncobj_wait_of_blocked(void)
{
	return worker_wait(&worker[BLOCKED], TRN_FOREVER);
}

/* The eventfd tells that something has happened, and WAIT what. */
static int in_poll_of_eventfd(void)
{
	struct pollfd wait = { .fd = event, .events = POLLIN };

	if (poll(&wait, 1, 60000) != 1)
		return -ETIME;
	return worker_wait(&worker[PARKED], 0);
}

static int in_poll_of_fence(void)
{
	return trn_fence_wait(fence, trn_deadline(60 * SECOND));
}

/* By libtrn, whose queue polls its control page. */
static struct trn_queue *queue;
static uint64_t sequence;

static int in_libtrn(void)
{
	int result;

	do
		result = trn_queue_poll(queue, sequence);
	while (!result);
	return result;
}

static struct waiter waiters[] = {
	{ .name = "WAIT", .wait = in_wait },
	{ .name = "wait for a syncobj", .wait = in_syncobj_wait },
	{ .name = "wait for a syncobj behind another", .wait = in_syncobj_wait_of_blocked },
	{ .name = "poll of an eventfd", .wait = in_poll_of_eventfd },
	{ .name = "poll of a fence", .wait = in_poll_of_fence },
	{ .name = "trn_queue_poll", .wait = in_libtrn },
};
#define WAITERS (sizeof(waiters) / sizeof(waiters[0]))

static void *run_waiter(void *argument)
{
	struct waiter *waiter = argument;

	waiter->result = waiter->wait();
	waiter->end = trn_deadline(0);
	return NULL;
}

static int export_fence(uint32_t syncobj)
{
	struct drm_syncobj_handle file = {
		.handle = syncobj,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), 0);
	return file.fd;
}

static void fill_queues(uint32_t context)
{
	struct trn_packet packets[32], packet;
	struct drm_trn_queue_eventfd notify;
	int i;

	for (i = 0; i < QUEUES; i++)
		worker_make(&worker[i], fd, context, (unsigned int)i, i >= PARKED, 0);
	/* As many as a job may have, none longer than a packet may be. */
	for (i = 0; i < 31; i++)
		packets[i] = worker_long_packet(&worker[RUNNING], WORKER_ENDLESS);
	guest_fails(worker_submit(&worker[RUNNING], packets, 31), 0);
	guest_fails(worker_submit_after(&worker[BLOCKED], &worker[RUNNING], packets, 1), 0);
	fence = export_fence(worker[RUNNING].syncobj);
	packet = (struct trn_packet){
		.opcode = TRN_PACKET_FENCE_WAIT,
		.fence = { .address = worker[PARKED].va + WORKER_FENCE, .value = 1 },
	};
	guest_fails(worker_submit(&worker[PARKED], &packet, 1), 0);
	event = eventfd(0, EFD_CLOEXEC);
	notify = (struct drm_trn_queue_eventfd){
		.queue = worker[PARKED].queue,
		.fd = event,
		.va = worker[PARKED].va + WORKER_FENCE,
		.value = 1,
	};
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_EVENTFD, &notify), 0);
}

/* A user queue of libtrn's, with a packet that never ends. */
static struct trn_device *device;
static struct trn_context *context;
static struct trn_buffer *buffer;

static void fill_library_queue(void)
{
	const uint32_t sizes[4] = { 4096, 16384, 16384, 1 }, strides[3] = { 0, 0, 0 };

	guest_ok(trn_device_open(0, &device));
	guest_ok(trn_context_create(device, &context));
	guest_ok(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 8192, 0, &buffer));
	guest_ok(trn_queue_create(context, TRN_QUEUE_USER, 16, &queue));
	trn_packet_copy_nd(trn_queue_packet(queue), trn_buffer_address(buffer), strides,
			   trn_buffer_address(buffer) + 4096, strides, sizes);
	guest_ok(trn_queue_submit(queue, &sequence));
}

/* All can be given back, though the chip is not there. */
static void empty_library_queue(void)
{
	guest_ok(trn_queue_destroy(queue));
	guest_ok(trn_buffer_destroy(buffer));
	guest_ok(trn_context_destroy(context));
	guest_ok(trn_device_close(device));
}

/* ---- the end --------------------------------------------------------- */

/* Neither a signal, nor anything that anybody sees. Waits end before doorbells are taken away. */
static void use_pages(void)
{
	int64_t deadline = trn_deadline(LIMIT);
	unsigned int i;

	for (i = PARKED; i < QUEUES; i++) {
		ck_assert_uint_eq(worker[i].control->status, TRN_CONTROL_GONE);
		memset(worker[i].control, 0x5a, sizeof(*worker[i].control));
		*worker[i].doorbell = 1;
		do
			worker[i].doorbell[8] = i;
		while (worker[i].doorbell[8] != i && trn_deadline(0) < deadline);
		ck_assert_uint_eq(worker[i].doorbell[8], i);
	}
}

START_TEST(waits_end)
{
	int dma_buf[2];
	unsigned int i;
	uint32_t hbm;
	int64_t began;
	void *mapped;

	fd = guest_open(0);
	fill_queues(guest_context(fd));
	fill_library_queue();
	guest_fails(guest_create(fd, DRM_TRN_BO_HBM, DRM_TRN_STACK_ANY, SIZE,
				 DRM_TRN_BO_CPU_VISIBLE, &hbm),
		    0);
	dma_buf[0] = guest_export(fd, hbm);
	dma_buf[1] = guest_export(fd, worker[BUSY].handle);
	ck_assert_int_ge(dma_buf[0], 0);
	ck_assert_int_ge(dma_buf[1], 0);
	mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, dma_buf[0], 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	worker_start(&worker[BUSY]);
	ck_assert(worker_goes_on(&worker[BUSY], 1, 30 * SECOND));
	for (i = 0; i < WAITERS; i++)
		ck_assert_int_eq(pthread_create(&waiters[i].thread, NULL, run_waiter, &waiters[i]),
				 0);
	/* Asleep or not yet: it has to be right both ways, and asleep is what is meant. */
	usleep(200000);

	began = trn_deadline(0);
	take_away();
	for (i = 0; i < WAITERS; i++) {
		ck_assert_int_eq(pthread_join(waiters[i].thread, NULL), 0);
		printf("%s: %s ends with %d after %lld ms\n", how, waiters[i].name,
		       waiters[i].result, (long long)(waiters[i].end - began) / 1000000);
		fflush(stdout);
		guest_fails(waiters[i].result, -ENODEV);
		ck_assert_int_lt(waiters[i].end - began, LIMIT);
	}
	guest_fails(worker_stop(&worker[BUSY]), -ENODEV);
	use_pages();
	memset(mapped, 1, SIZE);
	guest_fails(worker_wait(&worker[PARKED], TRN_FOREVER), -ENODEV);

	empty_library_queue();
	/* Everything else goes with the process. */
}
END_TEST

static unsigned int use_count(void)
{
	FILE *file = fopen("/sys/module/trn/refcnt", "r");
	unsigned int count = UINT32_MAX;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%u", &count), 1);
	fclose(file);
	return count;
}

/* The module is not in use any more, and can be unloaded. */
START_TEST(nothing_is_left)
{
	int64_t deadline = trn_deadline(LIMIT);

	while (use_count() && trn_deadline(0) < deadline)
		usleep(10000);
	ck_assert_uint_eq(use_count(), 0);
	guest_fails(guest_unload_module(), 0);
}
END_TEST

/* What comes to the chip's place works. */
START_TEST(works_again)
{
	struct worker next;

	if (is("death"))
		return;
	ck_assert_int_eq(system("insmod \"$TRN_MODULE\""), 0);
	bring_back();
	fd = guest_open(0);
	worker_make(&next, fd, guest_context(fd), 0, true, 0);
	guest_fails(worker_copy(&next, trn_deadline(30 * SECOND)), 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("queue_gone");
	TCase *cases = tcase_create("queue_gone");
	const struct trn_device_list *list;

	how = argc == 2 ? argv[1] : "";
	if (!is("unbind") && !is("remove") && !is("unplug") && !is("death")) {
		fprintf(stderr, "queue_gone: one argument: unbind, remove, unplug or death\n");
		return 2;
	}
	/* For both tests: the second begins without the chip. */
	if (trn_device_list(&list) || !list->count) {
		fprintf(stderr, "queue_gone: there is no chip: %s\n", trn_error_message());
		return 1;
	}
	chips = (unsigned int)list->count;
	snprintf(address, sizeof(address), "%s", list->entry[0]->pci);
	trn_device_list_free(list);

	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, waits_end);
	tcase_add_test(cases, nothing_is_left);
	tcase_add_test(cases, works_again);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
