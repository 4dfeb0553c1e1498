/* SPDX-License-Identifier: MIT */
/* Reading and writing of good files, and everything that can be wrong with header and archive. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hw/trn_regs.h>
#include <tests/check_run.h>
#include <trn/trn.h>

#include "meter.h"
#include "program.h"
#include "suites.h"

static void assert_equal_variable(const struct trn_neff_variable *a,
				  const struct trn_neff_variable *b)
{
	uint32_t i;

	ck_assert_str_eq(a->name, b->name);
	ck_assert_uint_eq(a->id, b->id);
	ck_assert_int_eq(a->kind, b->kind);
	ck_assert_uint_eq(a->dtype, b->dtype);
	ck_assert_uint_eq(a->dimensions, b->dimensions);
	for (i = 0; i < b->dimensions; i++)
		ck_assert_uint_eq(a->shape[i], b->shape[i]);
	ck_assert_uint_eq(a->size, b->size);
	ck_assert_uint_eq(a->alignment, b->alignment);
	ck_assert_int_eq(!a->data, !b->data);
	if (b->data)
		ck_assert_mem_eq(a->data, b->data, b->size);
}

static void assert_equal_program(const struct trn_neff *a, const struct trn_neff *b)
{
	uint32_t i;

	ck_assert_str_eq(a->name, b->name);
	ck_assert_str_eq(a->build_version, b->build_version);
	ck_assert_uint_eq(a->num_cores, 1);
	ck_assert_uint_eq(a->cores[0].num_variables, b->cores[0].num_variables);
	for (i = 0; i < b->cores[0].num_variables; i++)
		assert_equal_variable(&a->cores[0].variables[i], &b->cores[0].variables[i]);
	ck_assert_uint_eq(a->cores[0].num_queues, b->cores[0].num_queues);
	for (i = 0; i < b->cores[0].num_queues; i++) {
		ck_assert_str_eq(a->cores[0].queues[i].name, b->cores[0].queues[i].name);
		ck_assert_uint_eq(a->cores[0].queues[i].ring, b->cores[0].queues[i].ring);
		ck_assert_int_eq(a->cores[0].queues[i].direction, b->cores[0].queues[i].direction);
	}
	for (i = 0; i < TRN_NEFF_ENGINES; i++) {
		const struct trn_neff_stream *stream = &b->cores[0].streams[i];

		ck_assert_uint_eq(a->cores[0].streams[i].count, stream->count);
		if (stream->count)
			ck_assert_mem_eq(a->cores[0].streams[i].instructions, stream->instructions,
					 stream->count * 64);
	}
}

/* Or else no bound below means anything. */
START_TEST(meter_counts)
{
	void *volatile memory;

	meter_start();
	memory = malloc(3 << 20);
	memory = realloc(memory, 5 << 20);
	free(memory);
	ck_assert_uint_ge(meter_peak(), 5 << 20);
	ck_assert_uint_lt(meter_peak(), 9 << 20);
	ck_assert_int_eq(meter_in_use(), 0);
}
END_TEST

START_TEST(writer_writes_what_is_specified)
{
	struct craft_file wanted;
	void *bytes, *again;
	uint64_t size, size_again;

	program_craft(&wanted, NULL, NULL, 0);
	ck_assert_int_eq(trn_neff_write(&program, &bytes, &size), 0);
	ck_assert_uint_eq(size, wanted.size);
	ck_assert_mem_eq(bytes, wanted.bytes, size);
	ck_assert_int_eq(trn_neff_write(&program, &again, &size_again), 0);
	ck_assert_uint_eq(size_again, size);
	ck_assert_mem_eq(again, bytes, size);
	craft_free(&wanted);
	free(again);
	free(bytes);
}
END_TEST

START_TEST(reader_reads_what_is_specified)
{
	const struct trn_neff *neff;
	struct craft_file file;
	uint64_t size;
	void *bytes;

	program_craft(&file, NULL, NULL, 0);
	ck_assert_int_eq(trn_neff_parse("good.neff", file.bytes, file.size, &neff), 0);
	assert_equal_program(neff, &program);
	ck_assert_mem_eq(neff->uuid, file.bytes + CRAFT_UUID, 16);
	/* Nothing was copied that may be large. */
	ck_assert_ptr_eq(neff->cores[0].variables[1].data,
			 file.bytes + file.size - 1024 - 512 + 128);

	ck_assert_int_eq(trn_neff_write(neff, &bytes, &size), 0);
	ck_assert_uint_eq(size, file.size);
	ck_assert_mem_eq(bytes, file.bytes, size);
	trn_neff_close(neff);
	free(bytes);
	craft_free(&file);
}
END_TEST

