/* SPDX-License-Identifier: MIT */
/* From netlink messages to documents. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <tests/check_run.h>
#include <tools/trn-smi/render.h>

#include "fixture.h"

static char *output;

static const char *list(const struct smi_renderer *renderer, struct smi_model *model,
			const char *error)
{
	size_t size;
	FILE *file;

	free(output);
	file = open_memstream(&output, &size);
	ck_assert_int_eq(renderer->list(file, model, error), 0);
	fclose(file);
	return output;
}

/* Parses what must be one document, and gives its devices. */
static json_t *parse(const char *text, size_t count)
{
	json_error_t error;
	json_t *document = json_loads(text, 0, &error);

	ck_assert_msg(document != NULL, "%s at line %d", error.text, error.line);
	ck_assert_int_eq(json_integer_value(json_object_get(document, "schema_version")), 1);
	ck_assert(json_is_array(json_object_get(document, "devices")));
	ck_assert_uint_eq(json_array_size(json_object_get(document, "devices")), count);
	return document;
}

static json_t *value(json_t *document, size_t device, const char *key)
{
	json_t *devices = json_object_get(document, "devices");
	json_t *found = json_object_get(json_array_get(devices, device), key);

	ck_assert_msg(found != NULL, "no key %s", key);
	return found;
}

START_TEST(json_empty)
{
	struct smi_model model = { 0 };
	json_t *document = parse(list(&smi_json, &model, NULL), 0);

	ck_assert(json_is_null(json_object_get(document, "error")));
	json_decref(document);
	document = parse(list(&smi_json, &model, "no driver"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(document, "error")), "no driver");
	json_decref(document);
}
END_TEST

START_TEST(json_one)
{
	struct smi_model model = { 0 };
	json_t *d;

	fixture_add_chip(&model, "accel3", "0000:01:00.0");
	smi_model_sort(&model);
	d = parse(list(&smi_json, &model, NULL), 1);
	ck_assert_int_eq(json_integer_value(value(d, 0, "index")), 0);
	ck_assert_str_eq(json_string_value(value(d, 0, "node")), "/dev/accel/accel3");
	ck_assert_int_eq(json_integer_value(value(d, 0, "minor")), 3);
	ck_assert_str_eq(json_string_value(value(d, 0, "pci_address")), "0000:01:00.0");
	ck_assert_int_eq(json_integer_value(value(d, 0, "numa_node")), 1);
	ck_assert_str_eq(json_string_value(value(d, 0, "generation")), "trn2");
	ck_assert_str_eq(json_string_value(value(d, 0, "uuid")),
			 "00112233-4455-4677-8899-aabbccddeeff");
	ck_assert_str_eq(json_string_value(value(d, 0, "serial")), "SN 1");
	ck_assert_str_eq(json_string_value(value(d, 0, "firmware_version")), "1.2");
	ck_assert_str_eq(json_string_value(value(d, 0, "state")), "ok");
	ck_assert_int_eq(json_integer_value(value(d, 0, "cores")), 8);
	ck_assert(json_integer_value(value(d, 0, "hbm_total_bytes")) == 103079215104);
	ck_assert(json_integer_value(value(d, 0, "hbm_used_bytes")) == 1610612736);
	ck_assert_str_eq(json_string_value(value(d, 0, "driver_version")), "0.1");
	ck_assert_str_eq(json_string_value(value(d, 0, "api_version")), "1.0.0");
	json_decref(d);
	smi_model_clear(&model);
}
END_TEST

START_TEST(json_absent_is_null)
{
	struct smi_model model = { 0 };
	struct nl_msg *message = fixture_message();
	const char *key;
	json_t *d, *v;

	/* Of the wrong size, not UTF-8, no NUMA node: not known either. */
	nla_put_u32(message, TRN_A_DEVICE_HBM_TOTAL, 5);
	nla_put(message, TRN_A_DEVICE_UUID, 4, "abcd");
	nla_put_string(message, TRN_A_DEVICE_SERIAL, "\xff\xfe");
	nla_put_s32(message, TRN_A_DEVICE_NUMA_NODE, -1);
	nla_put_u32(message, TRN_A_DEVICE_STATE, 77);
	fixture_add(&model, message);
	smi_model_sort(&model);
	d = parse(list(&smi_json, &model, NULL), 1);
	json_object_foreach(json_array_get(json_object_get(d, "devices"), 0), key, v)
	{
		if (!strcmp(key, "index"))
			ck_assert_int_eq(json_integer_value(v), 0);
		else if (!strcmp(key, "state"))
			ck_assert_str_eq(json_string_value(v), "unknown");
		else
			ck_assert_msg(json_is_null(v), "%s is not null", key);
	}
	json_decref(d);
	list(&smi_text, &model, NULL);
	smi_model_clear(&model);
}
END_TEST

