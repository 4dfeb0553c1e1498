/* SPDX-License-Identifier: MIT */
/* Bytes through both kinds of queue: sizes, alignments, several of everything at once. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/check_run.h>

#include "rig.h"

#define KIB	    UINT64_C(1024)
#define MIB	    (KIB * 1024)

#define CHAIN_LINKS 2000
#define WORK_SIZE   (256 * KIB + 40)

static const enum trn_queue_mode modes[] = { TRN_QUEUE_KERNEL, TRN_QUEUE_USER };

/*
 * Copies @size bytes between two buffers at two offsets, and looks at every byte of the
 * destination: those around the copy must be as before.
 */
static void check_copy(struct rig *rig, struct trn_buffer *to, uint64_t to_offset,
		       struct trn_buffer *from, uint64_t from_offset, uint64_t size)
{
	uint64_t all = trn_buffer_size(to);
	uint8_t *expected = malloc(all), *source = malloc(trn_buffer_size(from));
	uint8_t *result = malloc(all);

	guest_pattern(source, trn_buffer_size(from), size + from_offset);
	guest_pattern(expected, all, ~size);
	guest_ok(trn_write(rig->queue, from, 0, source, trn_buffer_size(from)));
	guest_ok(trn_write(rig->queue, to, 0, expected, all));
	guest_ok(trn_copy(rig->queue, to, to_offset, from, from_offset, size));
	guest_ok(trn_read(rig->queue, result, to, 0, all));
	memcpy(expected + to_offset, source + from_offset, size);
	ck_assert_mem_eq(result, expected, all);
	free(expected);
	free(source);
	free(result);
}

START_TEST(sizes_and_alignments)
{
	static const uint64_t sizes[] = { 1, 2, 7, 8, 63, 64, 65, 511, 4095, 4096, 4097, 12289 };
	static const uint64_t offsets[] = { 0, 1, 7, 64, 4095, 4096 };
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *hbm[2], *host[2];
	size_t s, o;
	int i;

	for (i = 0; i < 2; i++) {
		hbm[i] = rig_buffer(&rig, TRN_PLACEMENT_HBM, 20 * KIB, 0);
		host[i] = rig_buffer(&rig, TRN_PLACEMENT_HOST, 20 * KIB, 0);
	}
	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++) {
			uint64_t other = offsets[(o + s) % (sizeof(offsets) / sizeof(offsets[0]))];

			/* HBM to HBM, host to HBM, HBM to host, host to host, in turn. */
			check_copy(&rig, (s + o) & 1 ? host[0] : hbm[0], offsets[o],
				   (s + o) & 2 ? host[1] : hbm[1], other, sizes[s]);
		}
	}
	for (i = 0; i < 2; i++) {
		guest_ok(trn_buffer_destroy(hbm[i]));
		guest_ok(trn_buffer_destroy(host[i]));
	}
	rig_free(&rig);
}
END_TEST

START_TEST(large)
{
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *one = rig_buffer(&rig, TRN_PLACEMENT_HBM, 5 * MIB + 123, 0);
	struct trn_buffer *two = rig_buffer(&rig, TRN_PLACEMENT_HBM, 5 * MIB + 123, 0);

	check_copy(&rig, one, 77, two, 5, 5 * MIB);
	guest_ok(trn_buffer_destroy(one));
	guest_ok(trn_buffer_destroy(two));
	rig_free(&rig);
}
END_TEST

START_TEST(fill)
{
	static const uint64_t pattern = 0x8877665544332211;
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *hbm = rig_buffer(&rig, TRN_PLACEMENT_HBM, 16 * KIB, 0);
	uint8_t result[16 * KIB];
	uint32_t unit;
	uint64_t i;

	for (unit = 1; unit <= 8; unit *= 2) {
		uint64_t start = 4096 - unit, size = 8 * KIB + unit;

		guest_ok(trn_fill(rig.queue, hbm, 0, 16 * KIB, 0xee, 1));
		guest_ok(trn_fill(rig.queue, hbm, start, size, pattern, unit));
		guest_ok(trn_read(rig.queue, result, hbm, 0, sizeof(result)));
		for (i = 0; i < sizeof(result); i++) {
			uint8_t expected = 0xee;

			if (i >= start && i < start + size)
				expected = (uint8_t)(0x11 * ((i - start) % unit + 1));
			if (result[i] != expected)
				ck_abort_msg("unit %u, byte %llu: %02x", unit,
					     (unsigned long long)i, result[i]);
		}
	}
	guest_ok(trn_buffer_destroy(hbm));
	rig_free(&rig);
}
END_TEST

/* Each copy takes what the one before it wrote: any change of order shows. */
START_TEST(long_chain)
{
	struct rig rig = rig_make(0, modes[_i]);
	struct trn_buffer *chain = rig_buffer(&rig, TRN_PLACEMENT_HBM, (CHAIN_LINKS + 1) * 8, 0);
	uint64_t value = 0x0123456789abcdef, result = 0, sequence;
	uint32_t i;

	guest_ok(trn_write(rig.queue, chain, 0, &value, 8));
	for (i = 0; i < CHAIN_LINKS; i++) {
		uint64_t address = trn_buffer_address(chain) + i * 8;

		guest_ok(trn_queue_reserve(rig.queue, 1, trn_deadline(INT64_C(60000000000))));
		trn_packet_copy(trn_queue_packet(rig.queue), address + 8, address, 8);
		if (i % 13 == 0)
			guest_ok(trn_queue_submit(rig.queue, NULL));
	}
	guest_ok(trn_queue_submit(rig.queue, &sequence));
	guest_ok(trn_queue_wait(rig.queue, sequence, trn_deadline(INT64_C(60000000000))));
	guest_ok(trn_read(rig.queue, &result, chain, CHAIN_LINKS * 8, 8));
	ck_assert_uint_eq(result, value);
	guest_ok(trn_buffer_destroy(chain));
	rig_free(&rig);
}
END_TEST

