/* SPDX-License-Identifier: MIT */
/* Enumeration, opening, buffers, and what libtrn says when they fail. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lib/enumerate.h>
#include <lib/pci_address.h>
#include <lib/refusal.h>
#include <tests/check_run.h>
#include <trn/trn.h>

#include "fake.h"

#define MIB (UINT64_C(1) << 20)

static void assert_says(const char *text)
{
	ck_assert_msg(strstr(trn_error_message(), text), "\"%s\" lacks \"%s\"", trn_error_message(),
		      text);
}

/* ---- a tree like /sys ------------------------------------------------ */

static char root[] = "/tmp/trn-sysfs-XXXXXX";
static char class[64];

static void make_directory(const char *format, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), format, root, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void make_link(const char *target, const char *name, const char *link)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/%s", root, name, link);
	ck_assert_int_eq(symlink(target, path), 0);
}

/* A PCI function, and an accel node on it. */
static void make_chip(const char *pci, const char *driver, const char *numa, const char *node)
{
	char target[256], path[256];
	FILE *file;

	make_directory("%s/%s", pci);
	snprintf(target, sizeof(target), "../bus/pci/drivers/%s", driver);
	make_link(target, pci, "driver");
	snprintf(path, sizeof(path), "%s/%s/numa_node", root, pci);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "%s\n", numa);
	fclose(file);
	make_directory("%s/accel/%s", node);
	snprintf(target, sizeof(target), "../../%s", pci);
	snprintf(path, sizeof(path), "accel/%s", node);
	make_link(target, path, "device");
}

static void remove_tree(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(enumerate)
{
	const struct trn_device_list *list;

	ck_assert_ptr_nonnull(mkdtemp(root));
	make_directory("%s/%s", "accel");
	make_chip("0000:0a:00.0", "trn", "1", "accel0");
	make_chip("0000:9:00.0", "trn", "0", "accel1");
	make_chip("0001:01:00.0", "trn", "-1", "accel2");
	make_chip("0000:01:00.0", "other", "0", "accel3");
	/* A node that goes away while we look. */
	make_directory("%s/accel/%s", "accel4");
	snprintf(class, sizeof(class), "%s/accel", root);

	ck_assert_int_eq(trn_enumerate(class, &list), 0);
	ck_assert_uint_eq(list->count, 3);
	ck_assert_str_eq(list->entry[0]->pci, "0000:9:00.0");
	ck_assert_str_eq(list->entry[0]->node, "/dev/accel/accel1");
	ck_assert_uint_eq(list->entry[0]->index, 0);
	ck_assert_str_eq(list->entry[1]->pci, "0000:0a:00.0");
	ck_assert_int_eq(list->entry[1]->numa_node, 1);
	ck_assert_str_eq(list->entry[2]->pci, "0001:01:00.0");
	ck_assert_int_eq(list->entry[2]->numa_node, -1);
	ck_assert_uint_eq(list->entry[2]->index, 2);
	trn_device_list_free(list);
	remove_tree();

	/* Without any accelerator there is not even the directory. */
	ck_assert_int_eq(trn_enumerate(class, &list), 0);
	ck_assert_uint_eq(list->count, 0);
	trn_device_list_free(list);
	trn_device_list_free(NULL);
}
END_TEST

START_TEST(pci_order)
{
	ck_assert(trn_pci_order("0000:ff:1f.7") < trn_pci_order("0001:00:00.0"));
	ck_assert(trn_pci_order("0000:02:00.0") < trn_pci_order("0000:10:00.0"));
	ck_assert(trn_pci_order("0000:02:00.0") < trn_pci_order("0000:02:00.1"));
	ck_assert(trn_pci_order("10000:00:00.0") < trn_pci_order("virtual"));
}
END_TEST

/* ---- opening --------------------------------------------------------- */

START_TEST(open_and_describe)
{
	const struct trn_device_info *info;
	struct trn_memory memory[16];
	struct trn_device *device;

	ck_assert_int_eq(trn_device_open_path(fake_start(NULL), &device), 0);
	info = trn_device_info(device);
	ck_assert_str_eq(info->generation, "trn9");
	ck_assert_str_eq(info->serial, "S1");
	ck_assert_str_eq(info->firmware, "F1");
	ck_assert_uint_eq(info->uuid[2], 3);
	ck_assert_uint_eq(info->architecture_major, 1);
	ck_assert_uint_eq(info->architecture_minor, 2);
	ck_assert_uint_eq(info->hbm_stacks, FAKE_STACKS);
	ck_assert_int_eq(trn_device_memory(device, memory, 16), FAKE_STACKS);
	ck_assert_uint_eq(memory[FAKE_STACKS - 1].total, FAKE_STACK_SIZE);
	ck_assert_int_eq(trn_device_memory(device, NULL, 0), FAKE_STACKS);
	ck_assert_int_eq(trn_device_close(device), 0);
	ck_assert_int_eq(trn_device_close(NULL), 0);
	fake_stop();
}
END_TEST

START_TEST(open_refused)
{
	struct fake_options options = { .driver = "other" };
	struct trn_device *device = NULL;

	ck_assert_int_eq(trn_device_open_path("/nowhere/accel0", &device), -ENOENT);
	assert_says("/nowhere/accel0");
	ck_assert_int_eq(trn_device_open_path(fake_start(&options), &device), -ENODEV);
	assert_says("\"other\"");
	fake_stop();
	options = (struct fake_options){ .version_major = 2 };
	ck_assert_int_eq(trn_device_open_path(fake_start(&options), &device), -ENODEV);
	assert_says("version 2.0");
	assert_says("install");
	fake_stop();
	ck_assert_int_eq(trn_device_open(12345, &device), -ENODEV);
	assert_says("12345");
	ck_assert_ptr_null(device);
}
END_TEST

/* ---- objects --------------------------------------------------------- */

static struct trn_device *device;
static struct trn_context *context;

static void start(const struct fake_options *options)
{
	ck_assert_int_eq(trn_device_open_path(fake_start(options), &device), 0);
	ck_assert_int_eq(trn_context_create(device, &context), 0);
}

static void stop(void)
{
	ck_assert_int_eq(trn_context_destroy(context), 0);
	ck_assert_int_eq(trn_device_close(device), 0);
	fake_stop();
}

START_TEST(owners_are_busy)
{
	struct trn_buffer *buffer;

	start(NULL);
	ck_assert_int_eq(
		trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, 1, 0, &buffer), 0);
	ck_assert_int_eq(trn_device_close(device), -EBUSY);
	ck_assert_int_eq(trn_context_destroy(context), -EBUSY);
	ck_assert_int_eq(trn_buffer_destroy(buffer), 0);
	stop();
}
END_TEST

