/* SPDX-License-Identifier: MIT */
/*
 * User-space interface of trn.ko: ioctls on /dev/accel/accel<N>.
 *
 * DOC: rules
 *
 * - Structures have the same layout for 32-bit and 64-bit callers; pointers
 *   are __u64.  All fields are host-endian.
 * - Fields named pad or reserved, and flag bits not defined here, must be
 *   zero; -EINVAL if not.  Later versions give them meaning with 0 = as before.
 *   A structure may grow at its end.
 * - Arrays are a struct drm_trn_array: elements of @stride bytes.  Bytes of an
 *   element that the kernel does not know must be zero (-E2BIG if not), bytes
 *   that the caller does not know read as zero.
 * - Handles, context ids and queue ids belong to the open file; an id
 *   that is not there is -ENOENT.
 * - Offsets plus sizes that wrap or pass the end of an object: -EINVAL.
 * - Once the chip is gone every call returns -ENODEV.
 * - When the chip is reset, or the host was suspended, every context loses its queues and mappings on the
 *   chip, and HBM its content: calls that name such a context or a queue of it return -EIO
 *   (but DESTROY), jobs and waits end with -EIO.  A new context on the same file works.  While a reset goes
 *   on calls wait for its end, which is bounded.
 * - All waits are killable (-EINTR; restart with unchanged arguments) and bounded.
 * - Every call may be made from any thread.
 */
#ifndef _UAPI_DRM_TRN_ACCEL_H
#define _UAPI_DRM_TRN_ACCEL_H

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Order is ABI; add at the end. */
#define DRM_TRN_QUERY			0x00
#define DRM_TRN_CONTEXT_CREATE		0x01
#define DRM_TRN_CONTEXT_DESTROY		0x02
#define DRM_TRN_BO_CREATE		0x03
#define DRM_TRN_BO_MMAP_OFFSET		0x04
#define DRM_TRN_VM_BIND			0x05
#define DRM_TRN_QUEUE_CREATE		0x06
#define DRM_TRN_QUEUE_DESTROY		0x07
#define DRM_TRN_SUBMIT			0x08
#define DRM_TRN_WAIT			0x09
#define DRM_TRN_BO_CREATE_USERPTR	0x0a
#define DRM_TRN_BO_SET_NAME		0x0b
#define DRM_TRN_QUEUE_ERROR		0x0c
#define DRM_TRN_QUEUE_EVENTFD		0x0d

/**
 * struct drm_trn_array - an array in user memory
 * @stride: bytes from one element to the next; at least the size the element
 *	had in the first version of this header
 * @count: number of elements; each call states its limit (-E2BIG)
 * @pointer: user address of the first element; ignored when @count is 0
 */
struct drm_trn_array {
	__u32 stride;
	__u32 count;
	__u64 pointer;
};

/**
 * struct drm_trn_query - DRM_IOCTL_TRN_QUERY: read a description
 * @query: DRM_TRN_QUERY_*; unknown ones are -EINVAL
 * @size: in: bytes at @pointer; out: bytes of the kernel's structure.  The
 *	smaller of both is copied, what the kernel lacks is zeroed.  With
 *	@pointer 0 only @size is written.  More than DRM_TRN_QUERY_SIZE_MAX is -E2BIG
 * @pointer: user address of the structure
 */
struct drm_trn_query {
	__u32 query;
	__u32 size;
	__u64 pointer;
};

/** DRM_TRN_QUERY_SIZE_MAX: most bytes that a structure will ever have */
#define DRM_TRN_QUERY_SIZE_MAX		4096
/** DRM_TRN_QUERY_DEVICE: struct drm_trn_query_device */
#define DRM_TRN_QUERY_DEVICE		0
/** DRM_TRN_QUERY_MEMORY: struct drm_trn_query_memory */
#define DRM_TRN_QUERY_MEMORY		1
/** DRM_TRN_QUERY_RECOVERY: struct drm_trn_query_recovery */
#define DRM_TRN_QUERY_RECOVERY		2

