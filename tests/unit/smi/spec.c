/* SPDX-License-Identifier: MIT */
/* The netlink specification and the header have the same names in the same order. */
#include <check.h>
#include <ctype.h>
#include <linux/trn_netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <tests/check_run.h>

#define SPEC   "Documentation/netlink/specs/trn.yaml" /* from the top, where tests run */
#define HEADER "include/uapi/linux/trn_netlink.h"

#define NAMES  32

struct names {
	size_t count;
	char name[NAMES][64];
};

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "%s cannot be opened: run this at the top of the tree", path);
	return file;
}

/* Adds a word with the letters of C constants: "hbm-total" becomes HBM_TOTAL. */
static void add(struct names *names, const char *word)
{
	size_t length = strcspn(word, " \t\n,=");
	char *name;

	ck_assert_uint_lt(names->count, NAMES);
	name = names->name[names->count++];
	ck_assert_uint_lt(length, sizeof(names->name[0]));
	for (size_t i = 0; i < length; i++)
		name[i] = word[i] == '-' ? '_' : (char)toupper((unsigned char)word[i]);
}

/* Names at a depth of blanks within a section of the specification. */
static struct names in_spec(const char *section, const char *blanks)
{
	struct names names = { 0 };
	FILE *file = open_file(SPEC);
	char line[256], key[64];
	bool inside = false;

	snprintf(key, sizeof(key), "%sname: ", blanks);
	while (fgets(line, sizeof(line), file)) {
		if (isalpha((unsigned char)line[0]))
			inside = !strncmp(line, section, strlen(section));
		else if (inside && !strncmp(line, key, strlen(key)))
			add(&names, line + strlen(key));
	}
	fclose(file);
	return names;
}

/* Enumerators that begin with a prefix, without it. */
static struct names in_header(const char *prefix)
{
	struct names names = { 0 };
	FILE *file = open_file(HEADER);
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '\t' && !strncmp(line + 1, prefix, strlen(prefix)) &&
		    strncmp(line + 1 + strlen(prefix), "MAX", 3))
			add(&names, line + 1 + strlen(prefix));
	}
	fclose(file);
	return names;
}

static void compare(const struct names *spec, const struct names *header, size_t count)
{
	ck_assert_uint_eq(spec->count, count);
	ck_assert_uint_eq(header->count, count);
	for (size_t i = 0; i < count; i++)
		ck_assert_str_eq(spec->name[i], header->name[i]);
}

/* Both number from 1, without gaps: then MAX is the count. */
START_TEST(attributes)
{
	struct names spec = in_spec("attribute-sets:", "        ");
	struct names header = in_header("TRN_A_DEVICE_");

	ck_assert_int_eq(TRN_A_DEVICE_PAD, 1);
	compare(&spec, &header, TRN_A_DEVICE_MAX);
}
END_TEST

START_TEST(commands)
{
	struct names spec = in_spec("operations:", "      ");
	struct names header = in_header("TRN_CMD_");

	ck_assert_int_eq(TRN_CMD_DEVICE_GET, 1);
	compare(&spec, &header, TRN_CMD_MAX);
}
END_TEST

START_TEST(states)
{
	struct names spec = in_spec("definitions:", "        ");
	struct names header = in_header("TRN_DEVICE_STATE_");

	ck_assert_int_eq(TRN_DEVICE_STATE_OK, 0);
	compare(&spec, &header, TRN_DEVICE_STATE_DEAD + 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("netlink-spec");
	TCase *cases = tcase_create("spec");

	tcase_add_test(cases, attributes);
	tcase_add_test(cases, commands);
	tcase_add_test(cases, states);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
