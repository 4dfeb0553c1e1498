/* SPDX-License-Identifier: MIT */
/* Programs for a NeuronCore's sync engine, of which only the time counts. */
#ifndef TRN_BENCH_PROGRAM_H
#define TRN_BENCH_PROGRAM_H

#include <stdint.h>

/* Bytes of an image at most. */
#define PROGRAM_SIZE 4096

/* Writes the image of a program that does nothing, */
void program_write_empty(void *memory);
/* and of one that counts to @count. */
void program_write_counting(void *memory, uint64_t count);

#endif /* TRN_BENCH_PROGRAM_H */
