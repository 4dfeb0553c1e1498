/* SPDX-License-Identifier: MIT */
/* Synchronous transfers of any size on top of a queue. */
#include <errno.h>
#include <string.h>

#include "internal.h"

/* One submit moves at most this much: a job's running time is limited. */
#define PIECE (UINT64_C(64) << 20)

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int check_range(const struct trn_queue *queue, const struct trn_buffer *buffer,
		       uint64_t offset, uint64_t size)
{
	if (buffer->context != queue->context)
		return trn_fail(-EINVAL, "the buffer and queue %u are of different contexts",
				queue->id);
	if (offset > buffer->size || size > buffer->size - offset)
		return trn_fail(-EINVAL,
				"%llu bytes at offset %llu pass the end of a buffer of %llu",
				(unsigned long long)size, (unsigned long long)offset,
				(unsigned long long)buffer->size);
	return 0;
}

/* Takes a packet; those taken before are submitted. */
static int take_packet(struct trn_queue *queue, struct trn_packet **packet)
{
	int error = trn_queue_submit(queue, NULL);

	if (!error)
		error = trn_queue_reserve(queue, 1, TRN_FOREVER);
	if (!error)
		*packet = trn_queue_packet(queue);
	return error;
}

static int submit_copy(struct trn_queue *queue, uint64_t destination, uint64_t source,
		       uint64_t size, uint64_t *sequence)
{
	struct trn_packet *packet;
	int error = take_packet(queue, &packet);

	if (error)
		return error;
	trn_packet_copy(packet, destination, source, size);
	return trn_queue_submit(queue, sequence);
}

/* Waits for everything that was taken so far. */
static int drain(struct trn_queue *queue)
{
	uint64_t sequence;
	int error = trn_queue_submit(queue, &sequence);

	return error ? error : trn_queue_wait(queue, sequence, TRN_FOREVER);
}

static int make_stages(struct trn_queue *queue)
{
	int i, error;

	for (i = 0; i < 2; i++) {
		struct trn_stage *stage = &queue->stage[i];
		void *pointer;

		if (stage->pointer)
			continue;
		if (!stage->buffer) {
			error = trn_buffer_create(queue->context, TRN_PLACEMENT_HOST, TRN_STACK_ANY,
						  TRN_STAGE_SIZE, 0, &stage->buffer);
			if (error)
				return error;
		}
		error = trn_buffer_map(stage->buffer, &pointer);
		if (error)
			return error;
		stage->pointer = pointer;
	}
	return 0;
}

static int write_hbm(struct trn_queue *queue, uint64_t address, const uint8_t *source,
		     uint64_t size)
{
	uint64_t sequence[2] = { 0, 0 };
	int error = make_stages(queue);
	int i;

	for (i = 0; !error && size; i ^= 1) {
		struct trn_stage *stage = &queue->stage[i];
		uint64_t piece = smaller(size, TRN_STAGE_SIZE);

		error = trn_queue_wait(queue, sequence[i], TRN_FOREVER);
		if (error)
			break;
		memcpy(stage->pointer, source, piece);
		error = submit_copy(queue, address, trn_buffer_address(stage->buffer), piece,
				    &sequence[i]);
		address += piece;
		source += piece;
		size -= piece;
	}
	return error ? error : drain(queue);
}

static int read_hbm(struct trn_queue *queue, uint8_t *destination, uint64_t address, uint64_t size)
{
	uint64_t sequence[2] = { 0, 0 };
	uint64_t asked = 0, done = 0;
	int error = make_stages(queue);

	/* Both stages are asked for before the first is read. */
	while (!error && done < size) {
		int i;

		if (asked < size && asked - done < 2 * TRN_STAGE_SIZE) {
			i = asked / TRN_STAGE_SIZE % 2;
			error = submit_copy(queue, trn_buffer_address(queue->stage[i].buffer),
					    address + asked, smaller(size - asked, TRN_STAGE_SIZE),
					    &sequence[i]);
			asked += TRN_STAGE_SIZE;
			continue;
		}
		i = done / TRN_STAGE_SIZE % 2;
		error = trn_queue_wait(queue, sequence[i], TRN_FOREVER);
		if (error)
			break;
		memcpy(destination + done, queue->stage[i].pointer,
		       smaller(size - done, TRN_STAGE_SIZE));
		done += TRN_STAGE_SIZE;
	}
	return error;
}

int trn_write(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	      const void *source, uint64_t size)
{
	int error = check_range(queue, destination, offset, size);
	void *pointer;

	if (error)
		return error;
	if (!size)
		return 0;
	if (destination->placement == TRN_PLACEMENT_HBM)
		return write_hbm(queue, trn_buffer_address(destination) + offset, source, size);

	error = trn_buffer_map(destination, &pointer);
	if (!error)
		error = drain(queue);
	if (!error)
		memcpy((uint8_t *)pointer + offset, source, size);
	return error;
}

int trn_read(struct trn_queue *queue, void *destination, struct trn_buffer *source, uint64_t offset,
	     uint64_t size)
{
	int error = check_range(queue, source, offset, size);
	void *pointer;

	if (error)
		return error;
	if (!size)
		return 0;
	if (source->placement == TRN_PLACEMENT_HBM)
		return read_hbm(queue, destination, trn_buffer_address(source) + offset, size);

	error = trn_buffer_map(source, &pointer);
	if (!error)
		error = drain(queue);
	if (!error)
		memcpy(destination, (uint8_t *)pointer + offset, size);
	return error;
}

int trn_copy(struct trn_queue *queue, struct trn_buffer *destination, uint64_t destination_offset,
	     struct trn_buffer *source, uint64_t source_offset, uint64_t size)
{
	uint64_t done, piece, to, from;
	int error;

	error = check_range(queue, destination, destination_offset, size);
	if (!error)
		error = check_range(queue, source, source_offset, size);
	if (error)
		return error;
	to = trn_buffer_address(destination) + destination_offset;
	from = trn_buffer_address(source) + source_offset;
	if (from < to + size && to < from + size)
		return trn_fail(-EINVAL,
				"%llu bytes at offsets %llu and %llu of one buffer overlap",
				(unsigned long long)size, (unsigned long long)source_offset,
				(unsigned long long)destination_offset);

	for (done = 0; done < size; done += piece) {
		piece = smaller(size - done, PIECE);
		error = submit_copy(queue, to + done, from + done, piece, NULL);
		if (error)
			return error;
	}
	return drain(queue);
}

int trn_fill(struct trn_queue *queue, struct trn_buffer *destination, uint64_t offset,
	     uint64_t size, uint64_t pattern, uint32_t unit)
{
	uint64_t done, piece, to;
	int error = check_range(queue, destination, offset, size);

	if (error)
		return error;
	if (unit != 1 && unit != 2 && unit != 4 && unit != 8)
		return trn_fail(-EINVAL, "fill: a unit of %u bytes is not 1, 2, 4 or 8", unit);
	if (offset % unit || size % unit)
		return trn_fail(-EINVAL,
				"fill: %llu bytes at offset %llu: both must be multiples of the "
				"unit, %u bytes",
				(unsigned long long)size, (unsigned long long)offset, unit);

	to = trn_buffer_address(destination) + offset;
	for (done = 0; done < size; done += piece) {
		struct trn_packet *packet;

		piece = smaller(size - done, PIECE);
		error = take_packet(queue, &packet);
		if (error)
			return error;
		trn_packet_fill(packet, to + done, piece, pattern, unit);
		error = trn_queue_submit(queue, NULL);
		if (error)
			return error;
	}
	return drain(queue);
}
