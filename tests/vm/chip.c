/* SPDX-License-Identifier: MIT */
#include "chip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COREDUMP "/sys/class/devcoredump"

static void format_request(char command[512], const char *verb, const char *format,
			   va_list arguments)
{
	char members[256];

	vsnprintf(members, sizeof(members), format, arguments);
	snprintf(command, 512, "trn-vmctl vdev '{\"verb\":\"%s\"%s%s}' >/dev/null 2>&1", verb,
		 *members ? "," : "", members);
}

void chip_request(const char *verb, const char *format, ...)
{
	char command[512];
	va_list arguments;

	va_start(arguments, format);
	format_request(command, verb, format, arguments);
	va_end(arguments);
	ck_assert_msg(!system(command), "refused: %s", command);
}

bool chip_try_request(const char *verb, const char *format, ...)
{
	char command[512];
	va_list arguments;

	va_start(arguments, format);
	format_request(command, verb, format, arguments);
	va_end(arguments);
	return !system(command);
}

/* ---- debugfs and sysfs ----------------------------------------------- */

static FILE *open_debugfs(unsigned int chip, const char *name)
{
	char address[CHIP_ADDRESS_SIZE], path[128];
	FILE *file;

	chip_address(chip, address);
	snprintf(path, sizeof(path), "/sys/kernel/debug/accel/%s/%s", address, name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	return file;
}

uint64_t chip_client_id(int fd)
{
	char path[64], line[256];
	unsigned long long id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (!id && fgets(line, sizeof(line), file))
		sscanf(line, "drm-client-id: %llu", &id);
	fclose(file);
	ck_assert_uint_ne(id, 0);
	return id;
}

/* The number in a column whose title is @title, "vector". */
static unsigned int column(const char *titles, const char *line, const char *title)
{
	const char *name = titles, *value = line;
	unsigned int skip, found = 0;
	int length;

	for (skip = 0;; skip++) {
		name += strspn(name, " \n");
		ck_assert_msg(*name, "no column \"%s\" in: %s", title, titles);
		length = (int)strcspn(name, " \n");
		if ((size_t)length == strlen(title) && !strncmp(name, title, (size_t)length))
			break;
		name += length;
	}
	while (skip--) {
		value += strspn(value, " ");
		value += strcspn(value, " ");
	}
	ck_assert_msg(sscanf(value, "%u", &found) == 1, "no %s in: %s", title, line);
	return found;
}

struct chip_queue chip_queue(unsigned int chip, int fd, uint32_t queue)
{
	FILE *file = open_debugfs(chip, "queues");
	char titles[256], line[256];
	uint64_t client = chip_client_id(fd);

	ck_assert_ptr_nonnull(fgets(titles, sizeof(titles), file));
	while (fgets(line, sizeof(line), file)) {
		if (column(titles, line, "handle") != queue ||
		    column(titles, line, "client") != client)
			continue;
		fclose(file);
		return (struct chip_queue){
			.number = column(titles, line, "queue"),
			.vector = column(titles, line, "vector"),
		};
	}
	ck_abort_msg("debugfs does not know queue %u of client %" PRIu64, queue, client);
	return (struct chip_queue){ 0 };
}

static unsigned int count_lines(unsigned int chip, const char *name)
{
	FILE *file = open_debugfs(chip, name);
	unsigned int lines = 0;
	char line[256];

	while (fgets(line, sizeof(line), file))
		lines++;
	fclose(file);
	return lines;
}

/* The driver's own are among them. */
struct chip_use chip_use(unsigned int chip, int fd)
{
	return (struct chip_use){
		.free = guest_free(fd),
		.queues = count_lines(chip, "queues"),
		.spaces = count_lines(chip, "address_spaces"),
	};
}

void chip_expect_use(unsigned int chip, int fd, struct chip_use wanted)
{
	int64_t deadline = trn_deadline(10 * SECOND);
	struct chip_use use;

	/* Memory is cleared before it is free. */
	for (;;) {
		use = chip_use(chip, fd);
		if ((use.free == wanted.free && use.queues == wanted.queues &&
		     use.spaces == wanted.spaces) ||
		    trn_deadline(0) > deadline)
			break;
		usleep(10000);
	}
	ck_assert_uint_eq(use.free, wanted.free);
	ck_assert_uint_eq(use.queues, wanted.queues);
	ck_assert_uint_eq(use.spaces, wanted.spaces);
}

struct drm_trn_query_recovery chip_recovery(int fd)
{
	struct drm_trn_query_recovery recovery = { 0 };
	struct drm_trn_query query = {
		.query = DRM_TRN_QUERY_RECOVERY,
		.size = sizeof(recovery),
		.pointer = (uintptr_t)&recovery,
	};

	guest_fails(guest_ioctl(fd, DRM_IOCTL_TRN_QUERY, &query), 0);
	return recovery;
}

unsigned int chip_parameter(const char *name)
{
	char path[96];
	unsigned int value;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/trn/parameters/%s", name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(fscanf(file, "%u", &value), 1);
	fclose(file);
	return value;
}

/* ---- the bus --------------------------------------------------------- */

void chip_address(unsigned int chip, char address[CHIP_ADDRESS_SIZE])
{
	const struct trn_device_list *list;

	guest_ok(trn_device_list(&list));
	ck_assert_msg(chip < list->count, "there is no chip %u", chip);
	snprintf(address, CHIP_ADDRESS_SIZE, "%s", list->entry[chip]->pci);
	trn_device_list_free(list);
}

void chip_bus(const char *name, const char *text)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "/sys/bus/pci/%s", name);
	file = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_msg(file >= 0, "%s: %s", path, strerror(errno));
	ck_assert_msg(write(file, text, strlen(text)) == (ssize_t)strlen(text), "%s to %s: %s",
		      text, path, strerror(errno));
	close(file);
}

