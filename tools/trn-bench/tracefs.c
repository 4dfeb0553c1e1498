/* SPDX-License-Identifier: MIT */
#include "tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

#define ROOT	  "/sys/kernel/tracing"
#define BUFFER_KB "4096" /* of each CPU */

/* Where a field is in the event's binary form. */
struct field {
	uint32_t offset;
	uint32_t size;
};

struct format {
	uint32_t id;
	struct field number;
};

struct trace {
	char directory[64];
	int on;		    /* the file tracing_on: between its writes there is no other call */
	uint32_t page_size; /* of the ring buffer, with its header */
	uint32_t page_data; /* offset of the events */
	struct format formats[TRACE_EVENTS];
	struct trace_record *records;
	size_t count;
	size_t room;
};

static const struct {
	const char *name;
	const char *number;
} events[TRACE_EVENTS] = {
	[TRACE_ENTER] = { "raw_syscalls/sys_enter", "id" },
	[TRACE_EXIT] = { "raw_syscalls/sys_exit", "id" },
	[TRACE_INTERRUPT] = { "irq/irq_handler_entry", "irq" },
	[TRACE_SWITCH] = { "sched/sched_switch", "next_pid" },
};

/* ---- Files ----------------------------------------------------------- */

static int fail_file(const char *path, int error)
{
	return bench_fail(error, "%s: %s%s", path, strerror(-error),
			  error == -EACCES || error == -EPERM ? ": run it as root" : "");
}

static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
	int error = length < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (error)
		return fail_file(path, error);
	text[length] = 0;
	return 0;
}

/* A file descriptor, or negative errno. */
static int open_file(const struct trace *trace, const char *name, int flags)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", trace->directory, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? fail_file(path, -errno) : fd;
}

static int write_text(const struct trace *trace, const char *name, const char *text)
{
	int fd = open_file(trace, name, O_WRONLY), error = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		error = fail_file(name, -errno);
	close(fd);
	return error;
}

static int switch_on(const struct trace *trace, bool on)
{
	return write(trace->on, on ? "1" : "0", 1) < 0 ? fail_file("tracing_on", -errno) : 0;
}

/* "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;" */
static bool find_field(const char *text, const char *name, struct field *field)
{
	size_t length = strlen(name);
	const char *end;

	for (; (text = strstr(text, "field:")); text++) {
		end = strchr(text, ';');
		if (!end)
			return false;
		if ((size_t)(end - text) > length && !strncmp(end - length, name, length) &&
		    end[-(ptrdiff_t)length - 1] == ' ')
			return sscanf(end, "; offset:%u; size:%u;", &field->offset, &field->size) ==
			       2;
	}
	return false;
}

static int read_format(const char *name, const char *number, struct format *format)
{
	char path[160], text[4096];
	const char *id;
	int error;

	snprintf(path, sizeof(path), ROOT "/events/%s/format", name);
	error = read_text(path, text, sizeof(text));
	if (error)
		return error;
	id = strstr(text, "ID: ");
	if (!id || sscanf(id, "ID: %u", &format->id) != 1 ||
	    !find_field(text, number, &format->number) || format->number.size < sizeof(int32_t))
		return bench_fail(-EPROTO, "%s: there is no ID or no field %s", path, number);
	return 0;
}

static int read_formats(struct trace *trace)
{
	struct field data;
	char text[4096];
	int error, i;

	error = read_text(ROOT "/events/header_page", text, sizeof(text));
	if (error)
		return error;
	if (!find_field(text, "data", &data))
		return bench_fail(-EPROTO, ROOT "/events/header_page: there is no field data");
	trace->page_data = data.offset;
	trace->page_size = data.offset + data.size;
	for (i = 0; !error && i < TRACE_EVENTS; i++)
		error = read_format(events[i].name, events[i].number, &trace->formats[i]);
	return error;
}

int trace_open(struct trace **result)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int error;

	if (!trace)
		return bench_fail(-ENOMEM, "no host memory");
	error = read_formats(trace);
	if (error)
		goto free_trace;
	snprintf(trace->directory, sizeof(trace->directory), ROOT "/instances/trn-bench-%d",
		 (int)getpid());
	if (mkdir(trace->directory, 0700)) {
		error = fail_file(trace->directory, -errno);
		goto free_trace;
	}
	trace->on = open_file(trace, "tracing_on", O_WRONLY);
	error = trace->on < 0 ? trace->on : switch_on(trace, false);
	if (!error)
		error = write_text(trace, "buffer_size_kb", BUFFER_KB);
	if (error) {
		trace_close(trace);
		return error;
	}
	*result = trace;
	return 0;

free_trace:
	free(trace);
	return error;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->on >= 0)
		close(trace->on);
	rmdir(trace->directory);
	free(trace->records);
	free(trace);
}

/* ---- The ring buffer's binary form ----------------------------------- */

/* Header of an element: what it is, and ns since the one before. */
#define KIND_MASK      0x1f
#define DELTA_SHIFT    5
#define KIND_LONG      0  /* an event; its length follows */
#define KIND_DATA_MAX  28 /* an event of as many words */
#define KIND_PADDING   29
#define KIND_EXTENSION 30 /* more bits of the time since the one before */
#define KIND_STAMP     31 /* more bits of an absolute time */
#define DELTA_BITS     27

