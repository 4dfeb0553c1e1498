/* SPDX-License-Identifier: MIT */
/* Server and model together: admin commands of a client that comes, goes and moves its memory. */
#include <check.h>
#include <endian.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hw/trn_admin.h"
#include "hw/trn_mmu.h"
#include "hw/trn_queue.h"
#include "hw/trn_regs.h"
#include "rig.h"
#include "tests/check_run.h"

#define RAM_ADDRESS    0x100000000ULL
#define RAM_SIZE       (1ULL << 20)
#define SQ	       0
#define CQ	       0x1000
#define BUFFER	       0x10000
#define BUFFER_ADDRESS (RAM_ADDRESS + RAM_SIZE) /* shows RAM at BUFFER, in a range of its own */
#define ENTRIES	       16
#define CONFIG	       VFIO_PCI_CONFIG_REGION_INDEX
#define PCI_D0	       0
#define PCI_D3hot      3
#define READ_WRITE     (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)

static struct rig rig;
static int ram_file, event;
static uint8_t *ram;
static unsigned int tail, seen; /* commands submitted, completions seen */

static void make_ram(void)
{
	ram_file = make_file(RAM_SIZE);
	ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ram_file, 0);
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static void free_ram(void)
{
	munmap(ram, RAM_SIZE);
	close(ram_file);
	close(event);
}

static void begin(void)
{
	rig_begin(&rig, 0);
	make_ram();
}

static void end(void)
{
	free_ram();
	rig_end(&rig);
}

static void set_register(uint64_t offset, uint32_t size, uint64_t value)
{
	client_write(rig.socket, TRN_BAR_REGS, offset, size, value);
}

static int map_buffer(void)
{
	return client_map(rig.socket, BUFFER_ADDRESS, 4096, READ_WRITE, ram_file, BUFFER);
}

static bool is_ready(void *argument)
{
	(void)argument;
	return client_read(rig.socket, TRN_BAR_REGS, TRN_REG_STATUS, 4) & TRN_STATUS_READY;
}

