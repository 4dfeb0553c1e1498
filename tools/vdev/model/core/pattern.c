// SPDX-License-Identifier: MIT
#include "pattern.h"

#include <endian.h>

#include <hw/trn_regs.h>

#include "../shared.h"
#include "../state.h"
#include "core.h"

#define PLACE_FIELDS (TRN_PLACE_OFFSET_MASK | TRN_PLACE_PSUM | TRN_PLACE_REGISTER_MASK)

bool trn_shape_read(struct trn_core *core, uint8_t partitions, const __le16 size[3],
		    struct trn_shape *shape)
{
	shape->partitions = partitions;
	for (int i = 0; i < 3; i++)
		shape->size[i] = le16toh(size[i]);
	if (!partitions || partitions > TRN_PARTITIONS || !trn_shape_elements(shape) ||
	    trn_shape_elements(shape) > TRN_ELEMENTS_MAX)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	return true;
}

bool trn_pattern_dtype(struct trn_core *core, uint8_t dtype, const struct trn_dtype **found)
{
	*found = trn_dtype(dtype);
	if (!*found || !(core->chip->config.generation->dtypes >> dtype & 1))
		return trn_core_raise(core, TRN_EXCEPTION_BAD_DTYPE);
	return true;
}

bool trn_pattern_absent(const struct trn_access_pattern *access)
{
	return trn_all_zero((const uint8_t *)access, sizeof(*access));
}

bool trn_pattern_read(struct trn_core *core, const struct trn_access_pattern *access,
		      const struct trn_shape *shape, unsigned int pack, struct trn_pattern *pattern)
{
	uint32_t place = le32toh(access->place);
	bool psum = place & TRN_PLACE_PSUM;
	size_t size = psum ? core->psum_size : core->sbuf_size;
	/* Wraps as registers do. */
	int64_t offset = (int64_t)((place & TRN_PLACE_OFFSET_MASK) +
				   core->current->reg[(place & TRN_PLACE_REGISTER_MASK) >>
						      TRN_PLACE_REGISTER_SHIFT]);
	int64_t low = 0, high, unit;
	unsigned int elements;

	if (place & ~PLACE_FIELDS)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	if (!trn_pattern_dtype(core, access->dtype, &pattern->dtype))
		return false;
	/* A pack of FP4 is whole pairs. */
	elements = pack > 1 ? 1 : pattern->dtype->elements;
	unit = pack > 1 ? (int64_t)pattern->dtype->size * pack / pattern->dtype->elements
			: pattern->dtype->size;
	if (shape->size[0] % elements)
		return trn_core_raise(core, TRN_EXCEPTION_BAD_FIELD);
	high = unit;
	for (int i = 0; i < 3; i++) {
		int64_t last = (i ? shape->size[i] : shape->size[0] / elements) - 1;

		pattern->step[i] = (int16_t)le16toh(access->step[i]) * unit;
		if (pattern->step[i] < 0)
			low += last * pattern->step[i];
		else
			high += last * pattern->step[i];
	}
	if (access->partition + shape->partitions > TRN_PARTITIONS || offset < 0 ||
	    offset > (int64_t)size || offset + low < 0 || offset + high > (int64_t)size)
		return trn_core_raise(core, TRN_EXCEPTION_OUT_OF_RANGE);
	if (offset % unit)
		return trn_core_raise(core, TRN_EXCEPTION_UNALIGNED);
	pattern->partition_stride = psum ? core->psum_stride : core->sbuf_stride;
	pattern->base = (psum ? core->psum : core->sbuf) +
			access->partition * pattern->partition_stride + offset;
	return true;
}
