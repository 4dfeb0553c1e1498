/* SPDX-License-Identifier: MIT */
/*
 * What is left behind when queues are stopped: dumps in /sys/class/devcoredump, uevents, counters
 * and tracepoints.  Expected texts are made from Documentation/recovery.rst and from what the test
 * itself has put on rings and into page tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hw/trn_admin.h>
#include <hw/trn_mmu.h>
#include <tests/check_run.h>

#include "chip.h"
#include "dump.h"
#include "guest.h"

#define MIB	 (UINT64_C(1) << 20)
#define ENTRIES	 64
#define TRACING	 "/sys/kernel/tracing/"
#define BO_VA	 UINT64_C(0x123456789000)
#define BIG_SIZE (64 * MIB)
#define BIG_VA	 UINT64_C(0x200000000000)

static int fd;
static uint32_t context;

/* The line that a packet must have. */
static void expect_packet(uint32_t index, const char *name, const struct trn_packet *packet)
{
	const uint64_t *words = (const uint64_t *)packet;
	char line[256];
	int i, length;

	length = snprintf(line, sizeof(line), "  %u %s", index, name);
	for (i = 0; i < 8; i++)
		length += snprintf(line + length, sizeof(line) - length, " %016" PRIx64, words[i]);
	dump_has_line(line);
}

/* A level of the walk: "table" or "invalid". */
static void expect_level(uint64_t va, int level, const char *kind)
{
	char start[64];
	const char *line;

	snprintf(start, sizeof(start), "  level %d index %" PRIu64 " entry ", level,
		 va >> TRN_PT_SHIFT(level) & (TRN_PT_ENTRIES - 1));
	line = dump_line(start);
	ck_assert_str_eq(strrchr(line, ' ') + 1, kind);
}

static uint32_t make_queue(uint32_t mode, uint64_t ring_va, uint32_t timeout_ms)
{
	struct drm_trn_queue_create create = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = mode,
		.ring_entries = ENTRIES,
		.ring_va = ring_va,
		.timeout_ms = timeout_ms,
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), 0);
	return create.queue;
}

static struct drm_trn_queue_error queue_error(uint32_t queue)
{
	struct drm_trn_queue_error error = { .queue = queue };

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_ERROR, &error), 0);
	return error;
}

static void *map_queue_page(uint64_t offset)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, (off_t)offset);

	ck_assert(page != MAP_FAILED);
	return page;
}

static void start(void)
{
	fd = guest_open(0);
	context = guest_context(fd);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	dump_drop();
	/* So long after a dump of a queue that the chip stopped there is no other. */
	usleep(1100000);
}

static void stop(void)
{
	close(fd);
}

static void map_page(void)
{
	guest_fails(guest_bind(fd, context, guest_bo(fd, DRM_TRN_BO_HOST, 4096), BO_VA, 4096), 0);
}

/* Kernel queue, an address beside a mapped page: the walk ends at the last level. */
START_TEST(fault_beside_page)
{
	struct drm_trn_query_recovery before = chip_recovery(fd), after;
	uint64_t va = BO_VA + 4096;
	uint32_t queue, syncobj = guest_syncobj(fd);
	struct trn_packet packets[3];
	char line[256];

	map_page();
	queue = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 0);
	packets[0] = guest_fill(BO_VA, 4096, 0x5a, 0);
	packets[1] = guest_copy(BO_VA, va, 64);
	packets[2] = guest_fill(BO_VA, 64, 0xa5, 0);
	guest_fails(guest_submit(fd, queue, packets, 3, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 30), -EFAULT);

	dump_read();
	ck_assert_msg(!strncmp(dump, "trn coredump 1\n", 15), "%s", dump);
	dump_line_has("driver: ", "1.0.0");
	dump_line_has("device: ", "generation trn");
	dump_has_line("rung: stop");
	snprintf(line, sizeof(line), "queue: id %u handle %u client %" PRIu64 " ",
		 chip_queue(0, fd, queue).number, queue, chip_client_id(fd));
	dump_line_has(line, " mode kernel ");
	snprintf(line, sizeof(line),
		 "stop: reason %u FAULT_UNMAPPED packet 1 access read address 0x%" PRIx64,
		 TRN_STOP_FAULT_UNMAPPED, va);
	dump_has_line(line);
	dump_line_has("chip: ", "state stopped");
	dump_line_has("chip: ", " head 1 ");
	dump_line_has("control: ", "tail 4 head 1 ");
	expect_packet(0, "FILL", &packets[0]);
	expect_packet(1, "COPY", &packets[1]);
	expect_packet(2, "FILL", &packets[2]);
	/* The job's own. */
	dump_line("  3 FENCE_WRITE ");
	expect_level(va, 3, "table");
	expect_level(va, 2, "table");
	expect_level(va, 1, "table");
	expect_level(va, 0, "invalid");

	after = chip_recovery(fd);
	ck_assert_uint_eq(after.queue_stops, before.queue_stops + 1);
	ck_assert_uint_eq(after.queue_resets, before.queue_resets);
	ck_assert_uint_eq(after.context_resets, before.context_resets);
	ck_assert_uint_eq(after.function_resets, before.function_resets);
}
END_TEST

