// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps for /sys/class/devcoredump: what a queue was doing when it was stopped, or the chip
 * when it failed.  Documentation/recovery.rst describes the text.
 *
 * A dump is taken where fences wait, into memory that there is already, and written out
 * later by a work that nobody waits for.  The kernel keeps one of a chip, until it
 * is read or some minutes old; so while one is being written others are not taken.
 */
#include <linux/delay.h>
#include <linux/devcoredump.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/seq_buf.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include <drm/drm_managed.h>
#include <drm/trn_accel.h>

#include <hw/trn_isa.h>

#include "trn_context.h"
#include "trn_coredump.h"
#include "trn_device.h"
#include "trn_mapping.h"
#include "trn_queue.h"

#define TRN_COREDUMP_VERSION	1
/* Packets up to the queue's head, and from there on. */
#define TRN_COREDUMP_PACKETS	16
/* Entries of the admin queue's rings. */
#define TRN_COREDUMP_COMMANDS	16
/* More than the longest text. */
#define TRN_COREDUMP_SIZE	SZ_16K
/* A process may make the chip stop queues as often as it likes. */
#define TRN_COREDUMP_STOP_MS	1000
/* So long a dump waits for a process that changes its address space. */
#define TRN_COREDUMP_LOCK_MS	50

struct trn_coredump_queue {
	u32 id;
	u32 handle;
	u64 client_id;
	u16 asid;
	u16 ring_asid;
	bool kernel;
	u8 type;
	u32 priority;
	u32 timeout_ms;
	u32 entries;
	u64 ring_va;
	struct trn_stop stop;
	int log_result;			/* of asking the chip for @log */
	struct trn_log_queue log;
	/* The control page's, which the process may have written. */
	u32 tail;
	u32 head;
	u32 need_kick;
	u64 wake_at;
	u32 status;
	u32 generation;
	/* Packets @first ... @first + @count - 1 of the ring. */
	u32 first;
	u32 count;
	unsigned long readable;		/* bit n: packets[n] is there */
	struct trn_packet packets[2 * TRN_COREDUMP_PACKETS];
	bool walked;
	struct trn_mmu_walk walk;
	u32 core;			/* whose state @core_log is, */
	bool of_core;			/* if this is set */
	struct trn_log_core core_log;
};

struct trn_coredump_function {
	char reason[sizeof_field(struct trn_device, reason)];
	u32 ctrl;
	u32 status;
	u32 heartbeat;
	u16 sq_tail;
	u16 cq_head;
	u16 phase;
	/* Before @sq_tail, and around @cq_head, by the index in the ring. */
	struct trn_admin_command commands[TRN_COREDUMP_COMMANDS];
	struct trn_admin_completion completions[TRN_COREDUMP_COMMANDS];
};

struct trn_coredump {
	struct trn_device *tdev;
	/* Bit 0: taken, from trn_coredump_begin() until it is written out. */
	unsigned long busy;
	struct work_struct work;
	unsigned long next_stop;	/* jiffies: no dump of TRN_RUNG_NONE before */
	enum trn_rung rung;
	time64_t time;
	bool of_queue;			/* which of these it is */
	struct trn_coredump_queue queue;
	struct trn_coredump_function function;
};

/* NULL when there is none to be had. */
static struct trn_coredump *trn_coredump_begin(struct trn_device *tdev, enum trn_rung rung)
{
	struct trn_coredump *dump = tdev->coredump;

	if (test_and_set_bit_lock(0, &dump->busy))
		return NULL;
	if (rung == TRN_RUNG_NONE) {
		if (time_before(jiffies, dump->next_stop)) {
			clear_bit_unlock(0, &dump->busy);
			return NULL;
		}
		dump->next_stop = jiffies + msecs_to_jiffies(TRN_COREDUMP_STOP_MS);
	}
	dump->time = ktime_get_real_seconds();
	return dump;
}