/* Members in another order, other metadata, JSON with white space. */
START_TEST(reader_takes_other_writers)
{
	static const char sync_engine[] = " {\n \"isa\" : \"trn-isa-1\",\n\"instructions\":1, "
					  "\"engine\": \"sync\" }";
	const struct trn_neff *neff;
	struct craft_file file;
	int i;

	craft_begin(&file, 1);
	strcpy((char *)file.bytes + CRAFT_BUILD_VERSION, program.build_version);
	strcpy((char *)file.bytes + CRAFT_NAME, program.name);
	for (i = PROGRAM_MEMBERS - 1; i >= 0; i--) {
		const struct program_member *member = &program_members[i];
		size_t block = file.size;

		if (!strcmp(member->name, "sg00/sync.json"))
			craft_add(&file, member->name, sync_engine, sizeof(sync_engine) - 1);
		else
			craft_add(&file, member->name, member->data, member->size);
		memcpy(file.bytes + block + 100, "0000600\0000001750\000", 16);
		memcpy(file.bytes + block + 136, "14712345670", 12);
		memcpy(file.bytes + block + 265, "user", 4);
		if (i == 0)
			file.bytes[block + 156] = 0;
		craft_checksum(file.bytes + block);
	}
	craft_end(&file);
	ck_assert_msg(!trn_neff_parse("good.neff", file.bytes, file.size, &neff), "%s",
		      trn_error_message());
	assert_equal_program(neff, &program);
	trn_neff_close(neff);
	craft_free(&file);
}
END_TEST

/* As many cores, variables and constants as can be. */
START_TEST(largest_program)
{
	static struct trn_neff_variable variables[TRN_NEFF_VARIABLES_MAX];
	static char names[TRN_NEFF_VARIABLES_MAX][256];
	static struct trn_neff_core cores[TRN_NEFF_CORES_MAX];
	struct trn_neff neff = {
		.name = "", .build_version = "", .cores = cores, .num_cores = TRN_NEFF_CORES_MAX
	};
	const struct trn_neff *read;
	uint64_t size, size_again;
	void *bytes, *again;
	int i;

	for (i = 0; i < TRN_NEFF_VARIABLES_MAX; i++) {
		/* Each of which JSON writes as two bytes. */
		memset(names[i], '"', 255);
		names[i][0] = 'a' + i / 16;
		names[i][1] = 'a' + i % 16;
		variables[i] = (struct trn_neff_variable){ names[i],
							   UINT32_MAX - i,
							   TRN_NEFF_FILE,
							   TRN_DTYPE_FP8_E4M3,
							   8,
							   { 1, 1, 1, 1, 1, 1, 1, 3 },
							   3,
							   1,
							   "abc" };
	}
	for (i = 0; i < TRN_NEFF_CORES_MAX; i++)
		cores[i] = (struct trn_neff_core){ .variables = variables,
						   .num_variables = TRN_NEFF_VARIABLES_MAX };
	ck_assert_msg(!trn_neff_write(&neff, &bytes, &size), "%s", trn_error_message());
	meter_start();
	ck_assert_msg(!trn_neff_parse("large", bytes, size, &read), "%s", trn_error_message());
	ck_assert_uint_lt(meter_peak(), 64 << 20);
	ck_assert_str_eq(read->cores[63].variables[255].name, names[255]);
	ck_assert_int_eq(trn_neff_write(read, &again, &size_again), 0);
	ck_assert_uint_eq(size, size_again);
	ck_assert_mem_eq(bytes, again, size);
	trn_neff_close(read);
	free(again);
	free(bytes);
}
END_TEST

START_TEST(files)
{
	char path[] = "/tmp/trn-neff-XXXXXX";
	const struct trn_neff *neff;
	struct craft_file file;
	int fd = mkstemp(path);

	program_craft(&file, NULL, NULL, 0);
	ck_assert_int_eq(write(fd, file.bytes, file.size), (ssize_t)file.size);
	ck_assert_int_eq(trn_neff_open(path, &neff), 0);
	assert_equal_program(neff, &program);
	trn_neff_close(neff);
	trn_neff_close(NULL);

	ck_assert_int_eq(ftruncate(fd, file.size - 1), 0);
	ck_assert_int_eq(trn_neff_open(path, &neff), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), path));
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "TRUNCATED"));
	unlink(path);
	ck_assert_int_eq(trn_neff_open(path, &neff), -ENOENT);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), path));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(trn_neff_open(path, &neff), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trn_error_message(), "not a regular file"));
	unlink(path);
	ck_assert_int_eq(trn_neff_open("/", &neff), -EINVAL);
	close(fd);
	craft_free(&file);
}
END_TEST

