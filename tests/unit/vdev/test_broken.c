/* SPDX-License-Identifier: MIT */
/* Messages that are none: each ends its connection, with one line, and nothing else. */
#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_chip.h"
#include "hw/trn_regs.h"
#include "rig.h"
#include "suites.h"

static struct rig rig;

/* One way to break the protocol. */
/* clang-format off */
static const struct broken {
	const char	*reason;	/* part of the log line */
	bool		negotiated;	/* before it comes */
	bool		closes;		/* the client goes away right after it */
	struct vfio_user_header header;
	size_t		sent;		/* bytes after the header */
	unsigned int	fds;
	uint32_t	words[12];	/* what the body starts with */
} cases[] = {
	/* framing */
	{ "closed within a header", true, true, { .size = 8 }, 0, 0, { 0 } },
	{ "closed within a message", true, true,
	  { 1, VFIO_USER_DEVICE_GET_INFO, 32, 0, 0 }, 15, 0, { 16 } },
	{ "closed within a message", true, true,
	  { 1, VFIO_USER_DMA_MAP, 48, 0, 0 }, 4, 1, { 32 } },
	{ "smaller than its header", true, false, { 1, 4, 15, 0, 0 }, 0, 0, { 0 } },
	{ "smaller than its header", true, false, { 1, 4, 0, 0, 0 }, 0, 1, { 0 } },
	{ "message too large", true, false,
	  { 1, 10, VFIO_USER_MESSAGE_MAX + 1, 0, 0 }, 0, 0, { 0 } },
	{ "message too large", true, false, { 1, 10, UINT32_MAX, 0, 0 }, 0, 2, { 0 } },
	{ "neither request nor reply", true, false, { 1, 13, 16, 2, 0 }, 0, 0, { 0 } },
	{ "neither request nor reply", true, false, { 1, 13, 16, 15, 0 }, 0, 3, { 0 } },
	{ "reply to no request", true, false, { 1, 11, 16, 1, 0 }, 0, 0, { 0 } },
	{ "reply to no request", true, false, { 0, 12, 16, 1, 0 }, 0, 1, { 0 } },
	{ "too many descriptors in one message", true, false,
	  { 1, 13, 16, 0, 0 }, 0, VFIO_USER_FDS_MAX + 1, { 0 } },
	{ "too many descriptors in one message", true, false,
	  { 1, 8, 36, 0, 0 }, 20, 40, { 20, 0x24, 2, 0, 40 } },

	/* order */
	{ "before the version", false, false,
	  { 1, VFIO_USER_DEVICE_GET_INFO, 32, 0, 0 }, 16, 0, { 16 } },
	{ "before the version", false, false,
	  { 1, VFIO_USER_DMA_MAP, 48, 0, 0 }, 32, 1, { 32, 3, 0, 0, 0, 0, 4096 } },
	{ "before the version", false, false, { 1, 999, 16, 0, 0 }, 0, 0, { 0 } },
	{ "negotiated already", true, false, { 1, VFIO_USER_VERSION, 20, 0, 0 }, 4, 0, { 0 } },

	/* version */
	{ "major version", false, false, { 1, VFIO_USER_VERSION, 20, 0, 0 }, 4, 0, { 1 } },
	{ "wrong size", false, false, { 1, VFIO_USER_VERSION, 19, 0, 0 }, 3, 0, { 0 } },
	{ "wrong size", false, false, { 1, VFIO_USER_VERSION, 16 + 4097, 0, 0 }, 4097, 0, { 0 } },
	{ "too many descriptors for", false, false,
	  { 1, VFIO_USER_VERSION, 20, 0, 0 }, 4, 1, { 0 } },
	{ "NUL", false, false, { 1, VFIO_USER_VERSION, 24, 0, 0 }, 8, 0, { 0, 0x7d7b7d7b } },
	{ "NUL", false, false, { 1, VFIO_USER_VERSION, 24, 0, 0 }, 8, 0, { 0, 0x00007d7b } },
	{ "not JSON", false, false, { 1, VFIO_USER_VERSION, 24, 0, 0 }, 8, 0, { 0, 0x007b7b7b } },
	{ "not an object", false, false, { 1, VFIO_USER_VERSION, 23, 0, 0 }, 7, 0, { 0, 0x5d5b } },

	/* sizes and descriptors that do not fit the command */
	{ "wrong size", true, false, { 1, VFIO_USER_DMA_MAP, 47, 0, 0 }, 31, 1, { 32 } },
	{ "wrong size", true, false, { 1, VFIO_USER_DMA_MAP, 49, 0, 0 }, 33, 1, { 32 } },
	{ "too many descriptors for", true, false,
	  { 1, VFIO_USER_DMA_MAP, 48, 0, 0 }, 32, 2, { 32, 3, 0, 0, 0, 0, 4096 } },
	{ "wrong size", true, false, { 1, VFIO_USER_DMA_UNMAP, 39, 0, 0 }, 23, 0, { 24 } },
	{ "too many descriptors for", true, false,
	  { 1, VFIO_USER_DMA_UNMAP, 40, 0, 0 }, 24, 1, { 24 } },
	{ "wrong size", true, false, { 1, VFIO_USER_DEVICE_GET_INFO, 16, 0, 0 }, 0, 0, { 0 } },
	{ "wrong size", true, false,
	  { 1, VFIO_USER_DEVICE_GET_REGION_INFO, 47, 0, 0 }, 31, 0, { 32 } },
	{ "wrong size", true, false, { 1, VFIO_USER_DEVICE_GET_IRQ_INFO, 33, 0, 0 }, 17, 0, { 16 } },
	{ "wrong size", true, false, { 1, VFIO_USER_DEVICE_SET_IRQS, 35, 0, 0 }, 19, 1, { 20 } },
	{ "wrong size", true, false, { 1, VFIO_USER_REGION_READ, 33, 0, 0 }, 17, 0, { 0 } },
	{ "wrong size", true, false, { 1, VFIO_USER_REGION_WRITE, 31, 0, 0 }, 15, 0, { 0 } },
	{ "wrong size", true, false, { 1, VFIO_USER_DEVICE_RESET, 17, 0, 0 }, 1, 0, { 0 } },
	{ "too many descriptors for", true, false,
	  { 1, VFIO_USER_DEVICE_RESET, 16, 0, 0 }, 0, 1, { 0 } },
	{ "data announced", true, false, { 1, VFIO_USER_REGION_WRITE, 36, 0, 0 }, 20, 0,
	  { 0x10, 0, TRN_BAR_REGS, 8 } },
	{ "data announced", true, false, { 1, VFIO_USER_REGION_WRITE, 40, 0, 0 }, 24, 0,
	  { 0x10, 0, TRN_BAR_REGS, 4 } },
	{ "writes announced", true, false, { 1, VFIO_USER_REGION_WRITE_MULTI, 24, 0, 0 }, 8, 0,
	  { 0, 0 } },
	{ "writes announced", true, false, { 1, VFIO_USER_REGION_WRITE_MULTI, 48, 0, 0 }, 32, 0,
	  { 2, 0, 0x10, 0, TRN_BAR_REGS, 4 } },
	{ "writes announced", true, false, { 1, VFIO_USER_REGION_WRITE_MULTI, 48, 0, 0 }, 32, 0,
	  { 1, 0x80000000, 0x10, 0, TRN_BAR_REGS, 4 } },
	{ "writes announced", true, false,
	  { 1, VFIO_USER_REGION_WRITE_MULTI, 24 + 201 * 24, 0, 0 }, 8 + 201 * 24, 0, { 201 } },
	/* 2^61 × 24 is 0 in 64 bits. */
	{ "writes announced", true, false, { 1, VFIO_USER_REGION_WRITE_MULTI, 24, 0, 0 }, 8, 0,
	  { 0, 1U << 29 } },
	{ "interrupts named", true, false, { 1, VFIO_USER_DEVICE_SET_IRQS, 40, 0, 0 }, 24, 0,
	  { 24, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 2, 0, 4 } },
	{ "interrupts named", true, false, { 1, VFIO_USER_DEVICE_SET_IRQS, 38, 0, 0 }, 22, 0,
	  { 22, VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER, 2, 0, 3 } },
	{ "interrupts named", true, false, { 1, VFIO_USER_DEVICE_SET_IRQS, 36, 0, 0 }, 20, 2,
	  { 20, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 2, 0, 3 } },
	{ "interrupts named", true, false, { 1, VFIO_USER_DEVICE_SET_IRQS, 36, 0, 0 }, 20, 3,
	  { 20, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 2, 0, 2 } },
	{ "interrupts named", true, false, { 1, VFIO_USER_DEVICE_SET_IRQS, 36, 0, 0 }, 20, 1,
	  { 20, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 2, 0, 1 } },
};
/* clang-format on */

