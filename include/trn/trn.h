/* SPDX-License-Identifier: MIT */
/*
 * libtrn: memory and queues of a trn accelerator from user space.
 *
 *	trn_device ──┬─ trn_context ──┬─ trn_buffer	memory
 *	(one chip)   │  (one address  ├─ trn_range	addresses to bind buffers in
 *	             │   space)       ├─ trn_queue	commands
 *	             │                └─ trn_program	compiled programs: see trn_program.h
 *	             └─ trn_timeline	order between calls, chips and drivers
 *
 * Results: functions that return int return 0 or more on success and a
 * negative errno value on failure; what each value means is said at the
 * function.  Every function may also return
 *	-EINVAL	an argument is outside its stated range
 *	-ENOMEM	no host memory
 *	-ENODEV	the chip is gone: destroy all objects, close the device
 *	-EIO	the chip was reset and the context lost its queues, its bindings and what its HBM
 *		held: destroy it and create a new one, on the same device
 *	-EPERM	the object was made before fork() by the parent process
 * trn_error_message() has a sentence about the calling thread's last failure.
 *
 * Threads: functions on devices, contexts, buffers, ranges and timelines may be called from any
 * thread at any time.  Of a queue, trn_queue_packet(), trn_queue_reserve(),
 * trn_queue_submit(), trn_queue_submit_syncs() and the transfer functions belong to one thread at a
 * time; trn_queue_wait(), trn_queue_poll() and trn_queue_notify() may be called from any.  Nothing
 * may be called on an object while another thread destroys it.
 *
 * Fork: objects stay with the process that made them.  In a child every call on
 * one fails with -EPERM; the child may open the device anew.
 *
 * Units: sizes, offsets and lengths are bytes.  Addresses are device virtual addresses of
 * one context.  Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef TRN_TRN_H
#define TRN_TRN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this library. */
#define LIBTRN_VERSION "1.0.0"

/** One chip, opened. */
struct trn_device;
/** An address space of a chip, with its buffers and queues. */
struct trn_context;
/** Memory on the chip or on the host, at an address of a context. */
struct trn_buffer;
/** Addresses of a context, set apart to bind buffers in. */
struct trn_range;
/** A ring of commands that a chip executes in order. */
struct trn_queue;
/** Points that are reached one after the other. */
struct trn_timeline;
/** One command: 64 bytes, written by the trn_packet_ functions. */
struct trn_packet;

/**
 * trn_error_message - what went wrong last in this thread
 *
 * A sentence in English that names the object, the limit and the remedy.  Valid until the
 * thread's next failing call; "" before the first failure.  Never NULL.
 */
const char *trn_error_message(void);

/* ---- Enumerate ------------------------------------------------------- */

/**
 * struct trn_device_entry - a chip of this machine
 * @index: place in the list, which is sorted by PCI address; the same as
 *	trn-smi's index
 * @numa_node: NUMA node that the chip is attached to, -1 = none
 * @node: path of the device node, "/dev/accel/accel0"
 * @pci: PCI address, "0000:01:00.0"
 */
struct trn_device_entry {
	unsigned int index;
	int numa_node;
	char node[32];
	char pci[24];
};

/**
 * struct trn_device_list - all chips that the driver "trn" has
 * @count: number of chips, may be 0
 * @entry: @count pointers, valid until trn_device_list_free()
 */
struct trn_device_list {
	size_t count;
	const struct trn_device_entry *const *entry;
};

/**
 * trn_device_list - enumerate chips, without opening any
 * @list: out: the list; free it with trn_device_list_free()
 *
 * No privileges are needed.  A machine without chips or without the driver has an empty list.
 */
int trn_device_list(const struct trn_device_list **list);

/**
 * trn_device_list_free - free a list
 * @list: the list, or NULL
 */
void trn_device_list_free(const struct trn_device_list *list);

/* ---- Device ---------------------------------------------------------- */

/**
 * trn_device_open - open a chip by its index
 * @index: trn_device_entry.index
 * @device: out: the device, closed by trn_device_close()
 *
 * -ENODEV: there is no such chip, or its driver speaks another major version.
 * -EACCES: the node's permissions forbid it.
 */
int trn_device_open(unsigned int index, struct trn_device **device);

/**
 * trn_device_open_path - open a chip by its node
 * @path: path of the node
 * @device: out: the device
 *
 * As trn_device_open(); also -ENOENT: no such path; -ENODEV: the node is not a trn chip.
 */
int trn_device_open_path(const char *path, struct trn_device **device);

/**
 * trn_device_close - close a chip
 * @device: the device, or NULL
 *
 * -EBUSY: the device has contexts or timelines; nothing was changed.
 */
int trn_device_close(struct trn_device *device);

/**
 * struct trn_device_info - what a chip is; constant while it is open
 * @uuid: the chip's own, RFC 9562, network byte order
 * @generation: name, "trn2"
 * @serial: serial number
 * @firmware: firmware version
 * @architecture_major: device architecture, major version
 * @architecture_minor: device architecture, minor version
 * @cores: NeuronCores
 * @dma_engines: DMA engines
 * @coll_cores: collective cores
 * @links: fabric links
 * @dtypes: data types, bit n as TRN_DTYPE_n of hw/trn_regs.h
 * @semaphores: semaphores of one core
 * @sbuf_size: SBUF of one core
 * @psum_size: PSUM of one core
 * @hbm_stacks: HBM stacks
 * @address_bits: addresses of a context are 0 … 2^address_bits - 1
 * @hbm_stack_size: HBM of one stack
 * @queue_entries_max: largest @entries of trn_queue_create()
 * @page_size: granularity of buffers and bindings
 * @tensor_pack: bit n = the tensor engine adds n FP8 terms in a cell (Documentation/isa.rst)
 *
 * Later versions may add members at the end.
 */
