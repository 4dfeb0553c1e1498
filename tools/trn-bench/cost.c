/* SPDX-License-Identifier: MIT */
#include "cost.h"

#include <stdbool.h>

/* Who has the CPU. */
enum owner {
	OWNER_OUTSIDE, /* the thread, not in one of the request's calls */
	OWNER_CALL,    /* the thread, in one */
	OWNER_OTHER,   /* another thread */
	OWNER_IDLE,
	OWNER_STRANGER, /* another thread, out of idleness without an interrupt */
	OWNER_INTERRUPT /* an interrupt while idle, and what comes of it */
};

struct walk {
	const struct request *request;
	struct cost cost;
	uint32_t call; /* calls entered of this request, with those before it */
	bool inside;   /* of a call */
	bool submitting;
	enum owner owner;
	uint64_t entered; /* the call that we are in, or were in last */
	uint64_t interrupted;
	uint64_t last; /* the record before */
	uint64_t all;
};

static bool in_first(const struct walk *walk)
{
	return walk->inside && walk->call == walk->request->before + 1;
}

static bool in_last(const struct walk *walk)
{
	return walk->inside && walk->call == walk->request->before + walk->request->calls;
}

static bool begun(const struct walk *walk)
{
	return walk->call > walk->request->before;
}

static void begin_request(struct walk *walk)
{
	walk->cost = (struct cost){ -1, -1, -1, -1, -1, 0, 0 };
	walk->call = 0;
	walk->inside = false;
	walk->submitting = false;
	walk->interrupted = 0;
	walk->all = 0;
}

static void enter(struct walk *walk, uint64_t ns)
{
	walk->call++;
	walk->inside = true;
	walk->owner = OWNER_CALL;
	walk->entered = ns;
	walk->submitting = in_first(walk);
}

static void end_submit(struct walk *walk, uint64_t ns)
{
	if (walk->submitting)
		walk->cost.submit = (int64_t)(ns - walk->entered);
	walk->submitting = false;
}

static void interrupt(struct walk *walk, uint64_t ns)
{
	if (walk->owner == OWNER_IDLE)
		walk->owner = OWNER_INTERRUPT;
	walk->submitting = false;
	if (in_last(walk)) {
		walk->interrupted = ns;
		walk->cost.interrupt = (int64_t)(ns - walk->entered);
		walk->cost.interrupts++;
	}
}

static void switch_to(struct walk *walk, int32_t pid, int32_t next, uint64_t ns)
{
	if (pid == walk->request->pid && in_last(walk)) {
		end_submit(walk, ns);
		if (walk->cost.fall_asleep < 0)
			walk->cost.fall_asleep = (int64_t)(ns - walk->entered);
	}
	if (next == walk->request->pid)
		walk->owner = walk->inside ? OWNER_CALL : OWNER_OUTSIDE;
	else if (!next)
		walk->owner = OWNER_IDLE;
	else if (walk->owner == OWNER_IDLE || walk->owner == OWNER_STRANGER)
		walk->owner = OWNER_STRANGER;
	else
		walk->owner = OWNER_OTHER;
}

/* Whether this was the end of a request. */
static bool leave(struct walk *walk, uint64_t ns)
{
	bool ends = in_last(walk);

	end_submit(walk, ns);
	if (ends && walk->interrupted)
		walk->cost.completion = (int64_t)(ns - walk->interrupted);
	if (ends)
		walk->cost.all = (int64_t)walk->all;
	walk->inside = false;
	walk->owner = OWNER_OUTSIDE;
	return ends;
}

static void account(struct walk *walk, uint64_t ns)
{
	bool counts = walk->owner == OWNER_CALL || walk->owner == OWNER_OTHER ||
		      walk->owner == OWNER_INTERRUPT;

	if (begun(walk) && counts) {
		walk->all += ns - walk->last;
		walk->cost.records++;
	}
	walk->last = ns;
}

size_t cost_of_requests(const struct trace_record *records, size_t count,
			const struct request *request, struct cost *costs, size_t room)
{
	struct walk walk = { .request = request, .owner = OWNER_OUTSIDE };
	size_t found = 0, i;

	begin_request(&walk);
	for (i = 0; i < count && found < room; i++) {
		const struct trace_record *r = &records[i];
		bool call = r->pid == request->pid && r->number == request->number;

		account(&walk, r->ns);
		if (r->event == TRACE_ENTER && call) {
			enter(&walk, r->ns);
		} else if (r->event == TRACE_INTERRUPT) {
			interrupt(&walk, r->ns);
		} else if (r->event == TRACE_SWITCH) {
			switch_to(&walk, r->pid, r->number, r->ns);
		} else if (r->event == TRACE_EXIT && call && walk.inside && leave(&walk, r->ns)) {
			costs[found++] = walk.cost;
			begin_request(&walk);
		}
	}
	return found;
}
