/* SPDX-License-Identifier: MIT */
/*
 * recover [killed]: a chip that fails is reset by the driver, nobody helps; one that fails for
 * good, or again and again, or is taken away, is dead, and can be had again: by binding the driver
 * anew, or by a rescan of the bus.  The chip is in use each time.  In the end it is dead: this has
 * a boot of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "chip.h"
#include "victim.h"

static bool killed; /* trn-vdev, and nothing else */

/* Lines about chips at these levels since boot that have @text. */
static int log_lines(const char *levels, const char *text)
{
	char command[160];
	int count = -1;
	FILE *log;

	snprintf(command, sizeof(command), "dmesg --level %s | grep -w trn | grep -c '%s'", levels,
		 text);
	log = popen(command, "r");
	ck_assert_ptr_nonnull(log);
	ck_assert_int_eq(fscanf(log, "%d", &count), 1);
	pclose(log);
	return count;
}

static void use_admin_queue(void)
{
	struct drm_trn_context_create create = { 0 };
	int fd = guest_open(0);

	/* It waits for the end of the reset, and is done after it. */
	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_CONTEXT_CREATE, &create), 0);
	close(fd);
}

static const struct {
	const char *fault, *line;
	bool admin; /* comes with the next admin command */
} faults[] = {
	{ "heartbeat-stop", "no heartbeat", false },
	{ "fatal", "fatal error", false },
	{ "lost-completion", "not done in", true },
	{ "garbage-completion", "bad admin completion", true },
};

static void inject(const char *fault)
{
	chip_request("inject", "\"chip\":0,\"fault\":\"%s\"", fault);
}

START_TEST(failure_is_survived)
{
	int errors = log_lines("err", ""), resets = log_lines("warn", "chip was reset"),
	    lines = log_lines("warn", faults[_i].line);
	struct victim victim;

	victim_start(&victim, 0);
	inject(faults[_i].fault);
	if (faults[_i].admin)
		use_admin_queue();
	victim_check(&victim, -EIO);
	victim_works_again(&victim);
	victim_end(&victim);
	victim_chip_works(0);
	ck_assert_int_eq(log_lines("err", ""), errors);
	ck_assert_int_eq(log_lines("warn", "chip was reset"), resets + 1);
	ck_assert_int_eq(log_lines("warn", faults[_i].line), lines + 1);
}
END_TEST

static void bind_again(const char *pci)
{
	guest_fails(victim_write("/sys/bus/pci/drivers/trn/unbind", pci), 0);
	guest_fails(victim_write("/sys/bus/pci/drivers/trn/bind", pci), 0);
	victim_chip_works(0);
}

/* Waits for the chip to be dead. */
static void expect_death(int fd)
{
	int64_t end = trn_deadline(60 * SECOND);
	uint32_t unused;

	while (guest_hbm(fd, DRM_TRN_STACK_ANY, 4096, &unused) != -ENODEV)
		ck_assert_int_lt(trn_deadline(0), end);
}

/* The fifth failure in a minute is the last; those of the tests before count too. */
START_TEST(failure_again_and_again)
{
	int errors = log_lines("err", ""), resets, fd = guest_open(0), i;
	struct victim victim;
	char pci[32];

	guest_pci(0, pci, sizeof(pci));
	bind_again(pci);
	close(fd);
	fd = guest_open(0);
	resets = log_lines("warn", "chip was reset");
	for (i = 1; i <= 4; i++) {
		inject(faults[1].fault);
		/* The fault is noticed, and the chip is back. */
		while (log_lines("warn", "chip was reset") < resets + i)
			usleep(50000);
		victim_chip_works(0);
	}
	victim_start(&victim, 0);
	inject(faults[1].fault);
	expect_death(fd);
	victim_check(&victim, -ENODEV);
	victim_end(&victim);
	close(fd);
	ck_assert_int_eq(log_lines("err", ""), errors + 1);
	bind_again(pci);
}
END_TEST

/* ---- away from the bus ----------------------------------------------- */

static void remove_and_rescan(const char *pci)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", pci);
	guest_fails(victim_write(path, "1"), 0);
	guest_fails(victim_write("/sys/bus/pci/rescan", "1"), 0);
	victim_chip_works(0);
}

