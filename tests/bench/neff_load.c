/* SPDX-License-Identifier: MIT */
/* How long trn_neff_open() takes, beside reading the file's bytes and their SHA-256 alone. */
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <hw/trn_isa.h>
#include <hw/trn_regs.h>
#include <trn/trn.h>
#include <trn/trn_neff.h>

#include "timing.h"

#define REPEAT	     9
#define INSTRUCTIONS 10000

static char path[] = "/tmp/trn-neff-load-XXXXXX";

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "neff-load: %s\n", what);
	unlink(path);
	exit(1);
}

/* A program with one constant of so many bytes; returns the file's size. */
static uint64_t write_file(uint64_t constant)
{
	struct trn_instruction *instructions = calloc(INSTRUCTIONS, sizeof(*instructions));
	const struct trn_neff_variable variable = { .name = "w",
						    .kind = TRN_NEFF_FILE,
						    .dtype = TRN_DTYPE_INT8,
						    .dimensions = 1,
						    .shape = { constant },
						    .size = constant,
						    .alignment = 64,
						    .data = calloc(constant, 1) };
	const struct trn_neff_core core = { .variables = &variable,
					    .num_variables = 1,
					    .streams = { { instructions, INSTRUCTIONS } } };
	const struct trn_neff neff = {
		.name = "load", .build_version = "bench", .cores = &core, .num_cores = 1
	};
	FILE *to = fopen(path, "wb");
	uint64_t size;
	void *file;

	if (!instructions || !variable.data || !to)
		die("not enough memory, or no file in /tmp");
	if (trn_neff_write(&neff, &file, &size))
		die(trn_error_message());
	if (fwrite(file, 1, size, to) != size || fclose(to))
		die("the file in /tmp cannot be written");
	free(file);
	free((void *)variable.data);
	free(instructions);
	return size;
}

static uint64_t time_open(void)
{
	const struct trn_neff *neff;
	uint64_t begin = thread_ns();

	if (trn_neff_open(path, &neff))
		die(trn_error_message());
	begin = thread_ns() - begin;
	trn_neff_close(neff);
	return begin;
}

static uint64_t time_bytes(uint64_t size)
{
	unsigned char hash[32];
	uint64_t begin = thread_ns(), done = 0;
	char *bytes = malloc(size);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (bytes && fd >= 0 && done < size) {
		ssize_t length = read(fd, bytes + done, size - done);

		if (length <= 0)
			die("the file in /tmp cannot be read");
		done += (uint64_t)length;
	}
	if (done != size || !EVP_Digest(bytes, size, hash, NULL, EVP_sha256(), NULL))
		die("the file in /tmp cannot be hashed");
	begin = thread_ns() - begin;
	close(fd);
	free(bytes);
	return begin;
}

static const char usage[] = "Usage: neff-load\n"
			    "Time that trn_neff_open() takes for files with 10,000 instructions "
			    "and a constant of some\n"
			    "size, beside that of reading and hashing their bytes, in turns: the "
			    "shortest of 9, CPU time.\n";

int main(int argc, char **argv)
{
	static const uint64_t constants[] = { 1 << 10, 1 << 20, 16 << 20, 128 << 20 };
	int fd;

	take_no_arguments(argc, argv, usage);
	fd = mkstemp(path);
	if (fd < 0)
		die("no file can be made in /tmp");
	close(fd);
	printf("     file bytes    open ms  read and hash ms   ratio\n");
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		uint64_t size = write_file(constants[i]), best = UINT64_MAX, bytes = UINT64_MAX;

		for (int j = 0; j < REPEAT; j++) {
			uint64_t ns = time_open();

			best = ns < best ? ns : best;
			ns = time_bytes(size);
			bytes = ns < bytes ? ns : bytes;
		}
		printf("%15llu  %9.3f  %16.3f  %6.2f\n", (unsigned long long)size,
		       (double)best / 1e6, (double)bytes / 1e6, (double)best / (double)bytes);
	}
	unlink(path);
	return 0;
}
