/* SPDX-License-Identifier: MIT */
#include "dma.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "protocol.h"
#include "shared_memory.h"

#define FILES_MAX 64 /* of one client */

/* A file of the client's, mapped from its start. */
struct trn_dma_file {
	struct trn_dma_file *next;
	dev_t device;
	ino_t inode;
	struct trn_shared_memory *memory;
	uint64_t size;
	bool writable;
	unsigned int ranges; /* that show a piece of it */
};

struct trn_dma_range {
	uint64_t first;
	uint64_t last; /* inclusive: a range may end at 2^64 */
	bool readable;
	bool writable;
	struct trn_dma_file *file; /* NULL: messages only */
	uint8_t *memory;
	unsigned int holders;
	struct trn_dma_range *next; /* in a removal */
};

void trn_dma_init(struct trn_dma *dma)
{
	*dma = (struct trn_dma){ 0 };
	pthread_mutex_init(&dma->lock, NULL);
	pthread_cond_init(&dma->released, NULL);
}

void trn_dma_destroy(struct trn_dma *dma)
{
	pthread_cond_destroy(&dma->released);
	pthread_mutex_destroy(&dma->lock);
}

/* Ranges that overlap compare as equal, so a search finds what is in the way. */
static int compare(const void *a, const void *b)
{
	const struct trn_dma_range *left = a, *right = b;

	if (left->last < right->first)
		return -1;
	return left->first > right->last;
}

static struct trn_dma_range *find(struct trn_dma *dma, uint64_t first, uint64_t last)
{
	const struct trn_dma_range key = { .first = first, .last = last };
	struct trn_dma_range **node = tfind(&key, &dma->ranges, compare);

	return node ? *node : NULL;
}

static int map_file(struct trn_dma *dma, const struct stat *stat, int fd, bool writable)
{
	struct trn_dma_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	err = trn_shared_memory_map(fd, stat->st_size, writable, &file->memory);
	if (err) {
		free(file);
		return err;
	}
	file->device = stat->st_dev;
	file->inode = stat->st_ino;
	file->size = stat->st_size;
	file->writable = writable;
	file->next = dma->files;
	dma->files = file;
	return 0;
}

/* Finds or makes the mapping of fd's file that reaches to end. */
static int get_file(struct trn_dma *dma, int fd, uint64_t end, bool writable,
		    struct trn_dma_file **result)
{
	unsigned int files = 0;
	struct trn_dma_file *file;
	struct stat stat;
	int err;

	if (fstat(fd, &stat))
		return -EINVAL;
	for (file = dma->files; file; file = file->next, files++) {
		if (file->device == stat.st_dev && file->inode == stat.st_ino &&
		    file->size >= end && file->writable >= writable)
			break;
	}
	if (!file) {
		if (!S_ISREG(stat.st_mode) || (uint64_t)stat.st_size < end)
			return -EINVAL;
		if (files == FILES_MAX)
			return -ENOSPC;
		err = map_file(dma, &stat, fd, writable);
		if (err)
			return err;
		file = dma->files;
	}
	file->ranges++;
	*result = file;
	return 0;
}

static void put_file(struct trn_dma *dma, struct trn_dma_file *file)
{
	struct trn_dma_file **link;

	if (--file->ranges)
		return;
	for (link = &dma->files; *link != file; link = &(*link)->next)
		;
	*link = file->next;
	trn_shared_memory_unmap(file->memory);
	free(file);
}

static bool aligned(uint64_t value)
{
	return value % VFIO_USER_PAGE_SIZE == 0;
}

static bool valid_span(uint64_t start, uint64_t size)
{
	return size && aligned(start) && aligned(size) && start + (size - 1) >= start;
}

