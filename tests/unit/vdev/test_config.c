/* SPDX-License-Identifier: MIT */
/* Configuration space, as software walks and writes it. */
#include <check.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>

#include "hw/trn_regs.h"
#include "tests/check_run.h"
#include "tools/vdev/pci/config.h"

static struct trn_pci_config config;

static const struct trn_pci_identity identity = {
	.device = TRN_PCI_DEVICE_TRN3,
	.vectors = 33,
	.bar_size = {
		[TRN_BAR_REGS] = TRN_BAR_REGS_SIZE,
		[TRN_BAR_HBM] = 256ULL << 30,
		[TRN_BAR_DOORBELL] = 1 << 20,
	},
};

static void begin(void)
{
	trn_pci_config_init(&config, &identity);
}

static uint32_t get(size_t offset, size_t bytes)
{
	uint32_t value = 0;

	trn_pci_config_read(&config, offset, &value, bytes);
	return value;
}

static bool put(size_t offset, size_t bytes, uint32_t value)
{
	return trn_pci_config_write(&config, offset, &value, bytes);
}

/* Offset of a capability, found the way an operating system does; 0: none. */
static size_t find_capability(uint8_t id)
{
	size_t offset = get(PCI_CAPABILITY_LIST, 1);

	for (int i = 0; offset && i < 48; i++) {
		ck_assert_uint_ge(offset, PCI_STD_HEADER_SIZEOF);
		ck_assert_uint_eq(offset % 4, 0);
		if (get(offset, 1) == id)
			return offset;
		offset = get(offset + 1, 1);
	}
	return 0;
}

START_TEST(identity_is_the_generation)
{
	ck_assert_uint_eq(get(PCI_VENDOR_ID, 2), TRN_PCI_VENDOR);
	ck_assert_uint_eq(get(PCI_DEVICE_ID, 2), TRN_PCI_DEVICE_TRN3);
	ck_assert_uint_eq(get(PCI_CLASS_REVISION, 4) >> 8, TRN_PCI_CLASS);
	ck_assert_uint_eq(get(PCI_HEADER_TYPE, 1), PCI_HEADER_TYPE_NORMAL);
	ck_assert_uint_eq(get(PCI_INTERRUPT_PIN, 1), 0);
	ck_assert(get(PCI_STATUS, 2) & PCI_STATUS_CAP_LIST);
}
END_TEST

START_TEST(capabilities_are_a_chain)
{
	static const uint8_t expected[] = { PCI_CAP_ID_PM, PCI_CAP_ID_MSIX, PCI_CAP_ID_EXP };
	size_t offset = get(PCI_CAPABILITY_LIST, 1), count = 0;

	for (size_t i = 0; i < sizeof(expected); i++)
		ck_assert_uint_ne(find_capability(expected[i]), 0);
	for (; offset && count < 48; count++)
		offset = get(offset + 1, 1);
	ck_assert_uint_eq(count, sizeof(expected));
	ck_assert_uint_eq(find_capability(PCI_CAP_ID_MSI), 0);

	ck_assert_uint_eq(get(PCI_CFG_SPACE_SIZE, 4) & 0xffff, PCI_EXT_CAP_ID_ERR);
	ck_assert_uint_eq(get(PCI_CFG_SPACE_SIZE, 4) >> 20, 0);
}
END_TEST

START_TEST(bars_tell_their_size)
{
	static const struct {
		unsigned int bar;
		uint32_t flags, low, high;
	} expected[] = {
		{ 0, 0x0, 0xfffe0000, 0 },
		{ 2, 0xc, 0x0000000c, 0xffffffc0 },
		{ 4, 0x4, 0xfff00004, 0xffffffff },
	};

	for (int bar = 0; bar < TRN_PCI_BARS; bar++)
		put(PCI_BASE_ADDRESS_0 + 4 * bar, 4, 0xffffffff);
	for (size_t i = 0; i < 3; i++) {
		size_t offset = PCI_BASE_ADDRESS_0 + 4 * expected[i].bar;

		ck_assert_uint_eq(get(offset, 4), expected[i].low | expected[i].flags);
		ck_assert_uint_eq(get(offset + 4, 4), expected[i].high);
	}
	put(PCI_BASE_ADDRESS_4, 4, 0xabcdef12);
	ck_assert_uint_eq(get(PCI_BASE_ADDRESS_4, 4), 0xabc00004);
}
END_TEST