/* Where nothing at all is mapped the walk ends in the root. */
START_TEST(fault_elsewhere)
{
	uint64_t va = BO_VA ^ UINT64_C(1) << 47;
	struct trn_packet packet = guest_fill(va, 8, 0, 0);
	uint32_t queue, syncobj = guest_syncobj(fd);

	map_page();
	queue = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 0);
	guest_fails(guest_submit(fd, queue, &packet, 1, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 30), -EFAULT);
	dump_read();
	dump_line_has("stop: ", " access write ");
	expect_level(va, 3, "invalid");
	ck_assert_msg(!strstr(dump, "  level 2 "), "%s", dump);
}
END_TEST

/* User queue: its ring is read through the context's mappings. */
START_TEST(bad_packet)
{
	struct guest_user_queue queue = guest_user_queue(fd, context);
	struct trn_packet nop = { .opcode = TRN_PACKET_NOP };
	struct trn_packet bad = { .opcode = 0x7f, .body = { 1, 2, 3 } };
	char line[128];

	guest_push(&queue, &nop);
	guest_push(&queue, &bad);
	guest_fails(guest_wait(&queue, 1, trn_deadline(30 * SECOND)), -EIO);

	dump_read();
	snprintf(line, sizeof(line), "stop: reason %u BAD_OPCODE packet 1", TRN_STOP_BAD_OPCODE);
	dump_has_line(line);
	dump_line_has("queue: ", " mode user ");
	expect_packet(0, "NOP", &nop);
	expect_packet(1, "unknown", &bad);
	ck_assert_msg(!strstr(dump, "walk: "), "%s", dump);
}
END_TEST

/* A ring that the CPU cannot see; its HBM reads as NOPs. */
START_TEST(ring_not_readable)
{
	uint64_t size = ENTRIES * sizeof(struct trn_packet);
	struct drm_trn_queue_create create = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_USER,
		.ring_entries = ENTRIES,
		.ring_va = BO_VA,
	};
	struct trn_control *control;
	volatile uint32_t *doorbell;

	guest_fails(guest_bind(fd, context, guest_bo(fd, DRM_TRN_BO_HBM, size), BO_VA, size), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), 0);
	control = map_queue_page(create.control_offset);
	doorbell = map_queue_page(create.doorbell_offset);
	__atomic_store_n(&control->tail, ENTRIES + 1, __ATOMIC_SEQ_CST);
	*doorbell = 1;

	dump_read();
	dump_line_has("stop: ", " BAD_TAIL ");
	dump_line_has("control: ", "tail 65 head 0 ");
	dump_has_line("  0 not readable");
	dump_has_line("  15 not readable");
	ck_assert_msg(!strstr(dump, "\n  16 "), "%s", dump);
	ck_assert_uint_eq(queue_error(create.queue).reason, TRN_STOP_BAD_TAIL);
}
END_TEST