/**
 * struct drm_trn_query_device - what the chip is; constant while it is bound
 * @uuid: the chip's own, RFC 9562, network byte order
 * @generation: name, zero-terminated
 * @serial: serial number, zero-terminated
 * @firmware: firmware version, zero-terminated
 * @architecture_version: device architecture, major << 16 | minor
 * @cores: NeuronCores
 * @hbm_stacks: number of HBM stacks
 * @hbm_stack_size: bytes of one stack
 * @dma_engines: number of DMA engines
 * @coll_cores: collective cores
 * @dtypes: data types, bit n as TRN_DTYPE_n in hw/trn_regs.h
 * @links: fabric links
 * @sbuf_size: bytes of SBUF of one core
 * @psum_size: bytes of PSUM of one core
 * @semaphores: semaphores of one core
 * @va_bits: address bits of a context; addresses are 0 … 2^va_bits - 1
 * @ring_max: most packets in a queue's ring
 * @page_size: granularity of VM_BIND in bytes, the larger of host and device pages
 * @tensor_pack: bit n = the tensor engine adds n FP8 terms in a cell (hw/trn_regs.h, CAP_TENSOR_PACK)
 * @reserved: 0
 */
struct drm_trn_query_device {
	__u8 uuid[16];
	__u8 generation[24];
	__u8 serial[40];
	__u8 firmware[40];
	__u32 architecture_version;
	__u32 cores;
	__u64 hbm_stack_size;
	__u32 hbm_stacks;
	__u32 dma_engines;
	__u32 coll_cores;
	__u32 dtypes;
	__u32 links;
	__u32 sbuf_size;
	__u32 psum_size;
	__u32 semaphores;
	__u32 va_bits;
	__u32 ring_max;
	__u64 page_size;
	__u32 tensor_pack;
	__u32 reserved;
};

/** DRM_TRN_HBM_STACKS_MAX: stacks that struct drm_trn_query_memory has room for */
#define DRM_TRN_HBM_STACKS_MAX		16

/**
 * struct drm_trn_hbm_stack - use of one HBM stack, all in bytes
 * @total: size that can be allocated when empty
 * @free: not allocated.  An object may be in several pieces, so one of this size can be had
 * @largest: largest object that would be in one piece, which large translations need
 */
struct drm_trn_hbm_stack {
	__u64 total;
	__u64 free;
	__u64 largest;
};

/**
 * struct drm_trn_query_memory - use of HBM at this moment
 * @stacks: valid entries of @stack
 * @pad: MBZ
 * @stack: one entry for each stack
 * @cpu_visible: bytes that the CPU can map, from the start of stack 0 on
 * @cpu_visible_free: bytes of these that are not allocated
 * @quota: most bytes that the user who opened the file may have allocated on this chip: a
 *	share that the module parameter user_hbm_percent sets, or all of it for a file opened
 *	with CAP_SYS_RESOURCE
 * @quota_used: bytes that the user has allocated, in all files and in objects that outlive
 *	their file
 */
struct drm_trn_query_memory {
	__u32 stacks;
	__u32 pad;
	struct drm_trn_hbm_stack stack[DRM_TRN_HBM_STACKS_MAX];
	__u64 cpu_visible;
	__u64 cpu_visible_free;
	__u64 quota;
	__u64 quota_used;
};

/**
 * struct drm_trn_query_recovery - what has gone wrong on the chip since it was bound, in all
 * processes
 * @queue_stops: queues that the chip stopped because of a packet
 * @queue_resets: queues that the driver stopped because a packet or job ran too long
 * @context_resets: contexts that lost all queues because resetting one was not enough
 * @function_resets: resets of the whole chip, whoever asked for them, and suspends
 * @contexts_lost: contexts that a function reset took the ground from
 * @core_resets: NeuronCores that were reset because resetting the context was not enough
 */
