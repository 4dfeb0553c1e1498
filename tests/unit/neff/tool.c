/* SPDX-License-Identifier: MIT */
/* trn-neff from outside. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>
#include <tests/unit/run_program.h>

#include "program.h"

static char directory[] = "/tmp/trn-neff-XXXXXX";
static char path[64];

static void setup(void)
{
	struct craft_file file;
	FILE *stream;

	strcpy(directory + sizeof("/tmp/trn-neff-") - 1, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/p.neff", directory);
	program_craft(&file, NULL, NULL, 0);
	stream = fopen(path, "w");
	ck_assert_uint_eq(fwrite(file.bytes, 1, file.size, stream), file.size);
	fclose(stream);
	craft_free(&file);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

/* trn-neff @command, with %s for the directory, once or twice. */
static struct run_result run(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), command, directory, directory);
	return run_program(line);
}

START_TEST(help)
{
	struct run_result r = run_program("trn-neff --help");

	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_ptr_nonnull(strstr(r.out, "unpack FILE DIRECTORY"));
	ck_assert_ptr_nonnull(strstr(r.out, "3  the file is damaged"));
}
END_TEST

START_TEST(wrong_arguments)
{
	assert_usage("trn-neff", "no command");
	assert_usage("trn-neff inf", "unknown command inf");
	assert_usage("trn-neff info", "too few arguments for info");
	assert_usage("trn-neff info a b", "too many arguments: b");
	assert_usage("trn-neff unpack a", "too few arguments for unpack");
	assert_usage("trn-neff info --jsn a", "unknown option --jsn");
}
END_TEST

START_TEST(info)
{
	struct run_result r = run("trn-neff info %s/p.neff");

	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_ptr_nonnull(strstr(r.out, "name        a program\n"));
	ck_assert_ptr_nonnull(strstr(r.out, "written by  by hand\n"));
	ck_assert_ptr_nonnull(strstr(r.out, "  engine vector  2 instructions\n"));
	ck_assert_ptr_nonnull(strstr(r.out, "(2, 3)  12 bytes, alignment 64, id 10  x\n"));
	ck_assert_ptr_nonnull(strstr(r.out, "  ring 15"));
}
END_TEST

START_TEST(verify)
{
	struct run_result r = run("trn-neff verify %s/p.neff");

	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out, "");
	ck_assert_str_eq(r.err, "");
	ck_assert_int_eq(truncate(path, 2000), 0);
	r = run("trn-neff verify %s/p.neff");
	ck_assert_int_eq(r.status, 3);
	ck_assert_str_eq(r.out, "");
	ck_assert_ptr_nonnull(strstr(r.err, path));
	ck_assert_ptr_nonnull(strstr(r.err, "TRUNCATED"));
	r = run("trn-neff verify %s/none");
	ck_assert_int_eq(r.status, 1);
	ck_assert_ptr_nonnull(strstr(r.err, "/none: cannot be opened"));
}
END_TEST

START_TEST(unpack)
{
	struct run_result r = run("trn-neff unpack %s/p.neff %s/out");
	char name[128], bytes[4096];
	FILE *file;
	int i;

	ck_assert_str_eq(r.err, "");
	ck_assert_int_eq(r.status, 0);
	for (i = 0; i < PROGRAM_MEMBERS; i++) {
		snprintf(name, sizeof(name), "%s/out/%s", directory, program_members[i].name);
		file = fopen(name, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_uint_eq(fread(bytes, 1, sizeof(bytes), file), program_members[i].size);
		ck_assert_mem_eq(bytes, program_members[i].data, program_members[i].size);
		fclose(file);
	}
	r = run("trn-neff unpack %s/p.neff %s/out");
	ck_assert_int_eq(r.status, 1);
	ck_assert_ptr_nonnull(strstr(r.err, "/out: cannot be written: File exists"));
	ck_assert_int_eq(truncate(path, 2000), 0);
	r = run("trn-neff unpack %s/p.neff %s/bad");
	ck_assert_int_eq(r.status, 3);
	snprintf(name, sizeof(name), "%s/bad", directory);
	ck_assert_int_ne(access(name, F_OK), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("neff-tool");
	TCase *cases = tcase_create("tool");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, help);
	tcase_add_test(cases, wrong_arguments);
	tcase_add_test(cases, info);
	tcase_add_test(cases, verify);
	tcase_add_test(cases, unpack);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
