/* SPDX-License-Identifier: MIT */
/* What reports are made of: columns of numbers, and JSON documents. */
#ifndef TRN_BENCH_DOCUMENT_H
#define TRN_BENCH_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

/* Values that could not be made, for want of memory, make the whole a failure. */
struct object {
	json_t *json;
	bool failed;
};

/* @value is taken over; NULL is a failure. */
void set(struct object *object, const char *key, json_t *value);

/* null when it is not known: 0 or less. */
void set_known(struct object *object, const char *key, double value);

/* A document with an empty list @key, to which elements are added and which is then written. */
struct object new_document(const char *key);
void append(struct object *document, const char *key, struct object element);

/* 0, or -ENOMEM or -EIO when not all was written; frees it. */
int write_document(struct object *document);

/* 0, or -EIO when not all that was printed has been written. */
int flush_text(void);

/* A number in a column, a dash when it is not known: 0 or less. */
void print_known(int width, int digits, double value);

#endif /* TRN_BENCH_DOCUMENT_H */