struct trn_device_info {
	uint8_t uuid[16];
	char generation[24];
	char serial[40];
	char firmware[40];
	uint32_t architecture_major;
	uint32_t architecture_minor;
	uint32_t cores;
	uint32_t dma_engines;
	uint32_t coll_cores;
	uint32_t links;
	uint32_t dtypes;
	uint32_t semaphores;
	uint32_t sbuf_size;
	uint32_t psum_size;
	uint32_t hbm_stacks;
	uint32_t address_bits;
	uint64_t hbm_stack_size;
	uint32_t queue_entries_max;
	uint32_t page_size;
	uint32_t tensor_pack;
};

/**
 * trn_device_info - describe a chip
 * @device: the device
 *
 * Never NULL; valid until the device is closed.
 */
const struct trn_device_info *trn_device_info(const struct trn_device *device);

/**
 * struct trn_memory - use of one HBM stack
 * @total: bytes that can be allocated when the stack is empty
 * @free: bytes not allocated: one buffer of this size can be had, in pieces if need be
 * @largest: bytes of the largest buffer that would be in one piece, which the chip
 *	translates best
 */
struct trn_memory {
	uint64_t total;
	uint64_t free;
	uint64_t largest;
};

/**
 * trn_device_memory - use of HBM at this moment, by all processes
 * @device: the device
 * @memory: out: one element for each stack
 * @count: elements at @memory
 *
 * Fills the smaller of @count and the number of stacks, and returns the number of stacks.
 */
int trn_device_memory(struct trn_device *device, struct trn_memory *memory, unsigned int count);

/**
 * struct trn_memory_limits - limits of HBM at this moment, besides the stacks' sizes
 * @cpu_visible: bytes that the CPU can map, at the start of stack 0
 * @cpu_visible_free: bytes of these that are not allocated
 * @quota: most bytes that this user may have allocated on this chip
 * @quota_used: bytes that the user has allocated, in all its processes
 */
struct trn_memory_limits {
	uint64_t cpu_visible;
	uint64_t cpu_visible_free;
	uint64_t quota;
	uint64_t quota_used;
};

/**
 * trn_device_memory_limits - limits of HBM that are not of one stack
 * @device: the device
 * @limits: out: the limits
 */
int trn_device_memory_limits(struct trn_device *device, struct trn_memory_limits *limits);

/**
 * struct trn_recovery - what has gone wrong on a chip since its driver was bound, in all processes
 * @queue_stops: queues that the chip stopped because of a packet
 * @queue_resets: queues that the driver stopped because a packet or submit ran too long
 * @context_resets: contexts that lost all queues because resetting one was not enough
 * @function_resets: resets of the whole chip, whoever asked for them, and suspends of the host
 * @contexts_lost: contexts that were there during a reset of the chip
 * @core_resets: NeuronCores that were reset because resetting the context was not enough
 */
struct trn_recovery {
	uint64_t queue_stops;
	uint64_t queue_resets;
	uint64_t context_resets;
	uint64_t function_resets;
	uint64_t contexts_lost;
	uint64_t core_resets;
};

/**
 * trn_device_recovery - ask what has gone wrong on a chip
 * @device: the device
 * @recovery: out: counts, which never decrease
 */
int trn_device_recovery(struct trn_device *device, struct trn_recovery *recovery);

/* ---- Context --------------------------------------------------------- */

/**
 * trn_context_create - make an address space
 * @device: the chip
 * @context: out: the context
 *
 * -ENOSPC: the chip's address spaces are used up.  -EDQUOT: this user has as many contexts as one
 * may have on a chip (module parameter user_context_percent).
 */
int trn_context_create(struct trn_device *device, struct trn_context **context);

/**
 * trn_context_destroy - destroy an address space
 * @context: the context, or NULL
 *
 * -EBUSY: the context has buffers, ranges, queues or programs; nothing was changed.
 */
int trn_context_destroy(struct trn_context *context);

/**
 * trn_context_status - ask whether a context can be used
 * @context: the context
 *
 * 0: yes.  -EIO: the chip was reset, or the host suspended, and the context lost its queues, its
 * bindings and what its HBM held.  Then every call that uses the context on the chip fails so;
 * its objects can be destroyed, and a new context of the same device works.
 */
int trn_context_status(struct trn_context *context);

/* ---- Buffer ---------------------------------------------------------- */

/** Where a buffer is: in device memory, or in host memory. */
enum trn_placement {
	TRN_PLACEMENT_HBM = 0,
	TRN_PLACEMENT_HOST = 1,
};

/** Any HBM stack; also the stack of a host buffer. */
#define TRN_STACK_ANY	       UINT32_MAX

/** The device may read the buffer at trn_buffer_address() but not write it. */
#define TRN_BUFFER_READONLY    (UINT32_C(1) << 0)
/** HBM that trn_buffer_map() can map; there may be little of it (trn_device_memory_limits()). */
#define TRN_BUFFER_CPU_VISIBLE (UINT32_C(1) << 1)
/** No address: trn_buffer_address() is 0 and the buffer is used where trn_bind() puts it. */
#define TRN_BUFFER_UNBOUND     (UINT32_C(1) << 2)

/**
 * trn_buffer_create - allocate memory and bind it into a context
 * @context: the context
 * @placement: HBM or host
 * @stack: HBM: stack 0 … trn_device_info.hbm_stacks - 1 or TRN_STACK_ANY.
 *	Host: TRN_STACK_ANY
 * @size: bytes, not 0; whole pages are allocated
 * @flags: TRN_BUFFER_READONLY, TRN_BUFFER_CPU_VISIBLE (HBM only), TRN_BUFFER_UNBOUND, or'ed
 * @buffer: out: the buffer; all bytes are 0
 *
 * -ENOSPC: not enough HBM in the stack, or not enough that is CPU-visible, or no addresses.
 * -EDQUOT: the user's quota of HBM on this chip (trn_device_memory_limits()), or the cgroup's.
 */
