/* SPDX-License-Identifier: MIT */
/* Chips that leave the bus and come back, and faults on their way to the chip. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_chip.h"
#include "hw/trn_regs.h"
#include "rig.h"
#include "suites.h"

#define CONFIG	   VFIO_PCI_CONFIG_REGION_INDEX
#define READ_WRITE (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)

static struct rig rig;
static int file, event;

static void begin(void)
{
	const uint32_t set[] = { 20, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
				 VFIO_PCI_MSIX_IRQ_INDEX, 1, 1 };

	rig_begin_attached(&rig);
	file = make_file(4096);
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ck_assert_int_eq(client_map(rig.socket, 0, 4096, READ_WRITE, file, 0), 0);
	client_request(rig.socket, VFIO_USER_DEVICE_SET_IRQS, set, sizeof(set), &event, 1);
	client_write(rig.socket, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY);
}

static void end(void)
{
	close(event);
	close(file);
	rig_end(&rig);
}

static uint64_t read_register(uint64_t offset)
{
	return client_read(rig.socket, TRN_BAR_REGS, offset, 4);
}

static int chip_reads_memory(void)
{
	struct fake_chip chip = fake_chip_state();
	uint64_t value;

	return chip.ops->read(chip.host, 0, &value, sizeof(value));
}

static uint64_t signals_of_an_interrupt(void)
{
	struct fake_chip chip = fake_chip_state();
	uint64_t count;

	chip.ops->interrupt(chip.host, 1);
	return read(event, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static void assert_gone(void)
{
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_VENDOR_ID, 4), UINT32_MAX);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, 0xff8, 8), UINT64_MAX);
	ck_assert_uint_eq(read_register(TRN_REG_CAP_VECTORS), UINT32_MAX);
	ck_assert_uint_eq(read_register(TRN_MSIX_PBA_OFFSET), UINT32_MAX);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_HBM, 0, 8), UINT64_MAX);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_DOORBELL, 0, 4), UINT32_MAX);
}

START_TEST(nothing_is_there)
{
	client_write(rig.socket, TRN_BAR_REGS, 0x40, 4, 5);
	ck_assert_uint_eq(read_register(0x40), 5);
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	/* The chip has stopped, and writes lead nowhere. */
	ck_assert_uint_eq(fake_chip_state().resets, 1);
	assert_gone();
	client_write(rig.socket, TRN_BAR_REGS, 0x40, 4, 6);
	client_write(rig.socket, TRN_BAR_DOORBELL, 0, 4, 7);
	client_write(rig.socket, TRN_BAR_HBM, 0, 4, 8);
	client_write(rig.socket, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
	assert_gone();
	ck_assert_uint_eq(fake_chip_state().resets, 1);
	ck_assert_uint_eq(fake_chip_state().doorbell_value, 0);
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	ck_assert_uint_eq(read_register(0x40), 5); /* this chip forgets nothing */
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_HBM, 0, 4), 0);
}
END_TEST

START_TEST(it_reaches_nobody)
{
	ck_assert_int_eq(chip_reads_memory(), 0);
	ck_assert_uint_eq(signals_of_an_interrupt(), 1);
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(chip_reads_memory(), -EFAULT);
	ck_assert_uint_eq(signals_of_an_interrupt(), 0);
	/* Not even if the client wants it to. */
	client_write(rig.socket, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	ck_assert_int_eq(chip_reads_memory(), -EFAULT);
	ck_assert_uint_eq(signals_of_an_interrupt(), 0);
}
END_TEST

START_TEST(it_comes_back)
{
	struct trn_server_stats stats;

	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	ck_assert_uint_eq(fake_chip_state().power_ons, 1);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_VENDOR_ID, 2), TRN_PCI_VENDOR);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_COMMAND, 2), 0);
	ck_assert_uint_eq(read_register(TRN_REG_CAP_VECTORS), FAKE_VECTORS);
	ck_assert_uint_eq(read_register(TRN_MSIX_PBA_OFFSET), 0);
	ck_assert_int_eq(chip_reads_memory(), -EFAULT);
	/* Memory and descriptors are the client's matter: they have stayed. */
	trn_server_read_stats(rig.server, &stats);
	ck_assert_uint_eq(stats.mappings, 1);
	client_write(rig.socket, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	ck_assert_int_eq(chip_reads_memory(), 0);
	ck_assert_uint_eq(signals_of_an_interrupt(), 1);
}
END_TEST