struct drm_trn_query_recovery {
	__u64 queue_stops;
	__u64 queue_resets;
	__u64 context_resets;
	__u64 function_resets;
	__u64 contexts_lost;
	__u64 core_resets;
};

/**
 * struct drm_trn_context_create - DRM_IOCTL_TRN_CONTEXT_CREATE: new context with
 * an empty address space
 * @flags: MBZ
 * @context: out: id, never 0
 *
 * -ENOSPC: the chip's address spaces are used up.  -EDQUOT: the user has as many as one may
 * have (module parameter user_context_percent), unless the file was opened with CAP_SYS_RESOURCE.
 */
struct drm_trn_context_create {
	__u32 flags;
	__u32 context;
};

/**
 * struct drm_trn_context_destroy - DRM_IOCTL_TRN_CONTEXT_DESTROY: destroy a
 * context with its queues and mappings
 * @context: id
 * @pad: MBZ
 */
struct drm_trn_context_destroy {
	__u32 context;
	__u32 pad;
};

/** DRM_TRN_BO_HBM: object in device memory */
#define DRM_TRN_BO_HBM			0
/** DRM_TRN_BO_HOST: object in host memory; can be mapped by the CPU */
#define DRM_TRN_BO_HOST			1
/** DRM_TRN_BO_CPU_VISIBLE: HBM that the CPU can map, write-combined */
#define DRM_TRN_BO_CPU_VISIBLE		(1U << 0)
/** DRM_TRN_STACK_ANY: any HBM stack */
#define DRM_TRN_STACK_ANY		0xffffffffU

/**
 * struct drm_trn_bo_create - DRM_IOCTL_TRN_BO_CREATE: allocate an object
 * @size: bytes, not 0; rounded up to the page size.  out: the rounded size
 * @placement: DRM_TRN_BO_HBM or DRM_TRN_BO_HOST
 * @stack: HBM: stack index or DRM_TRN_STACK_ANY.  Host: 0
 * @flags: HBM: DRM_TRN_BO_CPU_VISIBLE or 0.  Host: 0
 * @handle: out: GEM handle, freed by DRM_IOCTL_GEM_CLOSE
 *
 * All bytes read as zero, whoever had the memory before.  An HBM object is in one stack.  What
 * need not be CPU-visible is put elsewhere while there is room.
 * -ENOSPC: not enough HBM in the stack(s) asked for, or not enough that is CPU-visible
 * (see DRM_TRN_QUERY_MEMORY); -EDQUOT: the user's or the cgroup's quota of HBM; -ENOMEM: host
 * memory.  Host objects of more than 256 GiB are -EINVAL.
 */
struct drm_trn_bo_create {
	__u64 size;
	__u32 placement;
	__u32 stack;
	__u32 flags;
	__u32 handle;
};

/**
 * struct drm_trn_bo_mmap_offset - DRM_IOCTL_TRN_BO_MMAP_OFFSET: how to mmap
 * @handle: GEM handle of a host object or a CPU-visible HBM object
 * @pad: MBZ
 * @offset: out: offset for mmap() on this file (MAP_SHARED)
 *
 * -EOPNOTSUPP: HBM that is not CPU-visible, or an object of user memory.
 * A mapping never raises SIGBUS.  When the chip is gone those of HBM become zeroed memory, a page
 * over and over, that nobody sees but who has the same object mapped.
 */
struct drm_trn_bo_mmap_offset {
	__u32 handle;
	__u32 pad;
	__u64 offset;
};

/** DRM_TRN_BO_READONLY: the device may not write the memory */
#define DRM_TRN_BO_READONLY		(1U << 0)

/**
 * struct drm_trn_bo_create_userptr - DRM_IOCTL_TRN_BO_CREATE_USERPTR: make
 * memory of the calling process a host object
 * @address: user address, page aligned
 * @size: bytes, multiple of the page size, not 0
 * @flags: DRM_TRN_BO_READONLY or 0; needed for memory that the process may not write
 * @handle: out: GEM handle
 *
 * The pages stay where they are until the object is freed, whatever the process does
 * to its address space, and count against the user's RLIMIT_MEMLOCK (-ENOMEM) unless the process
 * has CAP_IPC_LOCK.  After fork() parent and device go on sharing them.  The object cannot be
 * exported or mapped.
 * -EFAULT: not all of the range is memory that the process may access so.
 */