int trn_buffer_create(struct trn_context *context, enum trn_placement placement, uint32_t stack,
		      uint64_t size, uint32_t flags, struct trn_buffer **buffer);

/**
 * trn_buffer_create_user - make memory of this process a host buffer
 * @context: the context
 * @memory: first byte, a multiple of trn_device_info.page_size
 * @size: bytes, a multiple of trn_device_info.page_size, not 0
 * @flags: TRN_BUFFER_READONLY (needed for memory that the process may not write),
 *	TRN_BUFFER_UNBOUND, or'ed
 * @buffer: out: the buffer
 *
 * The pages are pinned and stay the buffer's until it is destroyed, whatever the process does
 * to its addresses: after munmap() or mremap() the device still sees the old pages, and after
 * fork() it shares them with the parent.  It cannot be exported.
 * -ENOMEM: more memory would be locked than RLIMIT_MEMLOCK allows (ulimit -l).
 * -EFAULT: not all of it is memory that the process may read and, without
 * TRN_BUFFER_READONLY, write; or it is a writable shared mapping of a file on disk.
 */
int trn_buffer_create_user(struct trn_context *context, void *memory, uint64_t size, uint32_t flags,
			   struct trn_buffer **buffer);

/**
 * trn_buffer_import - make a buffer of a dma-buf
 * @context: the context
 * @fd: dma-buf of any driver or process; stays the caller's
 * @flags: TRN_BUFFER_READONLY, TRN_BUFFER_UNBOUND, or'ed
 * @buffer: out: the buffer, of the dma-buf's size
 *
 * The memory lives as long as the buffer.  trn_buffer_map() works for dma-bufs of this
 * driver only; others are mapped by mmap() of @fd.
 * -EBADF, -EINVAL: @fd is not a dma-buf.
 * -EOPNOTSUPP: the chip cannot reach the memory (HBM of another chip): copy the data
 * through a host buffer.
 */
int trn_buffer_import(struct trn_context *context, int fd, uint32_t flags,
		      struct trn_buffer **buffer);

/**
 * trn_buffer_export - make a dma-buf of a buffer
 * @buffer: a buffer that is not user memory
 * @fd: out: file descriptor, close-on-exec; close() it
 *
 * The memory lives as long as the dma-buf.  HBM can be exported, but another driver that cannot
 * reach it is told -EOPNOTSUPP when it attaches: trn_copy() to a host buffer and
 * export that.
 * -EOPNOTSUPP: the buffer is user memory.
 */
int trn_buffer_export(struct trn_buffer *buffer, int *fd);

/**
 * trn_buffer_set_name - name a buffer, for the driver's list in debugfs
 * @buffer: the buffer
 * @name: up to TRN_BUFFER_NAME_MAX characters, printable ASCII; "" takes the name away
 */
int trn_buffer_set_name(struct trn_buffer *buffer, const char *name);

/** Most characters of a buffer's name. */
#define TRN_BUFFER_NAME_MAX 55

/**
 * trn_buffer_destroy - unbind and free
 * @buffer: the buffer, or NULL
 *
 * Returns when no access by the device at trn_buffer_address() is in progress.  A packet that uses
 * that address later stops its queue.  Pointers from trn_buffer_map() become invalid.  Where
 * trn_bind() has put the buffer it stays, and its memory with it, until unbound there.  A tensor
 * set in which it is bound cannot be executed any more (trn_program.h).
 */
int trn_buffer_destroy(struct trn_buffer *buffer);

/**
 * trn_buffer_address - where a buffer is in its context
 * @buffer: the buffer
 *
 * A multiple of the page size; 0 with TRN_BUFFER_UNBOUND.
 */
uint64_t trn_buffer_address(const struct trn_buffer *buffer);

/**
 * trn_buffer_size - bytes, as asked for at creation
 * @buffer: the buffer
 */
uint64_t trn_buffer_size(const struct trn_buffer *buffer);

/**
 * trn_buffer_map - make a buffer accessible to the CPU
 * @buffer: a host buffer, or one with TRN_BUFFER_CPU_VISIBLE
 * @pointer: out: its first byte, aligned to the page size; the same at every call
 *
 * Cheap after the first call.  Valid until the buffer is destroyed, also when the chip is gone
 * (what HBM held is then lost, and what is written goes nowhere).  HBM is mapped
 * write-combined: write it in order, and do not read it.
 * -EOPNOTSUPP: HBM that is not CPU-visible (use trn_read() and trn_write()), or imported memory
 * of another driver.
 */
int trn_buffer_map(struct trn_buffer *buffer, void **pointer);

/* ---- Bind ------------------------------------------------------------ */

/**
 * trn_range_create - set addresses of a context apart
 * @context: the context
 * @address: first address, a multiple of the page size; 0 = wherever there is room
 * @size: bytes, a multiple of the page size, not 0
 * @alignment: with @address 0: a power of two that the first address is a multiple of; 0 = the
 *	page size.  Else 0
 * @range: out: the range; nothing is bound in it
 *
 * Buffers whose size, address and offset within the buffer are multiples of 2 MiB or 1 GiB are
 * translated by larger pages.
 * -EEXIST: a buffer or another range has addresses between @address and @address + @size, or
 * they are not all between 2 MiB and 2^address_bits.
 * -ENOSPC: no such room.
 */
int trn_range_create(struct trn_context *context, uint64_t address, uint64_t size,
		     uint64_t alignment, struct trn_range **range);

/**
 * trn_range_destroy - unbind all that is bound in a range, and give its addresses back
 * @range: the range, or NULL
 *
 * Returns when no access by the device in the range is in progress.  Calls of trn_bind_async()
 * on the range have to be done before.  On failure nothing was changed.
 */
int trn_range_destroy(struct trn_range *range);

/**
 * trn_range_address - first address of a range
 * @range: the range
 */
uint64_t trn_range_address(const struct trn_range *range);

/**
 * trn_range_size - bytes of a range
 * @range: the range
 */
