/* SPDX-License-Identifier: MIT */
/* Chips of this machine, from sysfs: nothing is opened, so a dead chip cannot block. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enumerate.h"
#include "internal.h"
#include "pci_address.h"

#define DRIVER "trn"

struct list {
	struct trn_device_list public;
	struct trn_device_entry *entries;
	const struct trn_device_entry **pointers;
};

/* Last part of the path that <class>/<name>/<link> points to; false if there is none that fits. */
static bool link_target(const char *class, const char *name, const char *link, char *target,
			size_t size)
{
	char path[512], value[512];
	const char *base;
	ssize_t length;

	snprintf(path, sizeof(path), "%s/%s/%s", class, name, link);
	length = readlink(path, value, sizeof(value) - 1);
	if (length < 0)
		return false;
	value[length] = 0;
	base = strrchr(value, '/');
	base = base ? base + 1 : value;
	if (strlen(base) >= size)
		return false;
	strcpy(target, base);
	return true;
}

static int numa_node(const char *class, const char *name)
{
	char path[512];
	int node = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/device/numa_node", class, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &node) != 1)
		node = -1;
	fclose(file);
	return node;
}

/* False when @name is not a chip of our driver, or went away while we looked. */
static bool read_entry(const char *class, const char *name, struct trn_device_entry *entry)
{
	char driver[32];

	if (strncmp(name, "accel", 5) || strlen(name) > 16)
		return false;
	if (!link_target(class, name, "device/driver", driver, sizeof(driver)) ||
	    strcmp(driver, DRIVER))
		return false;
	if (!link_target(class, name, "device", entry->pci, sizeof(entry->pci)))
		return false;
	snprintf(entry->node, sizeof(entry->node), "/dev/accel/%s", name);
	entry->numa_node = numa_node(class, name);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct trn_device_entry *left = a, *right = b;
	uint64_t l = trn_pci_order(left->pci), r = trn_pci_order(right->pci);

	return l < r ? -1 : l > r;
}

static int scan(DIR *directory, const char *class, struct list *list)
{
	struct dirent *file;
	size_t room = 0;

	while ((file = readdir(directory))) {
		size_t count = list->public.count;

		if (count == room) {
			void *more;

			room = room ? room * 2 : 16;
			more = realloc(list->entries, room * sizeof(*list->entries));
			if (!more)
				return -ENOMEM;
			list->entries = more;
		}
		if (read_entry(class, file->d_name, &list->entries[count]))
			list->public.count++;
	}
	return 0;
}

int trn_enumerate(const char *class, const struct trn_device_list **public)
{
	struct list *list = calloc(1, sizeof(*list));
	DIR *directory;
	size_t i;
	int error;

	if (!list)
		return trn_fail(-ENOMEM, "no memory for the list of devices");

	/* Without the directory there is no accelerator driver at all. */
	directory = opendir(class);
	if (directory) {
		error = scan(directory, class, list);
		closedir(directory);
		if (error)
			goto free_list;
	}

	if (list->public.count)
		qsort(list->entries, list->public.count, sizeof(*list->entries), compare);
	error = -ENOMEM;
	list->pointers = calloc(list->public.count + 1, sizeof(*list->pointers));
	if (!list->pointers)
		goto free_list;
	for (i = 0; i < list->public.count; i++) {
		list->entries[i].index = (unsigned int)i;
		list->pointers[i] = &list->entries[i];
	}
	list->public.entry = list->pointers;
	*public = &list->public;
	return 0;

free_list:
	trn_device_list_free(&list->public);
	return trn_fail(error, "no memory for the list of devices");
}

int trn_device_list(const struct trn_device_list **list)
{
	return trn_enumerate("/sys/class/accel", list);
}

void trn_device_list_free(const struct trn_device_list *public)
{
	/* public is the first member of what trn_enumerate() allocated. */
	struct list *list = (struct list *)public;

	if (!list)
		return;
	free(list->pointers);
	free(list->entries);
	free(list);
}
