/* SPDX-License-Identifier: MIT */
/* Event descriptors: given, taken away, signalled, and never lost. */
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_chip.h"
#include "hw/trn_regs.h"
#include "rig.h"
#include "suites.h"

#define MSIX	VFIO_PCI_MSIX_IRQ_INDEX
#define TRIGGER VFIO_IRQ_SET_ACTION_TRIGGER
#define EVENTFD (VFIO_IRQ_SET_DATA_EVENTFD | TRIGGER)
#define NONE	(VFIO_IRQ_SET_DATA_NONE | TRIGGER)
#define BOOL	(VFIO_IRQ_SET_DATA_BOOL | TRIGGER)
#define EVENTS	VFIO_USER_FDS_MAX

static struct rig rig;
static int event[EVENTS];

static void enable_bus_master(void)
{
	client_write(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, 2, PCI_COMMAND_MASTER);
}

static void begin(void)
{
	rig_begin_attached(&rig);
	enable_bus_master();
	for (int i = 0; i < EVENTS; i++)
		event[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static void end(void)
{
	for (int i = 0; i < EVENTS; i++)
		close(event[i]);
	rig_end(&rig);
}

static int set_irqs(uint32_t index, uint32_t flags, uint32_t start, uint32_t count,
		    const uint8_t *bools, unsigned int fds)
{
	struct {
		uint32_t argsz, flags, index, start, count;
		uint8_t bools[FAKE_VECTORS];
	} body = { sizeof(struct vfio_irq_set), flags, index, start, count, { 0 } };
	size_t size = sizeof(struct vfio_irq_set);

	if (bools) {
		memcpy(body.bools, bools, count);
		size += count;
	}
	return client_request(rig.socket, VFIO_USER_DEVICE_SET_IRQS, &body, size, event, fds)
		.header.error;
}

/* Times the event was signalled since the last look. */
static uint64_t signalled(int i)
{
	uint64_t count;

	return read(event[i], &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static void raise_interrupt(unsigned int vector)
{
	struct fake_chip chip = fake_chip_state();

	chip.ops->interrupt(chip.host, vector);
}

START_TEST(info_of_all_kinds)
{
	for (uint32_t i = 0; i <= VFIO_PCI_NUM_IRQS; i++) {
		struct vfio_irq_info info = { .argsz = sizeof(info), .index = i };
		struct reply reply;

		if (i == VFIO_PCI_NUM_IRQS) {
			client_expect_error(rig.socket, VFIO_USER_DEVICE_GET_IRQ_INFO, &info,
					    sizeof(info), EINVAL);
			continue;
		}
		reply = client_request(rig.socket, VFIO_USER_DEVICE_GET_IRQ_INFO, &info,
				       sizeof(info), NULL, 0);
		ck_assert_uint_eq(reply.header.error, 0);
		memcpy(&info, reply.body, sizeof(info));
		ck_assert_uint_eq(info.index, i);
		ck_assert_uint_eq(info.count, i == MSIX			    ? FAKE_VECTORS
					      : i == VFIO_PCI_ERR_IRQ_INDEX ? 1
									    : 0);
		ck_assert_uint_eq(info.flags, info.count ? VFIO_IRQ_INFO_EVENTFD : 0);
	}
}
END_TEST

START_TEST(signals_its_own_descriptor)
{
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, EVENTS, NULL, EVENTS), 0);
	raise_interrupt(3);
	raise_interrupt(3);
	raise_interrupt(15);
	for (int i = 0; i < EVENTS; i++)
		ck_assert_uint_eq(signalled(i), i == 3 ? 2 : i == 15 ? 1 : 0);
}
END_TEST

START_TEST(descriptors_come_in_several_messages)
{
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 2, NULL, 2), 0);
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, FAKE_VECTORS - 1, 1, NULL, 1), 0);
	raise_interrupt(0);
	raise_interrupt(1);
	raise_interrupt(FAKE_VECTORS - 1);
	ck_assert_uint_eq(signalled(0), 2);
	ck_assert_uint_eq(signalled(1), 1);
}
END_TEST

static uint64_t pending(unsigned int word)
{
	return client_read(rig.socket, TRN_BAR_REGS, TRN_MSIX_PBA_OFFSET + 8 * word, 8);
}

