/* SPDX-License-Identifier: MIT */
#include "control.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults.h"
#include "log.h"
#include "memcpy_time.h"

#define CLIENTS_MAX 16
#define SUBJECT	    "control"

struct client {
	int socket;    /* -1: free */
	size_t length; /* of the line so far */
	char *line;    /* TRN_CONTROL_LINE_MAX bytes */
};

struct trn_control {
	const struct trn_control_chip *chips;
	unsigned int count;
	int listener;
	int stop; /* eventfd */
	pthread_t thread;
	struct client client[CLIENTS_MAX];
};

/* Requests */

static json_t *failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

static json_t *failure(const char *format, ...)
{
	va_list arguments;
	json_t *text;

	va_start(arguments, format);
	text = json_vsprintf(format, arguments);
	va_end(arguments);
	return json_pack("{s:b, s:o}", "ok", 0, "error", text);
}

/* The server that "chip" of the request names, or NULL and *problem. */
static struct trn_server *named_chip(const struct trn_control_chip *chips, unsigned int count,
				     const json_t *request, json_t **problem)
{
	const json_t *chip = json_object_get(request, "chip");
	json_int_t index = json_integer_value(chip);

	*problem = NULL;
	if (json_is_integer(chip) && index >= 0 && index < count)
		return chips[index].server;
	if (json_is_integer(chip))
		*problem = failure("there is no chip %" JSON_INTEGER_FORMAT "; there are 0 to %u",
				   index, count - 1);
	else
		*problem = failure("\"chip\" must be a number, 0 to %u", count - 1);
	return NULL;
}

/* Of a request whose chip is there. */
static unsigned int chip_index(const json_t *request)
{
	return json_integer_value(json_object_get(request, "chip"));
}

static json_t *do_list(const struct trn_control_chip *chips, unsigned int count,
		       const json_t *request)
{
	json_t *list = json_array();

	(void)request;
	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:i, s:s, s:b}", "chip", i, "generation",
						      chips[i].generation, "attached",
						      trn_server_attached(chips[i].server)));
	return json_pack("{s:b, s:o}", "ok", 1, "chips", list);
}

static void add_counter(json_t *counters, const char *name, uint64_t value)
{
	json_object_set_new(counters, name, json_integer(value));
}

static json_t *do_stats(const struct trn_control_chip *chips, unsigned int count,
			const json_t *request)
{
	struct trn_server_stats stats;
	json_t *problem, *counters;
	struct trn_server *server;

	server = named_chip(chips, count, request, &problem);
	if (!server)
		return problem;
	trn_server_read_stats(server, &stats);
	counters = json_object();
	add_counter(counters, "clients", stats.clients);
	add_counter(counters, "messages", stats.messages);
	add_counter(counters, "register_reads", stats.register_reads);
	add_counter(counters, "register_writes", stats.register_writes);
	add_counter(counters, "doorbells", stats.doorbells);
	add_counter(counters, "interrupts", stats.interrupts);
	add_counter(counters, "resets", stats.resets);
	add_counter(counters, "mappings", stats.mappings);
	return json_pack("{s:b, s:o}", "ok", 1, "stats", counters);
}

/* A number that may be missing, which is 1; 0: something else than TRN_MEMCPY_COUNT_MAX allows. */
static unsigned int memcpy_count(const json_t *request, const char *name)
{
	const json_t *number = json_object_get(request, name);
	json_int_t value = json_integer_value(number);

	if (!number)
		return 1;
	return value > 0 && value <= TRN_MEMCPY_COUNT_MAX ? (unsigned int)value : 0;
}