START_TEST(absent_bar_reads_zero)
{
	struct trn_pci_identity without = identity;

	without.bar_size[TRN_BAR_HBM] = 0;
	trn_pci_config_init(&config, &without);
	put(PCI_BASE_ADDRESS_2, 4, 0xffffffff);
	put(PCI_BASE_ADDRESS_3, 4, 0xffffffff);
	ck_assert_uint_eq(get(PCI_BASE_ADDRESS_2, 4), 0);
	ck_assert_uint_eq(get(PCI_BASE_ADDRESS_3, 4), 0);
}
END_TEST

START_TEST(read_only_bits_stay)
{
	uint8_t before[TRN_PCI_CONFIG_SIZE], after[TRN_PCI_CONFIG_SIZE], fill[TRN_PCI_CONFIG_SIZE];
	static const struct {
		size_t offset, bytes;
		uint32_t may_change;
	} writable[] = {
		{ PCI_COMMAND, 2, 0x0546 },	   { PCI_CACHE_LINE_SIZE, 1, 0xff },
		{ PCI_INTERRUPT_LINE, 1, 0xff },   { PCI_CAPABILITY_LIST, 1, 0 },
		{ PCI_SUBSYSTEM_VENDOR_ID, 4, 0 }, { PCI_ROM_ADDRESS, 4, 0 },
	};

	for (int pattern = 0; pattern < 2; pattern++) {
		begin();
		trn_pci_config_read(&config, 0, before, sizeof(before));
		memset(fill, pattern ? 0xff : 0, sizeof(fill));
		trn_pci_config_write(&config, 0, fill, sizeof(fill));
		trn_pci_config_read(&config, 0, after, sizeof(after));
		for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++) {
			uint32_t changed = 0;

			for (size_t b = 0; b < writable[i].bytes; b++)
				changed |= (uint32_t)(before[writable[i].offset + b] ^
						      after[writable[i].offset + b])
					   << (8 * b);
			ck_assert_uint_eq(changed & ~writable[i].may_change, 0);
		}
		/* No capability has moved, and nothing is where none is. */
		ck_assert_uint_ne(find_capability(PCI_CAP_ID_EXP), 0);
		for (size_t i = 0x200; i < sizeof(after); i++)
			ck_assert_uint_eq(after[i], 0);
	}
}
END_TEST

