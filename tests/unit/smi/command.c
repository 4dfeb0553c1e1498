/* SPDX-License-Identifier: MIT */
/* trn-smi from outside, on a machine without the driver. */
#include <check.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>
#include <tests/unit/run_program.h>
#include <trn/trn.h>

START_TEST(help)
{
	struct run_result r = run_program("trn-smi --help");

	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_ptr_nonnull(strstr(r.out, "list"));
	ck_assert_ptr_nonnull(strstr(r.out, "--json"));
	ck_assert_ptr_nonnull(strstr(r.out, "9   the driver is not loaded"));
}
END_TEST

START_TEST(wrong_arguments)
{
	assert_usage("trn-smi", "no command");
	assert_usage("trn-smi lst", "unknown command lst");
	assert_usage("trn-smi list --jsn", "unknown option --jsn");
	assert_usage("trn-smi list list", "more than one command");
	assert_usage("trn-smi --json", "{list|version}");
}
END_TEST

START_TEST(version)
{
	struct run_result r = run_program("trn-smi version");
	json_t *document;

	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out, "trn-smi " LIBTRN_VERSION "\n");
	r = run_program("trn-smi version --json");
	document = json_loads(r.out, 0, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(document, "version")), LIBTRN_VERSION);
	json_decref(document);
}
END_TEST

START_TEST(no_driver)
{
	struct run_result r;
	json_t *document;

	if (!access("/sys/module/trn", F_OK)) {
		fprintf(stderr, "skipped: the driver is loaded on this machine\n");
		return;
	}
	r = run_program("trn-smi list");
	ck_assert_int_eq(r.status, 9);
	ck_assert_ptr_nonnull(strstr(r.err, "not loaded"));
	r = run_program("trn-smi list --json");
	ck_assert_int_eq(r.status, 9);
	document = json_loads(r.out, 0, NULL);
	ck_assert_ptr_nonnull(document);
	ck_assert_uint_eq(json_array_size(json_object_get(document, "devices")), 0);
	ck_assert_ptr_nonnull(strstr(r.err, json_string_value(json_object_get(document, "error"))));
	json_decref(document);
}
END_TEST

START_TEST(output_that_cannot_be_written)
{
	struct run_result r = run_program("trn-smi --help >/dev/full");

	ck_assert_int_eq(r.status, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("smi-command");
	TCase *cases = tcase_create("command");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, help);
	tcase_add_test(cases, wrong_arguments);
	tcase_add_test(cases, version);
	tcase_add_test(cases, no_driver);
	tcase_add_test(cases, output_that_cannot_be_written);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
