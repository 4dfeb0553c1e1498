/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/registers.h"

#define MS_MAX 3600000 /* an hour */

enum member {
	QUEUE = 1 << 0,
	VECTOR = 1 << 1,
	CURE = 1 << 2,
	MS = 1 << 3,
};

static const struct {
	const char *name;
	enum trn_inject fault;
	unsigned int members;
} faults[] = {
	{ "hang", TRN_INJECT_HANG, QUEUE | CURE },
	{ "slow", TRN_INJECT_SLOW, QUEUE | MS },
	{ "page-fault", TRN_INJECT_PAGE_FAULT, QUEUE },
	{ "bad-packet", TRN_INJECT_BAD_PACKET, QUEUE },
	{ "dma-abort", TRN_INJECT_DMA_ABORT, QUEUE },
	{ "lost-interrupt", TRN_INJECT_LOST_INTERRUPT, VECTOR },
	{ "duplicate-interrupt", TRN_INJECT_DUPLICATE_INTERRUPT, VECTOR },
	{ "late-interrupt", TRN_INJECT_LATE_INTERRUPT, VECTOR | MS },
	{ "lost-completion", TRN_INJECT_LOST_COMPLETION, 0 },
	{ "garbage-completion", TRN_INJECT_GARBAGE_COMPLETION, 0 },
	{ "slow-completion", TRN_INJECT_SLOW_COMPLETION, MS },
	{ "heartbeat-stop", TRN_INJECT_HEARTBEAT_STOP, 0 },
	{ "fatal", TRN_INJECT_FATAL, 0 },
	{ "death", TRN_INJECT_DEATH, 0 },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static const struct {
	const char *name;
	enum member member;
	json_int_t min, max; /* numbers */
} members[] = {
	{ "queue", QUEUE, 0, TRN_QUEUES - 1 },
	{ "vector", VECTOR, 0, TRN_VECTORS - 1 },
	{ "cure", CURE, 0, 0 },
	{ "ms", MS, 1, MS_MAX },
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static const char *const cures[] = {
	[TRN_CURE_QUEUE] = "queue",
	[TRN_CURE_CONTEXT] = "context",
	[TRN_CURE_CORE] = "core",
	[TRN_CURE_FUNCTION] = "function",
};

static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *text(const char *format, ...)
{
	va_list arguments;
	char *string;
	int length;

	va_start(arguments, format);
	length = vasprintf(&string, format, arguments);
	va_end(arguments);
	return length < 0 ? NULL : string;
}

static char *unknown_fault(const char *name)
{
	char list[512] = "";

	for (size_t i = 0; i < FAULTS; i++) {
		strcat(list, i ? ", " : "");
		strcat(list, faults[i].name);
	}
	return text("there is no fault \"%s\"; there are %s", name, list);
}

static char *unknown_member(size_t fault, const char *name)
{
	char list[64] = "no more members";

	for (size_t i = 0, n = 0; i < MEMBERS; i++) {
		if (!(faults[fault].members & members[i].member))
			continue;
		if (n++)
			strcat(list, " and ");
		else
			list[0] = '\0';
		strcat(list, members[i].name);
	}
	return text("fault %s has no \"%s\"; it has %s", faults[fault].name, name, list);
}

static bool is_known(size_t fault, const char *name)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		if (!strcmp(name, members[i].name))
			return faults[fault].members & members[i].member;
	}
	return !strcmp(name, "verb") || !strcmp(name, "chip") || !strcmp(name, "fault");
}

static bool parse_cure(const char *name, enum trn_cure *cure)
{
	for (size_t i = 0; name && i < sizeof(cures) / sizeof(cures[0]); i++) {
		*cure = i;
		if (!strcmp(name, cures[i]))
			return true;
	}
	return false;
}

static char *parse_member(const json_t *value, size_t index, struct trn_injection *injection)
{
	json_int_t number = json_integer_value(value);

	if (members[index].member == CURE)
		return parse_cure(json_string_value(value), &injection->cure)
			       ? NULL
			       : text("\"cure\" must be \"queue\", \"context\", \"core\" or "
				      "\"function\"");
	if (!json_is_integer(value) || number < members[index].min || number > members[index].max)
		return text("\"%s\" must be a number, %" JSON_INTEGER_FORMAT
			    " to %" JSON_INTEGER_FORMAT,
			    members[index].name, members[index].min, members[index].max);
	switch (members[index].member) {
	case QUEUE:
		injection->queue = number;
		break;
	case VECTOR:
		injection->vector = number;
		break;
	default:
		injection->ms = number;
		break;
	}
	return NULL;
}

char *trn_fault_parse(const json_t *request, struct trn_injection *injection)
{
	const char *name = json_string_value(json_object_get(request, "fault"));
	const char *key;
	json_t *value;
	size_t fault = 0;

	if (!name)
		return text("\"fault\" must be a string, like \"hang\"");
	while (fault < FAULTS && strcmp(name, faults[fault].name))
		fault++;
	if (fault == FAULTS)
		return unknown_fault(name);
	json_object_foreach((json_t *)request, key, value)
	{
		if (!is_known(fault, key))
			return unknown_member(fault, key);
	}
	*injection = (struct trn_injection){ .fault = faults[fault].fault };
	for (size_t i = 0; i < MEMBERS; i++) {
		char *problem;

		if (!(faults[fault].members & members[i].member))
			continue;
		problem = parse_member(json_object_get(request, members[i].name), i, injection);
		if (problem)
			return problem;
	}
	return NULL;
}

/* "queue 3", "vector 3" or "the chip" */
static void name_place(char *place, size_t size, const struct trn_injection *injection)
{
	unsigned int has = 0;

	for (size_t i = 0; i < FAULTS; i++)
		has |= faults[i].fault == injection->fault ? faults[i].members : 0;
	if (has & QUEUE)
		snprintf(place, size, "queue %u", injection->queue);
	else if (has & VECTOR)
		snprintf(place, size, "vector %u", injection->vector);
	else
		snprintf(place, size, "it");
}

char *trn_fault_refusal(unsigned int chip, const struct trn_injection *injection, int err)
{
	char place[32];

	name_place(place, sizeof(place), injection);
	switch (err) {
	case -ENOENT:
		return text("chip %u has no %s; it must have been created", chip, place);
	case -ESHUTDOWN:
		return text("%s of chip %u is stopped and does nothing any more", place, chip);
	case -EINVAL:
		return text("%s of chip %u is of type DMA; what hangs in a core is a program of a "
			    "queue of type EXEC",
			    place, chip);
	case -EALREADY:
		return text("chip %u: a fault of %s is not used up yet; a reset of the function "
			    "ends it",
			    chip, place);
	case -EAGAIN:
		return text("chip %u is not READY; a driver must have started it", chip);
	case -ENODEV:
		return text("chip %u is dead; unplug and plug bring a new one", chip);
	case -ENXIO:
		return text("chip %u is unplugged; plug it first", chip);
	case -ETIMEDOUT:
		return text("chip %u waits for its client, which does not answer; try again", chip);
	default:
		return text("chip %u: %s", chip, strerror(-err));
	}
}
