/* SPDX-License-Identifier: MIT */
/* The control socket: what it answers, and what it does with clients that misbehave. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake_chip.h"
#include "rig.h"
#include "tests/check_run.h"
#include "tools/vdev/control.h"

static struct rig rig;
static struct trn_control_chip chips[1];
static struct trn_control *control;
static struct sockaddr_un address;

static void begin(void)
{
	rig_begin_attached(&rig);
	chips[0] = (struct trn_control_chip){ "trn2", rig.server };
}

static void end(void)
{
	rig_end(&rig);
}

static json_t *ask(const char *request, size_t length)
{
	char *line = trn_control_answer(chips, 1, request, length);
	json_t *reply;

	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	reply = json_loads(line, 0, NULL);
	ck_assert(json_is_object(reply));
	free(line);
	return reply;
}

START_TEST(list)
{
	json_t *reply = ask("{\"verb\":\"list\"}", 15), *chip;

	ck_assert(json_is_true(json_object_get(reply, "ok")));
	ck_assert_uint_eq(json_array_size(json_object_get(reply, "chips")), 1);
	chip = json_array_get(json_object_get(reply, "chips"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(chip, "chip")), 0);
	ck_assert_str_eq(json_string_value(json_object_get(chip, "generation")), "trn2");
	ck_assert(json_is_true(json_object_get(chip, "attached")));
	json_decref(reply);
}
END_TEST

START_TEST(stats)
{
	static const char request[] = "{\"verb\":\"stats\",\"chip\":0}";
	json_t *reply, *counters;

	client_write(rig.socket, 0, 0x40, 4, 1);
	/* A write is answered before it is done; the read is behind it. */
	client_read(rig.socket, 0, 0x40, 4);
	reply = ask(request, strlen(request));
	counters = json_object_get(reply, "stats");
	ck_assert(json_is_true(json_object_get(reply, "ok")));
	ck_assert_int_eq(json_integer_value(json_object_get(counters, "clients")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(counters, "messages")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(counters, "register_writes")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(counters, "mappings")), 0);
	json_decref(reply);
}
END_TEST

/* Each row of the table in Documentation/vdev.rst. */
static const struct {
	const char *members;
	struct trn_injection injection;
} faults[] = {
	{ "\"hang\",\"queue\":3,\"cure\":\"queue\"",
	  { .fault = TRN_INJECT_HANG, .queue = 3, .cure = TRN_CURE_QUEUE } },
	{ "\"hang\",\"queue\":0,\"cure\":\"context\"",
	  { .fault = TRN_INJECT_HANG, .queue = 0, .cure = TRN_CURE_CONTEXT } },
	{ "\"hang\",\"queue\":7,\"cure\":\"core\"",
	  { .fault = TRN_INJECT_HANG, .queue = 7, .cure = TRN_CURE_CORE } },
	{ "\"hang\",\"queue\":255,\"cure\":\"function\"",
	  { .fault = TRN_INJECT_HANG, .queue = 255, .cure = TRN_CURE_FUNCTION } },
	{ "\"slow\",\"queue\":3,\"ms\":1", { .fault = TRN_INJECT_SLOW, .queue = 3, .ms = 1 } },
	{ "\"page-fault\",\"queue\":4", { .fault = TRN_INJECT_PAGE_FAULT, .queue = 4 } },
	{ "\"bad-packet\",\"queue\":5", { .fault = TRN_INJECT_BAD_PACKET, .queue = 5 } },
	{ "\"dma-abort\",\"queue\":6", { .fault = TRN_INJECT_DMA_ABORT, .queue = 6 } },
	{ "\"lost-interrupt\",\"vector\":0", { .fault = TRN_INJECT_LOST_INTERRUPT, .vector = 0 } },
	{ "\"duplicate-interrupt\",\"vector\":32",
	  { .fault = TRN_INJECT_DUPLICATE_INTERRUPT, .vector = 32 } },
	{ "\"late-interrupt\",\"vector\":7,\"ms\":250",
	  { .fault = TRN_INJECT_LATE_INTERRUPT, .vector = 7, .ms = 250 } },
	{ "\"lost-completion\"", { .fault = TRN_INJECT_LOST_COMPLETION } },
	{ "\"garbage-completion\"", { .fault = TRN_INJECT_GARBAGE_COMPLETION } },
	{ "\"slow-completion\",\"ms\":3600000",
	  { .fault = TRN_INJECT_SLOW_COMPLETION, .ms = 3600000 } },
	{ "\"heartbeat-stop\"", { .fault = TRN_INJECT_HEARTBEAT_STOP } },
	{ "\"fatal\"", { .fault = TRN_INJECT_FATAL } },
	{ "\"death\"", { .fault = TRN_INJECT_DEATH } },
};