uint64_t trn_range_size(const struct trn_range *range);

/**
 * What to do with addresses: bind a buffer where nothing is bound, unbind whatever is
 * bound, or unbind and then bind.  An access during a REPLACE finds the old, the new or nothing.
 */
enum trn_bind_op {
	TRN_BIND_MAP = 0,
	TRN_BIND_UNMAP = 1,
	TRN_BIND_REPLACE = 2,
};

/** The device may not write through this binding. */
#define TRN_BIND_READONLY (UINT32_C(1) << 0)
/** Most operations in one trn_bind() or trn_bind_async(). */
#define TRN_BIND_OPS_MAX  1024
/** Most points in one trn_bind_async(); trn_queue_submit_syncs() takes one less. */
#define TRN_SYNCS_MAX	  64

/**
 * struct trn_bind - one change of an address space
 * @op: what to do
 * @flags: MAP, REPLACE: TRN_BIND_READONLY or 0 (needed for user memory with
 *	TRN_BUFFER_READONLY).  UNMAP: 0
 * @range: where, a range of the context
 * @range_offset: first byte within @range
 * @size: bytes, not 0
 * @buffer: MAP, REPLACE: buffer of the same device, whatever its context.  UNMAP: NULL
 * @buffer_offset: first byte within @buffer.  UNMAP: 0
 *
 * Offsets and sizes are multiples of the page size; the last page of a buffer counts whole.
 * A buffer may be bound at any number of addresses, also in parts.  UNMAP and REPLACE
 * split bindings that stick out of their addresses, and take what is not bound.
 */
struct trn_bind {
	enum trn_bind_op op;
	uint32_t flags;
	struct trn_range *range;
	uint64_t range_offset;
	uint64_t size;
	struct trn_buffer *buffer;
	uint64_t buffer_offset;
};

/**
 * trn_bind - change an address space
 * @context: the context
 * @binds: operations, executed in order
 * @count: number of operations, 1 … TRN_BIND_OPS_MAX
 * @done: out, may be NULL: operations that took effect: all on success, else those before
 *	the one that failed
 *
 * When it returns new bindings can be used, and accesses through removed ones have ended.
 * -EEXIST: MAP where something is bound.
 * -EACCES: the buffer is read-only and TRN_BIND_READONLY is missing.
 */
int trn_bind(struct trn_context *context, const struct trn_bind *binds, uint32_t count,
	     uint32_t *done);

/** trn_bind_async() or the submit begins when the point is reached. */
#define TRN_SYNC_WAIT	0
/** The point is reached when trn_bind_async() or the submit is done. */
#define TRN_SYNC_SIGNAL 1

/**
 * struct trn_sync - a point that trn_bind_async() or trn_queue_submit_syncs() waits for or signals
 * @timeline: timeline of the same device
 * @point: WAIT: a point that something was already told to reach (-EINVAL if not).  SIGNAL: greater
 *	than all that the timeline has
 * @kind: TRN_SYNC_WAIT or TRN_SYNC_SIGNAL
 */
struct trn_sync {
	struct trn_timeline *timeline;
	uint64_t point;
	uint32_t kind;
};

/**
 * trn_bind_async - change an address space later
 * @context: the context
 * @binds: operations, executed in order
 * @count: number of operations, 1 … TRN_BIND_OPS_MAX
 * @syncs: points to wait for and to signal
 * @sync_count: number of points, 0 … TRN_SYNCS_MAX
 *
 * All but -EEXIST is checked and allocated now.  The operations are executed when all points
 * waited for are reached and earlier asynchronous calls of the context are done.  Then the
 * points to signal are reached, with one of these errors if so (trn_timeline_wait()):
 * -EEXIST: a MAP where something was bound: operations before it took effect, it and later
 * ones did not; -ENODEV; -ECANCELED: the context was destroyed before; or the error of a
 * point that was waited for: no operation took effect.
 */
int trn_bind_async(struct trn_context *context, const struct trn_bind *binds, uint32_t count,
		   const struct trn_sync *syncs, uint32_t sync_count);

/* ---- Timeline -------------------------------------------------------- */

/**
 * trn_timeline_create - make a timeline
 * @device: the device
 * @timeline: out: the timeline; no point is reached
 *
 * A DRM timeline syncobj.  Points are numbers from 1 and are added in increasing order.
 */
int trn_timeline_create(struct trn_device *device, struct trn_timeline **timeline);

/**
 * trn_timeline_destroy - destroy a timeline
 * @timeline: the timeline, or NULL
 *
 * Calls that wait for its points or will signal them are not affected.
 */
int trn_timeline_destroy(struct trn_timeline *timeline);

/**
 * trn_timeline_signal - add a point that is reached now
 * @timeline: the timeline
 * @point: greater than all before
 */
int trn_timeline_signal(struct trn_timeline *timeline, uint64_t point);

/**
 * trn_timeline_wait - wait until a point is reached
 * @timeline: the timeline
 * @point: the point; it may be added later
 * @deadline: until when
 *
 * -ETIME: deadline passed.  Else the error of the call that reached the point: of a submit that of
 * trn_queue_wait().  A timeline knows that of its newest point only: if later ones may be added
 * before this call, keep the fence of trn_timeline_export_fence(), which does not forget.
 */
int trn_timeline_wait(struct trn_timeline *timeline, uint64_t point, int64_t deadline);

/**
 * trn_timeline_export_fence - make a fence of a point
 * @timeline: the timeline
 * @point: a point that was added
 * @fd: out: fence, close-on-exec; close() it
 *
 * -EINVAL: the point was not added yet.
 */
int trn_timeline_export_fence(struct trn_timeline *timeline, uint64_t point, int *fd);

/**
 * trn_timeline_import_fence - add a point that is reached when a fence is signalled
 * @timeline: the timeline
 * @point: greater than all before
 * @fd: fence of any driver (trn_queue_export_fence()); stays the caller's
 *
 * -EBADF, -EINVAL: @fd is not a fence.
 */