/* What a driver does first, with a function that was reset. */
static void start_device(void)
{
	memset(ram, 0, RAM_SIZE);
	tail = 0;
	seen = 0;
	client_write(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, 2,
		     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	set_register(TRN_REG_ADMIN_SQ_BASE, 8, RAM_ADDRESS + SQ);
	set_register(TRN_REG_ADMIN_CQ_BASE, 8, RAM_ADDRESS + CQ);
	set_register(TRN_REG_ADMIN_SIZE, 4, ENTRIES);
	set_register(TRN_REG_CTRL, 4, TRN_CTRL_ENABLE);
	wait_until(is_ready, NULL);
}

static void bring_up(void)
{
	const uint32_t set[] = { 20, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
				 VFIO_PCI_MSIX_IRQ_INDEX, 0, 1 };

	rig_attach(&rig);
	client_negotiate(rig.socket);
	ck_assert_int_eq(client_map(rig.socket, RAM_ADDRESS, RAM_SIZE, READ_WRITE, ram_file, 0), 0);
	ck_assert_int_eq(map_buffer(), 0);
	client_request(rig.socket, VFIO_USER_DEVICE_SET_IRQS, set, sizeof(set), &event, 1);
	start_device();
}

static void submit_identify(uint64_t buffer)
{
	struct trn_admin_command *command = (struct trn_admin_command *)(ram + SQ) + tail % ENTRIES;

	*command = (struct trn_admin_command){ .opcode = TRN_ADMIN_IDENTIFY };
	command->data.buffer = htole64(buffer);
	tail++;
	set_register(TRN_REG_ADMIN_SQ_TAIL, 4, tail % ENTRIES);
}

/* Waits for the next completion's interrupt; its status. */
static uint16_t completion_status(void)
{
	struct trn_admin_completion *entry =
		(struct trn_admin_completion *)(ram + CQ) + seen % ENTRIES;
	uint16_t phase = seen / ENTRIES % 2 ? 0 : TRN_ADMIN_PHASE;
	struct pollfd fd = { .fd = event, .events = POLLIN };
	uint64_t count;

	while (__atomic_load_n(&entry->phase, __ATOMIC_ACQUIRE) != htole16(phase)) {
		ck_assert_int_eq(poll(&fd, 1, 10000), 1);
		ck_assert_int_eq(read(event, &count, sizeof(count)), sizeof(count));
	}
	seen++;
	set_register(TRN_REG_ADMIN_CQ_HEAD, 4, seen % ENTRIES);
	return le16toh(entry->status);
}

/* An address space and a queue, for copies of TARGET_SIZE bytes of HBM to a range of their own. */
#define CONTROL	       0x20000
#define RING	       0x21000
#define TABLES	       0x22000 /* levels 3 … 0 */
#define TARGET	       0x80000
#define TARGET_SIZE    0x40000
#define TARGET_ADDRESS (RAM_ADDRESS + 2 * RAM_SIZE)
#define RING_VA	       0x000000
#define HBM_VA	       0x080000
#define TARGET_VA      0x100000

static int map_target(void)
{
	return client_map(rig.socket, TARGET_ADDRESS, TARGET_SIZE, READ_WRITE, ram_file, TARGET);
}

static void map_pages(uint64_t va, uint64_t target, uint64_t address, uint64_t size)
{
	__le64 *table = (__le64 *)(ram + TABLES + 3 * TRN_PT_SIZE);

	for (uint64_t offset = 0; offset < size; offset += TRN_PAGE_SIZE)
		table[(va + offset) / TRN_PAGE_SIZE] =
			htole64((address + offset) | target | TRN_PTE_VALID | TRN_PTE_LEAF |
				TRN_PTE_READ | TRN_PTE_WRITE);
}

static uint16_t execute(const struct trn_admin_command *command)
{
	((struct trn_admin_command *)(ram + SQ))[tail++ % ENTRIES] = *command;
	set_register(TRN_REG_ADMIN_SQ_TAIL, 4, tail % ENTRIES);
	return completion_status();
}

static void make_context(void)
{
	const struct trn_admin_command create = {
		.opcode = TRN_ADMIN_CONTEXT_CREATE,
		.context = { .root = htole64(RAM_ADDRESS + TABLES) },
	};

	for (unsigned int level = 0; level < 3; level++)
		*(__le64 *)(ram + TABLES + level * TRN_PT_SIZE) =
			htole64((RAM_ADDRESS + TABLES + (level + 1) * TRN_PT_SIZE) | TRN_PTE_VALID);
	map_pages(RING_VA, TRN_PTE_TARGET_HOST, RAM_ADDRESS + RING, TRN_PAGE_SIZE);
	map_pages(HBM_VA, TRN_PTE_TARGET_HBM, 0, TARGET_SIZE);
	map_pages(TARGET_VA, TRN_PTE_TARGET_HOST, TARGET_ADDRESS, TARGET_SIZE);
	ck_assert_uint_eq(execute(&create), TRN_ADMIN_SUCCESS);
}

static void make_queue(void)
{
	const struct trn_admin_command create = {
		.opcode = TRN_ADMIN_QUEUE_CREATE,
		.queue_create = { .type = TRN_QUEUE_TYPE_DMA,
				  .ring_log2 = 6,
				  .vector = htole16(1),
				  .ring_va = htole64(RING_VA),
				  .control = htole64(RAM_ADDRESS + CONTROL) },
	};

	memset(ram + CONTROL, 0, TRN_CONTROL_PAGE_SIZE);
	ck_assert_uint_eq(execute(&create), TRN_ADMIN_SUCCESS);
}

static void destroy_queue(void)
{
	const struct trn_admin_command destroy = { .opcode = TRN_ADMIN_QUEUE_DESTROY };

	ck_assert_uint_eq(execute(&destroy), TRN_ADMIN_SUCCESS);
}

/* So many fills or copies of all of the target, one after the other. */
static void submit_bulk(struct trn_packet packet, uint32_t count)
{
	struct trn_control *control = (struct trn_control *)(ram + CONTROL);
	struct trn_packet *ring = (struct trn_packet *)(ram + RING);

	for (uint32_t i = 0; i < count; i++)
		ring[i] = packet;
	__atomic_store_n(&control->tail, htole32(count), __ATOMIC_RELEASE);
	client_write(rig.socket, TRN_BAR_DOORBELL, TRN_DOORBELL_KICK, 4, 1);
}

static bool has_finished_one(void *argument)
{
	const struct trn_control *control = (struct trn_control *)(ram + CONTROL);

	(void)argument;
	return __atomic_load_n(&control->head, __ATOMIC_ACQUIRE) != 0;
}

static bool all_bytes_are(uint8_t value, const uint8_t *bytes, size_t size)
{
	return bytes[0] == value && !memcmp(bytes, bytes + 1, size - 1);
}

START_TEST(identify)
{
	const struct trn_identify *data = (void *)(ram + BUFFER);

	bring_up();
	submit_identify(BUFFER_ADDRESS);
	ck_assert_uint_eq(completion_status(), TRN_ADMIN_SUCCESS);
	ck_assert_uint_eq(le32toh(data->magic), TRN_IDENTIFY_MAGIC);
	ck_assert_uint_eq(le64toh(data->hbm_bytes), RIG_HBM);
	submit_identify(BUFFER_ADDRESS + 0x100000);
	ck_assert_uint_eq(completion_status(), TRN_ADMIN_DMA_ERROR);
}
END_TEST

/* Commands are in progress when the client goes; the next one is there at once. */
START_TEST(clients_go_amid_work)
{
	for (int i = 0; i < 50; i++) {
		bring_up();
		for (int n = 0; n < ENTRIES - 1; n++)
			submit_identify(BUFFER_ADDRESS);
		close(rig.socket);
	}
	bring_up();
	submit_identify(BUFFER_ADDRESS);
	ck_assert_uint_eq(completion_status(), TRN_ADMIN_SUCCESS);
}
END_TEST

START_TEST(memory_goes_amid_work)
{
	unsigned int succeeded = 0, failed = 0;

	bring_up();
	while (succeeded < 20 || failed < 20) {
		for (int n = 0; n < ENTRIES - 1; n++)
			submit_identify(BUFFER_ADDRESS);
		ck_assert_int_eq(client_unmap(rig.socket, BUFFER_ADDRESS, 4096), 0);
		/* It is ours again: nobody else writes it. */
		memset(ram + BUFFER, 0x5a, 4096);
		for (int n = 0; n < ENTRIES - 1; n++) {
			if (completion_status() == TRN_ADMIN_SUCCESS)
				succeeded++;
			else
				failed++;
		}
		ck_assert(all_bytes_are(0x5a, ram + BUFFER, 4096));
		ck_assert_int_eq(map_buffer(), 0);
		submit_identify(BUFFER_ADDRESS);
		ck_assert_uint_eq(completion_status(), TRN_ADMIN_SUCCESS);
		succeeded++;
	}
}
END_TEST

/* Copies write a range that goes: each is done, or refused as a whole from then on. */
START_TEST(memory_goes_amid_copies)
{
	const struct trn_packet fill = {
		.opcode = TRN_PACKET_FILL,
		.fill = { .destination = htole64(HBM_VA),
			  .length = htole64(TARGET_SIZE),
			  .pattern = htole64(0x33) },
	};
	const struct trn_packet copy = {
		.opcode = TRN_PACKET_COPY,
		.copy = { .source = htole64(HBM_VA),
			  .destination = htole64(TARGET_VA),
			  .length = htole64(TARGET_SIZE) },
	};

	bring_up();
	ck_assert_int_eq(map_target(), 0);
	make_context();
	make_queue();
	submit_bulk(fill, 1);
	wait_until(has_finished_one, NULL);
	destroy_queue();
	for (unsigned int i = 0; i < 30; i++) {
		make_queue();
		submit_bulk(copy, 64);
		wait_until(has_finished_one, NULL);
		ck_assert(ram[TARGET] == 0x33 && ram[TARGET + TARGET_SIZE - 1] == 0x33);
		/* Ranges beside it come and go too. */
		ck_assert_int_eq(client_unmap(rig.socket, BUFFER_ADDRESS, 4096), 0);
		ck_assert_int_eq(client_unmap(rig.socket, TARGET_ADDRESS, TARGET_SIZE), 0);
		memset(ram + TARGET, 0x5a, TARGET_SIZE);
		ck_assert_int_eq(map_buffer(), 0);
		/* Whether it has stopped or was just at its end: it writes no more. */
		destroy_queue();
		ck_assert(all_bytes_are(0x5a, ram + TARGET, TARGET_SIZE));
		ck_assert_int_eq(map_target(), 0);
	}
}
END_TEST

START_TEST(resets_amid_work)
{
	for (int i = 0; i < 50; i++) {
		bring_up();
		for (int n = 0; n < ENTRIES - 1; n++)
			submit_identify(BUFFER_ADDRESS);
		client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
		/* No access comes after the answer. */
		memset(ram, 0xa5, RAM_SIZE);
		ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_REG_STATUS, 4), 0);
		ck_assert(all_bytes_are(0xa5, ram, RAM_SIZE));
		rig_detach(&rig);
	}
}
END_TEST