START_TEST(inject)
{
	const struct trn_injection *expected = &faults[_i].injection;
	struct trn_injection injection;
	char request[256];
	json_t *reply;

	snprintf(request, sizeof(request), "{\"verb\":\"inject\",\"chip\":0,\"fault\":%s}",
		 faults[_i].members);
	reply = ask(request, strlen(request));
	ck_assert(json_is_true(json_object_get(reply, "ok")));
	json_decref(reply);
	injection = fake_chip_state().injection;
	ck_assert_int_eq(injection.fault, expected->fault);
	ck_assert_uint_eq(injection.queue, expected->queue);
	ck_assert_uint_eq(injection.vector, expected->vector);
	ck_assert_int_eq(injection.cure, expected->cure);
	ck_assert_uint_eq(injection.ms, expected->ms);
}
END_TEST

static void assert_refused(const char *request, const char *problem)
{
	json_t *reply = ask(request, strlen(request));
	const char *error = json_string_value(json_object_get(reply, "error"));

	ck_assert(json_is_false(json_object_get(reply, "ok")));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error, problem), "\"%s\" does not name \"%s\"", error, problem);
	json_decref(reply);
}

static void assert_done(const char *request)
{
	json_t *reply = ask(request, strlen(request));

	ck_assert(json_is_true(json_object_get(reply, "ok")));
	json_decref(reply);
}

START_TEST(refusals_of_the_chip)
{
	static const char of_queue[] =
		"{\"verb\":\"inject\",\"chip\":0,\"fault\":\"bad-packet\",\"queue\":9}";
	static const char of_vector[] =
		"{\"verb\":\"inject\",\"chip\":0,\"fault\":\"lost-interrupt\",\"vector\":9}";
	static const char of_chip[] = "{\"verb\":\"inject\",\"chip\":0,\"fault\":\"fatal\"}";

	fake_chip_refuse_injection(-ENOENT);
	assert_refused(of_queue, "chip 0 has no queue 9");
	fake_chip_refuse_injection(-ESHUTDOWN);
	assert_refused(of_queue, "queue 9 of chip 0 is stopped");
	fake_chip_refuse_injection(-EINVAL);
	assert_refused(of_queue, "queue 9 of chip 0 is of type DMA");
	fake_chip_refuse_injection(-EALREADY);
	assert_refused(of_queue, "queue 9 is not used up");
	assert_refused(of_vector, "vector 9 is not used up");
	assert_refused(of_chip, "chip 0");
	fake_chip_refuse_injection(-EAGAIN);
	assert_refused(of_chip, "READY");
	fake_chip_refuse_injection(-ENODEV);
	assert_refused(of_chip, "dead");
	fake_chip_refuse_injection(-ETIMEDOUT);
	assert_refused(of_chip, "client");
	fake_chip_refuse_injection(0);
	assert_done(of_chip);
}
END_TEST

START_TEST(unplug_and_plug)
{
	static const char unplug[] = "{\"verb\":\"unplug\",\"chip\":0}";
	static const char plug[] = "{\"verb\":\"plug\",\"chip\":0}";

	assert_refused(plug, "chip 0 is plugged in already");
	assert_done(unplug);
	ck_assert_uint_eq(client_read(rig.socket, 0, 0, 4), UINT32_MAX);
	assert_refused(unplug, "chip 0 is unplugged already");
	assert_refused("{\"verb\":\"inject\",\"chip\":0,\"fault\":\"fatal\"}", "unplugged");
	assert_done(plug);
	ck_assert_uint_ne(client_read(rig.socket, 7, 0, 2), 0xffff);
}
END_TEST

START_TEST(memcpy_takes_time)
{
	static const char *const requests[] = {
		"{\"verb\":\"memcpy\",\"bytes\":4096,\"copies\":3,\"rounds\":100}",
		"{\"verb\":\"memcpy\",\"bytes\":16777216}",
	};
	json_int_t ns[2];

	for (unsigned int i = 0; i < 2; i++) {
		json_t *reply = ask(requests[i], strlen(requests[i]));

		ck_assert(json_is_true(json_object_get(reply, "ok")));
		ns[i] = json_integer_value(json_object_get(reply, "ns"));
		json_decref(reply);
	}
	/* 4,096 times as much; a cache may make the small one faster still, nothing slower. */
	ck_assert_int_gt(ns[0], 0);
	ck_assert_int_gt(ns[1], 100 * ns[0]);
}
END_TEST

#define INJECT "{\"verb\":\"inject\",\"chip\":0"

