/* SPDX-License-Identifier: MIT */
/* What libtrn says when there is not enough HBM. */
#include "refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

struct text {
	char *at;
	size_t left;
};

static __attribute__((format(printf, 2, 3))) void append(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->at, text->left, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length >= text->left)
		length = text->left ? (int)text->left - 1 : 0;
	text->at += length;
	text->left -= (size_t)length;
}

void trn_describe_refusal(char *buffer, size_t size, const struct trn_refusal *refusal)
{
	const struct trn_memory_limits *limits = &refusal->limits;
	struct text text = { buffer, size };
	unsigned int i;

	append(&text, "%llu bytes of %sHBM asked for;", (unsigned long long)refusal->asked,
	       refusal->cpu_visible ? "CPU-visible " : "");
	if (limits->quota)
		append(&text, " quota: this user has %llu of %llu;",
		       (unsigned long long)limits->quota_used, (unsigned long long)limits->quota);
	if (refusal->error == -EDQUOT) {
		append(&text, " free buffers in any of the user's processes, or ask for less (a "
			      "cgroup may have a limit too)");
		return;
	}
	if (refusal->cpu_visible)
		append(&text, " CPU-visible: %llu of %llu free, in stack 0;",
		       (unsigned long long)limits->cpu_visible_free,
		       (unsigned long long)limits->cpu_visible);
	for (i = 0; i < refusal->stacks; i++) {
		const struct trn_memory *memory = &refusal->memory[i];

		if (refusal->stack != TRN_STACK_ANY && refusal->stack != i)
			continue;
		append(&text, " stack %u: %llu of %llu free, largest block %llu;", i,
		       (unsigned long long)memory->free, (unsigned long long)memory->total,
		       (unsigned long long)memory->largest);
	}
	append(&text, " free buffers, ask for less%s%s",
	       refusal->cpu_visible ? ", do without TRN_BUFFER_CPU_VISIBLE" : "",
	       refusal->stack == TRN_STACK_ANY ? "" : ", or use TRN_STACK_ANY");
}

int trn_fail_refused(struct trn_device *device, int error, uint64_t asked, uint32_t stack,
		     bool cpu_visible)
{
	struct trn_memory memory[DRM_TRN_HBM_STACKS_MAX];
	struct trn_refusal refusal = {
		.error = error,
		.asked = asked,
		.stack = stack,
		.cpu_visible = cpu_visible,
		.memory = memory,
	};
	int stacks = trn_device_memory(device, memory, DRM_TRN_HBM_STACKS_MAX);
	char text[900];

	if (stacks < 0 || trn_device_memory_limits(device, &refusal.limits))
		return trn_fail(error, "%s: %llu bytes of HBM asked for: %s", device->node,
				(unsigned long long)asked, strerror(-error));
	refusal.stacks = (unsigned int)stacks;
	trn_describe_refusal(text, sizeof(text), &refusal);
	return trn_fail(error, "%s: %s", device->node, text);
}
