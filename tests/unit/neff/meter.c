/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>

#include "meter.h"

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

static long in_use, peak;

static void count(long size)
{
	long now = __atomic_add_fetch(&in_use, size, __ATOMIC_RELAXED);

	if (now > __atomic_load_n(&peak, __ATOMIC_RELAXED))
		__atomic_store_n(&peak, now, __ATOMIC_RELAXED);
}

void meter_start(void)
{
	in_use = 0;
	peak = 0;
}

size_t meter_peak(void)
{
	return peak;
}

long meter_in_use(void)
{
	return in_use;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
	HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)

/* A sanitizer has the allocator, and calls these. */
size_t __sanitizer_get_allocated_size(const volatile void *pointer);
void __sanitizer_malloc_hook(const volatile void *pointer, size_t size);
void __sanitizer_free_hook(const volatile void *pointer);

void __sanitizer_malloc_hook(const volatile void *pointer, size_t size)
{
	(void)pointer;
	count(size);
}

void __sanitizer_free_hook(const volatile void *pointer)
{
	if (pointer)
		count(-(long)__sanitizer_get_allocated_size(pointer));
}

#else

/* glibc's own, behind ours of the same names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *pointer);

/* What was asked for counts while it is tried, what was got afterwards. */
static void *got(void *pointer, size_t asked)
{
	long size = asked < INTPTR_MAX / 2 ? (long)asked : INTPTR_MAX / 2;

	count(size);
	count(pointer ? (long)malloc_usable_size(pointer) - size : -size);
	return pointer;
}

void *malloc(size_t size)
{
	return got(__libc_malloc(size), size);
}

void *calloc(size_t number, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(number, size, &total))
		total = SIZE_MAX;
	return got(__libc_calloc(number, size), total);
}

void *realloc(void *pointer, size_t size)
{
	long before = pointer ? malloc_usable_size(pointer) : 0;
	void *result = got(__libc_realloc(pointer, size), size);

	if (result || !size)
		count(-before);
	return result;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return got(__libc_memalign(alignment, size), size);
}

void *memalign(size_t alignment, size_t size)
{
	return got(__libc_memalign(alignment, size), size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size)
{
	*pointer = got(__libc_memalign(alignment, size), size);
	return *pointer ? 0 : ENOMEM;
}

void free(void *pointer)
{
	if (pointer)
		count(-(long)malloc_usable_size(pointer));
	__libc_free(pointer);
}

#endif