static void trn_coredump_take_control(struct trn_coredump_queue *copy,
				      const struct trn_control *control)
{
	copy->tail = le32_to_cpu(READ_ONCE(control->tail));
	copy->head = le32_to_cpu(READ_ONCE(control->head));
	copy->need_kick = le32_to_cpu(READ_ONCE(control->need_kick));
	copy->wake_at = le64_to_cpu(READ_ONCE(control->wake_at));
	copy->status = le32_to_cpu(READ_ONCE(control->status));
	copy->generation = le32_to_cpu(READ_ONCE(control->generation));
}

/* Which packets: what the chip says counts more than the control page. */
static void trn_coredump_choose_packets(struct trn_coredump_queue *copy)
{
	u32 head = copy->log_result ? copy->head : le32_to_cpu(copy->log.head);
	u32 after = min3(copy->tail - head, copy->entries, TRN_COREDUMP_PACKETS);
	/* Before index 0 there was nothing. */
	u32 before = min3(head, copy->entries - after, TRN_COREDUMP_PACKETS);

	copy->first = head - before;
	copy->count = before + after;
	copy->readable = 0;
}

static void trn_coredump_take_ring(struct trn_coredump_queue *copy, struct trn_queue *queue)
{
	u32 i;

	for (i = 0; i < copy->count; i++) {
		u32 slot = trn_ring_slot(&queue->ring, copy->first + i);
		struct trn_packet *packet = &copy->packets[i];

		if (copy->kernel)
			*packet = ((struct trn_packet *)(queue->ring_memory + PAGE_SIZE))[slot];
		else if (!trn_mapping_read(queue->context, queue->ring_va + slot * sizeof(*packet),
					   packet, sizeof(*packet)))
			continue;
		__set_bit(i, &copy->readable);
	}
}

static bool trn_coredump_is_fault(u32 reason)
{
	switch (reason) {
	case TRN_STOP_FAULT_UNMAPPED:
	case TRN_STOP_FAULT_PERMISSION:
	case TRN_STOP_FAULT_ENTRY:
	case TRN_STOP_FAULT_TABLE:
	case TRN_STOP_FAULT_HOST:
	case TRN_STOP_FAULT_RANGE:
		return true;
	default:
		return false;
	}
}

/*
 * The address space's lock, unless its process keeps it for long by a large VM_BIND: others wait
 * for what comes after the dump.
 */
static bool trn_coredump_lock_vm(struct trn_vm *vm)
{
	unsigned int i;

	for (i = 0; i < TRN_COREDUMP_LOCK_MS; i++) {
		if (mutex_trylock(&vm->lock))
			return true;
		usleep_range(1000, 1100);
	}
	return false;
}

/* What is in the context's address space; the kernel's own has no faults of a process. */
static void trn_coredump_take_memory(struct trn_coredump_queue *copy, struct trn_queue *queue)
{
	struct trn_context *context = queue->context;
	const struct trn_stop *stop = &copy->stop;

	copy->walked = false;
	if (!trn_coredump_lock_vm(&context->vm))
		return;
	trn_coredump_take_ring(copy, queue);
	copy->walked = trn_coredump_is_fault(stop->reason) && !context->vm.closed &&
		       stop->address < BIT_ULL(TRN_VA_BITS) &&
		       !(copy->kernel && stop->access == TRN_ACCESS_FETCH);
	if (copy->walked)
		trn_mmu_walk(&context->vm.mmu, stop->address, &copy->walk);
	mutex_unlock(&context->vm.lock);
}

/* Whether it is the packet that the chip is at in this queue. */
static bool trn_coredump_is_program(const struct trn_coredump_queue *copy,
				    const struct trn_core_program *program)
{
	return program->state != TRN_CORE_STATE_NEW && program->packet == copy->log.head &&
	       le16_to_cpu(program->queue) == copy->id && le16_to_cpu(program->asid) == copy->asid;
}