START_TEST(unbound)
{
	struct victim victim;
	char pci[32];

	guest_pci(0, pci, sizeof(pci));
	victim_start(&victim, 0);
	bind_again(pci);
	victim_check(&victim, -ENODEV);
	victim_end(&victim);
	victim_chip_works(0);
}
END_TEST

/* By the administrator, while the chip is in use. */
START_TEST(removed)
{
	struct victim victim;
	char pci[32];

	guest_pci(0, pci, sizeof(pci));
	victim_start(&victim, 0);
	remove_and_rescan(pci);
	victim_check(&victim, -ENODEV);
	victim_end(&victim);
	victim_chip_works(0);
}
END_TEST

/* ... of a chip that somebody has reset just before. */
START_TEST(removed_after_reset)
{
	struct victim victim;
	char pci[32], path[96];

	guest_pci(0, pci, sizeof(pci));
	victim_start(&victim, 0);
	victim_attribute(0, "reset", path, sizeof(path));
	guest_fails(victim_write(path, "1"), 0);
	remove_and_rescan(pci);
	victim_check_later(&victim, -EIO, -ENODEV);
	victim_end(&victim);
}
END_TEST

START_TEST(unplugged)
{
	int errors = log_lines("err", "chip is dead"), fd = guest_open(0);
	int64_t begin;
	struct victim victim;
	char pci[32];

	guest_pci(0, pci, sizeof(pci));
	victim_start(&victim, 0);
	begin = trn_deadline(0);
	chip_request("unplug", "\"chip\":0");
	expect_death(fd);
	victim_check(&victim, -ENODEV);
	ck_assert_int_lt(trn_deadline(0), begin + 10 * SECOND);
	ck_assert_int_eq(log_lines("err", "chip is dead"), errors + 1);
	chip_request("plug", "\"chip\":0");
	remove_and_rescan(pci);
	victim_end(&victim);
	close(fd);
	victim_chip_works(0);
}
END_TEST

/* Removed before anybody has noticed. */
START_TEST(unplugged_and_removed)
{
	struct victim victim;
	char pci[32], path[96];
	int64_t begin;

	guest_pci(0, pci, sizeof(pci));
	victim_start(&victim, 0);
	victim_attribute(0, "remove", path, sizeof(path));
	chip_request("unplug", "\"chip\":0");
	begin = trn_deadline(0);
	guest_fails(victim_write(path, "1"), 0);
	ck_assert_int_lt(trn_deadline(0), begin + 10 * SECOND);
	victim_check(&victim, -ENODEV);
	chip_request("plug", "\"chip\":0");
	guest_fails(victim_write("/sys/bus/pci/rescan", "1"), 0);
	victim_end(&victim);
	victim_chip_works(0);
}
END_TEST

/* The last, for no reset brings it back: it dies, or all of trn-vdev does. */
START_TEST(dead)
{
	int errors = log_lines("err", "chip is dead"), fd = guest_open(0);
	struct victim victim;

	victim_start(&victim, 0);
	if (killed)
		ck_assert_int_eq(system("trn-vmctl vm kill-vdev >/dev/null"), 0);
	else
		inject("death");
	expect_death(fd);
	victim_check(&victim, -ENODEV);
	victim_end(&victim);
	close(fd);
	ck_assert_int_eq(log_lines("err", "chip is dead"), errors + 1);
	guest_fails(guest_unload_module(), 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("recover");
	TCase *cases = tcase_create("recover");

	killed = argc == 2 && !strcmp(argv[1], "killed");
	if (argc > 1 && !killed) {
		fprintf(stderr, "recover: no argument, or \"killed\"\n");
		return 2;
	}
	tcase_set_timeout(cases, 300);
	suite_add_tcase(suite, cases);
	if (killed) {
		tcase_add_test(cases, dead);
		return check_run(suite);
	}
	tcase_add_test(cases, failure_again_and_again);
	tcase_add_loop_test(cases, failure_is_survived, 0, sizeof(faults) / sizeof(*faults));
	tcase_add_test(cases, unbound);
	tcase_add_test(cases, removed);
	tcase_add_test(cases, removed_after_reset);
	tcase_add_test(cases, unplugged);
	tcase_add_test(cases, unplugged_and_removed);
	tcase_add_test(cases, dead);
	return check_run(suite);
}
