/* SPDX-License-Identifier: MIT */
/* Reads and writes of regions, and what configuration space does to the chip. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>

#include "fake_chip.h"
#include "hw/trn_regs.h"
#include "rig.h"
#include "suites.h"

#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

static struct rig rig;

static void begin(void)
{
	rig_begin_attached(&rig);
}

static void end(void)
{
	rig_end(&rig);
}

START_TEST(registers_of_all_widths)
{
	static const uint32_t widths[] = { 1, 2, 4, 8 };

	for (int i = 0; i < 4; i++) {
		uint64_t value = 0x1122334455667788 & (UINT64_MAX >> (64 - 8 * widths[i]));

		client_write(rig.socket, TRN_BAR_REGS, 0x800 + 8 * i, widths[i],
			     0x1122334455667788);
		ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, 0x800 + 8 * i, widths[i]),
				  value);
	}
	client_write(rig.socket, TRN_BAR_REGS, TRN_BAR_REGS_SIZE - 1, 1, 0x5a);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, TRN_BAR_REGS_SIZE - 1, 1), 0x5a);
}
END_TEST

START_TEST(doorbells_reach_the_chip)
{
	client_write(rig.socket, TRN_BAR_DOORBELL, 3 * FAKE_STRIDE, 4, 77);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_DOORBELL, 3 * FAKE_STRIDE, 4), 0);
	ck_assert_uint_eq(fake_chip_state().doorbell_offset, 3 * FAKE_STRIDE);
	ck_assert_uint_eq(fake_chip_state().doorbell_value, 77);
}
END_TEST

static const struct {
	uint64_t offset;
	uint32_t region, count;
} outside[] = {
	{ TRN_BAR_REGS_SIZE, TRN_BAR_REGS, 4 },
	{ TRN_BAR_REGS_SIZE - 2, TRN_BAR_REGS, 4 },
	{ UINT64_MAX, TRN_BAR_REGS, 4 },
	{ UINT64_MAX - 3, TRN_BAR_REGS, 4 },
	{ 1ULL << 63, TRN_BAR_HBM, 8 },
	{ 0, TRN_BAR_REGS, 0 },
	{ 0, TRN_BAR_REGS, 3 },
	{ 0, TRN_BAR_REGS, 16 },
	{ RIG_APERTURE - 4, TRN_BAR_HBM, 8 },
	{ RIG_APERTURE, TRN_BAR_HBM, 1 },
	{ 32 << 10, TRN_BAR_DOORBELL, 4 },
	{ 4096, CONFIG, 1 },
	{ 4094, CONFIG, 4 },
	{ 0, CONFIG, 0 },
	{ 0, 1, 4 },
	{ 0, 3, 4 },
	{ 0, 5, 4 },
	{ 0, VFIO_PCI_ROM_REGION_INDEX, 4 },
	{ 0, VFIO_PCI_VGA_REGION_INDEX, 4 },
	{ 0, VFIO_PCI_NUM_REGIONS, 4 },
	{ 0, UINT32_MAX, 4 },
};

START_TEST(outside_is_refused)
{
	struct {
		struct vfio_user_region_access access;
		uint8_t data[16];
	} body = { { outside[_i].offset, outside[_i].region, outside[_i].count }, { 0 } };

	client_expect_error(rig.socket, VFIO_USER_REGION_READ, &body, sizeof(body.access), EINVAL);
	client_expect_error(rig.socket, VFIO_USER_REGION_WRITE, &body,
			    sizeof(body.access) + outside[_i].count, EINVAL);
	if (outside[_i].count <= 8) {
		struct {
			uint64_t count;
			struct vfio_user_small_write writes[2];
		} multi = { 2, { { { 0x900, TRN_BAR_REGS, 4 }, { 1 } }, { body.access, { 0 } } } };

		client_expect_error(rig.socket, VFIO_USER_REGION_WRITE_MULTI, &multi, sizeof(multi),
				    EINVAL);
		/* All of it or nothing. */
		ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, 0x900, 4), 0);
	}
}
END_TEST

START_TEST(reads_have_a_limit)
{
	struct vfio_user_region_access access = { 0, TRN_BAR_HBM, VFIO_USER_DATA_MAX };
	struct reply reply;

	reply = client_request(rig.socket, VFIO_USER_REGION_READ, &access, sizeof(access), NULL, 0);
	ck_assert_uint_eq(reply.size, sizeof(access) + VFIO_USER_DATA_MAX);
	access.count++;
	client_expect_error(rig.socket, VFIO_USER_REGION_READ, &access, sizeof(access), EINVAL);
	access.count = UINT32_MAX;
	client_expect_error(rig.socket, VFIO_USER_REGION_READ, &access, sizeof(access), EINVAL);
}
END_TEST