/* ---- several at once ------------------------------------------------- */

struct worker {
	unsigned int chip;
	enum trn_queue_mode mode;
	uint64_t seed;
};

/* Moves its own data to and fro; what others do must not show. */
static void work(const struct worker *worker)
{
	struct rig rig = rig_make(worker->chip, worker->mode);
	struct trn_buffer *one = rig_buffer(&rig, TRN_PLACEMENT_HBM, WORK_SIZE, 0);
	struct trn_buffer *two = rig_buffer(&rig, TRN_PLACEMENT_HBM, WORK_SIZE, 0);
	uint8_t *source = malloc(WORK_SIZE), *result = malloc(WORK_SIZE);
	int i;

	for (i = 0; i < 8; i++) {
		guest_pattern(source, WORK_SIZE, worker->seed * 100 + (uint64_t)i);
		memset(result, 0, WORK_SIZE);
		guest_ok(trn_write(rig.queue, one, 0, source, WORK_SIZE));
		guest_ok(trn_copy(rig.queue, two, 0, one, 0, WORK_SIZE));
		guest_ok(trn_fill(rig.queue, one, 0, WORK_SIZE, worker->seed, 8));
		guest_ok(trn_read(rig.queue, result, two, 0, WORK_SIZE));
		ck_assert_mem_eq(source, result, WORK_SIZE);
	}
	free(source);
	free(result);
	guest_ok(trn_buffer_destroy(one));
	guest_ok(trn_buffer_destroy(two));
	rig_free(&rig);
}

static void *work_in_thread(void *worker)
{
	work(worker);
	return NULL;
}

/* Four on each chip, of both modes. */
static unsigned int make_workers(struct worker workers[16])
{
	unsigned int chips = guest_chips(), count = 0, i;

	for (i = 0; i < 4 * chips && i < 16; i++)
		workers[count++] = (struct worker){
			.chip = i / 4,
			.mode = modes[i % 2],
			.seed = i + 1,
		};
	return count;
}

START_TEST(contexts_and_chips_at_once)
{
	struct worker workers[16];
	unsigned int count = make_workers(workers), i;
	pthread_t thread[16];

	for (i = 0; i < count; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, work_in_thread, &workers[i]), 0);
	for (i = 0; i < count; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
}
END_TEST

START_TEST(processes_at_once)
{
	struct worker workers[16];
	unsigned int count = make_workers(workers), i;
	pid_t child[16];
	int status;

	for (i = 0; i < count; i++) {
		child[i] = fork();
		ck_assert_int_ge(child[i], 0);
		if (!child[i]) {
			work(&workers[i]);
			_exit(0);
		}
	}
	for (i = 0; i < count; i++) {
		ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
		ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "process %u: %x", i,
			      (unsigned int)status);
	}
}
END_TEST

/* Two contexts use the same addresses for different memory. */
START_TEST(address_spaces_are_apart)
{
	struct rig one = rig_make(0, modes[_i]), two = rig_make(0, modes[_i]);
	struct trn_buffer *a = rig_buffer(&one, TRN_PLACEMENT_HBM, 4096, 0);
	struct trn_buffer *b = rig_buffer(&two, TRN_PLACEMENT_HBM, 4096, 0);
	uint8_t byte[2] = { 0, 0 };

	ck_assert_uint_eq(trn_buffer_address(a), trn_buffer_address(b));
	guest_ok(trn_fill(one.queue, a, 0, 4096, 0x11, 1));
	guest_ok(trn_fill(two.queue, b, 0, 4096, 0x22, 1));
	guest_ok(trn_read(one.queue, &byte[0], a, 4095, 1));
	guest_ok(trn_read(two.queue, &byte[1], b, 4095, 1));
	ck_assert_uint_eq(byte[0], 0x11);
	ck_assert_uint_eq(byte[1], 0x22);
	guest_ok(trn_buffer_destroy(a));
	guest_ok(trn_buffer_destroy(b));
	rig_free(&one);
	rig_free(&two);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("copy");
	TCase *cases = tcase_create("copy");

	tcase_set_timeout(cases, 180);
	tcase_add_loop_test(cases, sizes_and_alignments, 0, 2);
	tcase_add_loop_test(cases, large, 0, 2);
	tcase_add_loop_test(cases, fill, 0, 2);
	tcase_add_loop_test(cases, long_chain, 0, 2);
	tcase_add_test(cases, contexts_and_chips_at_once);
	tcase_add_test(cases, processes_at_once);
	tcase_add_loop_test(cases, address_spaces_are_apart, 0, 2);
	suite_add_tcase(suite, cases);
	return check_run(suite);
}
