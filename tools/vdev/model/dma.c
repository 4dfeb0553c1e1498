// SPDX-License-Identifier: MIT
#include "dma.h"

#include <string.h>

#include "shared.h"
#include "span.h"
#include "state.h"

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

/* One operand on its way through virtual memory: the span at va, refilled when used up. */
struct operand {
	struct trn_chip *chip;
	uint16_t asid;
	uint8_t access;
	uint64_t va;
	bool held;
	bool hole; /* reads as zero, and must not be read through the mapping */
	struct trn_span span;
};

static void operand_release(struct operand *operand)
{
	if (operand->held)
		trn_span_put(operand->chip, &operand->span);
	operand->held = false;
}

/* HBM that nobody has written takes no memory, and reading it shall not change that. */
static void operand_find_hole(struct operand *operand)
{
	struct trn_span *span = &operand->span;
	size_t length = 0;

	if (span->extent.hbm)
		length = trn_hbm_hole(&operand->chip->hbm, span->extent.address, span->length);
	operand->hole = length;
	if (length)
		span->length = length;
}

/* Makes sure that the span has bytes, at most left of them. */
static bool operand_hold(struct operand *operand, uint64_t left, struct trn_fault *fault)
{
	struct trn_span *span = &operand->span;

	if (operand->held && span->length)
		return true;
	operand_release(operand);
	if (!span->extent.length && !trn_translate(operand->chip, operand->asid, operand->va, left,
						   operand->access, &span->extent, fault))
		return false;
	operand->held = trn_span_hold(operand->chip, operand->asid, operand->va, operand->access,
				      span, fault);
	if (operand->held && operand->access == TRN_ACCESS_READ)
		operand_find_hole(operand);
	return operand->held;
}

static void operand_advance(struct operand *operand, size_t length)
{
	struct trn_span *span = &operand->span;

	operand->va += length;
	span->extent.address += length;
	span->extent.length -= length;
	span->length -= length;
	if (span->memory)
		span->memory += length;
}

static bool operand_fault(const struct operand *operand, struct trn_fault *fault)
{
	return trn_fault(fault, TRN_STOP_FAULT_HOST, operand->asid, operand->va, operand->access);
}

static bool operand_read(const struct operand *operand, void *buffer, size_t length,
			 struct trn_fault *fault)
{
	struct trn_chip *chip = operand->chip;

	return !chip->ops->read(chip->host, operand->span.extent.address, buffer, length) ||
	       operand_fault(operand, fault);
}

static bool operand_write(const struct operand *operand, const void *buffer, size_t length,
			  struct trn_fault *fault)
{
	struct trn_chip *chip = operand->chip;

	return !chip->ops->write(chip->host, operand->span.extent.address, buffer, length) ||
	       operand_fault(operand, fault);
}

static void fill_memory(uint8_t *memory, size_t length, uint64_t pattern)
{
	const __le64 raw = htole64(pattern);
	size_t i;

	for (i = 0; i + sizeof(raw) <= length; i += sizeof(raw))
		memcpy(memory + i, &raw, sizeof(raw));
	memcpy(memory + i, &raw, length - i);
}

static bool fill_piece(const struct operand *destination, size_t length, uint64_t pattern,
		       struct trn_fault *fault)
{
	uint8_t bounce[TRN_PAGE_SIZE];

	if (destination->span.memory) {
		fill_memory(destination->span.memory, length, pattern);
		return true;
	}
	fill_memory(bounce, length, pattern);
	return operand_write(destination, bounce, length, fault);
}

/* Moves length bytes, which both spans have. */
static bool move(const struct operand *source, const struct operand *destination, size_t length,
		 struct trn_fault *fault)
{
	uint8_t bounce[TRN_PAGE_SIZE]; /* a span without a mapping is at most a page */

	if (source->hole)
		return fill_piece(destination, length, 0, fault);
	if (source->span.memory && destination->span.memory) {
		/* Two addresses may name the same memory. */
		memmove(destination->span.memory, source->span.memory, length);
		return true;
	}
	if (source->span.memory)
		return operand_write(destination, source->span.memory, length, fault);
	if (destination->span.memory)
		return operand_read(source, destination->span.memory, length, fault);
	return operand_read(source, bounce, length, fault) &&
	       operand_write(destination, bounce, length, fault);
}

static uint64_t unit_length(uint64_t length, uint64_t done)
{
	return length - done < TRN_DMA_UNIT ? length - done : TRN_DMA_UNIT;
}

static uint64_t minimum(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool trn_copy_unit(struct trn_chip *chip, uint16_t asid, const struct trn_packet *packet,
		   uint64_t *done, struct trn_fault *fault)
{
	const uint64_t length = le64toh(packet->copy.length);
	struct operand source = {
		.chip = chip,
		.asid = asid,
		.access = TRN_ACCESS_READ,
		.va = le64toh(packet->copy.source) + *done,
	};
	struct operand destination = {
		.chip = chip,
		.asid = asid,
		.access = TRN_ACCESS_WRITE,
		.va = le64toh(packet->copy.destination) + *done,
	};
	uint64_t left = unit_length(length, *done);
	bool ok = true;

	if (*done == 0 && (!trn_range_check(asid, source.va, length, TRN_ACCESS_READ, fault) ||
			   !trn_range_check(asid, destination.va, length, TRN_ACCESS_WRITE, fault)))
		return false;

	while (left) {
		size_t piece;

		ok = operand_hold(&source, left, fault) && operand_hold(&destination, left, fault);
		if (!ok)
			break;
		piece = minimum(source.span.length, destination.span.length);
		ok = move(&source, &destination, piece, fault);
		if (!ok)
			break;
		operand_advance(&source, piece);
		operand_advance(&destination, piece);
		*done += piece;
		left -= piece;
	}
	operand_release(&source);
	operand_release(&destination);
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

bool trn_fill_unit(struct trn_chip *chip, uint16_t asid, const struct trn_packet *packet,
		   uint64_t *done, struct trn_fault *fault)
{
	const uint64_t pattern = widen(le64toh(packet->fill.pattern), packet->fill.unit_log2);
	const uint64_t length = le64toh(packet->fill.length);
	struct operand destination = {
		.chip = chip,
		.asid = asid,
		.access = TRN_ACCESS_WRITE,
		.va = le64toh(packet->fill.destination) + *done,
	};
	uint64_t left = unit_length(length, *done);
	bool ok = true;

	if (*done == 0 && !trn_range_check(asid, destination.va, length, TRN_ACCESS_WRITE, fault))
		return false;

	while (left) {
		size_t piece;

		ok = operand_hold(&destination, left, fault);
		if (!ok)
			break;
		piece = destination.span.length;
		ok = fill_piece(&destination, piece, rotate(pattern, *done), fault);
		if (!ok)
			break;
		operand_advance(&destination, piece);
		*done += piece;
		left -= piece;
	}
	operand_release(&destination);
	return ok;
}