int trn_timeline_import_fence(struct trn_timeline *timeline, uint64_t point, int fd);

/**
 * trn_fence_wait - wait until a fence is signalled
 * @fd: fence: a sync_file of any driver, which poll() and its relatives take too (POLLIN)
 * @deadline: until when
 *
 * -ETIME: deadline passed.  -EBADF, -EINVAL: @fd is not a fence.  -ETIMEDOUT: what the fence stands
 * for ran longer than it may.  Else the error that the fence was signalled with.
 */
int trn_fence_wait(int fd, int64_t deadline);

/* ---- Queue ----------------------------------------------------------- */

/**
 * Who writes the ring: the kernel (each submit is a system call, packets are checked
 * first, errors are exact), or this process (no system call while the
 * device is awake).
 */
enum trn_queue_mode {
	TRN_QUEUE_KERNEL = 0,
	TRN_QUEUE_USER = 1,
};

/** Which packets a queue takes: those that move data, or trn_packet_exec(); and trn_packet_nop(). */
enum trn_queue_type {
	TRN_QUEUE_DMA = 0,
	TRN_QUEUE_EXEC = 1,
};

/** A deadline that never comes. */
#define TRN_FOREVER INT64_MAX

/**
 * trn_deadline - a deadline from now
 * @timeout: ns; 0 or less = now
 *
 * Returns CLOCK_MONOTONIC + @timeout, at most TRN_FOREVER.
 */
int64_t trn_deadline(int64_t timeout);

/**
 * How often a queue that has work gets its turn, of one packet or a part of a long one, while
 * others have work too: NORMAL twice as often as LOW, HIGH four times as often as NORMAL.
 */
enum trn_queue_priority {
	TRN_PRIORITY_NORMAL = 0,
	TRN_PRIORITY_LOW = 1,
	TRN_PRIORITY_HIGH = 2,
};

/**
 * struct trn_queue_attributes - what a queue is to be like
 * @size: sizeof(struct trn_queue_attributes).  Later versions add members at the end, with 0 = as
 *	before
 * @mode: kernel or user
 * @entries: packets in the ring, a power of two, 4 … trn_device_info.queue_entries_max
 * @priority: how often it gets its turn
 * @timeout_ms: longest running time in ms, of a submit to a kernel queue, of a packet of a user
 *	queue; a queue that exceeds it is stopped.  0: the module parameter job_timeout_ms or
 *	packet_timeout_ms, which is also the most that may be asked for.  Only the time in which the
 *	chip works on packets counts
 * @type: which packets it takes
 */
struct trn_queue_attributes {
	size_t size;
	enum trn_queue_mode mode;
	uint32_t entries;
	enum trn_queue_priority priority;
	uint32_t timeout_ms;
	enum trn_queue_type type;
};

/**
 * trn_queue_create_attributes - make a queue
 * @context: address space of the packets' addresses
 * @attributes: what it is to be like
 * @queue: out: the queue
 *
 * -ENOSPC: the chip's queues are used up.  -EDQUOT: this user has as many queues as one may have
 * on a chip (module parameter user_queue_percent).  -EACCES: TRN_PRIORITY_HIGH needs CAP_SYS_NICE.
 * -EINVAL: also a timeout_ms above the module parameter.  -E2BIG: the structure is a later
 * version's and says something that this library does not know.
 */
int trn_queue_create_attributes(struct trn_context *context,
				const struct trn_queue_attributes *attributes,
				struct trn_queue **queue);

/**
 * trn_queue_create - make a queue that moves data, of normal priority and time limit
 * @context: address space of the packets' addresses
 * @mode: kernel or user
 * @entries: packets in the ring, a power of two, 4 … trn_device_info.queue_entries_max
 * @queue: out: the queue
 *
 * As trn_queue_create_attributes().
 */
int trn_queue_create(struct trn_context *context, enum trn_queue_mode mode, uint32_t entries,
		     struct trn_queue **queue);

/**
 * trn_queue_destroy - destroy a queue
 * @queue: the queue, or NULL
 *
 * Packets that have not finished are abandoned, with part of their effects.
 */
int trn_queue_destroy(struct trn_queue *queue);

/**
 * trn_queue_capacity - most packets between two submits
 * @queue: the queue
 *
 * A little less than the ring's entries.
 */
uint32_t trn_queue_capacity(const struct trn_queue *queue);

/**
 * trn_queue_packet - take the next free packet
 * @queue: the queue
 *
 * Write it with one of the trn_packet_ functions before the next submit.  Returns NULL
 * when the ring is full, the queue has failed, or the process has forked:
 * trn_queue_reserve() waits for room or tells the reason.
 */
struct trn_packet *trn_queue_packet(struct trn_queue *queue);

/**
 * trn_queue_reserve - wait until packets are free
 * @queue: the queue
 * @count: packets, 1 … trn_queue_capacity()
 * @deadline: until when
 *
 * After success the next @count calls of trn_queue_packet() succeed.  Packets already
 * taken are submitted first if there is no room otherwise.
 * -ETIME: deadline passed.  Else as trn_queue_submit() and trn_queue_wait().  The submit
 * to a kernel queue itself waits for room in the ring, whatever @deadline is.
 */
int trn_queue_reserve(struct trn_queue *queue, uint32_t count, int64_t deadline);

/**
 * trn_packet_nop - do nothing
 * @packet: from trn_queue_packet()
 */
void trn_packet_nop(struct trn_packet *packet);

/**
 * trn_packet_copy - copy memory
 * @packet: from trn_queue_packet()
 * @destination: address
 * @source: address; the ranges must not overlap
 * @length: bytes, 1 … TRN_LENGTH_MAX
 */
void trn_packet_copy(struct trn_packet *packet, uint64_t destination, uint64_t source,
		     uint64_t length);