struct drm_trn_bo_create_userptr {
	__u64 address;
	__u64 size;
	__u32 flags;
	__u32 handle;
};

/** DRM_TRN_BO_NAME_SIZE: bytes of an object's name with its terminator */
#define DRM_TRN_BO_NAME_SIZE		56

/**
 * struct drm_trn_bo_set_name - DRM_IOCTL_TRN_BO_SET_NAME: name an object for debugfs
 * @handle: GEM handle
 * @pad: MBZ
 * @name: printable ASCII, zero-terminated; "" takes the name away
 */
struct drm_trn_bo_set_name {
	__u32 handle;
	__u32 pad;
	__u8 name[DRM_TRN_BO_NAME_SIZE];
};

/** DRM_TRN_BIND_MAP: map an object */
#define DRM_TRN_BIND_MAP		0
/** DRM_TRN_BIND_UNMAP: take away what is mapped in the range */
#define DRM_TRN_BIND_UNMAP		1
/** DRM_TRN_BIND_REPLACE: UNMAP the range, then MAP; accesses in between find nothing */
#define DRM_TRN_BIND_REPLACE		2
/** DRM_TRN_BIND_READONLY: the device may not write through this mapping (MAP, REPLACE) */
#define DRM_TRN_BIND_READONLY		(1U << 0)

/**
 * struct drm_trn_bind_op - element of drm_trn_vm_bind.ops
 * @op: DRM_TRN_BIND_MAP, DRM_TRN_BIND_UNMAP or DRM_TRN_BIND_REPLACE
 * @flags: DRM_TRN_BIND_READONLY or 0
 * @handle: MAP, REPLACE: GEM handle; UNMAP: 0
 * @pad: MBZ
 * @va: device virtual address
 * @size: bytes, not 0
 * @offset: MAP, REPLACE: first byte within the object; UNMAP: 0
 *
 * @va, @size and @offset are multiples of drm_trn_query_device.page_size.
 * MAP where something is mapped is -EEXIST.  UNMAP and REPLACE split mappings that stick
 * out of the range, and accept a range in which little or nothing is mapped.
 * MAP and REPLACE of a read-only object without DRM_TRN_BIND_READONLY: -EACCES.
 */
struct drm_trn_bind_op {
	__u32 op;
	__u32 flags;
	__u32 handle;
	__u32 pad;
	__u64 va;
	__u64 size;
	__u64 offset;
};

/** DRM_TRN_BIND_OPS_MAX: most operations in one VM_BIND */
#define DRM_TRN_BIND_OPS_MAX		1024
/** DRM_TRN_BIND_SYNCS_MAX: most syncobjs of one VM_BIND */
#define DRM_TRN_BIND_SYNCS_MAX		64
/** DRM_TRN_VM_BIND_ASYNC: take effect later, see @syncs */
#define DRM_TRN_VM_BIND_ASYNC		(1U << 0)

/** DRM_TRN_SYNC_SIGNAL: replace the syncobj's fence by that of this call */
#define DRM_TRN_SYNC_SIGNAL		(1U << 0)
/** DRM_TRN_SYNC_WAIT: begin when the syncobj's fence has signalled */
#define DRM_TRN_SYNC_WAIT		(1U << 1)

/**
 * struct drm_trn_sync - a syncobj that a call waits for or signals
 * @handle: syncobj handle
 * @flags: exactly one of DRM_TRN_SYNC_SIGNAL and DRM_TRN_SYNC_WAIT
 * @point: timeline point, or 0 for a binary syncobj
 */
struct drm_trn_sync {
	__u32 handle;
	__u32 flags;
	__u64 point;
};