START_TEST(buffers)
{
	struct trn_buffer *host, *hbm;
	void *pointer, *again;

	start(NULL);
	ck_assert_int_eq(
		trn_buffer_create(context, TRN_PLACEMENT_HOST, TRN_STACK_ANY, 5000, 0, &host), 0);
	ck_assert_int_eq(trn_buffer_create(context, TRN_PLACEMENT_HBM, 3, 3 * MIB, 0, &hbm), 0);
	ck_assert_uint_eq(trn_buffer_size(host), 5000);
	ck_assert_uint_ne(trn_buffer_address(host), 0);
	ck_assert_uint_eq(trn_buffer_address(hbm) % (2 * MIB), 0);
	ck_assert_int_eq(trn_buffer_map(host, &pointer), 0);
	ck_assert_int_eq(trn_buffer_map(host, &again), 0);
	ck_assert_ptr_eq(pointer, again);
	((uint8_t *)pointer)[4999] = 1;
	ck_assert_int_eq(trn_buffer_map(hbm, &pointer), -EOPNOTSUPP);
	assert_says("trn_read");
	ck_assert_int_eq(trn_buffer_destroy(host), 0);
	ck_assert_int_eq(trn_buffer_destroy(hbm), 0);
	ck_assert_int_eq(trn_buffer_destroy(NULL), 0);
	stop();
}
END_TEST

