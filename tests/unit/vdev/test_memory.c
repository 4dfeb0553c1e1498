/* SPDX-License-Identifier: MIT */
/* The chip's way to the client's memory: mapped, by message, and not at all. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_chip.h"
#include "rig.h"
#include "suites.h"

#define PAGE 4096ULL
#define RW   (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)
#define SIZE (16 * PAGE)

static struct rig rig;
static struct fake_chip chip;
static int file;
static uint8_t *content;

static void set_bus_master(bool on)
{
	client_write(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, 2,
		     on ? PCI_COMMAND_MASTER : 0);
}

static void begin(void)
{
	rig_begin_attached(&rig);
	set_bus_master(true);
	chip = fake_chip_state();
	file = make_file(SIZE);
	content = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = i * 7 + i / PAGE;
}

static void end(void)
{
	fake_chip_on_reset(NULL);
	munmap(content, SIZE);
	close(file);
	rig_end(&rig);
}

START_TEST(reads_and_writes_across_ranges)
{
	uint8_t buffer[3 * PAGE];

	/* Neighbours that show pages far apart. */
	ck_assert_int_eq(client_map(rig.socket, 0x100000, PAGE, RW, file, 5 * PAGE), 0);
	ck_assert_int_eq(client_map(rig.socket, 0x101000, PAGE, RW, file, 2 * PAGE), 0);
	ck_assert_int_eq(client_map(rig.socket, 0x102000, PAGE, RW, file, 9 * PAGE), 0);
	ck_assert_int_eq(chip.ops->read(chip.host, 0x100800, buffer, 2 * PAGE), 0);
	ck_assert_int_eq(memcmp(buffer, content + 5 * PAGE + 0x800, 0x800), 0);
	ck_assert_int_eq(memcmp(buffer + 0x800, content + 2 * PAGE, PAGE), 0);
	ck_assert_int_eq(memcmp(buffer + 0x1800, content + 9 * PAGE, 0x800), 0);
	memset(buffer, 0xee, sizeof(buffer));
	ck_assert_int_eq(chip.ops->write(chip.host, 0x100fff, buffer, 2), 0);
	ck_assert_uint_eq(content[5 * PAGE + 0xfff], 0xee);
	ck_assert_uint_eq(content[2 * PAGE], 0xee);
	/* The end of the last one. */
	ck_assert_int_eq(chip.ops->read(chip.host, 0x102ff0, buffer, 16), 0);
	ck_assert_int_eq(chip.ops->read(chip.host, 0x102ff0, buffer, 17), -EFAULT);
}
END_TEST

START_TEST(unmapped_is_out_of_reach)
{
	struct trn_host_map map;
	uint64_t value;

	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), -EFAULT);
	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, RW, file, 0), 0);
	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), 0);
	ck_assert_int_eq(client_unmap(rig.socket, 0, PAGE), 0);
	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), -EFAULT);
	ck_assert_int_eq(chip.ops->map(chip.host, 0, 8, false, &map), -EFAULT);
	/* And again. */
	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, RW, file, PAGE), 0);
	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), 0);
	ck_assert_int_eq(memcmp(&value, content + PAGE, 8), 0);
}
END_TEST

START_TEST(read_only_is_not_written)
{
	uint64_t value = 0;

	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, VFIO_DMA_MAP_FLAG_READ, file, 0), 0);
	ck_assert_int_eq(chip.ops->write(chip.host, 0, &value, 8), -EFAULT);
	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), 0);
}
END_TEST

START_TEST(bus_master_off_is_out_of_reach)
{
	struct trn_host_map map;
	uint64_t value;

	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, RW, file, 0), 0);
	set_bus_master(false);
	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), -EFAULT);
	ck_assert_int_eq(chip.ops->map(chip.host, 0, 8, true, &map), -EFAULT);
	set_bus_master(true);
	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), 0);
	client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
	ck_assert_int_eq(chip.ops->read(chip.host, 0, &value, 8), -EFAULT);
}
END_TEST

START_TEST(bad_maps_are_refused)
{
	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, RW, file, 0), 0);
	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, RW, file, 0), EEXIST);
	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, RW, -1, 0), EEXIST);
	ck_assert_int_eq(client_map(rig.socket, PAGE, PAGE, RW | 4, file, 0), EINVAL);
	ck_assert_int_eq(client_map(rig.socket, PAGE, 0, RW, file, 0), EINVAL);
	ck_assert_int_eq(client_map(rig.socket, PAGE, SIZE + PAGE, RW, file, 0), EINVAL);
	ck_assert_int_eq(client_map(rig.socket, UINT64_MAX - PAGE + 1, 2 * PAGE, RW, -1, 0),
			 EINVAL);
	ck_assert_int_eq(client_map(rig.socket, 12, PAGE, RW, file, 0), EINVAL);
	/* A socket is no memory. */
	ck_assert_int_eq(client_map(rig.socket, PAGE, PAGE, RW, rig.socket, 0), EINVAL);
}
END_TEST

