// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/trn_accel.h>

#include "trn_array.h"

/**
 * trn_array_check() - whether a caller's array can be read
 * @array: the array as the caller describes it
 * @max_count: most elements
 * @min_stride: size of an element in the first version of the interface
 *
 * Return: 0; -E2BIG; -EINVAL.  An empty array has no stride.
 */
int trn_array_check(const struct drm_trn_array *array, u32 max_count, u32 min_stride)
{
	if (array->count > max_count || array->stride > PAGE_SIZE)
		return -E2BIG;
	return array->count && array->stride < min_stride ? -EINVAL : 0;
}

/* trn_array_read() of an element of another version's size. */
int trn_array_read_other(const struct drm_trn_array *array, u32 index, void *element, size_t size)
{
	const void __user *src = u64_to_user_ptr(array->pointer) + (u64)index * array->stride;
	size_t known = min_t(size_t, array->stride, size);
	int zero = 1;

	if (copy_from_user(element, src, known))
		return -EFAULT;
	if (size > known)
		memset(element + known, 0, size - known);
	else if (array->stride > known)
		zero = check_zeroed_user(src + known, array->stride - known);
	return zero > 0 ? 0 : zero ?: -E2BIG;
}

/* All elements, to where there is room for them.  As trn_array_read(). */
int trn_array_read_all(const struct drm_trn_array *array, void *elements, size_t size)
{
	int ret = 0;
	u32 i;

	if (array->stride == size)
		return copy_from_user(elements, u64_to_user_ptr(array->pointer),
				      array->count * size) ? -EFAULT : 0;
	for (i = 0; i < array->count && !ret; i++)
		ret = trn_array_read(array, i, elements + i * size, size);
	return ret;
}

/**
 * trn_array_copy() - copy an array of structures from user memory
 * @array: the array as the caller describes it
 * @max_count: most elements
 * @min_stride: size of an element in the first version of the interface
 * @size: size of an element in this version
 *
 * Return: @array->count elements of @size bytes, to be freed by kvfree(), NULL
 * for none; -E2BIG, -EINVAL, -EFAULT or -ENOMEM.
 */
void *trn_array_copy(const struct drm_trn_array *array, u32 max_count, u32 min_stride,
		     size_t size)
{
	void *elements;
	int ret;

	ret = trn_array_check(array, max_count, min_stride);
	if (ret)
		return ERR_PTR(ret);
	if (!array->count)
		return NULL;
	elements = kvmalloc_array(array->count, size, GFP_KERNEL_ACCOUNT);
	if (!elements)
		return ERR_PTR(-ENOMEM);
	ret = trn_array_read_all(array, elements, size);
	if (ret) {
		kvfree(elements);
		return ERR_PTR(ret);
	}
	return elements;
}