/* A process that makes one mistake after the other gets one dump of the first, not one of each. */
START_TEST(many_mistakes_one_dump)
{
	struct trn_packet packet = guest_fill(BO_VA, 8, 0, 0);
	uint32_t queues[8], syncobj = guest_syncobj(fd);
	struct drm_trn_query_recovery before = chip_recovery(fd);
	char line[64];
	int i;

	for (i = 0; i < 8; i++)
		queues[i] = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 0);
	for (i = 0; i < 8; i++) {
		guest_fails(guest_submit(fd, queues[i], &packet, 1, syncobj), 0);
		guest_fails(guest_job(fd, syncobj, 30), -EFAULT);
	}
	ck_assert_uint_eq(chip_recovery(fd).queue_stops, before.queue_stops + 8);
	dump_read();
	snprintf(line, sizeof(line), "queue: id %u ", chip_queue(0, fd, queues[0]).number);
	dump_line(line);
}
END_TEST

static int listen_to_uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int sock = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	ck_assert_int_ge(sock, 0);
	ck_assert_int_eq(bind(sock, (struct sockaddr *)&address, sizeof(address)), 0);
	return sock;
}

/* Whether a message has a string; its strings end with 0 bytes. */
static bool uevent_has(const char *message, size_t length, const char *string)
{
	size_t at;

	for (at = 0; at < length; at += strlen(message + at) + 1) {
		if (!strcmp(message + at, string))
			return true;
	}
	return false;
}

/* The next uevent of a reset must be this. */
static void expect_uevent(int sock, const char *what, uint64_t client)
{
	struct pollfd poll_sock = { .fd = sock, .events = POLLIN };
	char message[4096], reset[64], owner[64];
	ssize_t length;

	snprintf(reset, sizeof(reset), "TRN_RESET=%s", what);
	snprintf(owner, sizeof(owner), "TRN_CLIENT=%" PRIu64, client);
	for (;;) {
		ck_assert_msg(poll(&poll_sock, 1, 30000) == 1, "no uevent \"%s\"", reset);
		length = recv(sock, message, sizeof(message) - 1, 0);
		ck_assert_int_gt(length, 0);
		message[length] = '\0';
		if (memmem(message, (size_t)length, "TRN_RESET=", 10))
			break;
	}
	ck_assert_msg(uevent_has(message, (size_t)length, reset), "not a reset of a %s", what);
	ck_assert(uevent_has(message, (size_t)length, "ACTION=change"));
	ck_assert(uevent_has(message, (size_t)length, "SUBSYSTEM=accel"));
	ck_assert(uevent_has(message, (size_t)length, owner) == !!client);
}

#define HANG "\"chip\":0,\"fault\":\"hang\",\"queue\":%u,\"cure\":\"%s\""

static void inject_hang(uint32_t queue, const char *cure)
{
	chip_request("inject", HANG, chip_queue(0, fd, queue).number, cure);
}

/* A context of a new file fills a page and finds it filled. */
static void expect_innocent_works(void)
{
	int other = guest_open(0);
	uint32_t other_context = guest_context(other), syncobj = guest_syncobj(other);
	uint32_t handle = guest_bo(other, DRM_TRN_BO_HOST, 4096);
	uint32_t queue = guest_kernel_queue(other, other_context, 16);
	struct trn_packet packet = guest_fill(BO_VA, 4096, 0x77, 0);
	const uint8_t *memory = guest_map(other, handle, 4096);
	int i;

	guest_fails(guest_bind(other, other_context, handle, BO_VA, 4096), 0);
	guest_fails(guest_submit(other, queue, &packet, 1, syncobj), 0);
	guest_fails(guest_job(other, syncobj, 30), 0);
	for (i = 0; i < 4096; i++)
		ck_assert_uint_eq(memory[i], 0x77);
	close(other);
}

/*
 * A job of many packets, each much shorter than the limit: the chip stops none, so the driver does
 * it. What is behind the job fails too, and nobody else.
 */
