/* SPDX-License-Identifier: MIT */
/*
 * Valid messages with bytes changed, cut short, doubled and with stray descriptors.
 * The server may answer or hang up; it must not crash, hang, or keep a descriptor.
 * TRN_FUZZ_SEED and TRN_FUZZ_MESSAGES change the run.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_chip.h"
#include "hw/trn_regs.h"
#include "rig.h"
#include "tests/check_run.h"

#define MESSAGES    20000
#define MESSAGE_MAX 256

static struct rig rig;
static uint64_t state;

/* xorshift64 */
static uint32_t random_below(uint32_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % limit;
}

struct sample {
	size_t size;
	unsigned int fds;
	uint8_t bytes[MESSAGE_MAX];
};

static void make(struct sample *sample, uint16_t command, uint32_t flags, const void *body,
		 size_t size, unsigned int fds)
{
	const struct vfio_user_header header = {
		.id = random_below(65536),
		.command = command,
		.size = sizeof(header) + size,
		.flags = flags,
	};

	sample->size = header.size;
	sample->fds = fds;
	memcpy(sample->bytes, &header, sizeof(header));
	if (size)
		memcpy(sample->bytes + sizeof(header), body, size);
}

static void make_map(struct sample *sample)
{
	const struct vfio_user_dma_map map = {
		.argsz = sizeof(map),
		.flags = 1 + random_below(3),
		.address = random_below(64) * 4096ULL,
		.size = (1 + random_below(4)) * 4096ULL,
		.offset = random_below(4) * 4096ULL,
	};

	make(sample, VFIO_USER_DMA_MAP, 0, &map, sizeof(map), random_below(2));
}

static void make_unmap(struct sample *sample)
{
	const struct vfio_user_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.flags = random_below(8) ? 0 : VFIO_DMA_UNMAP_FLAG_ALL,
		.address = random_below(64) * 4096ULL,
		.size = random_below(8) * 4096ULL,
	};

	make(sample, VFIO_USER_DMA_UNMAP, 0, &unmap, sizeof(unmap), 0);
}

static void make_set_irqs(struct sample *sample)
{
	static const uint32_t data[] = { VFIO_IRQ_SET_DATA_NONE, VFIO_IRQ_SET_DATA_BOOL,
					 VFIO_IRQ_SET_DATA_EVENTFD };
	struct {
		uint32_t argsz, flags, index, start, count;
		uint8_t bools[16];
	} body = {
		.argsz = sizeof(struct vfio_irq_set),
		.flags = data[random_below(3)] | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = random_below(4) ? VFIO_PCI_MSIX_IRQ_INDEX : random_below(6),
		.start = random_below(FAKE_VECTORS),
		.count = random_below(16),
	};
	bool bools = body.flags & VFIO_IRQ_SET_DATA_BOOL;
	bool events = body.flags & VFIO_IRQ_SET_DATA_EVENTFD;

	make(sample, VFIO_USER_DEVICE_SET_IRQS, 0, &body,
	     sizeof(struct vfio_irq_set) + (bools ? body.count : 0),
	     events && random_below(4) ? body.count : 0);
}

static void make_access(struct sample *sample, uint16_t command)
{
	static const uint32_t regions[] = { TRN_BAR_REGS, TRN_BAR_HBM, TRN_BAR_DOORBELL,
					    VFIO_PCI_CONFIG_REGION_INDEX };
	struct {
		struct vfio_user_region_access access;
		uint8_t data[8];
	} body = { { random_below(4096), regions[random_below(4)], 1U << random_below(4) }, { 0 } };

	memcpy(body.data, &state, sizeof(body.data));
	make(sample, command, random_below(4) ? 0 : VFIO_USER_NO_REPLY, &body,
	     sizeof(body.access) + (command == VFIO_USER_REGION_WRITE ? body.access.count : 0), 0);
}

static void make_multi(struct sample *sample)
{
	struct {
		uint64_t count;
		struct vfio_user_small_write writes[4];
	} body = { .count = 1 + random_below(4) };

	for (int i = 0; i < 4; i++)
		body.writes[i].access =
			(struct vfio_user_region_access){ random_below(4096), 2 * random_below(4),
							  1U << random_below(4) };
	make(sample, VFIO_USER_REGION_WRITE_MULTI, random_below(2) ? VFIO_USER_NO_REPLY : 0, &body,
	     sizeof(body.count) + body.count * sizeof(body.writes[0]), 0);
}