static const struct {
	const char *request, *problem;
} wrong[] = {
	{ "", "not JSON" },
	{ "{\"verb\":", "not JSON" },
	{ "{\"verb\":\"list\",\"verb\":\"list\"}", "not JSON" },
	{ "\xff\xfe", "not JSON" },
	{ "[]", "not an object" },
	{ "{}", "\"verb\"" },
	{ "{\"verb\":7}", "\"verb\"" },
	{ "{\"verb\":\"dance\"}", "dance" },
	/* Longer than the others, and of characters that are longer than a byte. */
	{ "{\"verb\":\"zäääääääääääääääääääääääääääääääääääääääää\"}", "no verb" },
	{ "{\"verb\":\"memcpy\"}", "4096 to 268435456" },
	{ "{\"verb\":\"memcpy\",\"bytes\":\"4096\"}", "\"bytes\"" },
	{ "{\"verb\":\"memcpy\",\"bytes\":4095}", "4096" },
	{ "{\"verb\":\"memcpy\",\"bytes\":268435457}", "268435456" },
	{ "{\"verb\":\"memcpy\",\"bytes\":-1}", "\"bytes\"" },
	{ "{\"verb\":\"memcpy\",\"bytes\":4096,\"copies\":0}", "\"copies\"" },
	{ "{\"verb\":\"memcpy\",\"bytes\":4096,\"copies\":\"1\"}", "\"copies\"" },
	{ "{\"verb\":\"memcpy\",\"bytes\":4096,\"rounds\":1001}", "1 to 1000" },
	{ "{\"verb\":\"stats\"}", "\"chip\"" },
	{ "{\"verb\":\"stats\",\"chip\":\"0\"}", "\"chip\"" },
	{ "{\"verb\":\"stats\",\"chip\":1}", "no chip 1" },
	{ "{\"verb\":\"stats\",\"chip\":-1}", "no chip -1" },
	{ "{\"verb\":\"stats\",\"chip\":4294967296}", "no chip 4294967296" },
	{ "{\"verb\":\"unplug\"}", "\"chip\"" },
	{ "{\"verb\":\"unplug\",\"chip\":1}", "no chip 1" },
	{ "{\"verb\":\"plug\",\"chip\":1}", "no chip 1" },
	{ "{\"verb\":\"inject\",\"fault\":\"fatal\"}", "\"chip\"" },
	{ "{\"verb\":\"inject\",\"chip\":1,\"fault\":\"fatal\"}", "no chip 1" },
	{ INJECT "}", "\"fault\"" },
	{ INJECT ",\"fault\":3}", "\"fault\"" },
	{ INJECT ",\"fault\":\"dance\"}", "no fault \"dance\"; there are hang, slow" },
	{ INJECT ",\"fault\":\"hang\",\"cure\":\"queue\"}",
	  "\"queue\" must be a number, 0 to 255" },
	{ INJECT ",\"fault\":\"hang\",\"queue\":256,\"cure\":\"queue\"}", "0 to 255" },
	{ INJECT ",\"fault\":\"hang\",\"queue\":-1,\"cure\":\"queue\"}", "0 to 255" },
	{ INJECT ",\"fault\":\"hang\",\"queue\":\"1\",\"cure\":\"queue\"}", "\"queue\"" },
	{ INJECT ",\"fault\":\"hang\",\"queue\":1}", "\"cure\" must be" },
	{ INJECT ",\"fault\":\"hang\",\"queue\":1,\"cure\":\"prayer\"}", "\"function\"" },
	{ INJECT ",\"fault\":\"hang\",\"queue\":1,\"cure\":\"queue\",\"ms\":5}",
	  "hang has no \"ms\"; it has queue and cure" },
	{ INJECT ",\"fault\":\"slow\",\"queue\":1}", "\"ms\" must be a number, 1 to 3600000" },
	{ INJECT ",\"fault\":\"slow\",\"queue\":1,\"ms\":0}", "1 to 3600000" },
	{ INJECT ",\"fault\":\"slow\",\"queue\":1,\"ms\":3600001}", "1 to 3600000" },
	{ INJECT ",\"fault\":\"slow\",\"queue\":1,\"ms\":1.5}", "\"ms\"" },
	{ INJECT ",\"fault\":\"lost-interrupt\",\"vector\":33}", "0 to 32" },
	{ INJECT ",\"fault\":\"fatal\",\"queue\":1}",
	  "fatal has no \"queue\"; it has no more members" },
	{ INJECT ",\"fault\":\"fatal\",\"when\":1}", "\"when\"" },
};

START_TEST(wrong_requests_are_named)
{
	assert_refused(wrong[_i].request, wrong[_i].problem);
}
END_TEST

START_TEST(depth_is_bounded)
{
	size_t depth = 60000;
	char *request = malloc(depth);
	json_t *reply;

	memset(request, '[', depth);
	reply = ask(request, depth);
	ck_assert(json_is_false(json_object_get(reply, "ok")));
	json_decref(reply);
	free(request);
}
END_TEST