static void trn_coredump_take_core(struct trn_coredump_queue *copy, struct trn_queue *queue)
{
	struct trn_device *tdev = queue->tdev;
	struct trn_core_program program;
	u32 core;

	copy->of_core = false;
	if (copy->type != TRN_QUEUE_TYPE_EXEC || copy->log_result)
		return;
	for (core = 0; core < tdev->caps.cores; core++) {
		if (trn_admin_get_core_program(tdev, queue->epoch, core, &program))
			return;
		if (!trn_coredump_is_program(copy, &program))
			continue;
		/* Meanwhile it may have got another one. */
		if (trn_admin_get_core(tdev, queue->epoch, core, &copy->core_log) ||
		    !trn_coredump_is_program(copy, &copy->core_log.program))
			return;
		copy->core = core;
		copy->of_core = true;
		return;
	}
}

/**
 * trn_coredump_take_queue() - take a dump of a queue
 * @queue: queue that has stopped or is about to be
 * @stop: why
 * @rung: TRN_RUNG_NONE if the chip has stopped it
 *
 * Allocates nothing.
 *
 * Return: for trn_coredump_publish(); NULL if there is no dump to be had now.
 */
struct trn_coredump *trn_coredump_take_queue(struct trn_queue *queue, const struct trn_stop *stop,
					     enum trn_rung rung)
{
	struct trn_coredump *dump;
	struct trn_coredump_queue *copy;

	if (!queue->context)
		return NULL;
	dump = trn_coredump_begin(queue->tdev, rung);
	if (!dump)
		return NULL;
	dump->of_queue = true;
	copy = &dump->queue;
	copy->id = queue->id;
	copy->handle = queue->handle;
	copy->client_id = queue->client_id;
	copy->asid = trn_queue_asid(queue);
	copy->kernel = queue->mode == DRM_TRN_QUEUE_KERNEL;
	copy->type = queue->type;
	copy->ring_asid = copy->kernel ? 0 : copy->asid;
	copy->priority = queue->priority;
	copy->timeout_ms = queue->timeout_ms;
	copy->entries = queue->ring.entries;
	copy->ring_va = queue->ring_va + (copy->kernel ? PAGE_SIZE : 0);
	copy->stop = *stop;
	copy->log_result = trn_admin_get_queue(queue, &copy->log);
	trn_coredump_take_core(copy, queue);
	trn_coredump_take_control(copy, queue->control);
	trn_coredump_choose_packets(copy);
	trn_coredump_take_memory(copy, queue);
	return dump;
}

/* Ring index of commands[i]: the newest is the last. */
static u32 trn_coredump_command(const struct trn_coredump_function *function, u32 i)
{
	return (function->sq_tail - TRN_COREDUMP_COMMANDS + i) % TRN_ADMIN_ENTRIES;
}

/* Ring index of completions[i]: the next one to come is in the middle. */
static u32 trn_coredump_completion(const struct trn_coredump_function *function, u32 i)
{
	return (function->cq_head - TRN_COREDUMP_COMMANDS / 2 + i) % TRN_ADMIN_ENTRIES;
}

/**
 * trn_coredump_take_function() - take a dump of a chip that has failed
 * @tdev: device, not yet stopped
 *
 * Allocates nothing.
 *
 * Return: as trn_coredump_take_queue().
 */
struct trn_coredump *trn_coredump_take_function(struct trn_device *tdev)
{
	struct trn_coredump *dump = trn_coredump_begin(tdev, TRN_RUNG_FUNCTION);
	const struct trn_admin *admin = &tdev->admin;
	struct trn_coredump_function *copy;
	u32 i;