int trn_dma_add(struct trn_dma *dma, uint64_t address, uint64_t size, bool readable, bool writable,
		int fd, uint64_t offset)
{
	struct trn_dma_range *range, **node;
	int err;

	if (!valid_span(address, size))
		return -EINVAL;
	if (fd >= 0 && (!valid_span(offset, size) || offset + size < size))
		return -EINVAL;
	range = calloc(1, sizeof(*range));
	if (!range)
		return -ENOMEM;
	range->first = address;
	range->last = address + (size - 1);
	range->readable = readable;
	range->writable = writable;

	pthread_mutex_lock(&dma->lock);
	err = -ENOSPC;
	if (dma->count == VFIO_USER_MAPPINGS_MAX)
		goto free_range;
	err = -EEXIST;
	if (find(dma, range->first, range->last))
		goto free_range;
	if (fd >= 0) {
		err = get_file(dma, fd, offset + size, writable, &range->file);
		if (err)
			goto free_range;
		range->memory = trn_shared_memory_base(range->file->memory) + offset;
	}
	err = -ENOMEM;
	node = tsearch(range, &dma->ranges, compare);
	if (!node)
		goto put_file;
	dma->count++;
	pthread_mutex_unlock(&dma->lock);
	return 0;

put_file:
	if (range->file)
		put_file(dma, range->file);
free_range:
	pthread_mutex_unlock(&dma->lock);
	free(range);
	return err;
}

int trn_dma_begin_removal(struct trn_dma *dma, uint64_t first, uint64_t last,
			  struct trn_dma_removal *removal)
{
	struct trn_dma_range *range;
	int err = 0;

	removal->ranges = NULL;
	pthread_mutex_lock(&dma->lock);
	range = find(dma, first, first);
	if (range && range->first < first)
		err = -EINVAL;
	range = find(dma, last, last);
	if (range && range->last > last)
		err = -EINVAL;
	while (!err && (range = find(dma, first, last))) {
		tdelete(range, &dma->ranges, compare);
		dma->count--;
		range->next = removal->ranges;
		removal->ranges = range;
	}
	pthread_mutex_unlock(&dma->lock);
	return err;
}

bool trn_dma_removal_held(struct trn_dma *dma, const struct trn_dma_removal *removal)
{
	bool held = false;

	pthread_mutex_lock(&dma->lock);
	for (const struct trn_dma_range *range = removal->ranges; range; range = range->next)
		held |= range->holders > 0;
	pthread_mutex_unlock(&dma->lock);
	return held;
}

void trn_dma_finish_removal(struct trn_dma *dma, struct trn_dma_removal *removal)
{
	struct trn_dma_range *range;

	pthread_mutex_lock(&dma->lock);
	while ((range = removal->ranges)) {
		while (range->holders)
			pthread_cond_wait(&dma->released, &dma->lock);
		removal->ranges = range->next;
		if (range->file)
			put_file(dma, range->file);
		free(range);
	}
	pthread_mutex_unlock(&dma->lock);
}

int trn_dma_hold(struct trn_dma *dma, uint64_t address, size_t length, bool write,
		 struct trn_host_map *map)
{
	struct trn_dma_range *range;
	int err = 0;

	pthread_mutex_lock(&dma->lock);
	range = find(dma, address, address);
	if (!range || !length || !(write ? range->writable : range->readable)) {
		err = -EFAULT;
	} else if (!range->file) {
		err = -EOPNOTSUPP;
	} else if (trn_shared_memory_lost(range->file->memory)) {
		err = -EFAULT;
	} else {
		range->holders++;
		map->address = range->memory + (address - range->first);
		map->length = range->last - address < length - 1
				      ? (size_t)(range->last - address) + 1
				      : length;
		map->first = range->first;
		map->last = range->last;
		map->token = range;
	}
	pthread_mutex_unlock(&dma->lock);
	return err;
}

void trn_dma_release(struct trn_dma *dma, struct trn_host_map *map)
{
	struct trn_dma_range *range = map->token;

	pthread_mutex_lock(&dma->lock);
	if (!--range->holders)
		pthread_cond_signal(&dma->released);
	pthread_mutex_unlock(&dma->lock);
}

unsigned int trn_dma_count(struct trn_dma *dma)
{
	unsigned int count;

	pthread_mutex_lock(&dma->lock);
	count = dma->count;
	pthread_mutex_unlock(&dma->lock);
	return count;
}