void chip_unbind(const char *address)
{
	chip_bus("drivers/trn/unbind", address);
}

void chip_bind(const char *address)
{
	chip_bus("drivers/trn/bind", address);
}

void chip_remove(const char *address)
{
	char name[64];

	snprintf(name, sizeof(name), "devices/%s/remove", address);
	chip_bus(name, "1");
}

void chip_rescan(void)
{
	chip_bus("rescan", "1");
}

void chip_expect(unsigned int count)
{
	int64_t deadline = trn_deadline(30 * SECOND);

	while (guest_chips() != count) {
		ck_assert_msg(trn_deadline(0) < deadline, "there are %u chips, not %u",
			      guest_chips(), count);
		usleep(20000);
	}
}

/* ---- what the kernel tells ------------------------------------------- */

int chip_events(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int events = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	ck_assert_int_ge(events, 0);
	ck_assert_int_eq(bind(events, (struct sockaddr *)&address, sizeof(address)), 0);
	return events;
}

/* A message is strings, each with its zero. */
static bool has_string(const char *message, ssize_t size, const char *wanted)
{
	const char *end = message + size;

	for (; message < end; message += strlen(message) + 1)
		if (!strcmp(message, wanted))
			return true;
	return false;
}

bool chip_event_seen(int events, const char *assignment)
{
	struct pollfd wait = { .fd = events, .events = POLLIN };
	int64_t deadline = trn_deadline(SECOND);
	char message[4096];
	bool seen = false;

	while (trn_deadline(0) < deadline) {
		ssize_t size;

		if (poll(&wait, 1, seen ? 0 : 100) <= 0) {
			if (seen)
				break;
			continue;
		}
		size = recv(events, message, sizeof(message) - 1, 0);
		if (size < 0)
			continue;
		message[size] = '\0';
		seen |= has_string(message, size, assignment);
	}
	return seen;
}

static bool take_dump(const char *name, const char *address)
{
	char path[300], target[256] = "", byte;
	bool taken;
	int file;

	snprintf(path, sizeof(path), COREDUMP "/%s/failing_device", name);
	if (readlink(path, target, sizeof(target) - 1) < 0 || !strstr(target, address))
		return false;
	snprintf(path, sizeof(path), COREDUMP "/%s/data", name);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return false;
	taken = read(file, &byte, 1) == 1;
	/* Any write frees it. */
	ck_assert_int_eq(write(file, "0", 1), 1);
	close(file);
	return taken;
}

bool chip_dump_taken(const char *address)
{
	DIR *directory = opendir(COREDUMP);
	struct dirent *entry;
	bool taken = false;

	if (!directory)
		return true;
	while ((entry = readdir(directory)))
		if (!strncmp(entry->d_name, "devcd", 5))
			taken |= take_dump(entry->d_name, address);
	closedir(directory);
	return taken;
}

unsigned int chip_error_lines(void)
{
	FILE *log = popen("dmesg --level emerg,alert,crit,err | grep -c 'trn '", "r");
	unsigned int count = 0;

	ck_assert_ptr_nonnull(log);
	ck_assert_int_eq(fscanf(log, "%u", &count), 1);
	pclose(log);
	return count;
}