	if (!dump)
		return NULL;
	dump->of_queue = false;
	copy = &dump->function;
	strscpy(copy->reason, tdev->reason);
	copy->ctrl = trn_read32(tdev, TRN_REG_CTRL);
	copy->status = trn_read32(tdev, TRN_REG_STATUS);
	copy->heartbeat = trn_read32(tdev, TRN_REG_HEARTBEAT);
	/* Without the lock: whatever goes on there, the chip has failed. */
	copy->sq_tail = READ_ONCE(admin->sq_tail);
	copy->cq_head = READ_ONCE(admin->cq_head);
	copy->phase = READ_ONCE(admin->phase);
	for (i = 0; i < TRN_COREDUMP_COMMANDS; i++) {
		copy->commands[i] = admin->sq[trn_coredump_command(copy, i)];
		copy->completions[i] = admin->cq[trn_coredump_completion(copy, i)];
	}
	return dump;
}

/**
 * trn_coredump_publish() - have a dump written out, later
 * @dump: may be NULL
 * @rung: what it took
 */
void trn_coredump_publish(struct trn_coredump *dump, enum trn_rung rung)
{
	if (!dump)
		return;
	dump->rung = rung;
	schedule_work(&dump->work);
}

static void trn_coredump_write_words(struct seq_buf *text, const void *data, size_t size)
{
	const __le64 *words = data;
	size_t i;

	for (i = 0; i < size / sizeof(*words); i++)
		seq_buf_printf(text, " %016llx", le64_to_cpu(words[i]));
	seq_buf_putc(text, '\n');
}

static const char *trn_coredump_opcode(u8 opcode)
{
	switch (opcode) {
	case TRN_PACKET_NOP:
		return "NOP";
	case TRN_PACKET_FENCE_WRITE:
		return "FENCE_WRITE";
	case TRN_PACKET_FENCE_WAIT:
		return "FENCE_WAIT";
	case TRN_PACKET_COPY:
		return "COPY";
	case TRN_PACKET_FILL:
		return "FILL";
	case TRN_PACKET_COPY_ND:
		return "COPY_ND";
	case TRN_PACKET_EXEC:
		return "EXEC";
	default:
		return "unknown";
	}
}

static const char *trn_coredump_reason(u32 reason)
{
	static const char * const names[] = {
		[0] = "none",
		[TRN_STOP_BAD_TAIL] = "BAD_TAIL",
		[TRN_STOP_BAD_OPCODE] = "BAD_OPCODE",
		[TRN_STOP_BAD_FIELD] = "BAD_FIELD",
		[TRN_STOP_FAULT_UNMAPPED] = "FAULT_UNMAPPED",
		[TRN_STOP_FAULT_PERMISSION] = "FAULT_PERMISSION",
		[TRN_STOP_FAULT_ENTRY] = "FAULT_ENTRY",
		[TRN_STOP_FAULT_TABLE] = "FAULT_TABLE",
		[TRN_STOP_FAULT_HOST] = "FAULT_HOST",
		[TRN_STOP_FAULT_RANGE] = "FAULT_RANGE",
		[TRN_STOP_CONTROL] = "CONTROL",
		[TRN_STOP_TIME_LIMIT] = "TIME_LIMIT",
		[TRN_STOP_PROGRAM] = "PROGRAM",
	};

	return reason < ARRAY_SIZE(names) ? names[reason] : "unknown";
}

static const char *trn_coredump_access(u32 access)
{
	static const char * const names[] = {
		[TRN_ACCESS_READ] = "read",
		[TRN_ACCESS_WRITE] = "write",
		[TRN_ACCESS_FETCH] = "fetch",
	};

	return access < ARRAY_SIZE(names) ? names[access] : "unknown";
}

static const char *trn_coredump_engine(u32 engine)
{
	static const char * const names[] = {
		[TRN_ENGINE_TENSOR] = "tensor",
		[TRN_ENGINE_VECTOR] = "vector",
		[TRN_ENGINE_SCALAR] = "scalar",
		[TRN_ENGINE_GPSIMD] = "gpsimd",
		[TRN_ENGINE_SYNC] = "sync",
	};

	return engine < ARRAY_SIZE(names) ? names[engine] : "unknown";
}