START_TEST(without_descriptor_it_is_pending)
{
	raise_interrupt(5);
	raise_interrupt(5);
	raise_interrupt(69);
	ck_assert_uint_eq(pending(0), 1 << 5);
	ck_assert_uint_eq(pending(1), 1 << 5);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_MSIX_PBA_OFFSET + 8, 4),
			  1 << 5);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_MSIX_PBA_OFFSET + 12, 4), 0);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_MSIX_PBA_OFFSET, 1), 1 << 5);
	/* The chip's registers begin again behind the pending bits. */
	client_write(rig.socket, TRN_BAR_REGS, TRN_MSIX_PBA_OFFSET + 16, 8, 0x77);
	ck_assert_uint_eq(pending(2), 0x77);

	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 5, 1, NULL, 1), 0);
	ck_assert_uint_eq(signalled(0), 1);
	ck_assert_uint_eq(pending(0), 0);
}
END_TEST

START_TEST(taking_away)
{
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 4, NULL, 4), 0);
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 1, 2, NULL, 0), 0);
	for (unsigned int i = 0; i < 4; i++)
		raise_interrupt(i);
	ck_assert_uint_eq(signalled(0), 1);
	ck_assert_uint_eq(signalled(1), 0);
	ck_assert_uint_eq(signalled(2), 0);
	ck_assert_uint_eq(signalled(3), 1);
	ck_assert_uint_eq(pending(0), 6);

	ck_assert_int_eq(set_irqs(MSIX, NONE, 0, 0, NULL, 0), 0);
	raise_interrupt(0);
	ck_assert_uint_eq(signalled(0), 0);
	ck_assert_uint_eq(pending(0), 7);
}
END_TEST

START_TEST(triggered_by_the_client)
{
	static const uint8_t bools[] = { 0, 1, 0, 1 };

	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 6, NULL, 6), 0);
	ck_assert_int_eq(set_irqs(MSIX, BOOL, 2, 4, bools, 0), 0);
	ck_assert_int_eq(set_irqs(MSIX, NONE, 0, 1, NULL, 0), 0);
	for (int i = 0; i < 6; i++)
		ck_assert_uint_eq(signalled(i), i == 0 || i == 3 || i == 5);
}
END_TEST

START_TEST(error_interrupt_takes_a_descriptor)
{
	ck_assert_int_eq(set_irqs(VFIO_PCI_ERR_IRQ_INDEX, EVENTFD, 0, 1, NULL, 1), 0);
	ck_assert_int_eq(set_irqs(VFIO_PCI_ERR_IRQ_INDEX, NONE, 0, 1, NULL, 0), 0);
	ck_assert_uint_eq(signalled(0), 1);
	ck_assert_int_eq(set_irqs(VFIO_PCI_ERR_IRQ_INDEX, EVENTFD, 0, 1, NULL, 0), 0);
	ck_assert_int_eq(set_irqs(VFIO_PCI_ERR_IRQ_INDEX, EVENTFD, 1, 1, NULL, 1), EINVAL);
}
END_TEST

static const struct {
	uint32_t index, flags, start, count, fds;
} refused[] = {
	{ MSIX, EVENTFD, FAKE_VECTORS, 1, 1 },
	{ MSIX, EVENTFD, FAKE_VECTORS - 1, 2, 2 },
	{ MSIX, EVENTFD, UINT32_MAX, 1, 1 },
	{ MSIX, EVENTFD, 1, UINT32_MAX, 0 },
	{ MSIX, NONE, 0, FAKE_VECTORS + 1, 0 },
	{ MSIX, NONE, UINT32_MAX, 2, 0 },
	{ MSIX, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_MASK, 0, 1, 1 },
	{ MSIX, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, 0, 1, 0 },
	{ MSIX, VFIO_IRQ_SET_DATA_NONE, 0, 1, 0 },
	{ MSIX, TRIGGER, 0, 1, 0 },
	{ MSIX, EVENTFD | VFIO_IRQ_SET_ACTION_MASK, 0, 1, 0 },
	{ MSIX, EVENTFD | VFIO_IRQ_SET_DATA_NONE, 0, 1, 0 },
	{ MSIX, EVENTFD | 0x40, 0, 1, 0 },
	{ VFIO_PCI_INTX_IRQ_INDEX, EVENTFD, 0, 1, 1 },
	{ VFIO_PCI_MSI_IRQ_INDEX, EVENTFD, 0, 1, 1 },
	{ VFIO_PCI_REQ_IRQ_INDEX, EVENTFD, 0, 1, 1 },
	{ VFIO_PCI_NUM_IRQS, NONE, 0, 0, 0 },
	{ UINT32_MAX, NONE, 0, 0, 0 },
};

