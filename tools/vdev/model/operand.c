// SPDX-License-Identifier: MIT
#include "operand.h"

#include <errno.h>
#include <string.h>

#include "shared.h"
#include "state.h"

/*
 * What follows written memory is not looked at for so many bytes: to miss a hole costs a few
 * pages, to look for one often costs time.
 */
#define WRITTEN (1U << 20)

static size_t minimum(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool host_fault(const struct trn_operand *operand, struct trn_fault *fault)
{
	return trn_fault(fault, TRN_STOP_FAULT_HOST, operand->asid, operand->va, operand->access);
}

static bool seek_host(struct trn_operand *operand, struct trn_fault *fault)
{
	struct trn_host_map *map = &operand->map;
	uint64_t dma = operand->address;
	int err;

	if (operand->held && dma >= map->first && dma <= map->last) {
		operand->memory = operand->map_start + (dma - map->first);
		operand->length = minimum(operand->length - 1, map->last - dma) + 1;
		return true;
	}
	trn_operand_release(operand);
	operand->moves++;
	err = operand->chip->ops->map(operand->chip->host, dma, operand->length,
				      operand->access == TRN_ACCESS_WRITE, map);
	if (err == -EOPNOTSUPP) {
		/* The next page may be other memory. */
		operand->memory = NULL;
		operand->length =
			minimum(operand->length, TRN_PAGE_SIZE - (dma & (TRN_PAGE_SIZE - 1)));
		return true;
	}
	if (err)
		return host_fault(operand, fault);
	operand->held = true;
	operand->memory = map->address;
	operand->length = map->length;
	operand->map_start = operand->memory - (dma - map->first);
	return true;
}

static void find_hole(struct trn_operand *operand)
{
	uint64_t address = operand->address;
	size_t hole;

	operand->moves++;
	hole = trn_hbm_hole(&operand->chip->hbm, address,
			    operand->extent.length - (operand->va - operand->extent_va));
	operand->known_hole = hole;
	operand->known_start = address;
	operand->known_end = address + (hole ? hole : WRITTEN);
}

static void seek_hbm(struct trn_operand *operand)
{
	uint64_t address = operand->address;

	operand->memory = operand->chip->hbm.memory + address;
	if (!operand->find_holes)
		return;
	if (address < operand->known_start || address >= operand->known_end)
		find_hole(operand);
	operand->hole = operand->known_hole;
	operand->length = minimum(operand->length, operand->known_end - address);
}

bool trn_operand_seek(struct trn_operand *operand, uint64_t va, size_t length,
		      struct trn_fault *fault)
{
	struct trn_extent *extent = &operand->extent;
	uint64_t offset = va - operand->extent_va;

	if (offset >= extent->length) {
		operand->moves++;
		extent->length = 0;
		if (!trn_translate(operand->chip, operand->asid, va, length, operand->access,
				   extent, fault))
			return false;
		operand->extent_va = va;
		offset = 0;
	}
	operand->va = va;
	operand->address = extent->address + offset;
	operand->length = minimum(length, extent->length - offset);
	operand->hbm = extent->hbm;
	operand->hole = false;
	if (!operand->hbm)
		return seek_host(operand, fault);
	seek_hbm(operand);
	return true;
}

void trn_operand_release(struct trn_operand *operand)
{
	if (operand->held)
		operand->chip->ops->unmap(operand->chip->host, &operand->map);
	operand->held = false;
}

static bool host_read(const struct trn_operand *operand, void *buffer, size_t length,
		      struct trn_fault *fault)
{
	struct trn_chip *chip = operand->chip;

	return !chip->ops->read(chip->host, operand->address, buffer, length) ||
	       host_fault(operand, fault);
}

static bool host_write(const struct trn_operand *operand, const void *buffer, size_t length,
		       struct trn_fault *fault)
{
	struct trn_chip *chip = operand->chip;

	return !chip->ops->write(chip->host, operand->address, buffer, length) ||
	       host_fault(operand, fault);
}

static void fill_memory(uint8_t *memory, size_t length, uint64_t pattern)
{
	const __le64 raw = htole64(pattern);
	size_t i;

	for (i = 0; i + sizeof(raw) <= length; i += sizeof(raw))
		memcpy(memory + i, &raw, sizeof(raw));
	memcpy(memory + i, &raw, length - i);
}

bool trn_operand_fill(const struct trn_operand *destination, size_t length, uint64_t pattern,
		      struct trn_fault *fault)
{
	uint8_t bounce[TRN_PAGE_SIZE];

	if (destination->memory) {
		fill_memory(destination->memory, length, pattern);
		return true;
	}
	fill_memory(bounce, length, pattern);
	return host_write(destination, bounce, length, fault);
}

bool trn_operand_zero(const struct trn_operand *destination, size_t length, struct trn_fault *fault)
{
	if (!destination->hbm)
		return trn_operand_fill(destination, length, 0, fault);
	trn_hbm_zero(&destination->chip->hbm, destination->address, length);
	return true;
}

bool trn_operand_copy(const struct trn_operand *destination, const struct trn_operand *source,
		      size_t length, struct trn_fault *fault)
{
	uint8_t bounce[TRN_PAGE_SIZE];

	if (source->hole)
		return trn_operand_zero(destination, length, fault);
	if (source->memory && destination->memory) {
		/* Two addresses may name the same memory. */
		memmove(destination->memory, source->memory, length);
		return true;
	}
	if (source->memory)
		return host_write(destination, source->memory, length, fault);
	if (destination->memory)
		return host_read(source, destination->memory, length, fault);
	return host_read(source, bounce, length, fault) &&
	       host_write(destination, bounce, length, fault);
}