static const char *trn_coredump_exception(u32 exception)
{
	static const char * const names[] = {
		[0] = "none",
		[TRN_EXCEPTION_ILLEGAL_OPCODE] = "ILLEGAL_OPCODE",
		[TRN_EXCEPTION_BAD_FIELD] = "BAD_FIELD",
		[TRN_EXCEPTION_BAD_DTYPE] = "BAD_DTYPE",
		[TRN_EXCEPTION_OUT_OF_RANGE] = "OUT_OF_RANGE",
		[TRN_EXCEPTION_UNALIGNED] = "UNALIGNED",
		[TRN_EXCEPTION_BAD_BINDING] = "BAD_BINDING",
		[TRN_EXCEPTION_BAD_INDEX] = "BAD_INDEX",
		[TRN_EXCEPTION_BAD_TARGET] = "BAD_TARGET",
		[TRN_EXCEPTION_SEMAPHORE_OVERFLOW] = "SEMAPHORE_OVERFLOW",
		[TRN_EXCEPTION_NO_STATIONARY] = "NO_STATIONARY",
		[TRN_EXCEPTION_DEADLOCK] = "DEADLOCK",
		[TRN_EXCEPTION_PROGRAM] = "PROGRAM",
		[TRN_EXCEPTION_MEMORY] = "MEMORY",
	};

	return exception < ARRAY_SIZE(names) ? names[exception] : "unknown";
}

static void trn_coredump_write_stop(struct seq_buf *text, const struct trn_stop *stop)
{
	seq_buf_printf(text, "stop: reason %u %s packet %u", stop->reason,
		       trn_coredump_reason(stop->reason), stop->packet);
	if (trn_coredump_is_fault(stop->reason))
		seq_buf_printf(text, " access %s address 0x%llx",
			       trn_coredump_access(stop->access), stop->address);
	if (stop->exception)
		seq_buf_printf(text, " exception %u %s", stop->exception,
			       trn_coredump_exception(stop->exception));
	if (stop->exception && stop->exception != TRN_EXCEPTION_PROGRAM)
		seq_buf_printf(text, " engine %s instruction %u",
			       trn_coredump_engine(stop->engine), stop->instruction);
	seq_buf_putc(text, '\n');
}

static void trn_coredump_write_log(struct seq_buf *text, const struct trn_coredump_queue *queue)
{
	const struct trn_log_queue *log = &queue->log;
	static const char * const states[] = {
		[TRN_QUEUE_STATE_RUNNING] = "running",
		[TRN_QUEUE_STATE_SUSPENDED] = "suspended",
		[TRN_QUEUE_STATE_STOPPED] = "stopped",
	};
	static const char * const activities[] = {
		[TRN_QUEUE_ACTIVITY_ASLEEP] = "asleep",
		[TRN_QUEUE_ACTIVITY_AWAKE] = "awake",
		[TRN_QUEUE_ACTIVITY_EXECUTING] = "executing",
		[TRN_QUEUE_ACTIVITY_PARKED] = "parked",
	};

	if (queue->log_result) {
		seq_buf_printf(text, "chip: no answer, %d\n", queue->log_result);
		return;
	}
	seq_buf_printf(text, "chip: state %s activity %s",
		       log->state < ARRAY_SIZE(states) ? states[log->state] : "unknown",
		       log->activity < ARRAY_SIZE(activities) ? activities[log->activity] :
								"unknown");
	seq_buf_printf(text,
		       " reason %u masked %u head %u tail %u packet_ns %llu queue_ns %llu done %llu\n",
		       log->reason, log->masked, le32_to_cpu(log->head), le32_to_cpu(log->tail),
		       le64_to_cpu(log->packet_ns), le64_to_cpu(log->queue_ns),
		       le64_to_cpu(log->done));
	seq_buf_printf(text, "packet: %s", trn_coredump_opcode(log->packet[0]));
	trn_coredump_write_words(text, log->packet, sizeof(log->packet));
}