START_TEST(job_too_long)
{
	static struct trn_packet packets[511];
	struct drm_trn_query_recovery before = chip_recovery(fd), after;
	uint32_t syncobj = guest_syncobj(fd), behind = guest_syncobj(fd);
	uint32_t bo = guest_bo(fd, DRM_TRN_BO_HBM, 2 * BIG_SIZE), queue;
	struct drm_trn_queue_create create = {
		.context = context,
		.type = TRN_QUEUE_TYPE_DMA,
		.mode = DRM_TRN_QUEUE_KERNEL,
		.ring_entries = 1024,
		.timeout_ms = 1000,
	};
	int uevents = listen_to_uevents();
	int64_t begun;
	int i;

	guest_fails(guest_bind(fd, context, bo, BIG_VA, 2 * BIG_SIZE), 0);
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_CREATE, &create), 0);
	queue = create.queue;
	packets[0] = guest_fill(BIG_VA, BIG_SIZE, 0x1234567890abcdef, 3);
	for (i = 1; i < 511; i++)
		packets[i] = guest_copy(BIG_VA + BIG_SIZE, BIG_VA, BIG_SIZE);
	begun = trn_deadline(0);
	guest_fails(guest_submit(fd, queue, packets, 511, syncobj), 0);
	guest_fails(guest_submit(fd, queue, packets, 1, behind), 0);
	expect_innocent_works();
	guest_fails(guest_job(fd, syncobj, 60), -ETIME);
	ck_assert_int_ge(trn_deadline(0) - begun, SECOND);
	guest_fails(guest_job(fd, behind, 1), -EIO);
	guest_fails(guest_submit(fd, queue, packets, 1, behind), -EIO);
	ck_assert_uint_eq(queue_error(queue).reason, TRN_STOP_TIME_LIMIT);

	expect_uevent(uevents, "queue", chip_client_id(fd));
	close(uevents);
	dump_read();
	dump_has_line("rung: queue");
	dump_line_has("stop: ", " TIME_LIMIT packet ");
	dump_line_has("chip: ", "state running");
	after = chip_recovery(fd);
	ck_assert_uint_eq(after.queue_resets, before.queue_resets + 1);
	ck_assert_uint_eq(after.queue_stops, before.queue_stops);
	ck_assert_uint_eq(after.context_resets, before.context_resets);
	ck_assert_uint_eq(after.function_resets, before.function_resets);
	expect_innocent_works();
}
END_TEST

/* The same, by packets: the chip's own limit.  Neither it nor the driver counts the time of a park.
 */
START_TEST(packet_too_long)
{
	struct drm_trn_query_recovery before = chip_recovery(fd);
	uint32_t bo = guest_bo(fd, DRM_TRN_BO_HBM, 16 * BIG_SIZE);
	uint32_t syncobj = guest_syncobj(fd), queue;
	struct trn_packet packet = guest_copy(BIG_VA + 8 * BIG_SIZE, BIG_VA, 8 * BIG_SIZE);
	struct trn_packet fill = guest_fill(BIG_VA, 8 * BIG_SIZE, 1, 3);

	guest_fails(guest_bind(fd, context, bo, BIG_VA, 16 * BIG_SIZE), 0);
	queue = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 0);
	guest_fails(guest_submit(fd, queue, &fill, 1, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 60), 0);
	queue = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 1);
	guest_fails(guest_submit(fd, queue, &packet, 1, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 60), -ETIME);
	ck_assert_uint_eq(queue_error(queue).reason, TRN_STOP_TIME_LIMIT);
	ck_assert_uint_eq(chip_recovery(fd).queue_stops, before.queue_stops + 1);
	dump_read();
	dump_has_line("rung: stop");
	expect_packet(0, "COPY", &packet);
}
END_TEST

/* An engine that hangs: index is the rung that frees it. */
static const char *const cures[] = { "queue", "context", "function" };

static struct trn_packet hang_packet(void)
{
	return guest_fill(BO_VA, 64, 1, 0);
}

static uint32_t hang(const char *cure, uint32_t timeout_ms, uint32_t syncobj)
{
	uint32_t queue = make_queue(DRM_TRN_QUEUE_KERNEL, 0, timeout_ms);
	struct trn_packet packet = hang_packet();

	inject_hang(queue, cure);
	guest_fails(guest_submit(fd, queue, &packet, 1, syncobj), 0);
	return queue;
}