START_TEST(bad_unmaps_are_refused)
{
	struct vfio_user_dma_unmap all = { .argsz = sizeof(all), .flags = VFIO_DMA_UNMAP_FLAG_ALL };
	struct trn_server_stats stats;

	ck_assert_int_eq(client_map(rig.socket, 4 * PAGE, 4 * PAGE, RW, file, 0), 0);
	ck_assert_int_eq(client_unmap(rig.socket, 4 * PAGE, PAGE), EINVAL);
	ck_assert_int_eq(client_unmap(rig.socket, 4 * PAGE, 0), EINVAL);
	ck_assert_int_eq(client_unmap(rig.socket, 8 * PAGE, UINT64_MAX), EINVAL);
	/* VFIO unmaps what there is: nothing here. */
	ck_assert_int_eq(client_unmap(rig.socket, 16 * PAGE, PAGE), 0);
	all.size = PAGE;
	client_expect_error(rig.socket, VFIO_USER_DMA_UNMAP, &all, sizeof(all), EINVAL);
	all.size = 0;
	all.flags = VFIO_DMA_UNMAP_FLAG_GET_DIRTY_BITMAP;
	client_expect_error(rig.socket, VFIO_USER_DMA_UNMAP, &all, sizeof(all), EINVAL);
	trn_server_read_stats(rig.server, &stats);
	ck_assert_uint_eq(stats.mappings, 1);
	all.flags = VFIO_DMA_UNMAP_FLAG_ALL;
	client_expect_error(rig.socket, VFIO_USER_DMA_UNMAP, &all, sizeof(all), 0);
	trn_server_read_stats(rig.server, &stats);
	ck_assert_uint_eq(stats.mappings, 0);
}
END_TEST

/* What the chip's executor does in a test: one transfer. */
struct transfer {
	bool write;
	uint64_t address;
	uint8_t *buffer;
	size_t length;
	uint64_t hold; /* if not 0: memory held meanwhile */
	int result;
	pthread_t thread;
};

static void *transfer_thread(void *argument)
{
	struct transfer *t = argument;
	struct trn_host_map map;

	if (t->hold)
		ck_assert_int_eq(chip.ops->map(chip.host, t->hold, 8, true, &map), 0);
	t->result = t->write ? chip.ops->write(chip.host, t->address, t->buffer, t->length)
			     : chip.ops->read(chip.host, t->address, t->buffer, t->length);
	if (t->hold)
		chip.ops->unmap(chip.host, &map);
	return NULL;
}

static void start(struct transfer *transfer)
{
	ck_assert_int_eq(pthread_create(&transfer->thread, NULL, transfer_thread, transfer), 0);
}

static int finish(struct transfer *transfer)
{
	pthread_join(transfer->thread, NULL);
	return transfer->result;
}

/* The server's next request, which must be this one. */
static struct reply expect_request(uint16_t command, uint64_t address, uint64_t count)
{
	struct vfio_user_dma_access access;
	struct reply request;

	ck_assert(client_receive(rig.socket, &request));
	ck_assert_uint_eq(request.header.command, command);
	ck_assert_uint_eq(request.header.flags, VFIO_USER_REQUEST);
	ck_assert_uint_eq(request.size,
			  sizeof(access) + (command == VFIO_USER_DMA_WRITE ? count : 0));
	memcpy(&access, request.body, sizeof(access));
	ck_assert_uint_eq(access.address, address);
	ck_assert_uint_eq(access.count, count);
	return request;
}

static void answer(const struct reply *request, int error, const void *body, size_t size)
{
	uint8_t message[sizeof(struct vfio_user_header) + 8192];
	const struct vfio_user_header header = {
		.id = request->header.id,
		.command = request->header.command,
		.size = sizeof(header) + size,
		.flags = VFIO_USER_REPLY | (error ? VFIO_USER_ERROR : 0),
		.error = error,
	};

	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + sizeof(header), body, size);
	ck_assert(client_send_raw(rig.socket, message, header.size, NULL, 0));
}

