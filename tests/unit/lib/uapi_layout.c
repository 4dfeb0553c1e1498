/* SPDX-License-Identifier: MIT */
/* Are the driver's structures the same for 32-bit and for 64-bit programs? */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "uapi_layout.h"

#define SIZE_NAME(structure)	       "sizeof(struct " #structure ")",
#define MEMBER_NAME(structure, member) "offsetof(struct " #structure ", " #member ")",

static const uint32_t values[] = UAPI_LAYOUT_VALUES;
static const char *const names[] = { UAPI_LAYOUT(SIZE_NAME, MEMBER_NAME) };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void read_table(uint32_t table[COUNT(values)])
{
	char path[4200];
	ssize_t length = readlink("/proc/self/exe", path, 4096);
	FILE *file;

	ck_assert_int_gt(length, 0);
	strcpy(path + length, ".32");
	file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "%s is missing", path);
	ck_assert_uint_eq(fread(table, sizeof(uint32_t), COUNT(values), file), COUNT(values));
	ck_assert_int_eq(fgetc(file), EOF);
	fclose(file);
}

START_TEST(same_for_32_bit)
{
	uint32_t table[COUNT(values)];
	size_t i;

	_Static_assert(sizeof(void *) == 8, "this half is the 64-bit one");
	read_table(table);
	for (i = 0; i < COUNT(values); i++)
		ck_assert_msg(table[i] == values[i], "%s: 32-bit %u, 64-bit %u",
			      i < COUNT(names) ? names[i] : "an ioctl number", table[i], values[i]);
}
END_TEST

/* Otherwise arrays of it would differ. */
START_TEST(ends_on_eight_bytes)
{
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		if (!strncmp(names[i], "sizeof(struct drm_trn_", 22))
			ck_assert_msg(values[i] % 8 == 0, "%s is %u", names[i], values[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("uapi-layout");
	TCase *cases = tcase_create("layout");

	tcase_add_test(cases, same_for_32_bit);
	tcase_add_test(cases, ends_on_eight_bytes);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
