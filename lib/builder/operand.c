/* SPDX-License-Identifier: MIT */
/* Shapes and operands: checked as far as can be known before the program runs. */
#include <endian.h>

#include "../neff/neff.h"
#include "builder.h"

bool builder_extent(struct trn_builder *builder, const struct trn_tile *extent, uint8_t *partitions,
		    __le16 size[3])
{
	uint64_t elements = 1;
	bool good = extent->partitions && extent->partitions <= TRN_PARTITIONS;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		good = good && extent->size[i] && extent->size[i] <= UINT16_MAX;
		elements *= extent->size[i] & UINT16_MAX;
		size[i] = htole16((uint16_t)extent->size[i]);
	}
	*partitions = (uint8_t)extent->partitions;
	if (good && elements <= TRN_ELEMENTS_MAX)
		return true;
	trn_builder_fail(builder,
			 "shape (%u; %u, %u, %u): 1 to %d partitions, sizes of 1 to %d, together "
			 "at most %d elements",
			 extent->partitions, extent->size[0], extent->size[1], extent->size[2],
			 TRN_PARTITIONS, UINT16_MAX, TRN_ELEMENTS_MAX);
	return false;
}

bool builder_register(struct trn_builder *builder, uint32_t number)
{
	struct builder_stream *stream = builder_stream(builder, builder->engine);

	if (!stream)
		return false;
	if (number <= stream->registers)
		return true;
	trn_builder_fail(builder, "register %u: the engine has taken %u", number,
			 stream->registers);
	return false;
}

bool builder_variable(struct trn_builder *builder, uint32_t number)
{
	if (number < builder_core(builder)->num_variables)
		return true;
	trn_builder_fail(builder, "variable %u: the core has declared %u", number,
			 builder_core(builder)->num_variables);
	return false;
}

/* Without a register it is known which bytes of a partition the elements are in. */
static bool check_range(struct trn_builder *builder, const char *which,
			const struct trn_operand *operand, const struct trn_tile *extent,
			int64_t unit, uint32_t per_unit)
{
	int64_t low = operand->offset, high = operand->offset + unit;
	int64_t size = operand->psum ? TRN_BUILDER_PSUM_SIZE : builder->sbuf_size;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		int64_t count = i ? extent->size[i] : extent->size[i] / per_unit;
		int64_t way = operand->step[i] * (count - 1) * unit;

		if (way < 0)
			low += way;
		else
			high += way;
	}
	if (operand->offset % unit) {
		trn_builder_fail(builder,
				 "%s: offset %u is no multiple of the element's %lld bytes", which,
				 operand->offset, (long long)unit);
		return false;
	}
	if (low >= 0 && high <= size)
		return true;
	trn_builder_fail(builder, "%s: bytes %lld to %lld of a partition: %s has %lld", which,
			 (long long)low, (long long)high, operand->psum ? "PSUM" : "SBUF",
			 (long long)size);
	return false;
}

bool builder_operand(struct trn_builder *builder, const char *which,
		     const struct trn_operand *operand, const struct trn_tile *extent,
		     unsigned int pack, struct trn_access_pattern *pattern)
{
	const struct neff_dtype *dtype = neff_dtype(operand->dtype);
	uint32_t per_unit = operand->dtype == TRN_DTYPE_FP4 && pack == 1 ? 2 : 1;
	unsigned int i;

	if (!dtype || operand->offset > TRN_PLACE_OFFSET_MASK ||
	    operand->partition + extent->partitions > TRN_PARTITIONS ||
	    extent->size[0] % per_unit) {
		trn_builder_fail(builder,
				 "%s: type %u, %u partitions from %u on, offset %u: a TRN_DTYPE_, "
				 "%d partitions, an offset of at most %d; of fp4, pairs",
				 which, operand->dtype, extent->partitions, operand->partition,
				 operand->offset, TRN_PARTITIONS, TRN_PLACE_OFFSET_MASK);
		return false;
	}
	if (!builder_register(builder, operand->offset_register))
		return false;
	for (i = 0; i < 3; i++) {
		if (operand->step[i] < INT16_MIN || operand->step[i] > INT16_MAX) {
			trn_builder_fail(builder, "%s: step %d is outside of %d to %d", which,
					 operand->step[i], INT16_MIN, INT16_MAX);
			return false;
		}
		pattern->step[i] = htole16((uint16_t)operand->step[i]);
	}
	pattern->place = htole32(operand->offset | (operand->psum ? TRN_PLACE_PSUM : 0) |
				 operand->offset_register << TRN_PLACE_REGISTER_SHIFT);
	pattern->partition = (uint8_t)operand->partition;
	pattern->dtype = (uint8_t)operand->dtype;
	return operand->offset_register || check_range(builder, which, operand, extent,
						       dtype->bits * pack * per_unit / 8, per_unit);
}