static void send_broken(const struct broken *broken)
{
	size_t head = broken->header.size == 8 ? 8 : sizeof(broken->header);
	uint8_t *message = calloc(1, head + broken->sent + sizeof(broken->words));
	int fds[64];

	for (unsigned int i = 0; i < broken->fds; i++)
		fds[i] = eventfd(0, EFD_CLOEXEC);
	memcpy(message, &broken->header, head);
	memcpy(message + head, broken->words, sizeof(broken->words));
	ck_assert(client_send_raw(rig.socket, message, head + broken->sent, fds, broken->fds));
	for (unsigned int i = 0; i < broken->fds; i++)
		close(fds[i]);
	free(message);
}

START_TEST(ends_its_connection_only)
{
	const struct broken *broken = &cases[_i];
	struct reply reply;

	rig_begin(&rig, 0);
	rig_attach(&rig);
	if (broken->negotiated)
		client_negotiate(rig.socket);
	send_broken(broken);
	if (!broken->closes)
		ck_assert(!client_receive(rig.socket, &reply));
	rig_detach(&rig);
	ck_assert_msg(rig_log_lines(&rig, broken->reason) == 1, "no line with \"%s\"",
		      broken->reason);
	ck_assert_uint_eq(rig_log_lines(&rig, "connection ended"), 1);
	ck_assert_uint_eq(rig_log_lines(&rig, ""), 2);
	ck_assert_uint_eq(fake_chip_state().resets, 1);

	/* The next client finds all in order. */
	rig_attach(&rig);
	client_negotiate(rig.socket);
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 0, 2),
			  TRN_PCI_VENDOR);
	rig_end(&rig);
}
END_TEST

START_TEST(client_that_reads_no_replies)
{
	const struct vfio_user_region_access access = { 0, TRN_BAR_HBM, RIG_APERTURE };

	rig_begin_attached(&rig);
	/* More than a socket holds: the server is stuck in a send. */
	for (int i = 0; i < 8; i++)
		client_send(rig.socket, VFIO_USER_REGION_READ, 0, &access, sizeof(access), NULL, 0);
	rig_end(&rig);
}
END_TEST

TCase *broken_tests(void)
{
	TCase *tests = tcase_create("broken");

	tcase_set_timeout(tests, 30);
	tcase_add_loop_test(tests, ends_its_connection_only, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, client_that_reads_no_replies);
	return tests;
}