START_TEST(whole_configuration_in_one_read)
{
	const struct vfio_user_region_access access = { 0, CONFIG, 4096 };
	struct reply reply =
		client_request(rig.socket, VFIO_USER_REGION_READ, &access, sizeof(access), NULL, 0);

	ck_assert_uint_eq(reply.size, sizeof(access) + 4096);
	ck_assert_uint_eq(reply.body[sizeof(access)], TRN_PCI_VENDOR & 0xff);
	ck_assert_uint_eq(reply.body[sizeof(access) + PCI_CFG_SPACE_SIZE], PCI_EXT_CAP_ID_ERR);
}
END_TEST

START_TEST(write_multi_in_order)
{
	struct {
		uint64_t count;
		struct vfio_user_small_write writes[VFIO_USER_WRITES_MAX];
	} body = { .count = VFIO_USER_WRITES_MAX };
	struct reply reply;

	for (uint32_t i = 0; i < VFIO_USER_WRITES_MAX; i++) {
		body.writes[i].access = (struct vfio_user_region_access){ 0x900, TRN_BAR_REGS, 4 };
		memcpy(body.writes[i].data, &i, sizeof(i));
	}
	body.writes[7].access =
		(struct vfio_user_region_access){ FAKE_STRIDE, TRN_BAR_DOORBELL, 4 };
	reply = client_request(rig.socket, VFIO_USER_REGION_WRITE_MULTI, &body, sizeof(body), NULL,
			       0);
	ck_assert_uint_eq(reply.header.error, 0);
	ck_assert_uint_eq(reply.size, sizeof(uint64_t));
	ck_assert_uint_eq(*(uint64_t *)reply.body, VFIO_USER_WRITES_MAX);
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_REGS, 0x900, 4),
			  VFIO_USER_WRITES_MAX - 1);
	ck_assert_uint_eq(fake_chip_state().doorbell_offset, FAKE_STRIDE);
	ck_assert_uint_eq(fake_chip_state().doorbell_value, 7);

	body.count = 1;
	body.writes[0].access.count = 9;
	client_expect_error(rig.socket, VFIO_USER_REGION_WRITE_MULTI, &body,
			    sizeof(uint64_t) + sizeof(body.writes[0]), EINVAL);
}
END_TEST

static uint32_t find_capability(uint8_t id)
{
	uint32_t offset = client_read(rig.socket, CONFIG, PCI_CAPABILITY_LIST, 1);

	while (offset && client_read(rig.socket, CONFIG, offset, 1) != id)
		offset = client_read(rig.socket, CONFIG, offset + 1, 1);
	ck_assert_uint_ne(offset, 0);
	return offset;
}

START_TEST(flr_resets_the_chip)
{
	uint32_t control = find_capability(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;

	client_write(rig.socket, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	client_write(rig.socket, CONFIG, control, 2, PCI_EXP_DEVCTL_BCR_FLR);
	ck_assert_uint_eq(fake_chip_state().resets, 1);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, PCI_COMMAND, 2), 0);
	ck_assert_uint_eq(client_read(rig.socket, CONFIG, control, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0);
}
END_TEST

START_TEST(power_up_resets_the_chip)
{
	uint32_t control = find_capability(PCI_CAP_ID_PM) + PCI_PM_CTRL;

	client_write(rig.socket, CONFIG, control, 2, 3);
	ck_assert_uint_eq(fake_chip_state().resets, 0);
	client_write(rig.socket, CONFIG, control, 2, 0);
	ck_assert_uint_eq(fake_chip_state().resets, 1);
}
END_TEST

START_TEST(counters_count)
{
	struct trn_server_stats stats, before;

	trn_server_read_stats(rig.server, &before);
	client_write(rig.socket, TRN_BAR_REGS, 0x40, 4, 1);
	client_write(rig.socket, TRN_BAR_DOORBELL, 0, 4, 1);
	client_read(rig.socket, TRN_BAR_REGS, 0x40, 4);
	client_read(rig.socket, TRN_BAR_REGS, 0x40, 8);
	trn_server_read_stats(rig.server, &stats);
	ck_assert_uint_eq(stats.messages - before.messages, 4);
	ck_assert_uint_eq(stats.register_writes, 1);
	ck_assert_uint_eq(stats.register_reads, 2);
	ck_assert_uint_eq(stats.doorbells, 1);
	ck_assert_uint_eq(stats.resets, 0);
}
END_TEST

TCase *region_tests(void)
{
	TCase *tests = tcase_create("regions");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, registers_of_all_widths);
	tcase_add_test(tests, doorbells_reach_the_chip);
	tcase_add_loop_test(tests, outside_is_refused, 0, sizeof(outside) / sizeof(outside[0]));
	tcase_add_test(tests, reads_have_a_limit);
	tcase_add_test(tests, whole_configuration_in_one_read);
	tcase_add_test(tests, write_multi_in_order);
	tcase_add_test(tests, flr_resets_the_chip);
	tcase_add_test(tests, power_up_resets_the_chip);
	tcase_add_test(tests, counters_count);
	return tests;
}