/* Page header: time, then length of the data and flags. */
#define COMMIT_LENGTH  0xfffff
#define COMMIT_MISSED  0x80000000

static uint32_t word(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* struct trace_entry: type, flags, preemption count, pid; the fields come after it. */
static int add_event(struct trace *trace, const uint8_t *event, uint32_t length, uint64_t ns)
{
	struct trace_record *record;
	uint16_t type;
	int i;

	memcpy(&type, event, sizeof(type));
	for (i = 0; i < TRACE_EVENTS && trace->formats[i].id != type; i++)
		;
	if (i == TRACE_EVENTS || trace->formats[i].number.offset + sizeof(int32_t) > length)
		return 0;
	if (trace->count == trace->room) {
		size_t room = trace->room ? 2 * trace->room : 4096;

		record = realloc(trace->records, room * sizeof(*record));
		if (!record)
			return bench_fail(-ENOMEM, "no host memory");
		trace->records = record;
		trace->room = room;
	}
	record = &trace->records[trace->count++];
	*record = (struct trace_record){ .ns = ns, .event = (enum trace_event)i };
	memcpy(&record->pid, event + 4, sizeof(record->pid));
	memcpy(&record->number, event + trace->formats[i].number.offset, sizeof(record->number));
	return 0;
}

static int add_page(struct trace *trace, const uint8_t *page)
{
	uint32_t commit = word(page + sizeof(uint64_t)), length = commit & COMMIT_LENGTH;
	const uint8_t *at = page + trace->page_data, *end = at + length;
	uint64_t ns;
	int error;

	if (commit & COMMIT_MISSED)
		return bench_fail(-EOVERFLOW, "%s: events were lost", trace->directory);
	memcpy(&ns, page, sizeof(ns));
	while (at + sizeof(uint32_t) <= end) {
		uint32_t header = word(at), kind = header & KIND_MASK, size;
		uint64_t delta = header >> DELTA_SHIFT;

		at += sizeof(header);
		if (kind == KIND_PADDING && !delta)
			break;
		ns = kind == KIND_STAMP ? delta : ns + delta;
		switch (kind) {
		case KIND_EXTENSION:
		case KIND_STAMP:
			ns += (uint64_t)word(at) << DELTA_BITS;
			size = sizeof(uint32_t);
			break;
		case KIND_LONG:
		case KIND_PADDING:
			size = word(at);
			error = kind == KIND_LONG ? add_event(trace, at + 4, size - 4, ns) : 0;
			if (error)
				return error;
			break;
		default:
			size = kind * 4;
			error = add_event(trace, at, size, ns);
			if (error)
				return error;
			break;
		}
		at += size;
	}
	return 0;
}

/* All that one CPU has recorded. */
static int drain(struct trace *trace, const char *cpu, uint8_t *page)
{
	char name[64];
	ssize_t length;
	int fd, error = 0;

	snprintf(name, sizeof(name), "per_cpu/%.16s/trace_pipe_raw", cpu);
	fd = open_file(trace, name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return fd;
	while (!error && (length = read(fd, page, trace->page_size)) > 0)
		error = add_page(trace, page);
	if (!error && length < 0 && errno != EAGAIN)
		error = fail_file(name, -errno);
	close(fd);
	return error;
}

static int drain_all(struct trace *trace)
{
	uint8_t *page = malloc(trace->page_size);
	struct dirent *entry;
	char path[96];
	DIR *directory;
	int error = 0;

	if (!page)
		return bench_fail(-ENOMEM, "no host memory");
	snprintf(path, sizeof(path), "%s/per_cpu", trace->directory);
	directory = opendir(path);
	if (!directory)
		error = fail_file(path, -errno);
	while (!error && (entry = readdir(directory)))
		if (!strncmp(entry->d_name, "cpu", 3))
			error = drain(trace, entry->d_name, page);
	if (directory)
		closedir(directory);
	free(page);
	return error;
}

static int earlier(const void *a, const void *b)
{
	const struct trace_record *left = a, *right = b;

	return left->ns < right->ns ? -1 : left->ns > right->ns;
}

/* ---- Recording ------------------------------------------------------- */

int trace_start(struct trace *trace, const enum trace_event *wanted, size_t count)
{
	char name[64];
	int error;
	size_t i;

	error = write_text(trace, "events/enable", "0");
	for (i = 0; !error && i < count; i++) {
		snprintf(name, sizeof(name), "events/%s/enable", events[wanted[i]].name);
		error = write_text(trace, name, "1");
	}
	return error ? error : switch_on(trace, true);
}

int trace_stop(struct trace *trace, const struct trace_record **records, size_t *count)
{
	int error = switch_on(trace, false);

	trace->count = 0;
	if (!error)
		error = write_text(trace, "events/enable", "0");
	if (!error)
		error = drain_all(trace);
	if (error)
		return error;
	/* Those of one CPU are in order already. */
	qsort(trace->records, trace->count, sizeof(*trace->records), earlier);
	*records = trace->records;
	*count = trace->count;
	return 0;
}