/* The same, and the chip has begun the job: until then the queue is easily destroyed. */
static uint32_t hang_for_ever(const char *cure, uint32_t syncobj)
{
	uint32_t queue = hang(cure, 0, syncobj);
	int64_t deadline = trn_deadline(10 * SECOND);

	/* A fault can be injected again once it is used up. */
	while (!chip_try_request("inject", HANG, chip_queue(0, fd, queue).number, cure))
		ck_assert_int_lt(trn_deadline(0), deadline);
	return queue;
}

static void expect_counters(const struct drm_trn_query_recovery *before, int rung, int resets)
{
	struct drm_trn_query_recovery after = chip_recovery(fd);

	ck_assert_uint_eq(after.queue_stops, before->queue_stops);
	ck_assert_uint_eq(after.queue_resets, before->queue_resets + (unsigned int)resets);
	ck_assert_uint_eq(after.context_resets, before->context_resets + (rung == 1));
	ck_assert_uint_eq(after.function_resets, before->function_resets + (rung == 2));
}

START_TEST(hung_job)
{
	uint32_t syncobj = guest_syncobj(fd), sibling_job = guest_syncobj(fd);
	struct drm_trn_query_recovery before = chip_recovery(fd);
	struct trn_packet hung, packet = guest_fill(BO_VA, 64, 2, 0);
	uint64_t client = chip_client_id(fd);
	uint32_t queue, sibling;
	char line[64];
	int uevents;

	map_page();
	uevents = listen_to_uevents();
	sibling = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 0);
	queue = hang(cures[_i], 1000, syncobj);
	expect_innocent_works();
	guest_fails(guest_job(fd, syncobj, 60), _i == 2 ? -EIO : -ETIME);
	expect_uevent(uevents, cures[_i], _i == 2 ? 0 : client);
	close(uevents);
	dump_read();
	snprintf(line, sizeof(line), "rung: %s", cures[_i]);
	dump_has_line(line);
	dump_line_has("stop: ", " TIME_LIMIT packet 0");
	dump_line_has("chip: ", "state running activity executing");
	hung = hang_packet();
	expect_packet(0, "FILL", &hung);

	if (_i < 2) {
		guest_fails(guest_submit(fd, sibling, &packet, 1, sibling_job), _i ? -EIO : 0);
		if (!_i)
			guest_fails(guest_job(fd, sibling_job, 30), 0);
		ck_assert_uint_eq(queue_error(queue).reason, TRN_STOP_TIME_LIMIT);
		ck_assert_uint_eq(queue_error(sibling).reason, 0);
		/* The context goes on. */
		sibling = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 0);
		guest_fails(guest_submit(fd, sibling, &packet, 1, sibling_job), 0);
		guest_fails(guest_job(fd, sibling_job, 30), 0);
	} else {
		guest_fails(guest_submit(fd, sibling, &packet, 1, sibling_job), -EIO);
	}
	expect_counters(&before, _i, _i < 2);
	expect_innocent_works();
}
END_TEST

/* Destroying a queue whose engine hangs recovers too, and so does killing its process. */
START_TEST(destroy_hung_queue)
{
	struct drm_trn_query_recovery before = chip_recovery(fd);
	uint32_t syncobj = guest_syncobj(fd);
	struct drm_trn_queue_destroy destroy;

	map_page();
	destroy = (struct drm_trn_queue_destroy){ .queue = hang_for_ever(cures[_i], syncobj) };
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUEUE_DESTROY, &destroy), 0);
	guest_fails(guest_job(fd, syncobj, 1), _i == 2 ? -EIO : -ECANCELED);
	if (_i) {
		char line[64];

		dump_read();
		snprintf(line, sizeof(line), "rung: %s", cures[_i]);
		dump_has_line(line);
	}
	expect_innocent_works();
	expect_counters(&before, _i, 0);
}
END_TEST

START_TEST(kill_with_hung_queue)
{
	struct drm_trn_query_recovery before = chip_recovery(fd);
	int status, ready[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(fd);
		fd = guest_open(0);
		context = guest_context(fd);
		map_page();
		hang_for_ever(cures[_i], guest_syncobj(fd));
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	/* If the child fails there is nothing to read, and no waiting for it. */
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	expect_innocent_works();
	expect_counters(&before, _i, 0);
}
END_TEST

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_TRUNC);

	ck_assert_msg(file >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
}

