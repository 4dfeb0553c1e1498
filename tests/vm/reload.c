/* SPDX-License-Identifier: MIT */
/*
 * The module is unloaded and loaded, and every chip unbound and bound, many times: after
 * each all chips are there with all memory free.  TRN_RELOADS is the count (50; 500
 * with TRN_LONG=1), TRN_MODULE the module's path.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "guest.h"

#define CHIPS_MAX 16
#define DRIVER	  "/sys/bus/pci/drivers/trn/"

static unsigned int chips;
static char address[CHIPS_MAX][24];

static unsigned int reloads(void)
{
	const char *count = getenv("TRN_RELOADS");
	const char *long_counts = getenv("TRN_LONG");

	if (count)
		return (unsigned int)strtoul(count, NULL, 10);
	return long_counts && !strcmp(long_counts, "1") ? 500 : 50;
}

static void progress(const char *what, unsigned int cycle)
{
	if (cycle % 10 == 0)
		fprintf(stderr, "reload: %s, %u of %u\n", what, cycle, reloads());
}

/* In memory, so that each load is not one through the host's file system. */
static int copy_module(void)
{
	const char *path = getenv("TRN_MODULE");
	int source, copy;
	struct stat stat;

	ck_assert_msg(path != NULL, "TRN_MODULE is not set: run this by tools/vm/trn-vm");
	source = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(source >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(fstat(source, &stat), 0);
	copy = open("/run/trn-reload.ko", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(copy, 0);
	ck_assert_int_eq(sendfile(copy, source, NULL, (size_t)stat.st_size), stat.st_size);
	close(source);
	close(copy);
	/* The kernel refuses a module that is open for writing. */
	copy = open("/run/trn-reload.ko", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(copy, 0);
	return copy;
}

static void remember_chips(void)
{
	const struct trn_device_list *list;
	unsigned int i;

	guest_ok(trn_device_list(&list));
	ck_assert_uint_gt(list->count, 0);
	ck_assert_uint_le(list->count, CHIPS_MAX);
	chips = (unsigned int)list->count;
	for (i = 0; i < chips; i++)
		strcpy(address[i], list->entry[i]->pci);
	trn_device_list_free(list);
}

/* All chips are listed, answer, and have all their memory. */
static void check_chips(void)
{
	const struct trn_device_list *list;
	unsigned int i;

	guest_ok(trn_device_list(&list));
	ck_assert_uint_eq(list->count, chips);
	for (i = 0; i < chips; i++) {
		int fd = open(list->entry[i]->node, O_RDWR | O_CLOEXEC);
		struct drm_trn_query_device info;

		ck_assert_msg(fd >= 0, "%s: %s", list->entry[i]->node, strerror(errno));
		ck_assert_str_eq(list->entry[i]->pci, address[i]);
		info = guest_info(fd);
		ck_assert_uint_eq(guest_free(fd), info.hbm_stacks * info.hbm_stack_size);
		close(fd);
	}
	trn_device_list_free(list);
}

static void write_attribute(const char *name, const char *value)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), DRIVER "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_msg(write(fd, value, strlen(value)) == (ssize_t)strlen(value), "%s of %s: %s",
		      name, value, strerror(errno));
	close(fd);
}

START_TEST(unload_and_load)
{
	int module = copy_module();
	unsigned int cycle;

	remember_chips();
	for (cycle = 1; cycle <= reloads(); cycle++) {
		guest_fails(guest_unload_module(), 0);
		ck_assert_uint_eq(guest_chips(), 0);
		ck_assert_msg(!syscall(SYS_finit_module, module, "", 0), "load: %s",
			      strerror(errno));
		check_chips();
		progress("load", cycle);
	}
	close(module);
}
END_TEST

START_TEST(unbind_and_bind)
{
	unsigned int cycle, i;

	remember_chips();
	for (cycle = 1; cycle <= reloads(); cycle++) {
		for (i = 0; i < chips; i++)
			write_attribute("unbind", address[i]);
		ck_assert_uint_eq(guest_chips(), 0);
		for (i = 0; i < chips; i++)
			write_attribute("bind", address[i]);
		check_chips();
		progress("bind", cycle);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reload");
	TCase *cases = tcase_create("reload");

	tcase_set_timeout(cases, 10.0 * reloads() + 60);
	tcase_add_test(cases, unload_and_load);
	tcase_add_test(cases, unbind_and_bind);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
