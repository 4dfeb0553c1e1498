/* SPDX-License-Identifier: MIT */
/*
 * libtrn: memory and queues of a trn accelerator from user space.
 *
 *	trn_device ── trn_context ──┬─ trn_buffer
 *	(one chip)    (one address  └─ trn_queue
 *	               space)
 *
 * Results: functions that return int return 0 or more on success and a
 * negative errno value on failure; what each value means is said at the
 * function.  Every function may also return
 *	-EINVAL	an argument is outside its stated range
 *	-ENOMEM	no host memory
 *	-ENODEV	the chip is gone or was reset: destroy all objects, close the device
 *	-EPERM	the object was made before fork() by the parent process
 * trn_error_message() has a sentence about the calling thread's last failure.
 *
 * Threads: functions on devices, contexts and buffers may be called from any
 * thread at any time.  Of a queue, trn_queue_packet(), trn_queue_reserve(),
 * trn_queue_submit() and the transfer functions belong to one thread at a time;
 * trn_queue_wait() and trn_queue_poll() may be called from any.  Nothing may be
 * called on an object while another thread destroys it.
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
/** A ring of commands that a chip executes in order. */
struct trn_queue;
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
 * -EBUSY: the device has contexts; nothing was changed.
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
 * @page_size: granularity of buffers
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
 * @free: bytes not allocated
 * @largest: bytes of the largest buffer that could be allocated
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

/* ---- Context --------------------------------------------------------- */

/**
 * trn_context_create - make an address space
 * @device: the chip
 * @context: out: the context
 *
 * -ENOSPC: the chip's address spaces are used up.
 */
int trn_context_create(struct trn_device *device, struct trn_context **context);

/**
 * trn_context_destroy - destroy an address space
 * @context: the context, or NULL
 *
 * -EBUSY: the context has buffers or queues; nothing was changed.
 */
int trn_context_destroy(struct trn_context *context);

/* ---- Buffer ---------------------------------------------------------- */

/** Where a buffer is: in device memory, or in host memory. */
enum trn_placement {
	TRN_PLACEMENT_HBM = 0,
	TRN_PLACEMENT_HOST = 1,
};

/** Any HBM stack; also the stack of a host buffer. */
#define TRN_STACK_ANY	    UINT32_MAX

/** The device may read the buffer but not write it. */
#define TRN_BUFFER_READONLY (UINT32_C(1) << 0)

/**
 * trn_buffer_create - allocate memory and bind it into a context
 * @context: the context
 * @placement: HBM or host
 * @stack: HBM: stack 0 … trn_device_info.hbm_stacks - 1 or TRN_STACK_ANY.
 *	Host: TRN_STACK_ANY
 * @size: bytes, not 0; whole pages are allocated
 * @flags: 0 or TRN_BUFFER_READONLY
 * @buffer: out: the buffer; all bytes of a host buffer are 0
 *
 * -ENOSPC: not enough HBM (see trn_device_memory()) or addresses.
 */
int trn_buffer_create(struct trn_context *context, enum trn_placement placement, uint32_t stack,
		      uint64_t size, uint32_t flags, struct trn_buffer **buffer);

/**
 * trn_buffer_destroy - unbind and free
 * @buffer: the buffer, or NULL
 *
 * Returns when no access by the device is in progress.  A packet that uses the buffer
 * later stops its queue.  Pointers from trn_buffer_map() become invalid.
 */
int trn_buffer_destroy(struct trn_buffer *buffer);

/** trn_buffer_address - where a buffer is in its context; never 0, a multiple of the page size */
uint64_t trn_buffer_address(const struct trn_buffer *buffer);

/** trn_buffer_size - bytes, as asked for at creation */
uint64_t trn_buffer_size(const struct trn_buffer *buffer);

/**
 * trn_buffer_map - make a host buffer accessible to the CPU
 * @buffer: a host buffer
 * @pointer: out: its first byte, aligned to the page size; the same at every call
 *
 * Cheap after the first call.  Valid until the buffer is destroyed.
 * -EOPNOTSUPP: the buffer is in HBM; use trn_read() and trn_write().
 */
int trn_buffer_map(struct trn_buffer *buffer, void **pointer);

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
 * trn_queue_create - make a queue
 * @context: address space of the packets' addresses
 * @mode: kernel or user
 * @entries: packets in the ring, a power of two, 4 … trn_device_info.queue_entries_max
 * @queue: out: the queue
 *
 * -ENOSPC: the chip's queues are used up.
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
 * trn_queue_submit - give the packets taken since the last submit to the device
 * @queue: the queue
 * @sequence: out, may be NULL: number to wait for: 1, 2, 3 …; with no packet taken the
 *	last one, 0 before the first
 *
 * The packets run in order, after those of earlier submits.  On failure none of them
 * runs and they are dropped.
 * -EIO: the queue has stopped at a bad packet; destroy it.
 * -EINVAL: kernel queue: a packet is malformed.
 * -ECANCELED: the queue was destroyed behind this library's back.
 */
int trn_queue_submit(struct trn_queue *queue, uint64_t *sequence);

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
 * -EIO: the queue stopped; a user queue says so for bad addresses too.
 * -ECANCELED: an earlier submit failed, or the queue was destroyed.
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

/* ---- Transfer -------------------------------------------------------- */

/*
 * Each returns when it is done, with the errors of trn_queue_wait() (but not -ETIME).
 * Packets already taken are submitted first.  Any size, 0 too.
 * -EINVAL: offset and size pass the buffer's end, or the buffer is of another context.
 */

/**
 * trn_write - copy from this process's memory into a buffer
 * @queue: queue to use
 * @destination: HBM or host buffer of the queue's context
 * @offset: first byte in @destination
 * @source: memory of the process
 * @size: bytes
 */
int trn_write(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	      const void *source, uint64_t size);

/**
 * trn_read - copy from a buffer into this process's memory
 * @queue: queue to use
 * @destination: memory of the process
 * @source: HBM or host buffer of the queue's context
 * @offset: first byte in @source
 * @size: bytes
 */
int trn_read(struct trn_queue *queue, void *destination, struct trn_buffer *source, uint64_t offset,
	     uint64_t size);

/**
 * trn_copy - copy between buffers
 * @queue: queue to use
 * @destination: buffer of the queue's context
 * @destination_offset: first byte in @destination
 * @source: buffer of the queue's context; if it is @destination the ranges must not overlap
 * @source_offset: first byte in @source
 * @size: bytes
 */
int trn_copy(struct trn_queue *queue, struct trn_buffer *destination, uint64_t destination_offset,
	     struct trn_buffer *source, uint64_t source_offset, uint64_t size);

/**
 * trn_fill - repeat a pattern over a buffer
 * @queue: queue to use
 * @destination: buffer of the queue's context
 * @offset: first byte, a multiple of @unit
 * @size: bytes, a multiple of @unit
 * @pattern: its low @unit bytes are repeated, least significant first
 * @unit: 1, 2, 4 or 8
 */
int trn_fill(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	     uint64_t size, uint64_t pattern, uint32_t unit);

#ifdef __cplusplus
}
#endif

#endif /* TRN_TRN_H */