static json_t *do_memcpy(const struct trn_control_chip *chips, unsigned int count,
			 const json_t *request)
{
	const json_t *size = json_object_get(request, "bytes");
	unsigned int copies = memcpy_count(request, "copies");
	unsigned int rounds = memcpy_count(request, "rounds");
	json_int_t bytes = json_integer_value(size);
	uint64_t ns;
	int err;

	(void)chips;
	(void)count;
	if (!json_is_integer(size) || bytes < (json_int_t)TRN_MEMCPY_TIME_MIN ||
	    bytes > (json_int_t)TRN_MEMCPY_TIME_MAX)
		return failure("\"bytes\" must be a number, %lu to %lu", TRN_MEMCPY_TIME_MIN,
			       TRN_MEMCPY_TIME_MAX);
	if (!copies || !rounds)
		return failure("\"%s\" must be a number, 1 to %d", copies ? "rounds" : "copies",
			       TRN_MEMCPY_COUNT_MAX);
	err = trn_memcpy_time(bytes, copies, rounds, &ns);
	if (err)
		return failure("no memory for two times %" JSON_INTEGER_FORMAT " bytes: %s", bytes,
			       strerror(-err));
	return json_pack("{s:b, s:I}", "ok", 1, "ns", (json_int_t)ns);
}

/* A failure that says text, which is freed. */
static json_t *failure_text(char *text)
{
	json_t *reply = failure("%s", text ? text : "no memory");

	free(text);
	return reply;
}

static json_t *do_inject(const struct trn_control_chip *chips, unsigned int count,
			 const json_t *request)
{
	struct trn_injection injection;
	struct trn_server *server;
	json_t *problem;
	char *text;
	int err;

	server = named_chip(chips, count, request, &problem);
	if (!server)
		return problem;
	text = trn_fault_parse(request, &injection);
	if (text)
		return failure_text(text);
	err = trn_server_inject(server, &injection);
	if (err)
		return failure_text(trn_fault_refusal(chip_index(request), &injection, err));
	return json_pack("{s:b}", "ok", 1);
}

static json_t *do_unplug(const struct trn_control_chip *chips, unsigned int count,
			 const json_t *request)
{
	json_t *problem;
	struct trn_server *server = named_chip(chips, count, request, &problem);

	if (!server)
		return problem;
	if (trn_server_unplug(server))
		return failure("chip %u is unplugged already", chip_index(request));
	return json_pack("{s:b}", "ok", 1);
}

static json_t *do_plug(const struct trn_control_chip *chips, unsigned int count,
		       const json_t *request)
{
	json_t *problem;
	struct trn_server *server = named_chip(chips, count, request, &problem);

	if (!server)
		return problem;
	if (trn_server_plug(server))
		return failure("chip %u is plugged in already", chip_index(request));
	return json_pack("{s:b}", "ok", 1);
}

static const struct {
	const char *name;
	json_t *(*handle)(const struct trn_control_chip *chips, unsigned int count,
			  const json_t *request);
} verbs[] = {
	{ "list", do_list },	 { "stats", do_stats },	  { "memcpy", do_memcpy },
	{ "inject", do_inject }, { "unplug", do_unplug }, { "plug", do_plug },
};

static json_t *execute(const struct trn_control_chip *chips, unsigned int count,
		       const json_t *request)
{
	const char *verb = json_string_value(json_object_get(request, "verb"));

	if (!json_is_object(request))
		return failure("the request is not an object");
	if (!verb)
		return failure("\"verb\" must be a string");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!strcmp(verb, verbs[i].name))
			return verbs[i].handle(chips, count, request);
	}
	return failure(
		"there is no verb \"%s\"; there are list, stats, memcpy, inject, unplug and plug",
		verb);
}

char *trn_control_answer(const struct trn_control_chip *chips, unsigned int count,
			 const char *request, size_t length)
{
	json_error_t error;
	json_t *root = json_loadb(request, length, JSON_REJECT_DUPLICATES, &error);
	json_t *reply = root ? execute(chips, count, root)
			     : failure("not JSON: %s at column %d", error.text, error.column);
	char *text = json_dumps(reply, JSON_COMPACT), *line;

	json_decref(root);
	json_decref(reply);
	if (!text)
		return NULL;
	length = strlen(text);
	line = realloc(text, length + 2);
	if (!line) {
		free(text);
		return NULL;
	}
	strcpy(line + length, "\n");
	return line;
}