START_TEST(truncated)
{
	struct craft_file file, part;
	size_t whole, size;

	program_craft(&file, NULL, NULL, 0);
	whole = file.size;
	for (size = 0; size < whole; size += CRAFT_BLOCK) {
		/* Of its own, so that a byte too many that is read is found. */
		part.bytes = malloc(size + 1);
		memcpy(part.bytes, file.bytes, size);
		part.size = size;
		assert_refused(&part, -EBADMSG, "TRUNCATED", "bytes");
		if (size >= CRAFT_HEADER) {
			/* The header made to fit: the archive itself is too short. */
			craft_seal(&part);
			assert_refused(&part, -EBADMSG, "", "the archive ");
		}
		craft_free(&part);
	}
	file.size = whole - 1;
	assert_refused(&file, -EBADMSG, "TRUNCATED", "says");
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "two blocks of zeros");
	file.size = whole;
	craft_add_bytes(&file, "x", 1);
	assert_refused(&file, -EBADMSG, "TRAILING", "says");
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "1 bytes follow");
	craft_free(&file);
}
END_TEST

START_TEST(header)
{
	static const struct {
		size_t offset;
		uint8_t value;
		int error;
		const char *name;
		const char *text;
	} cases[] = {
		{ CRAFT_PKG_VERSION, 1, -EOPNOTSUPP, "VERSION", "MD5" },
		{ CRAFT_PKG_VERSION, 3, -EOPNOTSUPP, "VERSION", "pkg_version is 3" },
		{ CRAFT_HEADER_SIZE, 1, -EOPNOTSUPP, "VERSION", "header_size is 1025" },
		{ CRAFT_VERSION_MAJOR, 2, -EOPNOTSUPP, "VERSION", "2.0" },
		{ CRAFT_VERSION_MINOR, 1, -EOPNOTSUPP, "VERSION", "1.1" },
		{ CRAFT_FEATURES + 1, 1, -EOPNOTSUPP, "FEATURES", "features 0x100 not supported" },
		{ CRAFT_FEATURES + 7, 0, -EOPNOTSUPP, "FEATURES", "another instruction set" },
		{ CRAFT_FEATURES + 7, 0xc0, -EOPNOTSUPP, "FEATURES", "0x4000000000000000 not" },
		{ CRAFT_NUM_TPB, 0, -EBADMSG, "HEADER", "num_tpb is 0" },
		{ CRAFT_NUM_TPB, 65, -EFBIG, "LIMIT", "num_tpb is 65" },
		{ CRAFT_NUM_TPB + 3, 0x80, -EFBIG, "LIMIT", "num_tpb is 2147483649" },
		{ CRAFT_NUM_TPB, 2, -EBADMSG, "HEADER", "requested_tpb_count is 1" },
		{ CRAFT_REQUESTED, 2, -EBADMSG, "HEADER", "requested_tpb_count is 2" },
		{ CRAFT_PER_NODE, 2, -EBADMSG, "HEADER", "tpb_per_node" },
		{ CRAFT_PER_NODE + 63, 1, -EBADMSG, "HEADER", "tpb_per_node" },
		{ CRAFT_LNC_SIZE, 2, -EBADMSG, "HEADER", "lnc_size is 2" },
		{ CRAFT_BUILD_VERSION, 7, -EBADMSG, "HEADER", "build_version" },
		{ CRAFT_BUILD_VERSION + 127, 'a', -EBADMSG, "HEADER", "build_version" },
		{ CRAFT_NAME, 0x80, -EBADMSG, "HEADER", "name" },
		{ CRAFT_NAME, 0x7f, -EBADMSG, "HEADER", "name" },
		{ CRAFT_NAME + 255, 'a', -EBADMSG, "HEADER", "name" },
		{ CRAFT_PAD, 1, -EBADMSG, "HEADER", "pad" },
		{ CRAFT_PAD + 467, 1, -EBADMSG, "HEADER", "pad" },
		/* 10 GB claimed, and more. */
		{ CRAFT_DATA_SIZE + 4, 2, -EBADMSG, "TRUNCATED", "says 8589" },
		{ CRAFT_DATA_SIZE + 7, 0xff, -EBADMSG, "TRUNCATED", "says 1837" },
		{ CRAFT_HASH, 0, -EBADMSG, "HASH", "SHA-256" },
		{ CRAFT_HASH + 31, 0, -EBADMSG, "HASH", "SHA-256" },
		{ CRAFT_UUID, 0, -EBADMSG, "UUID", "uuid" },
		{ CRAFT_UUID + 6, 0x40, -EBADMSG, "UUID", "uuid" },
	};
	struct craft_file file;
	uint8_t before;

	program_craft(&file, NULL, NULL, 0);
	before = file.bytes[cases[_i].offset];
	file.bytes[cases[_i].offset] =
		cases[_i].value							  ? cases[_i].value
		: cases[_i].offset >= CRAFT_HASH && cases[_i].offset < CRAFT_NAME ? before ^ 0xff
										  : 0;
	assert_refused(&file, cases[_i].error, cases[_i].name, cases[_i].text);
	craft_free(&file);
}
END_TEST

