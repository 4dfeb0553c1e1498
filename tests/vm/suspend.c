/* SPDX-License-Identifier: MIT */
/*
 * The system sleeps, with chips idle and in use: all of it but the last step, and then really,
 * until the clock wakes it up.  TRN_SUSPENDS is how often each (5; 20 with TRN_LONG=1).  Run by
 * suspend.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "victim.h"

enum depth {
	BUT_FOR_THE_LAST_STEP,
	TO_RAM
};

static unsigned int times(void)
{
	const char *count = getenv("TRN_SUSPENDS");
	const char *long_counts = getenv("TRN_LONG");

	if (count)
		return (unsigned int)strtoul(count, NULL, 10);
	return long_counts && !strcmp(long_counts, "1") ? 20 : 5;
}

/* What the system has slept in all. */
static int64_t slept(void)
{
	struct timespec with, without;

	clock_gettime(CLOCK_BOOTTIME, &with);
	clock_gettime(CLOCK_MONOTONIC, &without);
	return (with.tv_sec - without.tv_sec) * SECOND + with.tv_nsec - without.tv_nsec;
}

static void suspend_but_for_the_last_step(void)
{
	guest_fails(victim_write("/sys/module/suspend/parameters/pm_test_delay", "0"), 0);
	guest_fails(victim_write("/sys/power/pm_test", "platform"), 0);
	guest_fails(victim_write("/sys/power/state", "mem"), 0);
}

/* How long that takes. */
static int64_t took;

static void measure(void)
{
	int64_t start = trn_deadline(0);

	suspend_but_for_the_last_step();
	took = trn_deadline(0) - start;
}

/*
 * Registers of the bridge to the LPC bus, which say where the ones of power management are.  A PC's
 * firmware sets them when the system wakes up; QEMU's does not, and without them the system would
 * not sleep again.
 */
#define BRIDGE	      "/sys/bus/pci/devices/0000:00:1f.0/config"
#define BRIDGE_OFFSET 0x40

struct bridge {
	uint8_t registers[5];
};

static struct bridge save_bridge(void)
{
	int file = open(BRIDGE, O_RDONLY | O_CLOEXEC);
	struct bridge bridge;

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(pread(file, &bridge, sizeof(bridge), BRIDGE_OFFSET), sizeof(bridge));
	close(file);
	return bridge;
}

static void restore_bridge(const struct bridge *bridge)
{
	int file = open(BRIDGE, O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(pwrite(file, bridge, sizeof(*bridge), BRIDGE_OFFSET), sizeof(*bridge));
	close(file);
}

static void suspend_to_ram(void)
{
	/* An alarm that comes before the system sleeps would never wake it up. */
	int64_t seconds = 3 + 3 * took / SECOND, before = slept();
	struct bridge bridge = save_bridge();
	char alarm[24];

	snprintf(alarm, sizeof(alarm), "+%lld", (long long)seconds);
	guest_fails(victim_write("/sys/power/pm_test", "none"), 0);
	guest_fails(victim_write("/sys/class/rtc/rtc0/wakealarm", "0"), 0);
	guest_fails(victim_write("/sys/class/rtc/rtc0/wakealarm", alarm), 0);
	guest_fails(victim_write("/sys/power/state", "mem"), 0);
	restore_bridge(&bridge);
	ck_assert_int_gt(slept(), before);
}

static void suspend(int depth)
{
	if (depth == TO_RAM)
		suspend_to_ram();
	else
		suspend_but_for_the_last_step();
}

static void progress(const char *what, int depth, unsigned int count)
{
	fprintf(stderr, "suspend: %s, %s, %u of %u\n", what,
		depth == TO_RAM ? "to RAM" : "but for the last step", count, times());
}

START_TEST(idle)
{
	unsigned int i, chip;
	int fd = guest_open(0);
	uint64_t before = guest_free(fd);

	measure();
	for (i = 1; i <= times(); i++) {
		suspend(_i);
		ck_assert_uint_eq(guest_free(fd), before);
		for (chip = 0; chip < guest_chips(); chip++)
			victim_chip_works(chip);
		progress("idle", _i, i);
	}
	close(fd);
}
END_TEST

START_TEST(in_use)
{
	static struct victim victim;
	unsigned int i;

	measure();
	for (i = 1; i <= times(); i++) {
		victim_start(&victim, 0);
		suspend(_i);
		victim_check(&victim, -EIO);
		victim_works_again(&victim);
		victim_end(&victim);
		victim_chip_works(0);
		progress("in use", _i, i);
	}
}
END_TEST

/* HBM would be lost with all that the image knows of it. */
START_TEST(hibernation_is_refused)
{
	static struct victim victim;

	if (access("/sys/power/disk", F_OK)) {
		fprintf(stderr, "suspend: skipped, the kernel has no hibernation\n");
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

int main(void)
{
	Suite *suite = suite_create("suspend");
	TCase *cases = tcase_create("suspend");

	tcase_set_timeout(cases, 60.0 * times() + 60);
	tcase_add_loop_test(cases, idle, BUT_FOR_THE_LAST_STEP, TO_RAM + 1);
	tcase_add_loop_test(cases, in_use, BUT_FOR_THE_LAST_STEP, TO_RAM + 1);
	tcase_add_test(cases, hibernation_is_refused);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