START_TEST(without_descriptor_by_message)
{
	uint8_t buffer[100], body[sizeof(struct vfio_user_dma_access) + 100];
	struct transfer transfer = { false, 0x1010, buffer, 100, 0, 1, 0 };
	struct trn_host_map map;
	struct reply request;

	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	ck_assert_int_eq(chip.ops->map(chip.host, 0x1000, 8, true, &map), -EOPNOTSUPP);

	start(&transfer);
	request = expect_request(VFIO_USER_DMA_READ, 0x1010, 100);
	memcpy(body, request.body, sizeof(struct vfio_user_dma_access));
	memcpy(body + sizeof(struct vfio_user_dma_access), content, 100);
	answer(&request, 0, body, sizeof(body));
	ck_assert_int_eq(finish(&transfer), 0);
	ck_assert_int_eq(memcmp(buffer, content, 100), 0);

	transfer.write = true;
	start(&transfer);
	request = expect_request(VFIO_USER_DMA_WRITE, 0x1010, 100);
	ck_assert_int_eq(memcmp(request.body + sizeof(struct vfio_user_dma_access), content, 100),
			 0);
	answer(&request, 0, request.body, sizeof(struct vfio_user_dma_access));
	ck_assert_int_eq(finish(&transfer), 0);

	/* QEMU answers a write with a header alone. */
	start(&transfer);
	request = expect_request(VFIO_USER_DMA_WRITE, 0x1010, 100);
	answer(&request, 0, NULL, 0);
	ck_assert_int_eq(finish(&transfer), 0);
}
END_TEST

START_TEST(refused_message_is_a_fault)
{
	uint8_t buffer[8];
	struct transfer transfer = { false, 0x1000, buffer, 8, 0, 1, 0 };
	struct reply request;

	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	start(&transfer);
	request = expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	answer(&request, ENODEV, NULL, 0);
	ck_assert_int_eq(finish(&transfer), -EFAULT);
}
END_TEST

START_TEST(messages_respect_the_clients_limit)
{
	static const char capabilities[] = "\0\0\0\0{\"capabilities\":{\"max_data_xfer_size\":64}}";
	uint8_t buffer[150], body[sizeof(struct vfio_user_dma_access) + 64] = { 0 };
	struct transfer transfer = { false, 0x1000, buffer, 150, 0, 1, 0 };
	static const uint64_t counts[] = { 64, 64, 22 };

	rig_detach(&rig);
	rig_attach(&rig);
	client_request(rig.socket, VFIO_USER_VERSION, capabilities, sizeof(capabilities), NULL, 0);
	set_bus_master(true);
	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	start(&transfer);
	for (int i = 0; i < 3; i++) {
		struct reply request =
			expect_request(VFIO_USER_DMA_READ, 0x1000 + 64 * i, counts[i]);

		memset(body + sizeof(struct vfio_user_dma_access), i + 1, 64);
		answer(&request, 0, body, sizeof(struct vfio_user_dma_access) + counts[i]);
	}
	ck_assert_int_eq(finish(&transfer), 0);
	ck_assert_uint_eq(buffer[63], 1);
	ck_assert_uint_eq(buffer[64], 2);
	ck_assert_uint_eq(buffer[149], 3);
}
END_TEST

START_TEST(answer_of_wrong_size_ends_the_connection)
{
	uint8_t buffer[8];
	struct transfer transfer = { false, 0x1000, buffer, 8, 0, 1, 0 };
	struct reply request;

	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	start(&transfer);
	request = expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	answer(&request, 0, request.body, sizeof(struct vfio_user_dma_access) + 7);
	ck_assert_int_eq(finish(&transfer), -EFAULT);
	ck_assert(!client_receive(rig.socket, &request));
	rig_detach(&rig);
	ck_assert_uint_eq(rig_log_lines(&rig, "reply to no request"), 1);
}
END_TEST

START_TEST(client_goes_while_a_message_waits)
{
	uint8_t buffer[8];
	struct transfer transfer = { false, 0x1000, buffer, 8, 0, 1, 0 };

	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	start(&transfer);
	expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	rig_detach(&rig);
	ck_assert_int_eq(finish(&transfer), -EFAULT);
}
END_TEST

/*
 * Registers and doorbells are served while the chip waits for the client: QEMU
 * answers only when it has got out of its own access.
 */
START_TEST(server_serves_while_a_message_waits)
{
	uint8_t buffer[8], body[sizeof(struct vfio_user_dma_access) + 8] = { 0 };
	struct transfer transfer = { false, 0x1000, buffer, 8, 0, 1, 0 };
	struct reply request;

	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	start(&transfer);
	request = expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	client_write(rig.socket, 0, 0x40, 4, 99);
	ck_assert_uint_eq(client_read(rig.socket, 0, 0x40, 4), 99);
	ck_assert_int_eq(client_map(rig.socket, 0, PAGE, RW, file, 0), 0);
	ck_assert_int_eq(client_unmap(rig.socket, 0, PAGE), 0);
	answer(&request, 0, body, sizeof(body));
	ck_assert_int_eq(finish(&transfer), 0);
}
END_TEST

static struct transfer reset_transfer;

/* As the model does: a reset ends when the step in progress has ended. */
static void wait_for_step(void)
{
	pthread_join(reset_transfer.thread, NULL);
}

