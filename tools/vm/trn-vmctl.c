// SPDX-License-Identifier: MIT
/*
 * trn-vmctl: the guest's end of trn-vm's control port.  Tests use it to break
 * the chips that they run on.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PORT "/dev/virtio-ports/trn.control"

/* trn-vm begins each reply with "ok". */
static const char done_reply[] = "{\"ok\": true";

enum {
	OK,
	FAILED,
	USAGE
};

static const char help[] =
	"Usage: trn-vmctl vm VERB\n"
	"       trn-vmctl vdev REQUEST\n"
	"\n"
	"Asks trn-vm, outside of this guest, and prints its reply (JSON).\n"
	"\n"
	"  vm kill-vdev      kill trn-vdev: all chips are dead\n"
	"  vm start-vdev     start it again\n"
	"  vm vdev-rss       its resident memory in bytes\n"
	"  vdev REQUEST      a request for trn-vdev's control socket, a JSON object, e.g.\n"
	"                    trn-vmctl vdev '{\"verb\":\"stats\"}'\n"
	"\n"
	"Exit status: 0 done, 1 refused or failed, 2 wrong usage.\n";

static int usage(const char *problem)
{
	fprintf(stderr, "trn-vmctl: %s; see trn-vmctl --help\n", problem);
	return USAGE;
}

static int fail(const char *what)
{
	fprintf(stderr, "trn-vmctl: %s: %s\n", what, strerror(errno));
	return FAILED;
}

/* A port can be opened only once at a time: others wait for the lock beside it. */
static int open_port(void)
{
	int lock = open("/run/trn-vmctl.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0666);

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return -1;
	/* The lock stays until exit. */
	return open(PORT, O_RDWR | O_CLOEXEC);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		data += done;
		size -= (size_t)done;
	}
	return 0;
}

/* Prints the reply and returns the exit status that it means. */
static int read_reply(int fd)
{
	char reply[65536];
	size_t used = 0;

	while (used < sizeof(reply) - 1) {
		ssize_t done = read(fd, reply + used, sizeof(reply) - 1 - used);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return fail(PORT);
		if (done == 0)
			break;
		used += (size_t)done;
		if (reply[used - 1] == '\n')
			break;
	}
	reply[used] = '\0';
	fputs(reply, stdout);
	if (fflush(stdout))
		return fail("stdout");
	return strncmp(reply, done_reply, strlen(done_reply)) ? FAILED : OK;
}

static int exchange(const char *request)
{
	int fd = open_port();
	int status;

	if (fd < 0)
		return fail(PORT);
	if (write_all(fd, request, strlen(request)))
		status = fail(PORT);
	else
		status = read_reply(fd);
	close(fd);
	return status;
}

/* {"verb":"stats"} becomes {"to":"vdev","verb":"stats"}. */
static int vdev(const char *object)
{
	const char *members = object + strspn(object, " \t\n");
	char request[65536];
	int size;

	if (*members != '{')
		return usage("the request must be a JSON object, like '{\"verb\":\"stats\"}'");
	members++;
	members += strspn(members, " \t\n");
	size = snprintf(request, sizeof(request), "{\"to\":\"vdev\"%s%s\n",
			*members == '}' ? "" : ",", members);
	if (size < 0 || (size_t)size >= sizeof(request))
		return usage("the request is too long");
	if (strchr(request, '\n') != request + size - 1)
		return usage("the request must be one line");
	return exchange(request);
}

static int vm(const char *verb)
{
	char request[128];

	if (strlen(verb) > 32 || strspn(verb, "abcdefghijklmnopqrstuvwxyz-") != strlen(verb))
		return usage("VERB must be a word, like 'trn-vmctl vm kill-vdev'");
	snprintf(request, sizeof(request), "{\"to\":\"vm\",\"verb\":\"%s\"}\n", verb);
	return exchange(request);
}

int main(int argc, char **argv)
{
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(help, stdout);
		return OK;
	}
	if (argc == 3 && !strcmp(argv[1], "vm"))
		return vm(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "vdev"))
		return vdev(argv[2]);
	return usage("it should look like 'trn-vmctl vm VERB' or 'trn-vmctl vdev REQUEST'");
}
