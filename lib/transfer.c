/* SPDX-License-Identifier: MIT */
/* Transfers of any size and form on top of a queue. */
#include "transfer.h"

#include <errno.h>
#include <string.h>

#include "internal.h"

/* One submit moves at most this much: a job's running time is limited. */
#define PIECE	(UINT64_C(64) << 20)
/* From about here on locking memory takes less time than copying it through a stage. */
#define PIN_MIN (UINT64_C(4) << 20)

/* ---- boxes ----------------------------------------------------------- */

/* One side of a transfer: a buffer, or memory of the process. */
struct side {
	struct trn_buffer *buffer; /* NULL = memory */
	const void *memory;
	const struct trn_layout *layout;
};

static int check_queue(const struct trn_queue *queue)
{
	if (queue->type != TRN_QUEUE_DMA)
		return trn_fail(-EINVAL,
				"queue %u runs programs: transfers need a queue of type "
				"TRN_QUEUE_DMA",
				queue->id);
	return trn_device_check(queue->context->device, "queue");
}

static int check_buffer(const struct trn_queue *queue, const struct trn_buffer *buffer,
			uint64_t offset, uint64_t extent)
{
	if (buffer->context != queue->context)
		return trn_fail(-EINVAL, "the buffer and queue %u are of different contexts",
				queue->id);
	if (!buffer->range)
		return trn_fail(-EINVAL, "the buffer has no address: it is TRN_BUFFER_UNBOUND");
	if (offset > buffer->size || extent > buffer->size - offset)
		return trn_fail(-EINVAL,
				"%llu bytes at offset %llu pass the end of a buffer of %llu",
				(unsigned long long)extent, (unsigned long long)offset,
				(unsigned long long)buffer->size);
	return 0;
}

/* Checks a side, and fills its half of a box: device addresses or pointers. */
static int make_side(const struct trn_queue *queue, const struct side *side,
		     const uint64_t sizes[4], bool empty, struct trn_box_side *half)
{
	uint64_t offset = side->layout->offset, extent = 0;

	if (!empty && !trn_box_extent(sizes, side->layout->strides, &extent))
		return trn_fail(-EINVAL, "sizes and strides reach over 2^64 bytes");
	memcpy(half->strides, side->layout->strides, sizeof(half->strides));
	if (side->buffer) {
		half->start = trn_buffer_address(side->buffer) + offset;
		return check_buffer(queue, side->buffer, offset, extent);
	}
	half->start = (uintptr_t)side->memory + offset;
	if (offset > UINTPTR_MAX - (uintptr_t)side->memory || extent > UINTPTR_MAX - half->start)
		return trn_fail(-EINVAL,
				"%llu bytes at offset %llu of %p pass the end of the address space",
				(unsigned long long)extent, (unsigned long long)offset,
				side->memory);
	return 0;
}

/* 1, 0 when there is nothing to copy, or negative errno. */
static int make_box(const struct trn_queue *queue, const struct side *to, const struct side *from,
		    const uint64_t sizes[4], struct trn_box *box)
{
	bool empty = !sizes[0] || !sizes[1] || !sizes[2] || !sizes[3];
	uint64_t bytes;
	int error;

	error = check_queue(queue);
	if (!error)
		error = make_side(queue, to, sizes, empty, &box->to);
	if (!error)
		error = make_side(queue, from, sizes, empty, &box->from);
	if (error)
		return error;
	if (empty)
		return 0;
	if (!trn_box_bytes(sizes, &bytes))
		return trn_fail(-EINVAL, "the sizes are 2^64 bytes or more together");
	memcpy(box->sizes, sizes, sizeof(box->sizes));
	trn_box_simplify(box);
	return 1;
}

static void copy_run(uint64_t to, uint64_t from, uint64_t size)
{
	memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
}

void trn_transfer_by_cpu(const struct trn_box *box)
{
	const uint64_t *to = box->to.strides, *from = box->from.strides;
	uint64_t i, j, k;

	for (k = 0; k < box->sizes[3]; k++)
		for (j = 0; j < box->sizes[2]; j++)
			for (i = 0; i < box->sizes[1]; i++)
				copy_run(box->to.start + i * to[0] + j * to[1] + k * to[2],
					 box->from.start + i * from[0] + j * from[1] + k * from[2],
					 box->sizes[0]);
}

/* ---- packets --------------------------------------------------------- */

static int take_packet(struct trn_queue *queue, struct trn_packet **packet)
{
	int error = trn_queue_reserve(queue, 1, TRN_FOREVER);

	if (!error)
		*packet = trn_queue_packet(queue);
	return error;
}