/**
 * trn_packet_fill - repeat a pattern over memory
 * @packet: from trn_queue_packet()
 * @destination: address, a multiple of @unit
 * @length: bytes, 1 … TRN_LENGTH_MAX, a multiple of @unit
 * @pattern: its low @unit bytes are repeated, least significant first
 * @unit: 1, 2, 4 or 8
 */
void trn_packet_fill(struct trn_packet *packet, uint64_t destination, uint64_t length,
		     uint64_t pattern, uint32_t unit);

/** Most bytes that one packet copies or fills. */
#define TRN_LENGTH_MAX (UINT64_C(1) << 40)

/**
 * trn_packet_copy_nd - copy runs of bytes that lie in a grid of up to 3 dimensions
 * @packet: from trn_queue_packet()
 * @destination: address of the first run
 * @destination_strides: bytes from one run to the next, in dimension 1, 2 and 3
 * @source: address of the first run
 * @source_strides: likewise
 * @sizes: bytes of a run, then the number of runs in dimension 1, 2 and 3; 1 for a dimension
 *	that is not used.  Their product is 1 … TRN_LENGTH_MAX
 *
 * Runs are copied in any order.  If runs of the destination overlap each other or the
 * source, the content of the destination is undefined.
 */
void trn_packet_copy_nd(struct trn_packet *packet, uint64_t destination,
			const uint32_t destination_strides[3], uint64_t source,
			const uint32_t source_strides[3], const uint32_t sizes[4]);

/**
 * struct trn_exec - one run of a program on a NeuronCore (Documentation/isa.rst, "Programs")
 * @program: address of the image, a multiple of 64
 * @bindings: address of the table of bindings, struct trn_binding of hw/trn_isa.h, a multiple of 8
 * @num_bindings: entries of the table, 0 … TRN_BINDINGS_MAX
 * @core: 0 … trn_device_info.cores - 1, or TRN_CORE_ANY of hw/trn_queue.h
 * @seed: of stochastic rounding
 * @result: address, a multiple of 8, where struct trn_exec_result of hw/trn_isa.h is written when
 *	the program has ended; 0 = nowhere
 * @profile: address, a multiple of 8, of room for struct trn_profile_record of hw/trn_isa.h
 * @profile_size: bytes of that, 0 = no profile
 *
 * All memory that a run names, the program's own included, has to stay bound and unchanged until
 * its submit has finished.
 */
struct trn_exec {
	uint64_t program;
	uint64_t bindings;
	uint32_t num_bindings;
	uint16_t core;
	uint64_t seed;
	uint64_t result;
	uint64_t profile;
	uint64_t profile_size;
};

/**
 * trn_packet_exec - run a program
 * @packet: from trn_queue_packet() of a queue of type TRN_QUEUE_EXEC
 * @exec: the run; read before the call returns
 *
 * A queue whose program fails stops; trn_queue_error() tells engine and instruction.
 */
void trn_packet_exec(struct trn_packet *packet, const struct trn_exec *exec);

/**
 * trn_queue_submit - give the packets taken since the last submit to the device
 * @queue: the queue
 * @sequence: out, may be NULL: number to wait for: 1, 2, 3 …; with no packet taken the
 *	last one, 0 before the first
 *
 * The packets run in order, after those of earlier submits.  On failure none of them
 * runs and they are dropped.
 * -EIO: the queue has stopped (trn_queue_error()): destroy it and make a new one; or the context
 * was lost (trn_context_status()): destroy that too.
 * -EINVAL: kernel queue: a packet is malformed.
 * -ENOSPC: kernel queue: too many submits wait for points or behind such submits.
 * -ECANCELED: the queue was destroyed behind this library's back.
 */
int trn_queue_submit(struct trn_queue *queue, uint64_t *sequence);

/**
 * trn_queue_submit_syncs - submit with points of timelines to wait for and to signal
 * @queue: a kernel queue
 * @syncs: points: the submit begins when all with TRN_SYNC_WAIT are reached, and reaches those with
 *	TRN_SYNC_SIGNAL when it is done
 * @sync_count: number of points, 0 … TRN_SYNCS_MAX - 1
 * @sequence: out, may be NULL: number to wait for
 *
 * As trn_queue_submit(), but it is a submit of its own with no packet taken too.  Submits of a
 * queue stay in order: those behind one that waits for points wait with it.  When a point that is
 * waited for is reached with an error the packets do not run, the submit ends with that error, and
 * the queue goes on.
 * -EINVAL: also a point to wait for that was not added to its timeline.
 * -EOPNOTSUPP: a user queue: nobody could promise that the points are reached in bounded time.
 */
int trn_queue_submit_syncs(struct trn_queue *queue, const struct trn_sync *syncs,
			   uint32_t sync_count, uint64_t *sequence);

/**
 * trn_queue_wait - wait until a submit's packets have finished
 * @queue: the queue
 * @sequence: from trn_queue_submit()
 * @deadline: until when
 *
 * When it returns 0 the effects are visible to the CPU and to every queue.
 * -ETIME: deadline passed.
 * -EFAULT: kernel queue: a packet named an address that is not bound, or that it may not
 *	write.
 * -ETIMEDOUT: kernel queue: the submit ran longer than the queue's time limit.
 * -EIO: the queue stopped, or the context was lost to a reset of the chip; a user queue says so for
 *	bad addresses and the time limit too.
 * -ECANCELED: an earlier submit failed, or the queue was destroyed.
 * Else the error of a point that the submit waited for.
 * trn_queue_error() has the reason, the packet and the address.
 */
int trn_queue_wait(struct trn_queue *queue, uint64_t sequence, int64_t deadline);

/**
 * trn_queue_poll - look whether a submit's packets have finished
 * @queue: the queue
 * @sequence: from trn_queue_submit()
 *
 * Returns 1 if so, 0 if not yet, else as trn_queue_wait().  A system call only for
 * a kernel queue.
 */
int trn_queue_poll(struct trn_queue *queue, uint64_t sequence);