/**
 * struct drm_trn_vm_bind - DRM_IOCTL_TRN_VM_BIND: change an address space
 * @context: context id
 * @flags: DRM_TRN_VM_BIND_ASYNC or 0
 * @done: out, synchronous: operations that took effect: all on success, else those
 *	before the one that failed.  Asynchronous: 0
 * @pad: MBZ
 * @ops: array of struct drm_trn_bind_op, executed in order
 * @syncs: asynchronous: array of struct drm_trn_sync.  Synchronous: empty
 *
 * When a synchronous call returns the new mappings can be used, and accesses through
 * removed ones have ended; it does not wait for asynchronous calls before it.
 *
 * An asynchronous call checks everything but -EEXIST and allocates what it needs.  Its operations
 * are executed when all fences waited for have signalled and the asynchronous calls of the
 * context before it are done.  Then the fence signals, with error -EEXIST for a MAP over a
 * mapping (operations before it took effect, later ones did not), an error of a fence
 * that was waited for (none took effect), -ENODEV when the chip is gone, or -ECANCELED when
 * the context is destroyed before.  -EINVAL: a syncobj to wait for has no fence at @point.
 */
struct drm_trn_vm_bind {
	__u32 context;
	__u32 flags;
	__u32 done;
	__u32 pad;
	struct drm_trn_array ops;
	struct drm_trn_array syncs;
};

/** DRM_TRN_QUEUE_KERNEL: the kernel writes the ring (DRM_IOCTL_TRN_SUBMIT) */
#define DRM_TRN_QUEUE_KERNEL		0
/** DRM_TRN_QUEUE_USER: ring, control page and doorbell are the process's own */
#define DRM_TRN_QUEUE_USER		1

/** DRM_TRN_PRIORITY_NORMAL: twice the turns of LOW */
#define DRM_TRN_PRIORITY_NORMAL		0
/** DRM_TRN_PRIORITY_LOW: one turn in a round of the chip's queues */
#define DRM_TRN_PRIORITY_LOW		1
/** DRM_TRN_PRIORITY_HIGH: four times the turns of NORMAL; needs CAP_SYS_NICE (-EACCES) */
#define DRM_TRN_PRIORITY_HIGH		2

/**
 * struct drm_trn_queue_create - DRM_IOCTL_TRN_QUEUE_CREATE
 * @context: context whose address space the packets' operands are in
 * @type: TRN_QUEUE_TYPE_DMA or TRN_QUEUE_TYPE_EXEC (hw/trn_queue.h): which packets it takes
 * @mode: DRM_TRN_QUEUE_KERNEL or DRM_TRN_QUEUE_USER
 * @ring_entries: packets in the ring, power of two, 4 … ring_max
 * @ring_va: user queue: where the ring is in the context's address
 *	space, page aligned; bound before the first doorbell.  Kernel queue: 0
 * @flags: MBZ
 * @queue: out: id, never 0
 * @control_offset: out, user queue: mmap offset of the control page
 *	(struct trn_control, one host page, MAP_SHARED)
 * @doorbell_offset: out, user queue: mmap offset of the doorbell page (one
 *	host page, MAP_SHARED, write a __u32 at TRN_DOORBELL_KICK)
 * @priority: DRM_TRN_PRIORITY_*
 * @timeout_ms: longest running time, of a job on a kernel queue, of a packet on a user queue; then
 *	the queue stops (TRN_STOP_TIME_LIMIT).  0: the module parameter job_timeout_ms or
 *	packet_timeout_ms, which is also the most that may be asked for (-EINVAL)
 *
 * Running time is the time in which the chip works on packets, without that in which they wait for their
 * turn or for a fence.
 *
 * Mappings of both pages stay valid for ever.  When the queue or the chip goes, the control page
 * stays the queue's own, so that a poller finds the reason in its status; the doorbell becomes a
 * dummy page, after the status has changed.  They are not inherited by fork().
 * -ENOSPC: the chip's queues are used up.  -EDQUOT: the user has as many as one may have (module
 * parameter user_queue_percent), unless the file was opened with CAP_SYS_RESOURCE.
 */