static void trn_coredump_write_ring(struct seq_buf *text, const struct trn_coredump_queue *queue)
{
	u32 i;

	seq_buf_printf(text, "ring: asid %u address 0x%llx entries %u\n", queue->ring_asid,
		       queue->ring_va, queue->entries);
	for (i = 0; i < queue->count; i++) {
		const struct trn_packet *packet = &queue->packets[i];

		seq_buf_printf(text, "  %u", queue->first + i);
		if (!test_bit(i, &queue->readable)) {
			seq_buf_puts(text, " not readable\n");
			continue;
		}
		seq_buf_printf(text, " %s", trn_coredump_opcode(packet->opcode));
		trn_coredump_write_words(text, packet, sizeof(*packet));
	}
}

static void trn_coredump_write_walk(struct seq_buf *text, const struct trn_coredump_queue *queue)
{
	const struct trn_mmu_walk *walk = &queue->walk;
	u64 address = queue->stop.address;
	int level;

	if (!queue->walked)
		return;
	seq_buf_printf(text, "walk: asid %u address 0x%llx\n", queue->asid, address);
	for (level = TRN_PT_LEVELS - 1; level >= walk->last_level; level--) {
		u64 entry = walk->entries[level];

		seq_buf_printf(text, "  level %d index %llu entry %016llx", level,
			       (address >> TRN_PT_SHIFT(level)) % TRN_PT_ENTRIES, entry);
		if (!(entry & TRN_PTE_VALID))
			seq_buf_puts(text, " invalid\n");
		else if (!(entry & TRN_PTE_LEAF))
			seq_buf_puts(text, " table\n");
		else
			seq_buf_printf(text, " leaf %s %s%s\n",
				       (entry & TRN_PTE_TARGET_MASK) == TRN_PTE_TARGET_HBM ? "hbm" :
											     "host",
				       entry & TRN_PTE_READ ? "r" : "-",
				       entry & TRN_PTE_WRITE ? "w" : "-");
	}
}

static void trn_coredump_write_engine(struct seq_buf *text, u32 number,
				      const struct trn_log_engine *engine)
{
	static const char * const states[] = {
		[TRN_ENGINE_STATE_HALTED] = "halted",
		[TRN_ENGINE_STATE_RUNNING] = "running",
		[TRN_ENGINE_STATE_WAITING] = "waiting",
	};

	seq_buf_printf(text, "  %s %s instruction %u issued %llu registers",
		       trn_coredump_engine(number),
		       engine->state < ARRAY_SIZE(states) ? states[engine->state] : "unknown",
		       le32_to_cpu(engine->instruction), le64_to_cpu(engine->issued));
	trn_coredump_write_words(text, engine->reg, sizeof(engine->reg));
}

static void trn_coredump_write_core(struct seq_buf *text, const struct trn_coredump_queue *queue)
{
	const struct trn_log_core *log = &queue->core_log;
	const struct trn_core_program *program = &log->program;
	static const char * const states[] = {
		[TRN_CORE_STATE_NEW] = "new",
		[TRN_CORE_STATE_RUNNING] = "running",
		[TRN_CORE_STATE_ENDED] = "ended",
	};
	u32 i;

	if (!queue->of_core)
		return;
	seq_buf_printf(text, "core: number %u state %s packet %u\n", queue->core,
		       program->state < ARRAY_SIZE(states) ? states[program->state] : "unknown",
		       le32_to_cpu(program->packet));
	for (i = 0; i < TRN_ENGINES; i++)
		trn_coredump_write_engine(text, i, &log->engine[i]);
	seq_buf_puts(text, "  semaphores");
	for (i = 0; i < TRN_ISA_SEMAPHORES; i++) {
		if (log->semaphore[i])
			seq_buf_printf(text, " %u=%u", i, le32_to_cpu(log->semaphore[i]));
	}
	seq_buf_putc(text, '\n');
}

