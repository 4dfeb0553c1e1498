/* SPDX-License-Identifier: MIT */
/*
 * Transfers through staging memory: the CPU fills or empties one stage while the device copies
 * the other.
 */
#include "internal.h"
#include "transfer.h"

static int make_stage(struct trn_queue *queue, struct trn_stage *stage)
{
	void *pointer;
	int error;

	if (!stage->buffer) {
		error = trn_buffer_create(queue->context, TRN_PLACEMENT_HOST, TRN_STACK_ANY,
					  TRN_STAGE_SIZE, 0, &stage->buffer);
		if (error)
			return error;
	}
	error = trn_buffer_map(stage->buffer, &pointer);
	if (!error)
		stage->pointer = pointer;
	return error;
}

/* Makes sure that a stage is there and that the device has done with it. */
static int take_stage(struct trn_queue *queue, struct trn_stage *stage)
{
	if (!stage->pointer)
		return make_stage(queue, stage);
	return trn_queue_wait(queue, stage->sequence, TRN_FOREVER);
}

/* A piece's bytes without gaps, from @start on. */
static struct trn_box_side dense(const struct trn_box *piece, uint64_t start)
{
	const uint64_t *sizes = piece->sizes;

	return (struct trn_box_side){
		.start = start,
		.strides = { sizes[0], sizes[0] * sizes[1], sizes[0] * sizes[1] * sizes[2] },
	};
}

/* The device's half of a piece, between its place and the stage. */
static int submit_piece(struct trn_queue *queue, const struct trn_box *piece,
			struct trn_stage *stage)
{
	int error = trn_transfer_put(queue, piece);

	return error ? error : trn_queue_submit(queue, &stage->sequence);
}

struct write {
	struct trn_queue *queue;
	unsigned int turn;
};

static int write_piece(const struct trn_box *piece, void *context)
{
	struct write *write = context;
	struct trn_stage *stage = &write->queue->stage[write->turn++ % TRN_STAGES];
	struct trn_box half = *piece;
	int error = take_stage(write->queue, stage);

	if (error)
		return error;
	half.to = dense(piece, (uintptr_t)stage->pointer);
	trn_transfer_by_cpu(&half);
	half.to = piece->to;
	half.from = dense(piece, trn_buffer_address(stage->buffer));
	return submit_piece(write->queue, &half, stage);
}

int trn_transfer_staged_write(struct trn_queue *queue, const struct trn_box *box)
{
	struct write write = { .queue = queue };
	uint64_t sequence;
	int error = trn_queue_submit(queue, NULL);

	if (!error)
		error = trn_box_cut(box, TRN_STAGE_SIZE, write_piece, &write);
	if (!error)
		error = trn_queue_submit(queue, &sequence);
	return error ? error : trn_queue_wait(queue, sequence, TRN_FOREVER);
}

struct read {
	struct trn_queue *queue;
	unsigned int turn;
	/* What is to be done with a stage when the device has filled it. */
	struct {
		bool due;
		struct trn_box half;
	} rest[TRN_STAGES];
};

static int finish_piece(struct read *read, unsigned int turn)
{
	struct trn_stage *stage = &read->queue->stage[turn];
	int error;

	if (!read->rest[turn].due)
		return 0;
	error = trn_queue_wait(read->queue, stage->sequence, TRN_FOREVER);
	if (error)
		return error;
	trn_transfer_by_cpu(&read->rest[turn].half);
	read->rest[turn].due = false;
	return 0;
}

static int read_piece(const struct trn_box *piece, void *context)
{
	struct read *read = context;
	unsigned int turn = read->turn++ % TRN_STAGES;
	struct trn_stage *stage = &read->queue->stage[turn];
	struct trn_box half = *piece;
	int error = finish_piece(read, turn);

	if (!error)
		error = take_stage(read->queue, stage);
	if (error)
		return error;
	half.to = dense(piece, trn_buffer_address(stage->buffer));
	error = submit_piece(read->queue, &half, stage);
	if (error)
		return error;
	half.to = piece->to;
	half.from = dense(piece, (uintptr_t)stage->pointer);
	read->rest[turn].half = half;
	read->rest[turn].due = true;
	return 0;
}

int trn_transfer_staged_read(struct trn_queue *queue, const struct trn_box *box)
{
	struct read read = { .queue = queue };
	int error = trn_queue_submit(queue, NULL), i;

	if (!error)
		error = trn_box_cut(box, TRN_STAGE_SIZE, read_piece, &read);
	/* The oldest first. */
	for (i = 0; !error && i < TRN_STAGES; i++)
		error = finish_piece(&read, read.turn++ % TRN_STAGES);
	return error;
}