/* Resets of all kinds */

/* Where the capabilities are, as the configuration space says. */
static uint64_t capability(uint8_t id)
{
	uint64_t at = client_read(rig.socket, CONFIG, PCI_CAPABILITY_LIST, 1);

	while (client_read(rig.socket, CONFIG, at, 1) != id)
		at = client_read(rig.socket, CONFIG, at + 1, 1);
	return at;
}

static void device_reset(void)
{
	client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
}

static void function_level_reset(void)
{
	client_write(rig.socket, CONFIG, capability(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL, 2,
		     PCI_EXP_DEVCTL_BCR_FLR);
}

static void sleep_and_wake(void)
{
	uint64_t control = capability(PCI_CAP_ID_PM) + PCI_PM_CTRL;

	client_write(rig.socket, CONFIG, control, 2, PCI_D3hot);
	client_write(rig.socket, CONFIG, control, 2, PCI_D0);
}

static void come_and_go(void)
{
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	memset(ram, 0xa5, RAM_SIZE);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_REG_STATUS, 4), UINT32_MAX);
	ck_assert(all_bytes_are(0xa5, ram, RAM_SIZE));
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
}

static void (*const resets[])(void) = {
	device_reset,
	function_level_reset,
	sleep_and_wake,
	come_and_go,
};