struct drm_trn_queue_create {
	__u32 context;
	__u32 type;
	__u32 mode;
	__u32 ring_entries;
	__u64 ring_va;
	__u32 flags;
	__u32 queue;
	__u64 control_offset;
	__u64 doorbell_offset;
	__u32 priority;
	__u32 timeout_ms;
};

/**
 * struct drm_trn_queue_destroy - DRM_IOCTL_TRN_QUEUE_DESTROY: jobs that have
 * not finished end with -ECANCELED
 * @queue: id
 * @pad: MBZ
 */
struct drm_trn_queue_destroy {
	__u32 queue;
	__u32 pad;
};

/** DRM_TRN_SUBMIT_PACKETS_MAX: most packets in a job; also less than the ring's size */
#define DRM_TRN_SUBMIT_PACKETS_MAX	1024
/** DRM_TRN_SUBMIT_SYNCS_MAX: most syncobjs of a job */
#define DRM_TRN_SUBMIT_SYNCS_MAX	64
/** DRM_TRN_SUBMIT_WAITING_MAX: most jobs of a queue that wait for fences or behind such jobs */
#define DRM_TRN_SUBMIT_WAITING_MAX	1024

/**
 * struct drm_trn_submit - DRM_IOCTL_TRN_SUBMIT: run a job on a kernel queue
 * @queue: queue id; -EINVAL for a user queue
 * @flags: MBZ
 * @packets: array of struct trn_packet (hw/trn_queue.h): NOP, and of a queue of type DMA COPY,
 *	COPY_ND and FILL, of one of type EXEC EXEC.  @packets.stride is 64
 * @syncs: array of struct drm_trn_sync: fences to wait for before the job starts, and syncobjs to be
 *	signalled when it ends
 *
 * Jobs of a queue are executed in order of their SUBMIT; jobs of different queues, contexts and chips are
 * ordered by syncobjs only.  The fence's error is 0, -EFAULT for a bad address, -ETIME for a job that
 * ran too long, -EIO for another failure or a reset, -ENODEV when the chip is gone, -ECANCELED when the
 * queue is destroyed before.  A job that waits for a fence which has an error is not executed and ends with
 * that error; the queue goes on.
 *
 * -EINVAL: a syncobj to wait for has no fence at @point.  -EIO: the queue has stopped.  -ENOSPC: there are
 * DRM_TRN_SUBMIT_WAITING_MAX waiting jobs.  A job that has nothing to wait for sleeps in the call while
 * the ring is full.
 */
struct drm_trn_submit {
	__u32 queue;
	__u32 flags;
	struct drm_trn_array packets;
	struct drm_trn_array syncs;
};

/**
 * struct drm_trn_wait - DRM_IOCTL_TRN_WAIT: sleep until a fence is reached
 * @queue: id of the user queue that writes the fence
 * @flags: MBZ
 * @va: address of the 8-byte fence in the queue's context, 8-byte aligned, in a
 *	host object
 * @value: returns 0 when the fence is >= this (unsigned, not 0)
 * @deadline_ns: CLOCK_MONOTONIC, absolute; one in the past polls once
 *
 * -ETIME: deadline passed.  -EIO: the queue has stopped.  -ECANCELED: it was
 * destroyed.
 */
struct drm_trn_wait {
	__u32 queue;
	__u32 flags;
	__u64 va;
	__u64 value;
	__s64 deadline_ns;
};

/** DRM_TRN_EVENTFDS_MAX: most eventfds that wait for fences of one queue */
#define DRM_TRN_EVENTFDS_MAX		256

