// SPDX-License-Identifier: MIT
#include "memory.h"

#include <string.h>

#include "../span.h"
#include "../state.h"

/* As much of it as is in one piece; 0 with *fault set. */
static size_t access_piece(struct trn_core *core, uint64_t va, uint8_t *buffer, size_t length,
			   uint8_t access, struct trn_fault *fault)
{
	struct trn_chip *chip = core->chip;
	struct trn_span span;
	int error = 0;

	if (!trn_span_get(chip, core->asid, va, length, access, &span, fault))
		return 0;
	if (span.memory && access == TRN_ACCESS_WRITE)
		memcpy(span.memory, buffer, span.length);
	else if (span.memory)
		memcpy(buffer, span.memory, span.length);
	else if (access == TRN_ACCESS_WRITE)
		error = chip->ops->write(chip->host, span.extent.address, buffer, span.length);
	else
		error = chip->ops->read(chip->host, span.extent.address, buffer, span.length);
	trn_span_put(chip, &span);
	if (!error)
		return span.length;
	trn_fault(fault, TRN_STOP_FAULT_HOST, core->asid, va, access);
	return 0;
}

bool trn_core_access(struct trn_core *core, uint64_t va, void *buffer, size_t length,
		     uint8_t access)
{
	struct trn_fault fault;

	while (length) {
		size_t piece = access_piece(core, va, buffer, length, access, &fault);

		if (!piece)
			return trn_core_fault(core, &fault);
		va += piece;
		buffer = (uint8_t *)buffer + piece;
		length -= piece;
	}
	return true;
}