/* Clients */

static void drop_client(struct client *client)
{
	close(client->socket);
	free(client->line);
	*client = (struct client){ .socket = -1 };
}

static void accept_client(struct trn_control *control)
{
	int socket = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC);
	struct client *client = control->client;

	if (socket < 0)
		return;
	while (client < control->client + CLIENTS_MAX && client->socket >= 0)
		client++;
	if (client == control->client + CLIENTS_MAX) {
		trn_log(SUBJECT, "client refused: there are %d already", CLIENTS_MAX);
		close(socket);
		return;
	}
	client->line = malloc(TRN_CONTROL_LINE_MAX);
	if (!client->line) {
		close(socket);
		return;
	}
	client->socket = socket;
}

/* False if the client does not take its reply: it must not stop the others. */
static bool send_line(const struct client *client, const char *line)
{
	size_t length = strlen(line);

	return send(client->socket, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

/* Answers the whole lines that have come.  False if the client is to be dropped. */
static bool answer_lines(struct trn_control *control, struct client *client)
{
	char *start = client->line, *end;
	bool sent = true;

	while (sent && (end = memchr(start, '\n', client->line + client->length - start))) {
		char *reply =
			trn_control_answer(control->chips, control->count, start, end - start);

		sent = reply && send_line(client, reply);
		free(reply);
		start = end + 1;
	}
	client->length -= start - client->line;
	memmove(client->line, start, client->length);
	return sent;
}

static void receive(struct trn_control *control, struct client *client)
{
	ssize_t n = recv(client->socket, client->line + client->length,
			 TRN_CONTROL_LINE_MAX - client->length, 0);

	if (n <= 0) {
		drop_client(client);
		return;
	}
	client->length += n;
	if (!answer_lines(control, client)) {
		trn_log(SUBJECT, "client dropped: it does not read its replies");
		drop_client(client);
	} else if (client->length == TRN_CONTROL_LINE_MAX) {
		trn_log(SUBJECT, "client dropped: a line is longer than %d bytes",
			TRN_CONTROL_LINE_MAX);
		send_line(client, "{\"ok\":false,\"error\":\"the line is too long\"}\n");
		drop_client(client);
	}
}

static void *control_thread(void *argument)
{
	struct trn_control *control = argument;

	for (;;) {
		struct pollfd fds[2 + CLIENTS_MAX] = {
			{ .fd = control->stop, .events = POLLIN },
			{ .fd = control->listener, .events = POLLIN },
		};

		/* poll() skips those that are -1. */
		for (unsigned int i = 0; i < CLIENTS_MAX; i++)
			fds[2 + i] = (struct pollfd){ .fd = control->client[i].socket,
						      .events = POLLIN };
		if (poll(fds, 2 + CLIENTS_MAX, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
			if (fds[2 + i].revents)
				receive(control, &control->client[i]);
		}
		if (fds[1].revents)
			accept_client(control);
	}
	return NULL;
}

struct trn_control *trn_control_start(int listener, const struct trn_control_chip *chips,
				      unsigned int count)
{
	struct trn_control *control = calloc(1, sizeof(*control));
	int err = ENOMEM;

	if (!control)
		goto close_listener;
	control->chips = chips;
	control->count = count;
	control->listener = listener;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		control->client[i].socket = -1;
	control->stop = eventfd(0, EFD_CLOEXEC);
	err = errno;
	if (control->stop < 0)
		goto free_control;
	err = pthread_create(&control->thread, NULL, control_thread, control);
	if (err)
		goto close_stop;
	return control;

close_stop:
	close(control->stop);
free_control:
	free(control);
close_listener:
	close(listener);
	errno = err;
	return NULL;
}

void trn_control_stop(struct trn_control *control)
{
	eventfd_write(control->stop, 1);
	pthread_join(control->thread, NULL);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (control->client[i].socket >= 0)
			drop_client(&control->client[i]);
	}
	close(control->stop);
	close(control->listener);
	free(control);
}
