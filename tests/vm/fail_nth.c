/* SPDX-License-Identifier: MIT */
/*
 * The first, second, third … allocation or access to user memory within a call fails, until the
 * call makes no more of them: each failure is clean.  Needs a kernel with fault injection (debug),
 * whose kmemleak has the last word.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
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

#define FAIL	 "/proc/thread-self/fail-nth"
#define VA	 UINT64_C(0x40000000)
#define HOST_VA	 (VA << 12)
/* A mapping with a hole now and then. */
#define SPLIT_VA UINT64_C(0x80000000)
#define SIZE	 (2 * MIB + 64 * KIB)
/* More than any call makes. */
#define NTH_MAX	 4000

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_msg(file >= 0, "%s: %s", path, strerror(errno));
	ck_assert_msg(write(file, text, strlen(text)) == (ssize_t)strlen(text), "%s: %s", path,
		      strerror(errno));
	close(file);
}

/* The code from the first to the last function of the kernel whose name begins with a prefix. */
static void find_functions(const char *prefix, unsigned long *start, unsigned long *end)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char type, symbol[256];
	unsigned long address;
	bool before = false;

	ck_assert_ptr_nonnull(symbols);
	*start = *end = 0;
	/* In the order of their addresses. */
	while (fscanf(symbols, "%lx %c %255s%*[^\n]", &address, &type, symbol) == 3) {
		if (before)
			*end = address;
		/* Parts of functions that are hardly ever executed (.cold) lie elsewhere. */
		before = (type == 't' || type == 'T') && !strchr(symbol, '.') &&
			 !strncmp(symbol, prefix, strlen(prefix));
		if (before && !*start)
			*start = address;
	}
	fclose(symbols);
	ck_assert_uint_lt(*start, *end);
}

static void spare_functions(const char *kind, unsigned long start, unsigned long end)
{
	char path[96], text[24];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/reject-start", kind);
	snprintf(text, sizeof(text), "%#lx", start);
	write_file(path, text);
	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/reject-end", kind);
	snprintf(text, sizeof(text), "%#lx", end);
	write_file(path, text);
}

/* Allocations that may sleep fail too, pages of any number, and the kernel does not log each. */
static void configure(void)
{
	unsigned long start, end;

	if (access(FAIL, W_OK))
		return;
	/* DMA-API debugging gives up for good when an allocation of its own fails. */
	find_functions("debug_dma_", &start, &end);
	spare_functions("failslab", start, end);
	spare_functions("fail_page_alloc", start, end);
	write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/failslab/verbose", "0");
	write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	write_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
}

/* ---- calls ----------------------------------------------------------- */

/* A file with all that calls need; nothing fails while it is made. */
static struct {
	int fd, event;
	uint32_t context, host, hbm;
	uint32_t made; /* what the last call has created */
	struct worker kernel, first, user;
	void *memory;
} rig;

static void make_rig(void)
{
	rig.fd = guest_open(0);
	rig.event = eventfd(0, EFD_CLOEXEC);
	rig.context = guest_context(rig.fd);
	rig.host = guest_bo(rig.fd, DRM_TRN_BO_HOST, SIZE);
	rig.hbm = guest_bo(rig.fd, DRM_TRN_BO_HBM, SIZE);
	guest_fails(guest_bind(rig.fd, rig.context, rig.host, SPLIT_VA, SIZE), 0);
	worker_make(&rig.kernel, rig.fd, rig.context, 0, false, 0);
	worker_make(&rig.first, rig.fd, rig.context, 1, false, 0);
	worker_make(&rig.user, rig.fd, rig.context, 2, true, 0);
}

/* All of it works still. */
static void check_rig(void)
{
	guest_fails(worker_copy(&rig.kernel, trn_deadline(30 * SECOND)), 0);
	guest_fails(worker_copy(&rig.first, trn_deadline(30 * SECOND)), 0);
	guest_fails(worker_copy(&rig.user, trn_deadline(30 * SECOND)), 0);
}

static void free_rig(void)
{
	worker_unmap(&rig.kernel);
	worker_unmap(&rig.first);
	worker_unmap(&rig.user);
	close(rig.event);
	close(rig.fd);
}

static const char *node;