#define RESETS (sizeof(resets) / sizeof(resets[0]))

static bool has_copied(void *argument)
{
	(void)argument;
	return !__atomic_load_n(ram + TARGET, __ATOMIC_ACQUIRE);
}

/* A queue that copies the same bytes again and again, 2^38 in all. */
static void make_busy(void)
{
	const struct trn_packet copy = {
		.opcode = TRN_PACKET_COPY_ND,
		.copy_nd = { .source = htole64(HBM_VA),
			     .destination = htole64(TARGET_VA),
			     .size = { htole32(TARGET_SIZE), htole32(1 << 20), htole32(1),
				       htole32(1) } },
	};

	make_context();
	make_queue();
	ram[TARGET] = 0xff;
	submit_bulk(copy, 1);
	wait_until(has_copied, NULL);
}

static void inject_all(void)
{
	static const struct trn_injection injections[] = {
		{ .fault = TRN_INJECT_HANG, .cure = TRN_CURE_FUNCTION },
		{ .fault = TRN_INJECT_SLOW, .ms = 3600000 },
		{ .fault = TRN_INJECT_LOST_INTERRUPT, .vector = 0 },
		{ .fault = TRN_INJECT_LATE_INTERRUPT, .vector = 1, .ms = 1 },
		{ .fault = TRN_INJECT_LOST_COMPLETION },
		{ .fault = TRN_INJECT_GARBAGE_COMPLETION },
		{ .fault = TRN_INJECT_SLOW_COMPLETION, .ms = 1 },
		{ .fault = TRN_INJECT_HEARTBEAT_STOP },
	};

	for (size_t i = 0; i < sizeof(injections) / sizeof(injections[0]); i++)
		ck_assert_int_eq(trn_server_inject(rig.server, &injections[i]), 0);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void assert_reset_values(void)
{
	static const uint64_t zero[] = { TRN_REG_CTRL, TRN_REG_STATUS, TRN_REG_ADMIN_SQ_BASE,
					 TRN_REG_ADMIN_CQ_BASE, TRN_REG_ADMIN_SIZE };

	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, zero[i], 4), 0);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_COMMAND, 2), 0);
}

