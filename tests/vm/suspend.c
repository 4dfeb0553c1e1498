/* SPDX-License-Identifier: MIT */
/*
 * suspend test|ram: the system sleeps, with chips idle and in use.  "test" is all of it but the
 * last step; "ram" is real, and the clock wakes the system up.  TRN_SUSPENDS is how often (5; 20 with
 * TRN_LONG=1).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "victim.h"

static bool real;

static unsigned int times(void)
{
	const char *count = getenv("TRN_SUSPENDS");
	const char *long_counts = getenv("TRN_LONG");

	if (count)
		return (unsigned int)strtoul(count, NULL, 10);
	return long_counts && !strcmp(long_counts, "1") ? 20 : 5;
}

static void suspend(void)
{
	if (real) {
		guest_fails(victim_write("/sys/class/rtc/rtc0/wakealarm", "0"), 0);
		guest_fails(victim_write("/sys/class/rtc/rtc0/wakealarm", "+3"), 0);
	} else {
		guest_fails(victim_write("/sys/module/suspend/parameters/pm_test_delay", "0"), 0);
		guest_fails(victim_write("/sys/power/pm_test", "platform"), 0);
	}
	guest_fails(victim_write("/sys/power/state", "mem"), 0);
}

static void progress(const char *what, unsigned int count)
{
	fprintf(stderr, "suspend: %s, %u of %u\n", what, count, times());
}

START_TEST(idle)
{
	unsigned int i, chip;
	int fd = guest_open(0);
	uint64_t before = guest_free(fd);

	for (i = 1; i <= times(); i++) {
		suspend();
		ck_assert_uint_eq(guest_free(fd), before);
		for (chip = 0; chip < guest_chips(); chip++)
			victim_chip_works(chip);
		progress("idle", i);
	}
	close(fd);
}
END_TEST

START_TEST(in_use)
{
	static struct victim victim;
	unsigned int i;

	for (i = 1; i <= times(); i++) {
		victim_start(&victim, 0);
		suspend();
		victim_check(&victim, -EIO);
		victim_works_again(&victim);
		victim_end(&victim);
		victim_chip_works(0);
		progress("in use", i);
	}
}
END_TEST

/* HBM would be lost with all that the image knows of it. */
START_TEST(hibernation_is_refused)
{
	static struct victim victim;

	if (real || access("/sys/power/disk", F_OK)) {
		fprintf(stderr, "suspend: skipped, for \"test\" and a kernel with hibernation\n");
		return;
	}
	victim_start(&victim, 0);
	guest_fails(victim_write("/sys/power/pm_test", "none"), 0);
	ck_assert_int_lt(victim_write("/sys/power/state", "disk"), 0);
	/* Nothing has happened to the chip. */
	ck_assert_uint_eq(victim.queue.control->status, TRN_CONTROL_RUNNING);
	guest_fails(guest_job(victim.fd, victim.job, 60), 0);
	*victim.queue.fence = 1;
	guest_fails(guest_wait(&victim.queue, 2, trn_deadline(INT64_C(60000000000))), 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("suspend");
	TCase *cases = tcase_create("suspend");

	if (argc != 2 || (strcmp(argv[1], "test") && strcmp(argv[1], "ram"))) {
		fprintf(stderr, "suspend: one argument: test or ram\n");
		return 2;
	}
	real = !strcmp(argv[1], "ram");
	tcase_set_timeout(cases, 60.0 * times() + 60);
	tcase_add_test(cases, idle);
	tcase_add_test(cases, in_use);
	tcase_add_test(cases, hibernation_is_refused);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
