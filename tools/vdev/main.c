/* SPDX-License-Identifier: MIT */
/* trn-vdev: chips behind sockets.  The main thread accepts clients and waits for signals. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "log.h"
#include "options.h"
#include "vfio-user/server.h"

/* Memory that stays with all chips' HBM when it is filled with zeroes, bytes. */
#define HBM_KEPT (128ULL << 20)

struct listener {
	int socket; /* -1: none */
	struct sockaddr_un address;
};

struct chip {
	char name[16];
	struct trn_server *server; /* NULL: none */
	struct listener listener;
};

struct vdev {
	struct trn_options options;
	int signals; /* signalfd */
	struct chip chip[TRN_CHIPS_MAX];
	struct listener control_listener;
	struct trn_control_chip control_chip[TRN_CHIPS_MAX];
	struct trn_control *control;
};

/* A socket that nobody listens on is what a killed process leaves behind. */
static bool is_stale(const struct sockaddr_un *address)
{
	struct stat file;
	bool stale;
	int probe;

	/* connect() refuses what is no socket in the same way, and that is not ours to remove. */
	if (lstat(address->sun_path, &file) < 0 || !S_ISSOCK(file.st_mode))
		return false;
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return false;
	stale = connect(probe, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
		errno == ECONNREFUSED;
	close(probe);
	return stale;
}

static bool listen_at(struct listener *listener, const char *dir, const char *name)
{
	struct sockaddr_un *address = &listener->address;
	size_t room = sizeof(address->sun_path);
	const struct sockaddr *generic = (const struct sockaddr *)address;
	int fd;

	address->sun_family = AF_UNIX;
	if (snprintf(address->sun_path, room, "%s/%s.sock", dir, name) >= (int)room) {
		trn_log("main", "%s/%s.sock: longer than a socket's path can be (%zu bytes)", dir,
			name, room - 1);
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		goto failed;
	if (bind(fd, generic, sizeof(*address)) < 0) {
		if (errno != EADDRINUSE)
			goto close_fd;
		if (!is_stale(address)) {
			errno = EADDRINUSE;
			goto close_fd;
		}
		unlink(address->sun_path);
		if (bind(fd, generic, sizeof(*address)) < 0)
			goto close_fd;
	}
	if (listen(fd, 16) < 0)
		goto unlink_path;
	listener->socket = fd;
	return true;

unlink_path:
	unlink(address->sun_path);
close_fd:
	close(fd);
failed:
	trn_log("main", "%s: %s", address->sun_path, strerror(errno));
	return false;
}

static void stop_listening(struct listener *listener)
{
	if (listener->socket < 0)
		return;
	unlink(listener->address.sun_path);
	close(listener->socket);
}

/* splitmix64 */
static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* RFC 9562 version 8: the same for the same seed and index. */
static void make_uuid(uint8_t uuid[16], uint64_t seed, unsigned int index)
{
	uint64_t state = seed, words[2];

	state = mix(&state) ^ index;
	words[0] = mix(&state);
	words[1] = mix(&state);
	memcpy(uuid, words, sizeof(words));
	uuid[6] = (uuid[6] & 0x0f) | 0x80;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

static bool make_chip(struct vdev *vdev, unsigned int index)
{
	const struct trn_options *options = &vdev->options;
	struct chip *chip = &vdev->chip[index];
	struct trn_chip_config config = {
		.generation = options->generation,
		.hbm_size = options->hbm_size,
		.aperture = options->aperture,
		.hbm_kept = HBM_KEPT / options->chips,
		.page_sizes = options->page_sizes,
		.defects = options->defects[index],
	};

	make_uuid(config.uuid, options->seed, index);
	snprintf(config.serial, sizeof(config.serial), "TRNV-%04u", index);
	snprintf(chip->name, sizeof(chip->name), "chip%u", index);
	chip->server = trn_server_create(chip->name, &config);
	if (!chip->server) {
		trn_log(chip->name, "could not be made: %s", strerror(errno));
		return false;
	}
	vdev->control_chip[index] = (struct trn_control_chip){
		.generation = options->generation->name,
		.server = chip->server,
	};
	return listen_at(&chip->listener, options->socket_dir, chip->name);
}

/* All descriptors that clients can make us hold must fit; chips are all alike. */
static bool raise_file_limit(const struct vdev *vdev)
{
	struct rlimit limit;
	rlim_t needed = 64 + vdev->options.chips * trn_server_descriptors(vdev->chip[0].server);

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed)
		return true;
	if (limit.rlim_max < needed) {
		trn_log("main",
			"%u chips need %llu open files and the hard limit is %llu: raise it "
			"(ulimit -n) or take fewer chips",
			vdev->options.chips, (unsigned long long)needed,
			(unsigned long long)limit.rlim_max);
		return false;
	}
	limit.rlim_cur = needed;
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

static bool start_control(struct vdev *vdev)
{
	int listener;

	if (!listen_at(&vdev->control_listener, vdev->options.socket_dir, "control"))
		return false;
	listener = fcntl(vdev->control_listener.socket, F_DUPFD_CLOEXEC, 0);
	if (listener >= 0)
		vdev->control =
			trn_control_start(listener, vdev->control_chip, vdev->options.chips);
	if (!vdev->control)
		trn_log("main", "control socket: %s", strerror(errno));
	return vdev->control;
}

static void accept_client(struct chip *chip)
{
	int socket = accept4(chip->listener.socket, NULL, NULL, SOCK_CLOEXEC);
	int err;

	if (socket < 0)
		return;
	err = trn_server_attach(chip->server, socket);
	if (err == -EBUSY)
		trn_log(chip->name, "client refused: another one is attached");
	else if (err)
		trn_log(chip->name, "client refused: %s", strerror(-err));
}

/* Until a signal comes. */
static void run(struct vdev *vdev)
{
	unsigned int chips = vdev->options.chips;
	struct pollfd fds[1 + TRN_CHIPS_MAX];

	fds[0] = (struct pollfd){ .fd = vdev->signals, .events = POLLIN };
	for (unsigned int i = 0; i < chips; i++)
		fds[1 + i] =
			(struct pollfd){ .fd = vdev->chip[i].listener.socket, .events = POLLIN };
	for (;;) {
		if (poll(fds, 1 + chips, -1) < 0)
			continue; /* EINTR */
		if (fds[0].revents)
			return;
		for (unsigned int i = 0; i < chips; i++) {
			if (fds[1 + i].revents)
				accept_client(&vdev->chip[i]);
		}
	}
}

/* Before any thread is made, so that all of them leave the signals to this one. */
static int catch_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static bool start(struct vdev *vdev)
{
	if (!make_chip(vdev, 0) || !raise_file_limit(vdev))
		return false;
	for (unsigned int i = 1; i < vdev->options.chips; i++) {
		if (!make_chip(vdev, i))
			return false;
	}
	return start_control(vdev);
}

static void stop(struct vdev *vdev)
{
	if (vdev->control)
		trn_control_stop(vdev->control);
	stop_listening(&vdev->control_listener);
	for (unsigned int i = 0; i < vdev->options.chips; i++) {
		stop_listening(&vdev->chip[i].listener);
		if (vdev->chip[i].server)
			trn_server_destroy(vdev->chip[i].server);
	}
}

int main(int argc, char **argv)
{
	static struct vdev vdev;
	bool started;
	int status;

	status = trn_options_parse(&vdev.options, argc, argv);
	if (status >= 0)
		return status;
	for (unsigned int i = 0; i < TRN_CHIPS_MAX; i++)
		vdev.chip[i].listener.socket = -1;
	vdev.control_listener.socket = -1;
	umask(077);
	vdev.signals = catch_signals();
	started = vdev.signals >= 0 && start(&vdev);
	if (started) {
		puts("ready");
		fflush(stdout);
		run(&vdev);
	}
	stop(&vdev);
	return started ? 0 : 1;
}