static void put_nd(struct trn_packet *packet, const struct trn_box *piece)
{
	uint32_t sizes[4], to[3] = { 0 }, from[3] = { 0 };
	int i;

	sizes[0] = (uint32_t)piece->sizes[0];
	for (i = 1; i < 4; i++) {
		sizes[i] = (uint32_t)piece->sizes[i];
		if (sizes[i] == 1)
			continue;
		to[i - 1] = (uint32_t)piece->to.strides[i - 1];
		from[i - 1] = (uint32_t)piece->from.strides[i - 1];
	}
	trn_packet_copy_nd(packet, piece->to.start, to, piece->from.start, from, sizes);
}

int trn_transfer_put(struct trn_queue *queue, const struct trn_box *piece)
{
	const uint64_t *sizes = piece->sizes;
	struct trn_packet *packet;
	int error = take_packet(queue, &packet);

	if (error)
		return error;
	if (sizes[1] == 1 && sizes[2] == 1 && sizes[3] == 1)
		trn_packet_copy(packet, piece->to.start, piece->from.start, sizes[0]);
	else
		put_nd(packet, piece);
	return 0;
}

/* Packets taken since the last submit move so many bytes. */
struct batch {
	struct trn_queue *queue;
	uint64_t bytes;
};

static int add_to_batch(struct batch *batch, uint64_t bytes)
{
	int error = 0;

	if (batch->bytes + bytes > PIECE) {
		error = trn_queue_submit(batch->queue, NULL);
		batch->bytes = 0;
	}
	batch->bytes += bytes;
	return error;
}

static int put_piece(const struct trn_box *piece, void *context)
{
	struct batch *batch = context;
	int error = add_to_batch(batch, piece->sizes[0] * piece->sizes[1] * piece->sizes[2] *
						piece->sizes[3]);

	return error ? error : trn_transfer_put(batch->queue, piece);
}

/* Device to device, in pieces. */
static int submit_box(struct trn_queue *queue, const struct trn_box *box, uint64_t *sequence)
{
	struct batch batch = { .queue = queue };
	int error = trn_queue_submit(queue, NULL);

	if (!error)
		error = trn_box_cut(box, PIECE, put_piece, &batch);
	return error ? error : trn_queue_submit(queue, sequence);
}

/* Waits for everything that was taken so far. */
static int drain(struct trn_queue *queue)
{
	uint64_t sequence;
	int error = trn_queue_submit(queue, &sequence);

	return error ? error : trn_queue_wait(queue, sequence, TRN_FOREVER);
}

/* ---- between buffers ------------------------------------------------- */

static int copy_async(struct trn_queue *queue, const struct side *to, const struct side *from,
		      const uint64_t sizes[4], uint64_t *sequence)
{
	struct trn_box box;
	int some = make_box(queue, to, from, sizes, &box);

	*sequence = 0;
	return some > 0 ? submit_box(queue, &box, sequence) : some;
}

static int wait_if(int error, struct trn_queue *queue, uint64_t sequence)
{
	return error ? error : trn_queue_wait(queue, sequence, TRN_FOREVER);
}

int trn_copy_nd_async(struct trn_queue *queue, struct trn_buffer *destination,
		      const struct trn_layout *destination_layout, struct trn_buffer *source,
		      const struct trn_layout *source_layout, const uint64_t sizes[4],
		      uint64_t *sequence)
{
	struct side to = { .buffer = destination, .layout = destination_layout };
	struct side from = { .buffer = source, .layout = source_layout };

	return copy_async(queue, &to, &from, sizes, sequence);
}

int trn_copy_nd(struct trn_queue *queue, struct trn_buffer *destination,
		const struct trn_layout *destination_layout, struct trn_buffer *source,
		const struct trn_layout *source_layout, const uint64_t sizes[4])
{
	uint64_t sequence;
	int error = trn_copy_nd_async(queue, destination, destination_layout, source, source_layout,
				      sizes, &sequence);

	return wait_if(error, queue, sequence);
}

int trn_copy_async(struct trn_queue *queue, struct trn_buffer *destination,
		   uint64_t destination_offset, struct trn_buffer *source, uint64_t source_offset,
		   uint64_t size, uint64_t *sequence)
{
	const struct trn_layout to = { .offset = destination_offset };
	const struct trn_layout from = { .offset = source_offset };
	const uint64_t sizes[4] = { size, 1, 1, 1 };
	uint64_t low = destination_offset, high = source_offset;

	if (low > high) {
		low = source_offset;
		high = destination_offset;
	}
	if (destination == source && high - low < size)
		return trn_fail(-EINVAL,
				"%llu bytes at offsets %llu and %llu of one buffer overlap",
				(unsigned long long)size, (unsigned long long)source_offset,
				(unsigned long long)destination_offset);
	return trn_copy_nd_async(queue, destination, &to, source, &from, sizes, sequence);
}