START_TEST(reset_does_not_wait_for_the_client)
{
	uint8_t buffer[8], body[sizeof(struct vfio_user_dma_access) + 8] = { 0 };
	struct reply request;

	reset_transfer = (struct transfer){ false, 0x1000, buffer, 8, 0, 1, 0 };
	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	start(&reset_transfer);
	request = expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	fake_chip_on_reset(wait_for_step);
	/* The client does not answer before it is answered. */
	client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
	fake_chip_on_reset(NULL);
	ck_assert_int_eq(reset_transfer.result, -EFAULT);

	/* The late answer is no news, and the next request has its own. */
	answer(&request, 0, body, sizeof(body));
	set_bus_master(true);
	start(&reset_transfer);
	request = expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	memset(body, 0x33, sizeof(body));
	answer(&request, 0, body, sizeof(body));
	ck_assert_int_eq(finish(&reset_transfer), 0);
	ck_assert_uint_eq(buffer[0], 0x33);
}
END_TEST

START_TEST(unplug_does_not_wait_for_the_client)
{
	uint8_t buffer[8], body[sizeof(struct vfio_user_dma_access) + 8] = { 0 };
	struct reply request;

	reset_transfer = (struct transfer){ false, 0x1000, buffer, 8, 0, 1, 0 };
	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	start(&reset_transfer);
	request = expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	fake_chip_on_reset(wait_for_step);
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	fake_chip_on_reset(NULL);
	ck_assert_int_eq(reset_transfer.result, -EFAULT);
	answer(&request, 0, body, sizeof(body));
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 0, 2), 0xffff);
}
END_TEST

START_TEST(unmap_does_not_wait_for_the_client)
{
	uint8_t buffer[8];
	struct transfer transfer = { false, 0x1000, buffer, 8, 0x10000, 1, 0 };

	ck_assert_int_eq(client_map(rig.socket, 0x1000, PAGE, RW, -1, 0), 0);
	ck_assert_int_eq(client_map(rig.socket, 0x10000, PAGE, RW, file, 0), 0);
	start(&transfer);
	expect_request(VFIO_USER_DMA_READ, 0x1000, 8);
	ck_assert_int_eq(client_unmap(rig.socket, 0x10000, PAGE), 0);
	ck_assert_int_eq(finish(&transfer), -EFAULT);
}
END_TEST

static atomic_bool enough;
static atomic_uint faults, successes;

static void *dma_thread(void *argument)
{
	uint64_t word;

	(void)argument;
	while (!atomic_load(&enough)) {
		if (chip.ops->read(chip.host, 0x2008, &word, sizeof(word)))
			atomic_fetch_add(&faults, 1);
		else if (!memcmp(&word, content + 8, 8) || !memcmp(&word, content + PAGE + 8, 8))
			atomic_fetch_add(&successes, 1);
		else
			break; /* neither page: both counters stop */
	}
	return NULL;
}

static bool both_seen(void *argument)
{
	(void)argument;
	ck_assert_int_eq(client_unmap(rig.socket, 0x2000, PAGE), 0);
	ck_assert_int_eq(client_map(rig.socket, 0x2000, PAGE, RW, file, 0), 0);
	ck_assert_int_eq(client_unmap(rig.socket, 0, SIZE), 0);
	ck_assert_int_eq(client_map(rig.socket, 0x2000, PAGE, RW, file, PAGE), 0);
	return atomic_load(&faults) > 10 && atomic_load(&successes) > 10;
}

START_TEST(memory_comes_and_goes_under_dma)
{
	pthread_t thread;

	ck_assert_int_eq(client_map(rig.socket, 0x2000, PAGE, RW, file, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, dma_thread, NULL), 0);
	wait_until(both_seen, NULL);
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
}
END_TEST

TCase *memory_tests(void)
{
	TCase *tests = tcase_create("memory");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, reads_and_writes_across_ranges);
	tcase_add_test(tests, unmapped_is_out_of_reach);
	tcase_add_test(tests, read_only_is_not_written);
	tcase_add_test(tests, bus_master_off_is_out_of_reach);
	tcase_add_test(tests, bad_maps_are_refused);
	tcase_add_test(tests, bad_unmaps_are_refused);
	tcase_add_test(tests, without_descriptor_by_message);
	tcase_add_test(tests, refused_message_is_a_fault);
	tcase_add_test(tests, messages_respect_the_clients_limit);
	tcase_add_test(tests, answer_of_wrong_size_ends_the_connection);
	tcase_add_test(tests, client_goes_while_a_message_waits);
	tcase_add_test(tests, server_serves_while_a_message_waits);
	tcase_add_test(tests, reset_does_not_wait_for_the_client);
	tcase_add_test(tests, unplug_does_not_wait_for_the_client);
	tcase_add_test(tests, unmap_does_not_wait_for_the_client);
	tcase_add_test(tests, memory_comes_and_goes_under_dma);
	return tests;
}
