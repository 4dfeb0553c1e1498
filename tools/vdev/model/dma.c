// SPDX-License-Identifier: MIT
#include "dma.h"

#include "operand.h"
#include "shared.h"
#include "state.h"

#define DIMENSIONS 3

/*
 * A unit's work is bounded by TRN_DMA_UNIT bytes, and each piece counts as some more:
 * many small ones would take too long.  A move of an operand, which walks tables or
 * calls the host, takes about as long as to copy so many bytes.
 */
#define PIECE_COST 128
#define MOVE_COST  1024

static bool bad_length(uint64_t length)
{
	return length == 0 || length > TRN_PACKET_LENGTH_MAX;
}

uint8_t trn_copy_check(const struct trn_packet *packet)
{
	if (bad_length(le64toh(packet->copy.length)) ||
	    !trn_all_zero(packet->copy.reserved, sizeof(packet->copy.reserved)))
		return TRN_STOP_BAD_FIELD;
	return 0;
}

uint8_t trn_copy_nd_check(const struct trn_packet *packet)
{
	uint64_t length = 1;

	for (unsigned int i = 0; i <= DIMENSIONS; i++) {
		uint32_t size = le32toh(packet->copy_nd.size[i]);

		if (size == 0 || size > TRN_PACKET_LENGTH_MAX / length)
			return TRN_STOP_BAD_FIELD;
		length *= size;
	}
	return 0;
}

uint8_t trn_fill_check(const struct trn_packet *packet)
{
	uint64_t mask;

	if (packet->fill.unit_log2 > 3)
		return TRN_STOP_BAD_FIELD;
	mask = (1ULL << packet->fill.unit_log2) - 1;
	if (bad_length(le64toh(packet->fill.length)) || (le64toh(packet->fill.length) & mask) ||
	    (le64toh(packet->fill.destination) & mask) ||
	    !trn_all_zero(packet->fill.reserved, sizeof(packet->fill.reserved)))
		return TRN_STOP_BAD_FIELD;
	return 0;
}

uint64_t trn_dma_length(const struct trn_packet *packet)
{
	uint64_t length = 1;

	switch (packet->opcode) {
	case TRN_PACKET_COPY:
		return le64toh(packet->copy.length);
	case TRN_PACKET_FILL:
		return le64toh(packet->fill.length);
	default:
		for (unsigned int i = 0; i <= DIMENSIONS; i++)
			length *= le32toh(packet->copy_nd.size[i]);
		return length;
	}
}

/* The runs of a copy, without dimensions that do nothing. */
struct runs {
	uint64_t source;
	uint64_t destination;
	uint64_t length; /* of a run */
	unsigned int dimensions;
	uint64_t count[DIMENSIONS];
	uint64_t source_stride[DIMENSIONS];
	uint64_t destination_stride[DIMENSIONS];
};

static void get_runs(const struct trn_packet *packet, struct runs *runs)
{
	if (packet->opcode == TRN_PACKET_COPY) {
		*runs = (struct runs){
			.source = le64toh(packet->copy.source),
			.destination = le64toh(packet->copy.destination),
			.length = le64toh(packet->copy.length),
		};
		return;
	}
	*runs = (struct runs){
		.source = le64toh(packet->copy_nd.source),
		.destination = le64toh(packet->copy_nd.destination),
		.length = le32toh(packet->copy_nd.size[0]),
	};
	for (unsigned int i = 0; i < DIMENSIONS; i++) {
		uint32_t count = le32toh(packet->copy_nd.size[1 + i]);
		uint32_t source_stride = le32toh(packet->copy_nd.source_stride[i]);
		uint32_t destination_stride = le32toh(packet->copy_nd.destination_stride[i]);

		if (count == 1)
			continue;
		if (runs->dimensions == 0 && source_stride == runs->length &&
		    destination_stride == runs->length) {
			/* Each run begins where the one before it ends: they are one. */
			runs->length *= count;
			continue;
		}
		runs->count[runs->dimensions] = count;
		runs->source_stride[runs->dimensions] = source_stride;
		runs->destination_stride[runs->dimensions] = destination_stride;
		runs->dimensions++;
	}
}

/*
 * Where run number index begins.  Sums cannot wrap before a run, in the order of indexes, is out
 * of range: each begins less than 2^32 behind an earlier one.
 */
static void find_run(const struct runs *runs, uint64_t index, uint64_t *source,
		     uint64_t *destination)
{
	*source = runs->source;
	*destination = runs->destination;
	for (unsigned int i = 0; i < runs->dimensions; i++) {
		uint64_t position = index;

		if (i + 1 < runs->dimensions) {
			position = index % runs->count[i];
			index /= runs->count[i];
		}
		*source += position * runs->source_stride[i];
		*destination += position * runs->destination_stride[i];
	}
}

/* How much of a unit is left to be done; nothing more is begun when it is used up. */
static uint64_t minus(uint64_t budget, uint64_t cost)
{
	return budget > cost ? budget - cost : 0;
}

