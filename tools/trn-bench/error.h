/* SPDX-License-Identifier: MIT */
#ifndef TRN_BENCH_ERROR_H
#define TRN_BENCH_ERROR_H

/* Records the sentence for bench_error_message() and returns @error, a negative errno. */
int bench_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What failed last, here or in libtrn; "" = nothing that there is a sentence for. */
const char *bench_error_message(void);

#endif /* TRN_BENCH_ERROR_H */