START_TEST(msix_describes_bar0)
{
	size_t msix = find_capability(PCI_CAP_ID_MSIX);

	ck_assert_uint_eq(get(msix + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_QSIZE, 33 - 1);
	ck_assert_uint_eq(get(msix + PCI_MSIX_TABLE, 4), TRN_MSIX_TABLE_OFFSET | 0);
	ck_assert_uint_eq(get(msix + PCI_MSIX_PBA, 4), TRN_MSIX_PBA_OFFSET | 0);
	ck_assert(!put(msix + PCI_MSIX_FLAGS, 2, 0xffff));
	ck_assert_uint_eq(get(msix + PCI_MSIX_FLAGS, 2),
			  PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL | (33 - 1));
}
END_TEST

START_TEST(flr_is_asked_for_by_one_bit)
{
	size_t control = find_capability(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;

	ck_assert(get(control - PCI_EXP_DEVCTL + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	ck_assert(!put(control, 2, get(control, 2)));
	ck_assert(!put(control, 1, 0xff));
	ck_assert(put(control, 2, PCI_EXP_DEVCTL_BCR_FLR));
	ck_assert(put(control + 1, 1, 0x80));
	ck_assert(put(control, 4, PCI_EXP_DEVCTL_BCR_FLR));
	/* The bit in the register beside, in the same write, is another one. */
	ck_assert(!put(control, 4, (uint32_t)PCI_EXP_DEVCTL_BCR_FLR << 16));
	ck_assert_uint_eq(get(control, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0);
}
END_TEST

START_TEST(leaving_d3hot_is_a_reset)
{
	size_t control = find_capability(PCI_CAP_ID_PM) + PCI_PM_CTRL;

	ck_assert_uint_eq(get(control, 2) & PCI_PM_CTRL_NO_SOFT_RESET, 0);
	ck_assert(!put(control, 2, 0));
	ck_assert(!put(control, 2, 3));
	ck_assert_uint_eq(get(control, 2), 3);
	ck_assert(!put(control, 2, 3));
	/* There is no D1 and no D2. */
	ck_assert(!put(control, 2, 1));
	ck_assert_uint_eq(get(control, 2), 3);
	ck_assert(put(control, 1, 0));
	ck_assert_uint_eq(get(control, 2), 0);
	ck_assert(!put(control, 2, 2));
	ck_assert_uint_eq(get(control, 2), 0);
}
END_TEST

START_TEST(reset_keeps_only_sticky_registers)
{
	size_t pm = find_capability(PCI_CAP_ID_PM), aer = PCI_CFG_SPACE_SIZE;

	put(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	put(PCI_BASE_ADDRESS_0, 4, 0xfe000000);
	put(pm + PCI_PM_CTRL, 2, 3);
	put(aer + PCI_ERR_UNCOR_MASK, 4, PCI_ERR_UNC_UNSUP);
	trn_pci_config_reset(&config);
	ck_assert_uint_eq(get(PCI_COMMAND, 2), 0);
	ck_assert_uint_eq(get(PCI_BASE_ADDRESS_0, 4), 0);
	ck_assert_uint_eq(get(pm + PCI_PM_CTRL, 2), 0);
	ck_assert_uint_eq(get(aer + PCI_ERR_UNCOR_MASK, 4), PCI_ERR_UNC_UNSUP);
	put(PCI_BASE_ADDRESS_0, 4, 0xffffffff);
	ck_assert_uint_eq(get(PCI_BASE_ADDRESS_0, 4), 0xfffe0000);
}
END_TEST

START_TEST(status_bits_are_cleared_by_one)
{
	size_t status = PCI_CFG_SPACE_SIZE + PCI_ERR_COR_STATUS;

	config.value[status] = PCI_ERR_COR_RCVR | PCI_ERR_COR_BAD_TLP;
	put(status, 4, PCI_ERR_COR_RCVR);
	ck_assert_uint_eq(get(status, 4), PCI_ERR_COR_BAD_TLP);
	put(status, 4, 0);
	ck_assert_uint_eq(get(status, 4), PCI_ERR_COR_BAD_TLP);
}
END_TEST

START_TEST(bus_master_needs_d0)
{
	size_t control = find_capability(PCI_CAP_ID_PM) + PCI_PM_CTRL;

	ck_assert(!trn_pci_bus_master(&config));
	put(PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	ck_assert(!trn_pci_bus_master(&config));
	put(PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	ck_assert(trn_pci_bus_master(&config));
	put(control, 2, 3);
	ck_assert(!trn_pci_bus_master(&config));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vdev-config");
	TCase *tests = tcase_create("config");

	tcase_add_checked_fixture(tests, begin, NULL);
	tcase_add_test(tests, identity_is_the_generation);
	tcase_add_test(tests, capabilities_are_a_chain);
	tcase_add_test(tests, bars_tell_their_size);
	tcase_add_test(tests, absent_bar_reads_zero);
	tcase_add_test(tests, read_only_bits_stay);
	tcase_add_test(tests, msix_describes_bar0);
	tcase_add_test(tests, flr_is_asked_for_by_one_bit);
	tcase_add_test(tests, leaving_d3hot_is_a_reset);
	tcase_add_test(tests, reset_keeps_only_sticky_registers);
	tcase_add_test(tests, status_bits_are_cleared_by_one);
	tcase_add_test(tests, bus_master_needs_d0);
	suite_add_tcase(suite, tests);
	return check_run(suite);
}