START_TEST(utf8)
{
	static const char *const good[] = { "",
					    "a",
					    "\xc2\x80",
					    "\xe0\xa0\x80",
					    "\xed\x9f\xbf",
					    "\xf0\x90\x80\x80",
					    "\xf4\x8f\xbf\xbf" };
	static const char *const bad[] = { "\x80",
					   "\xc1\xbf",
					   "\xc3",
					   "\xe0\x9f\xbf",
					   "\xed\xa0\x80",
					   "\xf0\x8f\xbf\xbf",
					   "\xf4\x90\x80\x80",
					   "\xff",
					   "a\x1b[0m",
					   "\xe2\x82" };
	struct trn_neff neff = program;
	uint64_t size;
	void *bytes;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		neff.name = good[i];
		ck_assert_int_eq(trn_neff_write(&neff, &bytes, &size), 0);
		free(bytes);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		neff.name = bad[i];
		ck_assert_int_eq(trn_neff_write(&neff, &bytes, &size), -EINVAL);
		ck_assert_ptr_nonnull(strstr(trn_error_message(), "name must be"));
		ck_assert_ptr_null(strchr(trn_error_message(), 0x1b));
	}
}
END_TEST

START_TEST(flipped_bits)
{
	struct craft_file file;
	size_t i;

	program_craft(&file, NULL, NULL, 0);
	for (i = CRAFT_HEADER; i < file.size; i += 37) {
		file.bytes[i] ^= 1 << i % 8;
		assert_refused(&file, -EBADMSG, "HASH", "damaged");
		file.bytes[i] ^= 1 << i % 8;
	}
	craft_free(&file);
}
END_TEST