START_TEST(buffer_arguments)
{
	static const struct {
		int placement;
		uint32_t stack;
		uint64_t size;
		uint32_t flags;
	} rows[] = {
		{ 2, TRN_STACK_ANY, 1, 0 },
		{ TRN_PLACEMENT_HBM, FAKE_STACKS, 1, 0 },
		{ TRN_PLACEMENT_HOST, 0, 1, 0 },
		{ TRN_PLACEMENT_HBM, TRN_STACK_ANY, 0, 0 },
		{ TRN_PLACEMENT_HBM, TRN_STACK_ANY, UINT64_MAX, 0 },
		{ TRN_PLACEMENT_HBM, TRN_STACK_ANY, 1, 1U << 31 },
		{ TRN_PLACEMENT_HOST, TRN_STACK_ANY, 1, TRN_BUFFER_CPU_VISIBLE },
	};
	struct trn_buffer *buffer = NULL;
	size_t i;

	start(NULL);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_int_eq(trn_buffer_create(context, rows[i].placement, rows[i].stack,
						   rows[i].size, rows[i].flags, &buffer),
				 -EINVAL);
	ck_assert_ptr_null(buffer);
	stop();
}
END_TEST

START_TEST(exhaustion)
{
	struct fake_options options = { .contexts = 1, .queues = 1 };
	struct trn_buffer *first, *second;
	struct trn_context *other;
	struct trn_queue *queue, *more;

	start(&options);
	ck_assert_int_eq(trn_buffer_create(context, TRN_PLACEMENT_HBM, 1, 10 * MIB, 0, &first), 0);
	ck_assert_int_eq(trn_buffer_create(context, TRN_PLACEMENT_HBM, 1, 7 * MIB, 0, &second),
			 -ENOSPC);
	assert_says("7340032 bytes");
	assert_says("stack 1: 6291456 of 16777216 free, largest block 6291456");
	assert_says("TRN_STACK_ANY");
	ck_assert_ptr_null(strstr(trn_error_message(), "stack 0"));
	ck_assert_int_eq(
		trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, 17 * MIB, 0, &second),
		-ENOSPC);
	assert_says("stack 0: 16777216");
	assert_says("stack 3: 16777216");
	ck_assert_int_eq(trn_buffer_destroy(first), 0);

	ck_assert_int_eq(trn_context_create(device, &other), -ENOSPC);
	assert_says("address spaces");
	ck_assert_int_eq(trn_queue_create(context, TRN_QUEUE_USER, 4, &queue), 0);
	ck_assert_int_eq(trn_queue_create(context, TRN_QUEUE_USER, 4, &more), -ENOSPC);
	assert_says("queues");
	ck_assert_int_eq(trn_queue_destroy(queue), 0);
	stop();
}
END_TEST

START_TEST(refusal_text_is_cut)
{
	struct trn_memory memory[16] = { { .total = UINT64_MAX, .free = UINT64_MAX } };
	struct trn_refusal refusal = {
		.error = -ENOSPC,
		.asked = UINT64_MAX,
		.stack = TRN_STACK_ANY,
		.cpu_visible = true,
		.limits = { .quota = UINT64_MAX, .quota_used = UINT64_MAX },
		.stacks = 16,
		.memory = memory,
	};
	char text[2000];
	size_t size;

	for (size = 1; size < sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		trn_describe_refusal(text, size, &refusal);
		ck_assert_uint_lt(strnlen(text, size), size);
		ck_assert_int_eq(text[size], 'x');
	}
	ck_assert_ptr_nonnull(strstr(text, "stack 15: 0 of 0 free"));
}
END_TEST

START_TEST(deadlines)
{
	int64_t now = trn_deadline(0);

	ck_assert_int_gt(now, 0);
	ck_assert_int_ge(trn_deadline(1000), now + 1000);
	ck_assert_int_lt(trn_deadline(-5), now + INT64_C(60000000000));
	ck_assert_int_eq(trn_deadline(TRN_FOREVER), TRN_FOREVER);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lib-device");
	TCase *cases = tcase_create("device");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, enumerate);
	tcase_add_test(cases, pci_order);
	tcase_add_test(cases, open_and_describe);
	tcase_add_test(cases, open_refused);
	tcase_add_test(cases, owners_are_busy);
	tcase_add_test(cases, buffers);
	tcase_add_test(cases, buffer_arguments);
	tcase_add_test(cases, exhaustion);
	tcase_add_test(cases, refusal_text_is_cut);
	tcase_add_test(cases, deadlines);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