/* Sixteen chips that arrive in the wrong order are numbered by PCI address. */
START_TEST(json_many)
{
	struct smi_model model = { 0 };
	char node[16], pci[16];
	json_t *d;
	int i;

	for (i = 15; i >= 0; i--) {
		snprintf(node, sizeof(node), "accel%d", 15 - i);
		snprintf(pci, sizeof(pci), "%04x:%02x:00.0", i / 8, 8 + i % 8);
		fixture_add_chip(&model, node, pci);
	}
	smi_model_sort(&model);
	d = parse(list(&smi_json, &model, NULL), 16);
	for (i = 0; i < 16; i++) {
		snprintf(pci, sizeof(pci), "%04x:%02x:00.0", i / 8, 8 + i % 8);
		ck_assert_int_eq(json_integer_value(value(d, (size_t)i, "index")), i);
		ck_assert_str_eq(json_string_value(value(d, (size_t)i, "pci_address")), pci);
	}
	json_decref(d);
	smi_model_clear(&model);
}
END_TEST

/* Splits text into lines; returns how many. */
static size_t split(char *text, char *lines[], size_t room)
{
	size_t count = 0;
	char *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		ck_assert_uint_lt(count, room);
		lines[count++] = line;
	}
	return count;
}

START_TEST(text_table)
{
	struct smi_model model = { 0 };
	char *lines[8];
	char *state;

	ck_assert_uint_eq(split((char *)list(&smi_text, &model, NULL), lines, 8), 1);
	fixture_add_chip(&model, "accel3", "0000:01:00.0");
	fixture_add_chip(&model, "accel12", "0000:02:00.0");
	model.device[1].state = TRN_DEVICE_STATE_DEAD;
	smi_model_sort(&model);
	ck_assert_uint_eq(split((char *)list(&smi_text, &model, NULL), lines, 8), 3);
	ck_assert_ptr_nonnull(strstr(lines[1], "/dev/accel/accel3 "));
	ck_assert_ptr_nonnull(strstr(lines[1], " 96 GiB "));
	ck_assert_ptr_nonnull(strstr(lines[1], " 1.5 GiB "));
	ck_assert_ptr_nonnull(strstr(lines[1], " ok "));
	/* Columns are aligned, and the last has no blanks after it. */
	state = strstr(lines[0], "STATE");
	ck_assert_ptr_nonnull(state);
	ck_assert_int_eq(strncmp(lines[1] + (state - lines[0]), "ok ", 3), 0);
	ck_assert_int_eq(strncmp(lines[2] + (state - lines[0]), "dead ", 5), 0);
	ck_assert_str_eq(lines[2] + strlen(lines[2]) - 5, "1.0.0");
	smi_model_clear(&model);
}
END_TEST

START_TEST(broken_message)
{
	struct smi_model model = { 0 };
	struct nl_msg *message = fixture_message();
	json_t *document;

	/* An attribute that ends after the message: it is not there. */
	nla_put_string(message, TRN_A_DEVICE_NODE, "accel0");
	((struct nlattr *)genlmsg_attrdata(genlmsg_hdr(nlmsg_hdr(message)), 0))->nla_len = 5000;
	ck_assert_int_eq(smi_model_add(&model, nlmsg_hdr(message)), 0);
	document = parse(list(&smi_json, &model, NULL), 1);
	ck_assert(json_is_null(value(document, 0, "node")));
	json_decref(document);
	smi_model_clear(&model);
	nlmsg_free(message);

	/* A string that is longer than its field, without an end. */
	message = fixture_message();
	ck_assert_int_eq(nla_put(message, TRN_A_DEVICE_NODE, 200, (char[200]){ [0 ... 199] = 'n' }),
			 0);
	fixture_add(&model, message);
	smi_model_sort(&model);
	document = parse(list(&smi_json, &model, NULL), 1);
	ck_assert_uint_eq(strlen(json_string_value(value(document, 0, "node"))),
			  strlen("/dev/accel/") + 63);
	json_decref(document);
	ck_assert_ptr_nonnull(strstr(list(&smi_text, &model, NULL), "/dev/accel/nnn"));
	smi_model_clear(&model);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("smi-render");
	TCase *cases = tcase_create("render");

	tcase_add_test(cases, json_empty);
	tcase_add_test(cases, json_one);
	tcase_add_test(cases, json_absent_is_null);
	tcase_add_test(cases, json_many);
	tcase_add_test(cases, text_table);
	tcase_add_test(cases, broken_message);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
