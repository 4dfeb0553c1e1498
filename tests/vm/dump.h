/* SPDX-License-Identifier: MIT */
/* The dump that the kernel keeps of a chip (Documentation/recovery.rst, "Dumps"). */
#ifndef TRN_TESTS_DUMP_H
#define TRN_TESTS_DUMP_H

/* The text that dump_read() has read last. */
extern char dump[65536];

/* Lets the kernel forget the dump that it keeps, if any, and those that come meanwhile. */
void dump_drop(void);
/* Waits for a dump, and gives it back to the kernel.  It is root's alone. */
void dump_read(void);

/* The line of the dump that begins with @start; valid until the next call. */
const char *dump_line(const char *start);
/* Fail unless there is this line, or one that begins with @start and has @part. */
void dump_has_line(const char *line);
void dump_line_has(const char *start, const char *part);

#endif /* TRN_TESTS_DUMP_H */