/* A listener of an abstract name, and the control thread. */
static void begin_socket(void)
{
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	begin();
	rig.fds_before--; /* the listener, which control closes */
	address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "trn-control-%d", getpid());
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 32), 0);
	control = trn_control_start(listener, chips, 1);
	ck_assert_ptr_nonnull(control);
}

static void end_socket(void)
{
	trn_control_stop(control);
	end();
}

static int connect_client(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Receives one line.  False at the end of the connection. */
static bool receive_line(int fd, char *line, size_t size)
{
	size_t length = 0;

	while (length < size - 1 && recv(fd, line + length, 1, 0) == 1) {
		if (line[length++] == '\n') {
			line[length] = 0;
			return true;
		}
	}
	return false;
}

START_TEST(lines_come_as_they_like)
{
	static const char requests[] = "{\"verb\":\"list\"}\n{\"verb\":\"nonsense\"}\n\n";
	char line[4096];
	int fd = connect_client();

	for (size_t i = 0; i < strlen(requests); i++)
		ck_assert_int_eq(send(fd, requests + i, 1, MSG_NOSIGNAL), 1);
	ck_assert(receive_line(fd, line, sizeof(line)));
	ck_assert_ptr_nonnull(strstr(line, "\"ok\":true"));
	ck_assert(receive_line(fd, line, sizeof(line)));
	ck_assert_ptr_nonnull(strstr(line, "nonsense"));
	ck_assert(receive_line(fd, line, sizeof(line)));
	ck_assert_ptr_nonnull(strstr(line, "not JSON"));
	ck_assert_int_eq(send(fd, requests, strlen(requests), MSG_NOSIGNAL), strlen(requests));
	for (int i = 0; i < 3; i++)
		ck_assert(receive_line(fd, line, sizeof(line)));
	close(fd);
}
END_TEST

START_TEST(long_line_is_refused)
{
	static char longest[TRN_CONTROL_LINE_MAX];
	int fd = connect_client(), other = connect_client();
	char line[4096];

	/* The longest that is taken: 65535 bytes and its end. */
	memset(longest, ' ', sizeof(longest));
	longest[sizeof(longest) - 1] = '\n';
	ck_assert_int_eq(send(fd, longest, sizeof(longest), MSG_NOSIGNAL), sizeof(longest));
	ck_assert(receive_line(fd, line, sizeof(line)));
	ck_assert_ptr_nonnull(strstr(line, "not JSON"));
	longest[sizeof(longest) - 1] = ' ';
	ck_assert_int_eq(send(fd, longest, sizeof(longest), MSG_NOSIGNAL), sizeof(longest));
	ck_assert(receive_line(fd, line, sizeof(line)));
	ck_assert_ptr_nonnull(strstr(line, "too long"));
	ck_assert(!receive_line(fd, line, sizeof(line)));
	close(fd);
	/* Nobody else has noticed. */
	ck_assert_int_eq(send(other, "{}\n", 3, MSG_NOSIGNAL), 3);
	ck_assert(receive_line(other, line, sizeof(line)));
	close(other);
}
END_TEST

START_TEST(clients_are_limited)
{
	int fd[17];
	char line[4096];

	for (int i = 0; i < 17; i++)
		fd[i] = connect_client();
	for (int i = 0; i < 16; i++) {
		ck_assert_int_eq(send(fd[i], "{}\n", 3, MSG_NOSIGNAL), 3);
		ck_assert(receive_line(fd[i], line, sizeof(line)));
	}
	ck_assert(!receive_line(fd[16], line, sizeof(line)));
	for (int i = 0; i < 17; i++)
		close(fd[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vdev-control");
	TCase *answers = tcase_create("answers"), *sockets = tcase_create("socket");

	tcase_add_checked_fixture(answers, begin, end);
	tcase_add_test(answers, list);
	tcase_add_test(answers, stats);
	tcase_add_loop_test(answers, inject, 0, sizeof(faults) / sizeof(faults[0]));
	tcase_add_test(answers, refusals_of_the_chip);
	tcase_add_test(answers, unplug_and_plug);
	tcase_add_test(answers, memcpy_takes_time);
	tcase_add_loop_test(answers, wrong_requests_are_named, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(answers, depth_is_bounded);
	suite_add_tcase(suite, answers);
	tcase_add_checked_fixture(sockets, begin_socket, end_socket);
	tcase_set_timeout(sockets, 30);
	tcase_add_test(sockets, lines_come_as_they_like);
	tcase_add_test(sockets, long_line_is_refused);
	tcase_add_test(sockets, clients_are_limited);
	suite_add_tcase(suite, sockets);
	return check_run(suite);
}
