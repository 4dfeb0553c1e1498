// SPDX-License-Identifier: MIT
#include "span.h"

#include <errno.h>
#include <string.h>

#include "shared.h"
#include "state.h"

bool trn_span_get(struct trn_chip *chip, uint16_t asid, uint64_t va, size_t length, uint8_t access,
		  struct trn_span *span, struct trn_fault *fault)
{
	const struct trn_extent *extent = &span->extent;
	int err;

	if (!trn_translate(chip, asid, va, length, access, &span->extent, fault))
		return false;
	span->length = extent->length < length ? extent->length : length;
	if (extent->hbm) {
		span->memory = chip->hbm.memory + extent->address;
		return true;
	}
	err = chip->ops->map(chip->host, extent->address, span->length, access == TRN_ACCESS_WRITE,
			     &span->map);
	if (err == -EOPNOTSUPP) {
		/* The next page may be other memory. */
		size_t page = TRN_PAGE_SIZE - (extent->address & (TRN_PAGE_SIZE - 1));

		if (span->length > page)
			span->length = page;
		span->memory = NULL;
		return true;
	}
	if (err)
		return trn_fault(fault, TRN_STOP_FAULT_HOST, asid, va, access);
	span->memory = span->map.address;
	if (span->length > span->map.length)
		span->length = span->map.length;
	return true;
}

void trn_span_put(struct trn_chip *chip, struct trn_span *span)
{
	if (!span->extent.hbm && span->memory)
		chip->ops->unmap(chip->host, &span->map);
}

bool trn_span_read(struct trn_chip *chip, uint16_t asid, uint64_t va, void *buffer, size_t length,
		   uint8_t access, struct trn_fault *fault)
{
	struct trn_span span;
	bool ok = true;

	if (!trn_span_get(chip, asid, va, length, access, &span, fault))
		return false;
	if (span.length < length)
		ok = false;
	else if (span.memory)
		memcpy(buffer, span.memory, length);
	else
		ok = !chip->ops->read(chip->host, span.extent.address, buffer, length);
	trn_span_put(chip, &span);
	return ok || trn_fault(fault, TRN_STOP_FAULT_HOST, asid, va, access);
}

bool trn_span_load64(struct trn_chip *chip, uint16_t asid, uint64_t va, uint64_t *value,
		     struct trn_fault *fault)
{
	struct trn_span span;
	bool ok = true;
	__le64 raw;

	if (!trn_span_get(chip, asid, va, sizeof(raw), TRN_ACCESS_READ, &span, fault))
		return false;
	if (span.length < sizeof(raw)) {
		ok = false;
	} else if (span.memory) {
		*value = trn_load64((const __le64 *)span.memory);
	} else {
		ok = !chip->ops->read(chip->host, span.extent.address, &raw, sizeof(raw));
		*value = le64toh(raw);
	}
	trn_span_put(chip, &span);
	return ok || trn_fault(fault, TRN_STOP_FAULT_HOST, asid, va, TRN_ACCESS_READ);
}

bool trn_span_store64(struct trn_chip *chip, uint16_t asid, uint64_t va, uint64_t value,
		      struct trn_fault *fault)
{
	const __le64 raw = htole64(value);
	struct trn_span span;
	bool ok = true;

	if (!trn_span_get(chip, asid, va, sizeof(raw), TRN_ACCESS_WRITE, &span, fault))
		return false;
	if (span.length < sizeof(raw))
		ok = false;
	else if (span.memory)
		trn_store64((__le64 *)span.memory, value);
	else
		ok = !chip->ops->write(chip->host, span.extent.address, &raw, sizeof(raw));
	trn_span_put(chip, &span);
	return ok || trn_fault(fault, TRN_STOP_FAULT_HOST, asid, va, TRN_ACCESS_WRITE);
}
