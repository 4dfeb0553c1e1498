// SPDX-License-Identifier: MIT
#include "operand.h"

#include <endian.h>
#include <math.h>

#include "tests/unit/model/numerics.h"

struct shape shape_of(unsigned int partitions, const __le16 size[3])
{
	return (struct shape){ partitions,
			       { le16toh(size[0]), le16toh(size[1]), le16toh(size[2]) } };
}

uint32_t index_number(struct index x, struct shape shape)
{
	return ((x.p * shape.size[2] + x.k) * shape.size[1] + x.j) * shape.size[0] + x.i;
}

uint8_t *operand_at(struct reference *reference, const struct trn_access_pattern *pattern,
		    struct index x, unsigned int group)
{
	uint32_t place = le32toh(pattern->place);
	bool psum = place & TRN_PLACE_PSUM;
	uint32_t size = psum ? REFERENCE_PSUM_SIZE : REFERENCE_SBUF_SIZE;
	unsigned int number = (place & TRN_PLACE_REGISTER_MASK) >> TRN_PLACE_REGISTER_SHIFT;
	bool pairs = pattern->dtype == TRN_DTYPE_FP4 && group == 1;
	int64_t bytes = pairs ? 1 : number_bits(pattern->dtype) * group / 8;
	int64_t step[3], offset;

	for (int axis = 0; axis < 3; axis++)
		step[axis] = (int16_t)le16toh(pattern->step[axis]);
	offset = (place & TRN_PLACE_OFFSET_MASK) + reference->registers[number];
	EXPECT(offset % bytes == 0, "offset %lld of elements of %lld bytes", (long long)offset,
	       (long long)bytes);
	offset += ((int64_t)(pairs ? x.i / 2 : x.i) * step[0] + x.j * step[1] + x.k * step[2]) *
		  bytes;
	EXPECT(offset >= 0 && offset + bytes <= size && pattern->partition + x.p < TRN_PARTITIONS,
	       "partition %u, offset %lld", pattern->partition + x.p, (long long)offset);
	return (psum ? reference->psum : reference->sbuf) +
	       (uint64_t)(pattern->partition + x.p) * size + offset;
}

uint32_t element_get(unsigned int dtype, const uint8_t *at, unsigned int half)
{
	uint32_t bits = 0;

	if (dtype == TRN_DTYPE_FP4)
		return *at >> (4 * half) & 15;
	for (unsigned int byte = 0; byte < number_bits(dtype) / 8; byte++)
		bits |= (uint32_t)at[byte] << (8 * byte);
	return bits;
}

void element_set(unsigned int dtype, uint8_t *at, unsigned int half, uint32_t bits)
{
	if (dtype == TRN_DTYPE_FP4)
		*at = (uint8_t)(half ? (*at & 0x0f) | bits << 4 : (*at & 0xf0) | bits);
	else
		for (unsigned int byte = 0; byte < number_bits(dtype) / 8; byte++)
			at[byte] = (uint8_t)(bits >> (8 * byte));
}

uint32_t operand_get(struct reference *reference, const struct trn_access_pattern *pattern,
		     struct index x)
{
	return element_get(pattern->dtype, operand_at(reference, pattern, x, 1), x.i % 2);
}

void operand_set(struct reference *reference, const struct trn_access_pattern *pattern,
		 struct index x, uint32_t bits)
{
	element_set(pattern->dtype, operand_at(reference, pattern, x, 1), x.i % 2, bits);
}

/* Philox4x32-10: Salmon et al., section 3.3 and table 2 */
static uint32_t philox(const uint32_t counter[4], const uint32_t key[2])
{
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];

	for (uint32_t round = 0; round < 10; round++) {
		uint64_t first = c0 * UINT64_C(0xd2511f53), second = c2 * UINT64_C(0xcd9e8d57);

		c0 = (uint32_t)(second >> 32) ^ c1 ^ (key[0] + round * 0x9e3779b9);
		c1 = (uint32_t)second;
		c2 = (uint32_t)(first >> 32) ^ c3 ^ (key[1] + round * 0xbb67ae85);
		c3 = (uint32_t)first;
	}
	return c0;
}

struct number_random operand_random(const struct reference *reference,
				    const struct trn_instruction *instruction, uint32_t element)
{
	const uint32_t counter[4] = { element, reference->issued, reference->engine, 0 };
	const uint32_t key[2] = { (uint32_t)reference->seed, (uint32_t)(reference->seed >> 32) };

	if (!(instruction->flags & TRN_FLAG_STOCHASTIC))
		return (struct number_random){ 0 };
	return (struct number_random){ true, philox(counter, key) };
}

void operand_bound(struct reference *reference, const struct trn_access_pattern *pattern,
		   struct index x, long double exact, long double bound)
{
	EXPECT(reference->num_bounds < REFERENCE_BOUNDS, "too many bounds");
	reference->bounds[reference->num_bounds++] =
		(struct reference_bound){ operand_at(reference, pattern, x, 1), pattern->dtype,
					  exact, bound, fabsl(exact) };
}

void sum_add(struct sum *sum, long double x)
{
	sum->exact += x;
	sum->magnitudes += fabsl(x);
	sum->terms++;
}

void operand_sum(struct reference *reference, const struct trn_access_pattern *pattern,
		 struct index x, const struct sum *sum)
{
	operand_bound(reference, pattern, x, sum->exact,
		      sum->terms * (0x1p-23L * sum->magnitudes + 0x1p-150L));
	reference->bounds[reference->num_bounds - 1].largest = sum->magnitudes;
}