static void trn_coredump_write_queue(struct seq_buf *text, const struct trn_coredump_queue *queue)
{
	seq_buf_printf(text,
		       "queue: id %u handle %u client %llu asid %u mode %s priority %u timeout_ms %u type %s\n",
		       queue->id, queue->handle, queue->client_id, queue->asid,
		       queue->kernel ? "kernel" : "user", queue->priority, queue->timeout_ms,
		       queue->type == TRN_QUEUE_TYPE_EXEC ? "exec" : "dma");
	trn_coredump_write_stop(text, &queue->stop);
	trn_coredump_write_log(text, queue);
	seq_buf_printf(text,
		       "control: tail %u head %u need_kick %u wake_at %llu status %u generation %u\n",
		       queue->tail, queue->head, queue->need_kick, queue->wake_at, queue->status,
		       queue->generation);
	trn_coredump_write_ring(text, queue);
	trn_coredump_write_core(text, queue);
	trn_coredump_write_walk(text, queue);
}

static void trn_coredump_write_function(struct seq_buf *text,
					const struct trn_coredump_function *function)
{
	unsigned int i;

	seq_buf_printf(text, "failure: %s\n", function->reason);
	seq_buf_printf(text, "registers: ctrl %08x status %08x heartbeat %08x\n", function->ctrl,
		       function->status, function->heartbeat);
	seq_buf_printf(text, "admin: sq_tail %u cq_head %u phase %u\n", function->sq_tail,
		       function->cq_head, function->phase);
	for (i = 0; i < TRN_COREDUMP_COMMANDS; i++) {
		seq_buf_printf(text, "  command %u", trn_coredump_command(function, i));
		trn_coredump_write_words(text, &function->commands[i],
					 sizeof(function->commands[i]));
	}
	for (i = 0; i < TRN_COREDUMP_COMMANDS; i++) {
		seq_buf_printf(text, "  completion %u", trn_coredump_completion(function, i));
		trn_coredump_write_words(text, &function->completions[i],
					 sizeof(function->completions[i]));
	}
}

static void trn_coredump_write(struct seq_buf *text, const struct trn_coredump *dump)
{
	const struct trn_device *tdev = dump->tdev;
	const struct trn_identity *identity = &tdev->identity;

	seq_buf_printf(text, "trn coredump %u\n", TRN_COREDUMP_VERSION);
	seq_buf_printf(text, "driver: %s kernel %s\n", TRN_DRIVER_VERSION, utsname()->release);
	seq_buf_printf(text, "device: %s generation %s serial %s firmware %s\n",
		       pci_name(tdev->pdev), identity->generation, identity->serial,
		       identity->firmware);
	seq_buf_printf(text, "time: %lld\n", dump->time);
	seq_buf_printf(text, "rung: %s\n", trn_rung_name(dump->rung));
	if (dump->of_queue)
		trn_coredump_write_queue(text, &dump->queue);
	else
		trn_coredump_write_function(text, &dump->function);
}

static void trn_coredump_work(struct work_struct *work)
{
	struct trn_coredump *dump = container_of(work, struct trn_coredump, work);
	struct seq_buf text;
	char *buffer;

	buffer = vmalloc(TRN_COREDUMP_SIZE);
	if (buffer) {
		seq_buf_init(&text, buffer, TRN_COREDUMP_SIZE);
		trn_coredump_write(&text, dump);
		/* Takes the buffer; drops it if the kernel has one of this chip. */
		dev_coredumpv(&dump->tdev->pdev->dev, buffer, seq_buf_used(&text), GFP_KERNEL);
	}
	clear_bit_unlock(0, &dump->busy);
}

/* No dump is taken any more. */
void trn_coredump_stop(struct trn_device *tdev)
{
	flush_work(&tdev->coredump->work);
}

int trn_coredump_init(struct trn_device *tdev)
{
	struct trn_coredump *dump = drmm_kzalloc(&tdev->drm, sizeof(*dump), GFP_KERNEL);

	if (!dump)
		return -ENOMEM;
	dump->tdev = tdev;
	dump->next_stop = jiffies;
	INIT_WORK(&dump->work, trn_coredump_work);
	tdev->coredump = dump;
	return 0;
}