START_TEST(refuses_what_there_is_not)
{
	ck_assert_int_eq(set_irqs(refused[_i].index, refused[_i].flags, refused[_i].start,
				  refused[_i].count, NULL, refused[_i].fds),
			 EINVAL);
	/* Nothing has been assigned on the way. */
	raise_interrupt(FAKE_VECTORS - 1);
	for (int i = 0; i < EVENTS; i++)
		ck_assert_uint_eq(signalled(i), 0);
}
END_TEST

START_TEST(disabling_what_is_absent_is_fine)
{
	ck_assert_int_eq(set_irqs(VFIO_PCI_INTX_IRQ_INDEX, NONE, 0, 0, NULL, 0), 0);
	ck_assert_int_eq(set_irqs(VFIO_PCI_MSI_IRQ_INDEX, NONE, 0, 0, NULL, 0), 0);
}
END_TEST

START_TEST(survive_resets)
{
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 2, NULL, 2), 0);
	raise_interrupt(7);
	client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
	/* What was pending is not. */
	ck_assert_uint_eq(pending(0), 0);
	/* No bus master: no message. */
	raise_interrupt(1);
	ck_assert_uint_eq(signalled(1), 0);
	ck_assert_uint_eq(pending(0), 0);
	enable_bus_master();
	raise_interrupt(1);
	ck_assert_uint_eq(signalled(1), 1);
}
END_TEST

START_TEST(full_counter_does_not_block)
{
	const uint64_t full = UINT64_MAX - 1;

	/* Blocking for the client, until the server has it. */
	close(event[0]);
	event[0] = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_eq(write(event[0], &full, sizeof(full)), sizeof(full));
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 1, NULL, 1), 0);
	raise_interrupt(0);
	ck_assert_uint_eq(signalled(0), full);
}
END_TEST

START_TEST(odd_descriptors_do_no_harm)
{
	int pipe_fds[2];

	/* A pipe whose reader is gone; trn-vdev ignores the signal. */
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	close(pipe_fds[0]);
	close(event[0]);
	event[0] = pipe_fds[1];
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 1, NULL, 1), 0);
	raise_interrupt(0);
	ck_assert_uint_eq(pending(0), 0);
}
END_TEST

static atomic_bool enough;

static void *raiser(void *argument)
{
	(void)argument;
	while (!atomic_load(&enough))
		raise_interrupt(0);
	return NULL;
}

/* Gives and takes the descriptor until enough interrupts have come through. */
static bool enough_signalled(void *argument)
{
	uint64_t *total = argument;

	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 1, NULL, 1), 0);
	ck_assert_int_eq(set_irqs(MSIX, NONE, 0, 0, NULL, 0), 0);
	*total += signalled(0);
	return *total >= 200;
}

START_TEST(descriptors_change_while_interrupts_come)
{
	uint64_t total = 0;
	pthread_t thread;

	atomic_store(&enough, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, raiser, NULL), 0);
	wait_until(enough_signalled, &total);
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	raise_interrupt(0);
	/* The last of them, at least, is not lost. */
	signalled(0);
	ck_assert_int_eq(set_irqs(MSIX, EVENTFD, 0, 1, NULL, 1), 0);
	ck_assert_uint_eq(signalled(0), 1);
}
END_TEST

TCase *interrupt_tests(void)
{
	TCase *tests = tcase_create("interrupts");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, info_of_all_kinds);
	tcase_add_test(tests, signals_its_own_descriptor);
	tcase_add_test(tests, descriptors_come_in_several_messages);
	tcase_add_test(tests, without_descriptor_it_is_pending);
	tcase_add_test(tests, taking_away);
	tcase_add_test(tests, triggered_by_the_client);
	tcase_add_test(tests, error_interrupt_takes_a_descriptor);
	tcase_add_loop_test(tests, refuses_what_there_is_not, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tests, disabling_what_is_absent_is_fine);
	tcase_add_test(tests, survive_resets);
	tcase_add_test(tests, full_counter_does_not_block);
	tcase_add_test(tests, odd_descriptors_do_no_harm);
	tcase_add_test(tests, descriptors_change_while_interrupts_come);
	return tests;
}