/**
 * trn_queue_notify - let an eventfd become readable when a submit's packets have finished
 * @queue: the queue
 * @sequence: from trn_queue_submit()
 * @eventfd: eventfd, for event loops; stays the caller's
 *
 * Adds 1 to it, once, at once if that is the case already.  It happens also when the queue stops
 * or is destroyed or the chip goes: trn_queue_poll() then tells which.
 * -ENOSPC: user queue: too many eventfds wait for it.
 * -EBADF, -EINVAL: @eventfd is not an eventfd.
 * Else as trn_queue_poll().
 */
int trn_queue_notify(struct trn_queue *queue, uint64_t sequence, int eventfd);

/**
 * trn_queue_export_fence - make a fence of a submit
 * @queue: a kernel queue
 * @sequence: from trn_queue_submit() or an asynchronous transfer
 * @fd: out: fence, close-on-exec; close() it
 *
 * For event loops (see trn_fence_wait()), timelines and other drivers.  It is signalled
 * when the submit's packets have finished, with the error of trn_queue_wait() if they failed.
 * -EOPNOTSUPP: a user queue: the kernel does not see its submits, hence nobody could
 * promise that the fence is signalled in bounded time.  trn_queue_notify() works for both.
 */
int trn_queue_export_fence(struct trn_queue *queue, uint64_t sequence, int *fd);

/**
 * struct trn_queue_error - why a queue stopped
 * @address: faults: device virtual address of the access, else 0
 * @reason: TRN_STOP_* of hw/trn_admin.h; 0 = neither the chip nor a time limit has stopped it;
 *	UINT32_MAX = the reason was lost
 * @access: faults: TRN_ACCESS_* of hw/trn_admin.h, else 0
 * @packet: index of the packet that failed, counted from the queue's first, modulo 2^32.  Each
 *	submit adds packets of its own for the fence
 * @exception: TRN_EXCEPTION_* of hw/trn_isa.h if a program failed (TRN_STOP_PROGRAM, and faults of
 *	a program's instruction), else 0
 * @engine: TRN_ENGINE_* of hw/trn_isa.h; 0 without an exception and for TRN_EXCEPTION_PROGRAM
 * @instruction: index of the instruction in the engine's stream; likewise
 */
struct trn_queue_error {
	uint64_t address;
	uint32_t reason;
	uint32_t access;
	uint32_t packet;
	uint32_t exception;
	uint32_t engine;
	uint32_t instruction;
};

/**
 * trn_queue_error - ask why a queue stopped
 * @queue: the queue
 * @error: out: the reason
 *
 * May be called from any thread.  The sentence of trn_error_message() after a failed wait
 * says the same.
 */
int trn_queue_error(struct trn_queue *queue, struct trn_queue_error *error);

/* ---- Transfer -------------------------------------------------------- */

/*
 * trn_write(), trn_read(), trn_copy() and trn_fill() and their forms with _nd return when
 * all is done, with the errors of trn_queue_wait() (but not -ETIME).
 *
 * Those with _async return when all is submitted, and give the sequence number that is
 * done with it (0 if there was nothing to do); they wait only while the ring is full.  Memory of
 * the process that they take is locked until trn_queue_wait() or trn_queue_poll() has
 * said that the sequence, or a later one, is done, or the queue is destroyed.
 * Until then it must not be freed, and, of a read, not be used: what it holds is undefined.
 * If they fail after a part was submitted, that part is waited for.
 *	-ENOMEM	RLIMIT_MEMLOCK does not allow to lock the memory (ulimit -l)
 *	-EFAULT	not memory that can be locked, see trn_buffer_create_user()
 * The forms that wait have neither limit: they lock large memory (4 MiB and more) while
 * they copy it if that is possible, and else copy through staging memory.  trn_copy_async() from or
 * to a host buffer has none either, and costs less for short transfers.
 *
 * Packets already taken are submitted first.  Any size, 0 too.  Buffers are of the queue's
 * context and have an address.
 * -EINVAL: offset and size pass the buffer's end, or it is another context's buffer.
 * -EACCES: user memory that is TRN_BUFFER_READONLY is to be written.
 */

/**
 * trn_write - copy from this process's memory into a buffer
 * @queue: queue to use
 * @destination: buffer
 * @offset: first byte in @destination
 * @source: memory of the process
 * @size: bytes
 */
int trn_write(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	      const void *source, uint64_t size);

/**
 * trn_write_async - begin to copy from this process's memory into a buffer
 * @queue: queue to use
 * @destination: buffer
 * @offset: first byte in @destination
 * @source: memory of the process
 * @size: bytes
 * @sequence: out: number to wait for
 */
int trn_write_async(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
		    const void *source, uint64_t size, uint64_t *sequence);

/**
 * trn_read - copy from a buffer into this process's memory
 * @queue: queue to use
 * @destination: memory of the process
 * @source: buffer
 * @offset: first byte in @source
 * @size: bytes
 */
int trn_read(struct trn_queue *queue, void *destination, struct trn_buffer *source, uint64_t offset,
	     uint64_t size);

/**
 * trn_read_async - begin to copy from a buffer into this process's memory
 * @queue: queue to use
 * @destination: memory of the process
 * @source: buffer
 * @offset: first byte in @source
 * @size: bytes
 * @sequence: out: number to wait for
 */
int trn_read_async(struct trn_queue *queue, void *destination, struct trn_buffer *source,
		   uint64_t offset, uint64_t size, uint64_t *sequence);

/**
 * trn_copy - copy between buffers
 * @queue: queue to use
 * @destination: buffer
 * @destination_offset: first byte in @destination
 * @source: buffer; if it is @destination the ranges must not overlap (-EINVAL)
 * @source_offset: first byte in @source
 * @size: bytes
 */
int trn_copy(struct trn_queue *queue, struct trn_buffer *destination, uint64_t destination_offset,
	     struct trn_buffer *source, uint64_t source_offset, uint64_t size);