static void make_info(struct sample *sample)
{
	static const struct {
		uint16_t command, size;
	} infos[] = {
		{ VFIO_USER_DEVICE_GET_INFO, 16 },
		{ VFIO_USER_DEVICE_GET_REGION_INFO, 32 },
		{ VFIO_USER_DEVICE_GET_IRQ_INFO, 16 },
		{ VFIO_USER_DEVICE_GET_REGION_IO_FDS, 16 },
	};
	uint32_t body[8] = { 32, 0, random_below(10) };
	uint32_t i = random_below(4);

	make(sample, infos[i].command, 0, body, infos[i].size, 0);
}

static void make_version(struct sample *sample)
{
	static const char body[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":16,"
				   "\"max_data_xfer_size\":1048576,\"write_multiple\":true}}";

	make(sample, VFIO_USER_VERSION, 0, body, sizeof(body), 0);
}

static void make_any(struct sample *sample)
{
	switch (random_below(9)) {
	case 0:
		make_map(sample);
		break;
	case 1:
		make_unmap(sample);
		break;
	case 2:
		make_set_irqs(sample);
		break;
	case 3:
		make_access(sample, VFIO_USER_REGION_READ);
		break;
	case 4:
		make_access(sample, VFIO_USER_REGION_WRITE);
		break;
	case 5:
		make_multi(sample);
		break;
	case 6:
		make_info(sample);
		break;
	case 7:
		make(sample, VFIO_USER_DEVICE_RESET, 0, NULL, 0, 0);
		break;
	case 8:
		make_version(sample);
		break;
	}
}

static void mutate(struct sample *sample)
{
	uint32_t changes = random_below(4);

	while (changes--)
		sample->bytes[random_below(sample->size)] = state >> 8;
	if (!random_below(12))
		sample->size = 1 + random_below(sample->size);
	if (!random_below(12))
		sample->fds = random_below(20);
}

static void send_sample(const struct sample *sample)
{
	int fds[20];

	for (unsigned int i = 0; i < sample->fds; i++)
		fds[i] = i % 2 ? eventfd(0, EFD_CLOEXEC) : make_file(16384);
	/* It may have hung up before. */
	client_send_raw(rig.socket, sample->bytes, sample->size, fds, sample->fds);
	for (unsigned int i = 0; i < sample->fds; i++)
		close(fds[i]);
}

/* Throws away what the server has sent.  False when it has hung up. */
static bool drain(void)
{
	union {
		struct cmsghdr header;
		uint8_t space[CMSG_SPACE(sizeof(int))];
	} control;
	static uint8_t sink[65536];
	struct iovec iov = { sink, sizeof(sink) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	do {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		n = recvmsg(rig.socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n > 0 && CMSG_FIRSTHDR(&msg))
			close(*(int *)CMSG_DATA(CMSG_FIRSTHDR(&msg)));
	} while (n > 0);
	return n < 0 && errno == EAGAIN;
}

/* The chip reaches for memory and raises interrupts meanwhile, as chips do. */
static void act_as_chip(void)
{
	struct fake_chip chip = fake_chip_state();
	struct trn_host_map map;

	chip.ops->interrupt(chip.host, random_below(FAKE_VECTORS));
	if (!chip.ops->map(chip.host, random_below(64 * 4096), 8, false, &map))
		chip.ops->unmap(chip.host, &map);
}

static uint64_t number_from(const char *variable, uint64_t fallback)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 0) : fallback;
}

START_TEST(survives_mutated_messages)
{
	uint64_t messages = number_from("TRN_FUZZ_MESSAGES", MESSAGES), connections = 0;
	struct sample sample;

	state = number_from("TRN_FUZZ_SEED", 0x5eed) | 1ULL << 63;
	signal(SIGPIPE, SIG_IGN);
	rig_begin(&rig, 0);
	for (uint64_t i = 0; i < messages; i++) {
		if (rig.socket < 0) {
			rig_attach(&rig);
			connections++;
			if (random_below(8))
				client_negotiate(rig.socket);
		}
		make_any(&sample);
		if (random_below(3))
			mutate(&sample);
		send_sample(&sample);
		act_as_chip();
		if (!drain() || !random_below(200))
			rig_detach(&rig);
	}
	rig_detach(&rig);
	/* One line when a client comes and one when it goes, whatever it sent. */
	ck_assert_uint_eq(rig_log_lines(&rig, ""), 2 * connections);
	ck_assert_uint_gt(connections, messages / 1000);
	rig_attach(&rig);
	client_negotiate(rig.socket);
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 0, 2),
			  TRN_PCI_VENDOR);
	rig_end(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vdev-fuzz");
	TCase *tests = tcase_create("fuzz");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, survives_mutated_messages);
	suite_add_tcase(suite, tests);
	return check_run(suite);
}