int trn_copy(struct trn_queue *queue, struct trn_buffer *destination, uint64_t destination_offset,
	     struct trn_buffer *source, uint64_t source_offset, uint64_t size)
{
	uint64_t sequence;
	int error = trn_copy_async(queue, destination, destination_offset, source, source_offset,
				   size, &sequence);

	return wait_if(error, queue, sequence);
}

/* ---- memory of the process, in place --------------------------------- */

/*
 * @memory is the side of @box that is of this process: locks it, and submits with the device's
 * addresses of it.
 */
static int submit_pinned(struct trn_queue *queue, struct trn_box *box, struct trn_box_side *memory,
			 uint64_t *sequence)
{
	bool readonly = memory == &box->from;
	uint64_t extent, page = queue->context->device->info.page_size;
	struct trn_pin *pin;
	int error;

	/* Checked when the box was made. */
	trn_box_extent(box->sizes, memory->strides, &extent);
	error = trn_queue_pin(queue, (const void *)(uintptr_t)memory->start, extent, readonly,
			      &pin);
	if (error)
		return error;
	memory->start = trn_buffer_address(pin->buffer) + (memory->start & (page - 1));
	error = submit_box(queue, box, sequence);
	/* After a failure the device may still be at work on the first part. */
	trn_queue_pin_until(queue, pin, queue->sequence);
	if (error)
		trn_queue_wait(queue, queue->sequence, TRN_FOREVER);
	return error;
}

int trn_write_nd_async(struct trn_queue *queue, struct trn_buffer *destination,
		       const struct trn_layout *destination_layout, const void *source,
		       const struct trn_layout *source_layout, const uint64_t sizes[4],
		       uint64_t *sequence)
{
	struct side to = { .buffer = destination, .layout = destination_layout };
	struct side from = { .memory = source, .layout = source_layout };
	struct trn_box box;
	int some = make_box(queue, &to, &from, sizes, &box);

	*sequence = 0;
	return some > 0 ? submit_pinned(queue, &box, &box.from, sequence) : some;
}

int trn_read_nd_async(struct trn_queue *queue, void *destination,
		      const struct trn_layout *destination_layout, struct trn_buffer *source,
		      const struct trn_layout *source_layout, const uint64_t sizes[4],
		      uint64_t *sequence)
{
	struct side to = { .memory = destination, .layout = destination_layout };
	struct side from = { .buffer = source, .layout = source_layout };
	struct trn_box box;
	int some = make_box(queue, &to, &from, sizes, &box);

	*sequence = 0;
	return some > 0 ? submit_pinned(queue, &box, &box.to, sequence) : some;
}

int trn_write_async(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
		    const void *source, uint64_t size, uint64_t *sequence)
{
	const struct trn_layout to = { .offset = offset }, from = { 0 };
	const uint64_t sizes[4] = { size, 1, 1, 1 };

	return trn_write_nd_async(queue, destination, &to, source, &from, sizes, sequence);
}

int trn_read_async(struct trn_queue *queue, void *destination, struct trn_buffer *source,
		   uint64_t offset, uint64_t size, uint64_t *sequence)
{
	const struct trn_layout to = { 0 }, from = { .offset = offset };
	const uint64_t sizes[4] = { size, 1, 1, 1 };

	return trn_read_nd_async(queue, destination, &to, source, &from, sizes, sequence);
}

/* ---- memory of the process, now -------------------------------------- */

struct windows {
	struct trn_queue *queue;
	bool write;
	uint64_t last; /* sequence of the window that is copied */
};

static bool is_worth_locking(const struct trn_box *piece, const struct trn_box_side *memory)
{
	uint64_t bytes, extent;

	/* Checked when the box was made. */
	trn_box_bytes(piece->sizes, &bytes);
	trn_box_extent(piece->sizes, memory->strides, &extent);
	return bytes >= PIN_MIN && extent / 2 <= bytes;
}

/* Copies memory in place if it can be locked; one window is copied while the next is locked. */
static int move_window(const struct trn_box *piece, void *context)
{
	struct windows *windows = context;
	struct trn_box box = *piece;
	struct trn_box_side *memory = windows->write ? &box.from : &box.to;
	uint64_t sequence = 0;
	int error = -ENOMEM;

	if (is_worth_locking(piece, memory))
		error = submit_pinned(windows->queue, &box, memory, &sequence);
	if (error == -ENOMEM || error == -EFAULT)
		return windows->write ? trn_transfer_staged_write(windows->queue, piece)
				      : trn_transfer_staged_read(windows->queue, piece);
	if (error)
		return error;
	error = trn_queue_wait(windows->queue, windows->last, TRN_FOREVER);
	windows->last = sequence;
	return error;
}