/* @dump is the trace. */
static void read_trace(void)
{
	FILE *file = fopen(TRACING "trace", "r");
	size_t length;

	ck_assert_ptr_nonnull(file);
	length = fread(dump, 1, sizeof(dump) - 1, file);
	dump[length] = '\0';
	fclose(file);
}

static void expect_trace(const char *text)
{
	ck_assert_msg(strstr(dump, text), "\"%s\" is not in:\n%s", text, dump);
}

START_TEST(tracepoints)
{
	uint32_t syncobj = guest_syncobj(fd), queue;
	unsigned int hardware, accel;
	struct trn_packet good, bad;
	struct stat node;
	char text[256];

	if (access(TRACING "events", F_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	if (access(TRACING "events", F_OK)) {
		printf("tracepoints: skipped, this kernel has no tracefs\n");
		return;
	}
	ck_assert_int_eq(fstat(fd, &node), 0);
	accel = minor(node.st_rdev);
	map_page();
	queue = make_queue(DRM_TRN_QUEUE_KERNEL, 0, 0);
	hardware = chip_queue(0, fd, queue).number;
	good = guest_fill(BO_VA, 64, 1, 0);
	bad = guest_fill(BO_VA + 4096, 64, 1, 0);
	write_file(TRACING "trace", "");
	write_file(TRACING "events/trn/enable", "1");
	guest_fails(guest_submit(fd, queue, &good, 1, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 30), 0);
	guest_fails(guest_submit(fd, queue, &bad, 1, syncobj), 0);
	guest_fails(guest_job(fd, syncobj, 30), -EFAULT);
	write_file(TRACING "events/trn/enable", "0");
	read_trace();
	snprintf(text, sizeof(text), "trn_job_submit: accel=%u queue=%u job=1 packets=1\n", accel,
		 hardware);
	expect_trace(text);
	snprintf(text, sizeof(text), "trn_job_done: accel=%u queue=%u job=1 error=0\n", accel,
		 hardware);
	expect_trace(text);
	snprintf(text, sizeof(text), "trn_job_done: accel=%u queue=%u job=2 error=%d\n", accel,
		 hardware, -EFAULT);
	expect_trace(text);
	snprintf(text, sizeof(text),
		 "trn_queue_stop: accel=%u queue=%u client=%" PRIu64
		 " reason=%u packet=2 access=%u address=0x%" PRIx64
		 " exception=0 engine=0 instruction=0\n",
		 accel, hardware, chip_client_id(fd), TRN_STOP_FAULT_UNMAPPED, TRN_ACCESS_WRITE,
		 BO_VA + 4096);
	expect_trace(text);
}
END_TEST

/* Without a kernel that keeps dumps there is nothing to test. */
static bool have_dumps(void)
{
	return !access("/sys/class/devcoredump", F_OK);
}

int main(void)
{
	Suite *suite = suite_create("recovery_dump");
	TCase *stops = tcase_create("stops"), *hangs = tcase_create("hangs");

	if (!have_dumps()) {
		printf("recovery_dump: skipped, this kernel has no devcoredump\n");
		return 0;
	}
	tcase_set_timeout(stops, 180);
	tcase_add_checked_fixture(stops, start, stop);
	tcase_add_test(stops, fault_beside_page);
	tcase_add_test(stops, fault_elsewhere);
	tcase_add_test(stops, bad_packet);
	tcase_add_test(stops, ring_not_readable);
	tcase_add_test(stops, many_mistakes_one_dump);
	tcase_add_test(stops, packet_too_long);
	tcase_add_test(stops, job_too_long);
	tcase_add_test(stops, tracepoints);
	suite_add_tcase(suite, stops);

	tcase_set_timeout(hangs, 180);
	tcase_add_checked_fixture(hangs, start, stop);
	tcase_add_loop_test(hangs, hung_job, 0, 3);
	tcase_add_loop_test(hangs, destroy_hung_queue, 0, 3);
	tcase_add_loop_test(hangs, kill_with_hung_queue, 0, 3);
	suite_add_tcase(suite, hangs);
	return check_run(suite);
}