/**
 * trn_copy_async - begin to copy between buffers
 * @queue: queue to use
 * @destination: buffer
 * @destination_offset: first byte in @destination
 * @source: buffer; if it is @destination the ranges must not overlap (-EINVAL)
 * @source_offset: first byte in @source
 * @size: bytes
 * @sequence: out: number to wait for
 */
int trn_copy_async(struct trn_queue *queue, struct trn_buffer *destination,
		   uint64_t destination_offset, struct trn_buffer *source, uint64_t source_offset,
		   uint64_t size, uint64_t *sequence);

/**
 * trn_fill - repeat a pattern over a buffer
 * @queue: queue to use
 * @destination: buffer
 * @offset: first byte, a multiple of @unit
 * @size: bytes, a multiple of @unit
 * @pattern: its low @unit bytes are repeated, least significant first
 * @unit: 1, 2, 4 or 8
 */
int trn_fill(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	     uint64_t size, uint64_t pattern, uint32_t unit);

/**
 * trn_fill_async - begin to repeat a pattern over a buffer
 * @queue: queue to use
 * @destination: buffer
 * @offset: first byte, a multiple of @unit
 * @size: bytes, a multiple of @unit
 * @pattern: its low @unit bytes are repeated, least significant first
 * @unit: 1, 2, 4 or 8
 * @sequence: out: number to wait for
 */
int trn_fill_async(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
		   uint64_t size, uint64_t pattern, uint32_t unit, uint64_t *sequence);

/**
 * struct trn_layout - where the bytes of a box lie, in a buffer or in memory of the process
 * @offset: first byte of the first run, from the buffer's beginning or the pointer given
 * @strides: bytes from one run to the next, in dimension 1, 2 and 3; those of
 *	dimensions whose size is 1 are not used.  0 repeats a run of the source
 *
 * A box is @sizes[1] × @sizes[2] × @sizes[3] runs of @sizes[0] bytes.  A matrix of rows: sizes
 * { bytes of a row, rows, 1, 1 }, and strides[0] the distance of rows.  Any size and stride will
 * do; runs of 64 bytes and more are quick.  If runs of the destination overlap each other or the
 * source, the content of the destination is undefined.
 */
struct trn_layout {
	uint64_t offset;
	uint64_t strides[3];
};

/**
 * trn_write_nd - copy a box from this process's memory into a buffer
 * @queue: queue to use
 * @destination: buffer
 * @destination_layout: the box in @destination
 * @source: memory of the process
 * @source_layout: the box in @source
 * @sizes: bytes of a run, and runs in dimension 1, 2 and 3
 */
int trn_write_nd(struct trn_queue *queue, struct trn_buffer *destination,
		 const struct trn_layout *destination_layout, const void *source,
		 const struct trn_layout *source_layout, const uint64_t sizes[4]);

/**
 * trn_write_nd_async - begin to copy a box from this process's memory into a buffer
 * @queue: queue to use
 * @destination: buffer
 * @destination_layout: the box in @destination
 * @source: memory of the process
 * @source_layout: the box in @source
 * @sizes: bytes of a run, and runs in dimension 1, 2 and 3
 * @sequence: out: number to wait for
 *
 * All memory from the first byte of the box to its last is locked.
 */
int trn_write_nd_async(struct trn_queue *queue, struct trn_buffer *destination,
		       const struct trn_layout *destination_layout, const void *source,
		       const struct trn_layout *source_layout, const uint64_t sizes[4],
		       uint64_t *sequence);

/**
 * trn_read_nd - copy a box from a buffer into this process's memory
 * @queue: queue to use
 * @destination: memory of the process
 * @destination_layout: the box in @destination
 * @source: buffer
 * @source_layout: the box in @source
 * @sizes: bytes of a run, and runs in dimension 1, 2 and 3
 */
int trn_read_nd(struct trn_queue *queue, void *destination,
		const struct trn_layout *destination_layout, struct trn_buffer *source,
		const struct trn_layout *source_layout, const uint64_t sizes[4]);

/**
 * trn_read_nd_async - begin to copy a box from a buffer into this process's memory
 * @queue: queue to use
 * @destination: memory of the process
 * @destination_layout: the box in @destination
 * @source: buffer
 * @source_layout: the box in @source
 * @sizes: bytes of a run, and runs in dimension 1, 2 and 3
 * @sequence: out: number to wait for
 *
 * All memory from the first byte of the box to its last is locked.
 */
int trn_read_nd_async(struct trn_queue *queue, void *destination,
		      const struct trn_layout *destination_layout, struct trn_buffer *source,
		      const struct trn_layout *source_layout, const uint64_t sizes[4],
		      uint64_t *sequence);

/**
 * trn_copy_nd - copy a box between buffers
 * @queue: queue to use
 * @destination: buffer
 * @destination_layout: the box in @destination
 * @source: buffer
 * @source_layout: the box in @source
 * @sizes: bytes of a run, and runs in dimension 1, 2 and 3
 */
int trn_copy_nd(struct trn_queue *queue, struct trn_buffer *destination,
		const struct trn_layout *destination_layout, struct trn_buffer *source,
		const struct trn_layout *source_layout, const uint64_t sizes[4]);

/**
 * trn_copy_nd_async - begin to copy a box between buffers
 * @queue: queue to use
 * @destination: buffer
 * @destination_layout: the box in @destination
 * @source: buffer
 * @source_layout: the box in @source
 * @sizes: bytes of a run, and runs in dimension 1, 2 and 3
 * @sequence: out: number to wait for
 */
int trn_copy_nd_async(struct trn_queue *queue, struct trn_buffer *destination,
		      const struct trn_layout *destination_layout, struct trn_buffer *source,
		      const struct trn_layout *source_layout, const uint64_t sizes[4],
		      uint64_t *sequence);

#ifdef __cplusplus
}
#endif

#endif /* TRN_TRN_H */