/* Sticky registers keep their values over resets, not over power-on. */
START_TEST(power_on_clears_all)
{
	const uint64_t mask = 0x100 + PCI_ERR_UNCOR_MASK;
	uint64_t before = client_read(rig.socket, CONFIG, mask, 4);

	client_write(rig.socket, CONFIG, mask, 4, before ^ 0x1000);
	client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, mask, 4), before ^ 0x1000);
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, mask, 4), before);
}
END_TEST

START_TEST(twice_is_an_error)
{
	ck_assert_int_eq(trn_server_plug(rig.server), -EALREADY);
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(trn_server_unplug(rig.server), -EALREADY);
	assert_gone();
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	ck_assert_int_eq(trn_server_plug(rig.server), -EALREADY);
	ck_assert_uint_eq(fake_chip_state().power_ons, 1);
}
END_TEST

START_TEST(client_does_what_it_likes_meanwhile)
{
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(client_unmap(rig.socket, 0, 4096), 0);
	ck_assert_int_eq(client_map(rig.socket, 0x10000, 4096, READ_WRITE, file, 0), 0);
	rig_detach(&rig);
	/* The next one finds it off the bus too. */
	rig_attach(&rig);
	client_negotiate(rig.socket);
	assert_gone();
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_VENDOR_ID, 2), TRN_PCI_VENDOR);
	rig_detach(&rig);
	/* And without any client. */
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	rig_attach(&rig);
	client_negotiate(rig.socket);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_VENDOR_ID, 2), TRN_PCI_VENDOR);
}
END_TEST

static atomic_bool enough;

static void *come_and_go(void *argument)
{
	(void)argument;
	while (!atomic_load(&enough)) {
		ck_assert_int_eq(trn_server_unplug(rig.server), 0);
		ck_assert_int_eq(trn_server_plug(rig.server), 0);
	}
	return NULL;
}

START_TEST(comes_and_goes_amid_accesses)
{
	unsigned int there = 0, gone = 0;
	pthread_t thread;

	atomic_store(&enough, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, come_and_go, NULL), 0);
	while (there < 50 || gone < 50) {
		uint64_t vendor = client_read(rig.socket, CONFIG, PCI_VENDOR_ID, 2);

		ck_assert(vendor == TRN_PCI_VENDOR || vendor == 0xffff);
		there += vendor != 0xffff;
		gone += vendor == 0xffff;
		client_write(rig.socket, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MASTER);
		client_write(rig.socket, TRN_BAR_DOORBELL, 0, 4, 1);
		client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0);
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(faults_go_to_the_chip)
{
	const struct trn_injection injection = { .fault = TRN_INJECT_LATE_INTERRUPT,
						 .vector = 3,
						 .ms = 7 };

	ck_assert_int_eq(trn_server_inject(rig.server, &injection), 0);
	ck_assert_int_eq(fake_chip_state().injection.fault, TRN_INJECT_LATE_INTERRUPT);
	ck_assert_uint_eq(fake_chip_state().injection.vector, 3);
	ck_assert_uint_eq(fake_chip_state().injection.ms, 7);
	fake_chip_refuse_injection(-ENODEV);
	ck_assert_int_eq(trn_server_inject(rig.server, &injection), -ENODEV);
	fake_chip_refuse_injection(0);
	ck_assert_int_eq(trn_server_unplug(rig.server), 0);
	ck_assert_int_eq(trn_server_inject(rig.server, &injection), -ENXIO);
	ck_assert_int_eq(trn_server_plug(rig.server), 0);
	ck_assert_int_eq(trn_server_inject(rig.server, &injection), 0);
}
END_TEST

TCase *hotplug_tests(void)
{
	TCase *tests = tcase_create("hotplug");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, nothing_is_there);
	tcase_add_test(tests, it_reaches_nobody);
	tcase_add_test(tests, it_comes_back);
	tcase_add_test(tests, power_on_clears_all);
	tcase_add_test(tests, twice_is_an_error);
	tcase_add_test(tests, client_does_what_it_likes_meanwhile);
	tcase_add_test(tests, comes_and_goes_amid_accesses);
	tcase_add_test(tests, faults_go_to_the_chip);
	return tests;
}