/* Whatever the device does meanwhile, a reset ends it soon, and its memory stays mapped. */
static void assert_reset_works(void (*reset)(void))
{
	struct trn_server_stats stats;
	uint64_t start = now_ms(), count;

	reset();
	ck_assert_uint_lt(now_ms() - start, 1000);
	/* No access comes after it. */
	memset(ram, 0xa5, RAM_SIZE);
	assert_reset_values();
	ck_assert(all_bytes_are(0xa5, ram, RAM_SIZE));
	trn_server_read_stats(rig.server, &stats);
	ck_assert_uint_eq(stats.mappings, 3);
	/* Nor an interrupt, and the descriptor is there for the next ones. */
	(void)!read(event, &count, sizeof(count));
	start_device();
	submit_identify(BUFFER_ADDRESS);
	ck_assert_uint_eq(completion_status(), TRN_ADMIN_SUCCESS);
	make_busy();
}

START_TEST(reset_of_a_busy_device)
{
	bring_up();
	ck_assert_int_eq(map_target(), 0);
	make_busy();
	for (unsigned int i = 0; i < 10; i++)
		assert_reset_works(resets[_i]);
}
END_TEST

START_TEST(reset_ends_injected_faults)
{
	bring_up();
	ck_assert_int_eq(map_target(), 0);
	make_busy();
	inject_all();
	for (unsigned int i = 0; i < 3; i++) {
		assert_reset_works(resets[_i]);
		inject_all();
	}
}
END_TEST

static bool has_hung(void *argument)
{
	const struct trn_injection again = { .fault = TRN_INJECT_HANG };

	(void)argument;
	/* It is used up: another can be injected. */
	return trn_server_inject(rig.server, &again) == 0;
}

START_TEST(reset_of_a_hanging_device)
{
	const struct trn_injection hang = { .fault = TRN_INJECT_HANG, .cure = TRN_CURE_FUNCTION };

	bring_up();
	ck_assert_int_eq(map_target(), 0);
	make_busy();
	ck_assert_int_eq(trn_server_inject(rig.server, &hang), 0);
	wait_until(has_hung, NULL);
	assert_reset_works(resets[_i]);
}
END_TEST

START_TEST(death)
{
	const struct trn_injection injection = { .fault = TRN_INJECT_DEATH };

	bring_up();
	ck_assert_int_eq(map_target(), 0);
	make_busy();
	ck_assert_int_eq(trn_server_inject(rig.server, &injection), 0);
	memset(ram, 0xa5, RAM_SIZE);
	for (size_t i = 0; i < RESETS - 1; i++) {
		resets[i]();
		ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_REG_STATUS, 4),
				  UINT32_MAX);
		/* It is still on the bus. */
		ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_VENDOR_ID, 2),
				  TRN_PCI_VENDOR);
	}
	ck_assert(all_bytes_are(0xa5, ram, RAM_SIZE));
	/* Nor a new client. */
	rig_detach(&rig);
	rig_attach(&rig);
	client_negotiate(rig.socket);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_REG_MAGIC, 4), UINT32_MAX);
	rig_detach(&rig);
	/* A new chip in its place is another matter. */
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	bring_up();
	submit_identify(BUFFER_ADDRESS);
	ck_assert_uint_eq(completion_status(), TRN_ADMIN_SUCCESS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vdev-live");
	TCase *tests = tcase_create("live");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, identify);
	tcase_add_test(tests, clients_go_amid_work);
	tcase_add_test(tests, memory_goes_amid_work);
	tcase_add_test(tests, memory_goes_amid_copies);
	tcase_add_test(tests, resets_amid_work);
	tcase_add_loop_test(tests, reset_of_a_busy_device, 0, RESETS);
	tcase_add_loop_test(tests, reset_ends_injected_faults, 0, RESETS);
	tcase_add_loop_test(tests, reset_of_a_hanging_device, 0, RESETS);
	tcase_add_test(tests, death);
	suite_add_tcase(suite, tests);
	return check_run(suite);
}