static int move_all(struct trn_queue *queue, const struct trn_box *box, bool write)
{
	struct windows windows = { .queue = queue, .write = write };
	int error = trn_box_cut(box, PIECE, move_window, &windows), last;

	/* After a failure too: the memory is the caller's again. */
	last = trn_queue_wait(queue, windows.last, TRN_FOREVER);
	return error ? error : last;
}

/* With a buffer that the CPU reads and writes well; @side is the buffer's. */
static int copy_by_cpu(struct trn_queue *queue, struct trn_buffer *buffer, struct trn_box *box,
		       struct trn_box_side *side)
{
	void *pointer;
	int error;

	if (side == &box->to && buffer->cpu_readonly)
		return trn_fail(-EACCES,
				"the buffer is memory that was given as TRN_BUFFER_READONLY");
	error = trn_buffer_map(buffer, &pointer);
	if (!error)
		error = drain(queue);
	if (error)
		return error;
	side->start += (uintptr_t)pointer - trn_buffer_address(buffer);
	trn_transfer_by_cpu(box);
	return 0;
}

int trn_write_nd(struct trn_queue *queue, struct trn_buffer *destination,
		 const struct trn_layout *destination_layout, const void *source,
		 const struct trn_layout *source_layout, const uint64_t sizes[4])
{
	struct side to = { .buffer = destination, .layout = destination_layout };
	struct side from = { .memory = source, .layout = source_layout };
	struct trn_box box;
	int some = make_box(queue, &to, &from, sizes, &box);

	if (some <= 0)
		return some;
	if (destination->cpu_copies)
		return copy_by_cpu(queue, destination, &box, &box.to);
	return move_all(queue, &box, true);
}

int trn_read_nd(struct trn_queue *queue, void *destination,
		const struct trn_layout *destination_layout, struct trn_buffer *source,
		const struct trn_layout *source_layout, const uint64_t sizes[4])
{
	struct side to = { .memory = destination, .layout = destination_layout };
	struct side from = { .buffer = source, .layout = source_layout };
	struct trn_box box;
	int some = make_box(queue, &to, &from, sizes, &box);

	if (some <= 0)
		return some;
	if (source->cpu_copies)
		return copy_by_cpu(queue, source, &box, &box.from);
	return move_all(queue, &box, false);
}

int trn_write(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	      const void *source, uint64_t size)
{
	const struct trn_layout to = { .offset = offset }, from = { 0 };
	const uint64_t sizes[4] = { size, 1, 1, 1 };

	return trn_write_nd(queue, destination, &to, source, &from, sizes);
}

int trn_read(struct trn_queue *queue, void *destination, struct trn_buffer *source, uint64_t offset,
	     uint64_t size)
{
	const struct trn_layout to = { 0 }, from = { .offset = offset };
	const uint64_t sizes[4] = { size, 1, 1, 1 };

	return trn_read_nd(queue, destination, &to, source, &from, sizes);
}

/* ---- fill ------------------------------------------------------------ */

int trn_fill_async(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
		   uint64_t size, uint64_t pattern, uint32_t unit, uint64_t *sequence)
{
	struct batch batch = { .queue = queue };
	uint64_t done, piece;
	int error = check_queue(queue);

	*sequence = 0;
	if (!error)
		error = check_buffer(queue, destination, offset, size);
	if (error)
		return error;
	if (unit != 1 && unit != 2 && unit != 4 && unit != 8)
		return trn_fail(-EINVAL, "fill: a unit of %u bytes is not 1, 2, 4 or 8", unit);
	if (offset % unit || size % unit)
		return trn_fail(-EINVAL,
				"fill: %llu bytes at offset %llu: both must be multiples of the "
				"unit, %u bytes",
				(unsigned long long)size, (unsigned long long)offset, unit);
	if (!size)
		return 0;

	error = trn_queue_submit(queue, NULL);
	for (done = 0; !error && done < size; done += piece) {
		struct trn_packet *packet;

		piece = size - done < PIECE ? size - done : PIECE;
		error = add_to_batch(&batch, piece);
		if (!error)
			error = take_packet(queue, &packet);
		if (!error)
			trn_packet_fill(packet, trn_buffer_address(destination) + offset + done,
					piece, pattern, unit);
	}
	return error ? error : trn_queue_submit(queue, sequence);
}

int trn_fill(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	     uint64_t size, uint64_t pattern, uint32_t unit)
{
	uint64_t sequence;
	int error = trn_fill_async(queue, destination, offset, size, pattern, unit, &sequence);

	return wait_if(error, queue, sequence);
}