static int open_node(void)
{
	int fd = open(node, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int create_context(void)
{
	struct drm_trn_context_create create = { 0 };
	int error = guest_ioctl(rig.fd, DRM_IOCTL_TRN_CONTEXT_CREATE, &create);

	rig.made = create.context;
	return error;
}

static int destroy_context(void)
{
	struct drm_trn_context_destroy destroy = { .context = rig.made };

	return guest_ioctl(rig.fd, DRM_IOCTL_TRN_CONTEXT_DESTROY, &destroy);
}

static int create_hbm(void)
{
	return guest_hbm(rig.fd, DRM_TRN_STACK_ANY, 4 * MIB, &rig.made);
}

static int create_host(void)
{
	return guest_create(rig.fd, DRM_TRN_BO_HOST, 0, 64 * KIB, 0, &rig.made);
}

static int create_userptr(void)
{
	return guest_userptr(rig.fd, rig.memory, 64 * KIB, 0, &rig.made);
}

static int close_object(void)
{
	return guest_close(rig.fd, rig.made);
}

static int unbind_objects(void)
{
	int error = guest_unbind(rig.fd, rig.context, VA, SIZE);

	return error ? error : guest_unbind(rig.fd, rig.context, HOST_VA, SIZE);
}

/* Two objects, whose pages and page tables are allocated. */
static int bind_objects(bool async)
{
	struct drm_trn_bind_op ops[2] = {
		{ .op = DRM_TRN_BIND_MAP, .handle = rig.hbm, .va = VA, .size = SIZE },
		{ .op = DRM_TRN_BIND_MAP, .handle = rig.host, .va = HOST_VA, .size = SIZE },
	};
	struct drm_trn_sync sync = {
		.handle = rig.first.syncobj,
		.flags = DRM_TRN_SYNC_SIGNAL,
	};
	struct drm_trn_vm_bind bind = {
		.context = rig.context,
		.flags = async ? DRM_TRN_VM_BIND_ASYNC : 0,
		.ops = { .stride = sizeof(ops[0]), .count = 2, .pointer = (uintptr_t)ops },
		.syncs = { .stride = sizeof(sync), .count = async, .pointer = (uintptr_t)&sync },
	};
	int error = guest_ioctl(rig.fd, DRM_IOCTL_TRN_VM_BIND, &bind);

	/* Operations before the one that failed took effect. */
	if (error)
		guest_fails(unbind_objects(), 0);
	return error;
}

static int bind_now(void)
{
	return bind_objects(false);
}

static int bind_later(void)
{
	return bind_objects(true);
}

/* A hole in a mapping, which becomes two. */
static int split(void)
{
	return guest_unbind(rig.fd, rig.context, SPLIT_VA + 4096, 4096);
}

static int mend_split(void)
{
	int error = guest_unbind(rig.fd, rig.context, SPLIT_VA, SIZE);

	return error ? error : guest_bind(rig.fd, rig.context, rig.host, SPLIT_VA, SIZE);
}

static int destroy_queue(void)
{
	struct drm_trn_queue_destroy destroy = { .queue = rig.made };

	return guest_ioctl(rig.fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy);
}

static int create_queue(uint32_t mode)
{
	struct drm_trn_queue_create create = {
		.context = rig.context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = mode,
		.ring_entries = 512,
		.ring_va = mode == DRM_TRN_QUEUE_USER ? rig.user.va + 65536 : 0,
	};
	void *page;
	int error = guest_ioctl(rig.fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create);

	rig.made = create.queue;
	if (error || mode == DRM_TRN_QUEUE_KERNEL)
		return error;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, rig.fd,
		    (off_t)create.doorbell_offset);
	if (page == MAP_FAILED) {
		error = -errno;
		guest_fails(destroy_queue(), 0);
		return error;
	}
	munmap(page, 4096);
	return 0;
}

static int create_kernel_queue(void)
{
	return create_queue(DRM_TRN_QUEUE_KERNEL);
}

static int create_user_queue(void)
{
	return create_queue(DRM_TRN_QUEUE_USER);
}

static int submit(void)
{
	struct trn_packet packets[2];
	uint32_t count = worker_copies(&rig.kernel, packets);

	return worker_submit(&rig.kernel, packets, count);
}

/* The first job is under way still, so that the second goes through the scheduler. */
static int submit_behind(void)
{
	struct trn_packet packets[2];
	uint32_t count = worker_copies(&rig.kernel, packets);
	const struct trn_packet packet = worker_long_packet(&rig.first, UINT64_C(1) << 30);
	int error = worker_submit(&rig.first, &packet, 1);

	return error ? error : worker_submit_after(&rig.kernel, &rig.first, packets, count);
}

static int wait_user(void)
{
	const struct trn_packet packet = worker_long_packet(&rig.user, UINT64_C(1) << 28);

	worker_submit(&rig.user, &packet, 1);
	return worker_wait(&rig.user, trn_deadline(30 * SECOND));
}

static int notify(void)
{
	struct drm_trn_queue_eventfd call = {
		.queue = rig.user.queue,
		.fd = rig.event,
		.va = rig.user.va + WORKER_FENCE,
		.value = 1000,
	};

	return guest_ioctl(rig.fd, DRM_IOCTL_TRN_QUEUE_EVENTFD, &call);
}

static int export(void)
{
	int next = dup(rig.fd), dma_buf;

	close(next);
	dma_buf = guest_export(rig.fd, rig.hbm);
	if (dma_buf == -EFAULT)
		/* The process has it, though its number could not be copied. */
		close(next);
	if (dma_buf < 0)
		return dma_buf;
	close(dma_buf);
	return 0;
}

static int name(void)
{
	return guest_name(rig.fd, rig.hbm, "an object");
}

static int nothing(void)
{
	return 0;
}

static int renew_rig(void)
{
	free_rig();
	make_rig();
	return 0;
}

static const struct {
	const char *name;
	int (*call)(void);
	int (*undo)(void); /* after it succeeded */
} calls[] = {
	{ "open", open_node, nothing },
	{ "CONTEXT_CREATE", create_context, destroy_context },
	{ "BO_CREATE of HBM", create_hbm, close_object },
	{ "BO_CREATE of host memory", create_host, close_object },
	{ "BO_CREATE_USERPTR", create_userptr, close_object },
	{ "VM_BIND", bind_now, unbind_objects },
	{ "VM_BIND, asynchronous", bind_later, unbind_objects },
	{ "VM_BIND that splits", split, mend_split },
	{ "QUEUE_CREATE, kernel", create_kernel_queue, destroy_queue },
	{ "QUEUE_CREATE, user", create_user_queue, destroy_queue },
	{ "SUBMIT", submit, nothing },
	{ "SUBMIT behind a fence", submit_behind, nothing },
	{ "WAIT", wait_user, nothing },
	{ "QUEUE_EVENTFD", notify, renew_rig },
	{ "PRIME export", export, nothing },
	{ "BO_SET_NAME", name, nothing },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

/* ---- the sweep ------------------------------------------------------- */

/* Makes the call with its nth attempt failing: false if there were not as many. */
static bool call_with_failure(int (*call)(void), unsigned int nth, int *result)
{
	char text[16], left[16] = "";
	int file = open(FAIL, O_RDWR | O_CLOEXEC);
	bool read_back;

	ck_assert_msg(file >= 0, FAIL ": %s", strerror(errno));
	snprintf(text, sizeof(text), "%u", nth);
	ck_assert_int_gt(write(file, text, strlen(text)), 0);
	*result = call();
	/* If reading it fails it was that one's turn. */
	read_back = pread(file, left, sizeof(left) - 1, 0) > 0;
	if (pwrite(file, "0", 1, 0) < 0)
		ck_assert_int_gt(pwrite(file, "0", 1, 0), 0);
	close(file);
	return read_back && !strtoul(left, NULL, 10);
}

static bool is_sensible(int error)
{
	return error == 0 || error == -ENOMEM || error == -EFAULT || error == -ENOSPC ||
	       error == -EAGAIN;
}

START_TEST(each_failure_is_clean)
{
	unsigned int nth, failed = 0;
	int file, result = 0;
	bool injected = true;
	struct chip_use use;

	if (access(FAIL, W_OK)) {
		fprintf(stderr, "fail_nth: skipped, for kernels with fault injection\n");
		return;
	}
	rig.memory =
		mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(rig.memory, 1, 64 * KIB);
	file = guest_open(0);
	use = chip_use(0, file);
	make_rig();
	for (nth = 1; injected; nth++) {
		ck_assert_uint_lt(nth, NTH_MAX);
		injected = call_with_failure(calls[_i].call, nth, &result);
		ck_assert_msg(is_sensible(result), "%s, failure %u: %d", calls[_i].name, nth,
			      result);
		if (!injected)
			guest_fails(result, 0);
		failed += result != 0;
		check_rig();
		if (!result)
			guest_fails(calls[_i].undo(), 0);
	}
	free_rig();
	chip_expect_use(0, file, use);
	fprintf(stderr, "fail_nth: %s: %u attempts, of which %u failed the call\n", calls[_i].name,
		nth - 2, failed);
	ck_assert_uint_gt(failed, 0);
	close(file);
}
END_TEST

int main(void)
{
	const struct trn_device_list *list;
	Suite *suite = suite_create("fail_nth");
	TCase *cases = tcase_create("fail_nth");

	if (trn_device_list(&list) || !list->count) {
		fprintf(stderr, "fail_nth: there is no chip: %s\n", trn_error_message());
		return 1;
	}
	node = list->entry[0]->node;
	tcase_set_timeout(cases, 600);
	tcase_add_unchecked_fixture(cases, configure, NULL);
	tcase_add_loop_test(cases, each_failure_is_clean, 0, CALLS);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