static uint64_t minimum(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * How many of the left bytes at a destination a budget allows.  It ends at the end of a page, or
 * all that follows would be out of step with pages and lines of the cache.
 */
static uint64_t affordable(uint64_t va, uint64_t left, uint64_t budget)
{
	uint64_t page_offset = va & (TRN_PAGE_SIZE - 1);
	uint64_t length = budget + TRN_PAGE_SIZE - 1 + page_offset;

	return minimum(left, (length & ~(TRN_PAGE_SIZE - 1)) - page_offset);
}

/* Copies a run from offset on as far as the budget goes. */
static bool copy_run(struct trn_operand *source, uint64_t source_va,
		     struct trn_operand *destination, uint64_t destination_va, uint64_t length,
		     uint64_t *offset, uint64_t *budget, struct trn_fault *fault)
{
	if (*offset == 0 &&
	    (!trn_range_check(source->asid, source_va, length, TRN_ACCESS_READ, fault) ||
	     !trn_range_check(source->asid, destination_va, length, TRN_ACCESS_WRITE, fault)))
		return false;

	while (*offset < length && *budget) {
		unsigned int moves = source->moves + destination->moves;
		size_t piece = affordable(destination_va + *offset, length - *offset, *budget);

		if (!trn_operand_seek(source, source_va + *offset, piece, fault) ||
		    !trn_operand_seek(destination, destination_va + *offset, source->length, fault))
			return false;
		piece = destination->length;
		if (!trn_operand_copy(destination, source, piece, fault))
			return false;
		*offset += piece;
		moves = source->moves + destination->moves - moves;
		*budget = minus(*budget, piece + PIECE_COST + moves * MOVE_COST);
	}
	return true;
}

bool trn_copy_unit(struct trn_chip *chip, uint16_t asid, const struct trn_packet *packet,
		   uint64_t *done, struct trn_fault *fault)
{
	const uint64_t total = trn_dma_length(packet);
	struct trn_operand source = {
		.chip = chip,
		.asid = asid,
		.access = TRN_ACCESS_READ,
		.find_holes = true,
	};
	struct trn_operand destination = {
		.chip = chip,
		.asid = asid,
		.access = TRN_ACCESS_WRITE,
	};
	uint64_t budget = TRN_DMA_UNIT;
	uint64_t index, offset;
	struct runs runs;
	bool ok = true;

	get_runs(packet, &runs);
	index = *done / runs.length;
	offset = *done % runs.length;
	while (ok && *done < total && budget) {
		uint64_t source_va, destination_va;

		find_run(&runs, index, &source_va, &destination_va);
		ok = copy_run(&source, source_va, &destination, destination_va, runs.length,
			      &offset, &budget, fault);
		*done = index * runs.length + offset;
		if (offset == runs.length) {
			offset = 0;
			index++;
		}
	}
	trn_operand_release(&source);
	trn_operand_release(&destination);
	return ok;
}

/* The low bytes of pattern repeated over 8 bytes. */
static uint64_t widen(uint64_t pattern, unsigned int unit_log2)
{
	for (unsigned int bits = 8U << unit_log2; bits < 64; bits *= 2) {
		pattern &= (1ULL << bits) - 1;
		pattern |= pattern << bits;
	}
	return pattern;
}

/* The pattern as it goes on after done bytes: a piece may end within a unit. */
static uint64_t rotate(uint64_t pattern, uint64_t done)
{
	unsigned int bits = done % 8 * 8;

	return bits ? pattern >> bits | pattern << (64 - bits) : pattern;
}

/* Fills from done on, one piece.  Zeroes over a hole are there already, however many. */
static bool fill_piece(struct trn_operand *destination, uint64_t va, uint64_t left,
		       uint64_t pattern, uint64_t *done, uint64_t *budget, struct trn_fault *fault)
{
	unsigned int moves = destination->moves;
	size_t piece;

	if (!trn_operand_seek(destination, va + *done, left, fault))
		return false;
	piece = destination->length;
	if (!destination->hole) {
		piece = affordable(destination->va, piece, *budget);
		if (!(pattern ? trn_operand_fill(destination, piece, rotate(pattern, *done), fault)
			      : trn_operand_zero(destination, piece, fault)))
			return false;
		*budget = minus(*budget, piece);
	}
	*done += piece;
	*budget = minus(*budget, PIECE_COST + (destination->moves - moves) * MOVE_COST);
	return true;
}

bool trn_fill_unit(struct trn_chip *chip, uint16_t asid, const struct trn_packet *packet,
		   uint64_t *done, struct trn_fault *fault)
{
	const uint64_t pattern = widen(le64toh(packet->fill.pattern), packet->fill.unit_log2);
	const uint64_t length = le64toh(packet->fill.length);
	const uint64_t va = le64toh(packet->fill.destination);
	struct trn_operand destination = {
		.chip = chip,
		.asid = asid,
		.access = TRN_ACCESS_WRITE,
		.find_holes = !pattern,
	};
	uint64_t budget = TRN_DMA_UNIT;
	bool ok;

	ok = *done || trn_range_check(asid, va, length, TRN_ACCESS_WRITE, fault);
	while (ok && *done < length && budget)
		ok = fill_piece(&destination, va, length - *done, pattern, done, &budget, fault);
	trn_operand_release(&destination);
	return ok;
}