START_TEST(member_names)
{
	static const struct {
		const char *member;
		char type;
		const char *link;
		const char *name;
		const char *text;
	} cases[] = {
		{ "../etc/passwd", '0', "", "NAME", "../etc/passwd" },
		{ "/etc/passwd", '0', "", "NAME", "/etc/passwd" },
		{ "sg00/../def.json", '0', "", "NAME", "no such member" },
		{ "./sg00/tensor.json", '0', "", "NAME", "no such member" },
		{ "sg00//tensor.json", '0', "", "NAME", "no such member" },
		{ "sg00/tensor.jso", '0', "", "NAME", "no such member" },
		{ "sg00/tensor.json2", '0', "", "NAME", "no such member" },
		{ "sg00/256.npy", '0', "", "NAME", "no such member" },
		{ "sg00/2.npy", '0', "", "NAME", "no such member" },
		{ "sg00/+02.npy", '0', "", "NAME", "no such member" },
		{ "sg00/-01.npy", '0', "", "NAME", "no such member" },
		{ "sg00/002.npy/x", '0', "", "NAME", "no such member" },
		{ "sg01/def.json", '0', "", "NAME", "program of 1 core;" },
		{ "sg-1/def.json", '0', "", "NAME", "no such member" },
		{ "sg0/def.json", '0', "", "NAME", "no such member" },
		{ "sg 0/def.json", '0', "", "NAME", "no such member" },
		{ "sg00/", '0', "", "NAME", "no such member" },
		{ "", '0', "", "NAME", "" },
		{ "sg00/\x1b[2J", '0', "", "NAME", "no text" },
		{ "sg00/\xff", '0', "", "NAME", "no text" },
		{ "sg00/def.json", '0', "", "DUPLICATE", "sg00/def.json" },
		{ "sg00/001.npy", '0', "", "DUPLICATE", "sg00/001.npy" },
		{ "sg00/sync.bin", '0', "", "DUPLICATE", "sg00/sync.bin" },
		{ "sg00/tensor.bin", '1', "sg00/sync.bin", "TYPE", "a hard link" },
		{ "sg00/tensor.bin", '2', "/etc/passwd", "TYPE", "a symbolic link" },
		{ "sg00/tensor.bin", '3', "", "TYPE", "a character device" },
		{ "sg00/tensor.bin", '4', "", "TYPE", "a block device" },
		{ "sg00", '5', "", "TYPE", "a directory" },
		{ "sg00/tensor.bin", '6', "", "TYPE", "a fifo" },
		{ "sg00/tensor.bin", '7', "", "TYPE", "type 0x37" },
		{ "pax", 'x', "", "TYPE", "pax" },
		{ "pax", 'g', "", "TYPE", "pax" },
		{ "long", 'L', "", "TYPE", "GNU" },
		{ "long", 'K', "", "TYPE", "GNU" },
		{ "sparse", 'S', "", "TYPE", "GNU" },
		{ "sg00/tensor.bin", (char)0xff, "", "TYPE", "type 0xff" },
	};
	struct craft_file file;
	int i, count = sizeof(cases) / sizeof(cases[0]);

	for (i = 0; i < count; i++) {
		int last;

		/* Before all others, but duplicates, and after them. */
		for (last = !strcmp(cases[i].name, "DUPLICATE"); last < 2; last++) {
			int j;

			craft_begin(&file, 1);
			if (!last)
				craft_add_header(&file, cases[i].member, cases[i].type,
						 cases[i].link, 0);
			for (j = 0; j < PROGRAM_MEMBERS; j++)
				craft_add(&file, program_members[j].name, program_members[j].data,
					  program_members[j].size);
			if (last)
				craft_add_header(&file, cases[i].member, cases[i].type,
						 cases[i].link, 0);
			craft_end(&file);
			assert_refused(&file, -EBADMSG, cases[i].name, cases[i].text);
			ck_assert_ptr_null(strchr(trn_error_message(), 0x1b));
			craft_free(&file);
		}
	}
}
END_TEST

START_TEST(archive)
{
	static const uint8_t junk[CRAFT_BLOCK] = { [511] = 1 };
	struct craft_file file;
	size_t block;

	/* Claims 10 GB, in binary as GNU tar does, and 8 GiB - 1 in digits. */
	craft_begin(&file, 1);
	craft_add_header(&file, "sg00/def.json", '0', "", 077777777777);
	craft_end(&file);
	assert_refused(&file, -EBADMSG, "SIZE", "8589934591 bytes");
	memcpy(file.bytes + CRAFT_HEADER + 124, "\x80\0\0\0\0\0\0\x02\x54\x0b\xe4\0", 12);
	craft_checksum(file.bytes + CRAFT_HEADER);
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "SIZE", "10000000000 bytes");
	memset(file.bytes + CRAFT_HEADER + 124, 0xff, 12);
	craft_checksum(file.bytes + CRAFT_HEADER);
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "", "");
	craft_free(&file);

	/* A member that takes the archive's end for its own. */
	craft_begin(&file, 1);
	craft_add_header(&file, "sg00/def.json", '0', "", 1024);
	craft_end(&file);
	assert_refused(&file, -EBADMSG, "TAR", "does not end");
	craft_free(&file);

	craft_begin(&file, 1);
	craft_end(&file);
	assert_refused(&file, -EBADMSG, "MISSING", "sg00/def.json");
	craft_add_bytes(&file, junk, sizeof(junk));
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "512 bytes follow");
	craft_free(&file);

	craft_begin(&file, 1);
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "does not end");
	craft_add_bytes(&file, junk, sizeof(junk));
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "not ustar");
	craft_free(&file);

	program_craft(&file, NULL, NULL, 0);
	block = CRAFT_HEADER;
	/* Wrong checksum; an old magic; what pads a member. */
	file.bytes[block + 148] ^= 1;
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "");
	file.bytes[block + 148] ^= 1;
	memcpy(file.bytes + block + 257, "ustar  ", 8);
	craft_checksum(file.bytes + block);
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "not ustar");
	memcpy(file.bytes + block + 257, "ustar\00000", 8);
	craft_checksum(file.bytes + block);
	file.bytes[file.size - 1024 - 1] = 1;
	craft_seal(&file);
	assert_refused(&file, -EBADMSG, "TAR", "not zeros");
	craft_free(&file);
}
END_TEST

