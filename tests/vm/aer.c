/* SPDX-License-Identifier: MIT */
/*
 * Errors of the PCI bus, injected by the kernel's aer_inject into the port above the chip: it is
 * reset, with all that is known to be lost told so.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "chip.h"
#include "victim.h"

/* Bits of the AER capability's uncorrectable error status. */
#define DATA_LINK_PROTOCOL 0x00000010 /* fatal */
#define COMPLETION_TIMEOUT 0x00004000 /* not fatal */

/* What /dev/aer_inject takes: struct aer_error_inj of drivers/pci/pcie/aer_inject.c. */
struct error {
	uint8_t bus, device, function;
	uint32_t uncorrectable, correctable;
	uint32_t header[4];
	uint32_t domain;
};

/* The PCI port above a chip. */
static struct error port_of(unsigned int chip)
{
	unsigned int domain, bus, device, function;
	char path[96], real[PATH_MAX], *end;

	victim_attribute(chip, ".", path, sizeof(path));
	ck_assert_ptr_nonnull(realpath(path, real));
	end = strrchr(real, '/');
	ck_assert_ptr_nonnull(end);
	*end = '\0';
	end = strrchr(real, '/');
	ck_assert_ptr_nonnull(end);
	ck_assert_msg(sscanf(end + 1, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4, "%s",
		      real);
	return (struct error){
		.bus = (uint8_t)bus,
		.device = (uint8_t)device,
		.function = (uint8_t)function,
		.domain = domain,
	};
}

static void bus_error(uint32_t uncorrectable)
{
	int64_t end = trn_deadline(60 * SECOND);
	struct error error = port_of(0);
	struct victim victim;
	int fd = guest_open(0), file;
	uint64_t before;

	/* Built in, a module, or not there. */
	if (system("modprobe -q aer_inject") < 0)
		ck_abort_msg("cannot run modprobe");
	file = open("/dev/aer_inject", O_WRONLY | O_CLOEXEC);
	if (file < 0) {
		fprintf(stderr, "aer: skipped, the kernel has no aer_inject\n");
		close(fd);
		return;
	}
	before = chip_recovery(fd).function_resets;
	victim_start(&victim, 0);
	error.uncorrectable = uncorrectable;
	ck_assert_msg(write(file, &error, sizeof(error)) == sizeof(error), "aer_inject: %s",
		      strerror(errno));
	while (chip_recovery(fd).function_resets == before) {
		ck_assert_int_lt(trn_deadline(0), end);
		usleep(10000);
	}
	victim_check(&victim, -EIO);
	victim_works_again(&victim);
	victim_end(&victim);
	ck_assert_uint_eq(chip_recovery(fd).function_resets, before + 1);
	close(file);
	close(fd);
	victim_chip_works(0);
	if (guest_chips() > 1)
		victim_chip_works(1);
}

START_TEST(fatal_error)
{
	bus_error(DATA_LINK_PROTOCOL);
}
END_TEST

START_TEST(lost_transaction)
{
	bus_error(COMPLETION_TIMEOUT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aer");
	TCase *cases = tcase_create("aer");

	tcase_set_timeout(cases, 180);
	tcase_add_test(cases, fatal_error);
	tcase_add_test(cases, lost_transaction);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
