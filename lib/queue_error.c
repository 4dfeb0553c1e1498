/* SPDX-License-Identifier: MIT */
/* Why a queue stopped. */
#include <errno.h>
#include <hw/trn_admin.h>
#include <hw/trn_isa.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static int ask(struct trn_queue *queue, struct trn_queue_error *answer)
{
	struct drm_trn_queue_error call = { .queue = queue->id };
	int error = trn_device_ioctl(queue->context->device, DRM_IOCTL_TRN_QUEUE_ERROR, &call);

	if (error)
		return error;
	*answer = (struct trn_queue_error){
		.address = call.address,
		.reason = call.reason,
		.access = call.access,
		.packet = call.packet,
		.exception = call.exception,
		.engine = call.engine,
		.instruction = call.instruction,
	};
	return 0;
}

int trn_queue_error(struct trn_queue *queue, struct trn_queue_error *answer)
{
	const struct trn_device *device = queue->context->device;
	int error = trn_device_check(device, "queue");

	if (error)
		return error;
	error = ask(queue, answer);
	if (error == -ENODEV)
		return trn_fail_gone(device);
	if (error == -EIO)
		return trn_fail_reset(device);
	if (error == -ENOENT)
		return trn_fail(-ECANCELED, "%s: queue %u was destroyed", device->node, queue->id);
	if (error)
		return trn_fail(error, "%s: queue %u: no reason known: %s", device->node, queue->id,
				strerror(-error));
	return 0;
}

static const char *access_verb(uint32_t access)
{
	switch (access) {
	case TRN_ACCESS_READ:
		return "read from";
	case TRN_ACCESS_WRITE:
		return "wrote to";
	case TRN_ACCESS_FETCH:
		return "was to be fetched from";
	default:
		return "used";
	}
}

/* What is wrong with the address of a fault, NULL when the reason is not a fault. */
static const char *fault(uint32_t reason)
{
	switch (reason) {
	case TRN_STOP_FAULT_UNMAPPED:
		return "where nothing is bound";
	case TRN_STOP_FAULT_PERMISSION:
		return "which is bound without that access";
	case TRN_STOP_FAULT_ENTRY:
	case TRN_STOP_FAULT_TABLE:
		return "whose page table the chip could not use";
	case TRN_STOP_FAULT_HOST:
		return "which is host memory that refused the access";
	case TRN_STOP_FAULT_RANGE:
		return "beyond the end of the address space";
	default:
		return NULL;
	}
}

/* What is wrong with the packet otherwise, NULL when it is not the packet. */
static const char *other(uint32_t reason)
{
	switch (reason) {
	case TRN_STOP_BAD_TAIL:
		return "its control page's tail is out of range";
	case TRN_STOP_BAD_OPCODE:
		return "has an opcode that is unknown, or not for a queue of its type";
	case TRN_STOP_BAD_FIELD:
		return "has a field out of range";
	case TRN_STOP_CONTROL:
		return "its control page could not be accessed";
	case TRN_STOP_TIME_LIMIT:
		return "ran longer than the queue's time limit";
	default:
		return NULL;
	}
}

static const char *engine_name(uint32_t engine)
{
	static const char *const names[] = {
		[TRN_ENGINE_TENSOR] = "tensor", [TRN_ENGINE_VECTOR] = "vector",
		[TRN_ENGINE_SCALAR] = "scalar", [TRN_ENGINE_GPSIMD] = "gpsimd",
		[TRN_ENGINE_SYNC] = "sync",
	};

	return engine < TRN_ENGINES ? names[engine] : "unknown";
}

/* What is wrong with an instruction. */
static const char *exception_text(uint32_t exception)
{
	static const char *const texts[] = {
		[TRN_EXCEPTION_ILLEGAL_OPCODE] = "the engine has no such opcode",
		[TRN_EXCEPTION_BAD_FIELD] = "a field is out of its range, or one that has to be 0 "
					    "is not",
		[TRN_EXCEPTION_BAD_DTYPE] = "a data type that this chip, or this instruction, does "
					    "not have",
		[TRN_EXCEPTION_OUT_OF_RANGE] = "operand out of range: it is not within SBUF, PSUM "
					       "or the partitions",
		[TRN_EXCEPTION_UNALIGNED] = "an operand's offset is no multiple of its element's "
					    "size",
		[TRN_EXCEPTION_BAD_BINDING] = "there is no such binding, or the access is not "
					      "within its size",
		[TRN_EXCEPTION_BAD_INDEX] = "an index among the data is out of range",
		[TRN_EXCEPTION_BAD_TARGET] = "there is no such instruction: a branch went too far, "
					     "or a HALT is missing",
		[TRN_EXCEPTION_SEMAPHORE_OVERFLOW] = "a semaphore was released too often",
		[TRN_EXCEPTION_NO_STATIONARY] = "it does not fit the stationary matrix that was "
						"loaded",
		[TRN_EXCEPTION_DEADLOCK] = "deadlock: it waits for a semaphore that nothing can "
					   "release any more",
	};
	const char *text = NULL;

	if (exception < sizeof(texts) / sizeof(texts[0]))
		text = texts[exception];
	return text ? text : "an exception that this library does not know";
}

static void describe_program(const struct trn_queue_error *why, char *text, size_t size)
{
	if (why->exception == TRN_EXCEPTION_PROGRAM)
		snprintf(text, size, "packet %u: what it names is not the image of a program",
			 why->packet);
	else
		snprintf(text, size,
			 "packet %u: the program stopped on the %s engine at instruction %u: %s",
			 why->packet, engine_name(why->engine), why->instruction,
			 exception_text(why->exception));
}

static void describe_fault(const struct trn_queue_error *why, const char *place, char *text,
			   size_t size)
{
	int length = snprintf(text, size, "packet %u %s 0x%llx, %s", why->packet,
			      access_verb(why->access), (unsigned long long)why->address, place);

	if (why->exception && (size_t)length < size)
		snprintf(text + length, size - length, ": %s engine, instruction %u",
			 engine_name(why->engine), why->instruction);
}

/* What stopped the queue, in words. */
static void describe(const struct trn_queue_error *why, char *text, size_t size)
{
	const char *place = fault(why->reason), *problem = other(why->reason);

	if (why->reason == TRN_STOP_PROGRAM)
		describe_program(why, text, size);
	else if (place)
		describe_fault(why, place, text, size);
	else if (problem)
		snprintf(text, size, "packet %u: %s", why->packet, problem);
	else if (why->reason)
		snprintf(text, size, "it stopped, and the chip has lost the reason");
	else
		snprintf(text, size,
			 "it was stopped with all queues of its context, of which one "
			 "had not let go of the chip");
}

bool trn_queue_has_stopped(struct trn_queue *queue)
{
	struct trn_queue_error why = { 0 };

	return ask(queue, &why) || why.reason;
}

int trn_queue_fail_stopped(struct trn_queue *queue, int error, const char *what)
{
	const char *node = queue->context->device->node;
	struct trn_queue_error why = { 0 };
	char reason[256] = "it stopped";
	int unknown = ask(queue, &why);

	if (unknown == -EIO)
		return trn_fail_reset(queue->context->device);
	if (!unknown)
		describe(&why, reason, sizeof(reason));
	return trn_fail(error, "%s: queue %u: %s%s: destroy it and make a new one", node, queue->id,
			what, reason);
}