/*
 * Damage that the hash does not show, as a hand that means ill would make it: a few bytes of the
 * archive are others, hash and checksums fit.  A file is refused by name, or read; then what was
 * read can be written.
 */
START_TEST(random_damage)
{
	static const char interesting[] = "\x00\xff\x7f\x80\"{}[],:\\/.0179-";
	static const int rounds = 20000;
	int round, refused = 0, i;

	srand(20261130);
	for (round = 0; round < rounds; round++) {
		const struct trn_neff *neff;
		struct craft_file file;
		size_t block, peak;
		uint64_t size;
		void *bytes;
		int result;

		program_craft(&file, NULL, NULL, 0);
		for (i = rand() % 4; i >= 0; i--)
			file.bytes[CRAFT_HEADER + rand() % (file.size - CRAFT_HEADER)] =
				rand() % 2 ? rand() % 256
					   : interesting[rand() % (sizeof(interesting) - 1)];
		for (block = CRAFT_HEADER; block < file.size; block += CRAFT_BLOCK)
			if (rand() % 8 && !memcmp(file.bytes + block + 257, "ustar", 5))
				craft_checksum(file.bytes + block);
		craft_seal(&file);
		meter_start();
		result = trn_neff_parse("bad.neff", file.bytes, file.size, &neff);
		peak = meter_peak();
		ck_assert_uint_lt(peak, 64 << 20);
		if (result) {
			refused++;
			ck_assert_msg(result == -EBADMSG || result == -EOPNOTSUPP ||
					      result == -EFBIG,
				      "%d: %s", result, trn_error_message());
		} else {
			ck_assert_msg(!trn_neff_write(neff, &bytes, &size), "%s",
				      trn_error_message());
			free(bytes);
			trn_neff_close(neff);
		}
		craft_free(&file);
	}
	/* Most of a small file is padding, which must be zeros, or fields that nobody reads. */
	ck_assert_int_gt(refused, rounds / 4);
	ck_assert_int_lt(refused, rounds);
}
END_TEST

/* A whole file whose length is not small: 64 MiB of constants are not copied. */
START_TEST(large_constant)
{
	uint64_t size, elements = 65 << 20;
	struct trn_neff_variable variable = {
		"w", 0, TRN_NEFF_FILE, TRN_DTYPE_INT8, 1, { elements }, elements, 1, NULL
	};
	struct trn_neff_core core = { .variables = &variable, .num_variables = 1 };
	struct trn_neff neff = { .name = "", .build_version = "", .cores = &core, .num_cores = 1 };
	const struct trn_neff *read;
	uint8_t *data = calloc(1, elements);
	void *bytes;

	data[elements - 1] = 42;
	variable.data = data;
	ck_assert_int_eq(trn_neff_write(&neff, &bytes, &size), 0);
	meter_start();
	ck_assert_int_eq(trn_neff_parse("large", bytes, size, &read), 0);
	ck_assert_uint_lt(meter_peak(), 1 << 20);
	ck_assert_uint_eq(((const uint8_t *)read->cores[0].variables[0].data)[elements - 1], 42);
	trn_neff_close(read);
	free(bytes);
	free(data);
}
END_TEST

static TCase *archive_cases(void)
{
	TCase *cases = tcase_create("archive");

	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, meter_counts);
	tcase_add_test(cases, writer_writes_what_is_specified);
	tcase_add_test(cases, reader_reads_what_is_specified);
	tcase_add_test(cases, reader_takes_other_writers);
	tcase_add_test(cases, largest_program);
	tcase_add_test(cases, large_constant);
	tcase_add_test(cases, files);
	tcase_add_test(cases, truncated);
	tcase_add_loop_test(cases, header, 0, 29);
	tcase_add_test(cases, utf8);
	tcase_add_test(cases, flipped_bits);
	tcase_add_test(cases, member_names);
	tcase_add_test(cases, archive);
	tcase_add_test(cases, random_damage);
	return cases;
}

int main(void)
{
	Suite *suite = suite_create("neff");

	suite_add_tcase(suite, archive_cases());
	suite_add_tcase(suite, neff_content_cases());
	return check_run(suite);
}