/**
 * struct drm_trn_queue_eventfd - DRM_IOCTL_TRN_QUEUE_EVENTFD: add 1 to an eventfd when a fence is reached
 * @queue: id of the user queue that writes the fence
 * @fd: eventfd
 * @va: as in struct drm_trn_wait
 * @value: as in struct drm_trn_wait
 * @flags: MBZ
 * @pad: MBZ
 *
 * Happens once, at once if the fence is reached already, and also when the queue stops or is
 * destroyed, or the chip goes: the control page's status tells which.
 * -EIO, -ECANCELED: the queue has stopped or been destroyed.  -ENOSPC: DRM_TRN_EVENTFDS_MAX are
 * waiting.  -EBADF, -EINVAL: not an eventfd.
 */
struct drm_trn_queue_eventfd {
	__u32 queue;
	__s32 fd;
	__u64 va;
	__u64 value;
	__u32 flags;
	__u32 pad;
};

/** DRM_TRN_STOP_UNKNOWN: the chip's log has lost the reason */
#define DRM_TRN_STOP_UNKNOWN		0xffffffffU

/**
 * struct drm_trn_queue_error - DRM_IOCTL_TRN_QUEUE_ERROR: why a queue stopped
 * @queue: id
 * @reason: out: TRN_STOP_* (hw/trn_admin.h) or DRM_TRN_STOP_UNKNOWN; 0 = neither the chip nor a
 *	time limit has stopped it
 * @packet: out: free-running index of the packet that failed
 * @access: out: TRN_ACCESS_*, faults only
 * @address: out: device virtual address of the access, faults only
 * @exception: out: TRN_EXCEPTION_* (hw/trn_isa.h) if a program failed: TRN_STOP_PROGRAM, and faults of a
 *	program's instruction
 * @engine: out: TRN_ENGINE_*, with an exception other than TRN_EXCEPTION_PROGRAM
 * @instruction: out: index of the instruction in the engine's stream, likewise
 * @pad: MBZ
 *
 * Fields that are only out must be zero on the way in (-EINVAL).
 * Set before the job's fence, a WAIT or the control page tells that the queue has stopped.
 */
struct drm_trn_queue_error {
	__u32 queue;
	__u32 reason;
	__u32 packet;
	__u32 access;
	__u64 address;
	__u32 exception;
	__u32 engine;
	__u32 instruction;
	__u32 pad;
};

#define DRM_IOCTL_TRN_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_QUERY, struct drm_trn_query)
#define DRM_IOCTL_TRN_CONTEXT_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_CONTEXT_CREATE, struct drm_trn_context_create)
#define DRM_IOCTL_TRN_CONTEXT_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRN_CONTEXT_DESTROY, struct drm_trn_context_destroy)
#define DRM_IOCTL_TRN_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_BO_CREATE, struct drm_trn_bo_create)
#define DRM_IOCTL_TRN_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_BO_MMAP_OFFSET, struct drm_trn_bo_mmap_offset)
#define DRM_IOCTL_TRN_VM_BIND \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_VM_BIND, struct drm_trn_vm_bind)
#define DRM_IOCTL_TRN_QUEUE_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_QUEUE_CREATE, struct drm_trn_queue_create)
#define DRM_IOCTL_TRN_QUEUE_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRN_QUEUE_DESTROY, struct drm_trn_queue_destroy)
#define DRM_IOCTL_TRN_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRN_SUBMIT, struct drm_trn_submit)
#define DRM_IOCTL_TRN_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRN_WAIT, struct drm_trn_wait)
#define DRM_IOCTL_TRN_BO_CREATE_USERPTR \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_BO_CREATE_USERPTR, struct drm_trn_bo_create_userptr)
#define DRM_IOCTL_TRN_BO_SET_NAME \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRN_BO_SET_NAME, struct drm_trn_bo_set_name)
#define DRM_IOCTL_TRN_QUEUE_EVENTFD \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRN_QUEUE_EVENTFD, struct drm_trn_queue_eventfd)
#define DRM_IOCTL_TRN_QUEUE_ERROR \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRN_QUEUE_ERROR, struct drm_trn_queue_error)

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_DRM_TRN_ACCEL_H */
