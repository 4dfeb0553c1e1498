/* SPDX-License-Identifier: MIT */
/* Attaching, negotiating, asking what there is, resetting, going away. */
#include <errno.h>
#include <jansson.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_chip.h"
#include "hw/trn_regs.h"
#include "rig.h"
#include "suites.h"

static struct rig rig;

/* VERSION with this text, or none if NULL; the reply's capabilities, or NULL. */
static json_t *negotiate(uint16_t minor, const char *text)
{
	const struct vfio_user_version version = { 0, minor };
	uint8_t body[1024];
	size_t size = sizeof(version);
	struct reply reply;
	json_t *root;

	memcpy(body, &version, sizeof(version));
	if (text) {
		memcpy(body + size, text, strlen(text) + 1);
		size += strlen(text) + 1;
	}
	reply = client_request(rig.socket, VFIO_USER_VERSION, body, size, NULL, 0);
	ck_assert_int_eq(reply.header.error, 0);
	ck_assert_uint_ge(reply.size, sizeof(version));
	/* 0.0 is the highest that we know. */
	ck_assert_uint_eq(((struct vfio_user_version *)reply.body)->major, 0);
	ck_assert_uint_eq(((struct vfio_user_version *)reply.body)->minor, 0);
	if (reply.size == sizeof(version))
		return NULL;
	ck_assert_uint_eq(reply.body[reply.size - 1], 0);
	root = json_loads((char *)reply.body + sizeof(version), 0, NULL);
	ck_assert_ptr_nonnull(root);
	return root;
}

START_TEST(version_answers_what_was_asked)
{
	json_t *root, *capabilities;

	rig_begin(&rig, 0);
	rig_attach(&rig);
	root = negotiate(3, "{\"capabilities\":{\"max_msg_fds\":8,\"max_dma_maps\":65535,"
			    "\"twin_socket\":{\"supported\":true},\"unknown\":[]}}");
	capabilities = json_object_get(root, "capabilities");
	ck_assert_uint_eq(json_object_size(capabilities), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(capabilities, "max_msg_fds")), 16);
	ck_assert_int_eq(json_integer_value(json_object_get(capabilities, "max_dma_maps")), 65535);
	json_decref(root);
	rig_end(&rig);
}
END_TEST

START_TEST(version_without_data)
{
	rig_begin(&rig, 0);
	rig_attach(&rig);
	ck_assert_ptr_null(negotiate(0, NULL));
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 0, 2),
			  TRN_PCI_VENDOR);
	rig_end(&rig);
}
END_TEST

/* The reply must fit where the request was: QEMU gives it no more room. */
START_TEST(version_reply_is_no_longer_than_the_request)
{
	static const char text[] =
		"{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":1048576,"
		"\"max_dma_maps\":65535,\"pgsizes\":4096,\"write_multiple\":true}}";
	json_t *root;
	char *reply;

	rig_begin(&rig, 0);
	rig_attach(&rig);
	root = negotiate(0, text);
	reply = json_dumps(root, JSON_COMPACT);
	ck_assert_uint_le(strlen(reply), strlen(text));
	free(reply);
	json_decref(root);
	rig_end(&rig);
}
END_TEST

START_TEST(device_info)
{
	struct vfio_user_device_info info = { .argsz = sizeof(info) };
	struct reply reply;

	rig_begin_attached(&rig);
	reply = client_request(rig.socket, VFIO_USER_DEVICE_GET_INFO, &info, sizeof(info), NULL, 0);
	ck_assert_uint_eq(reply.size, sizeof(info));
	memcpy(&info, reply.body, sizeof(info));
	ck_assert_uint_eq(info.flags, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	ck_assert_uint_eq(info.num_regions, VFIO_PCI_NUM_REGIONS);
	ck_assert_uint_eq(info.num_irqs, VFIO_PCI_NUM_IRQS);
	info = (struct vfio_user_device_info){ .argsz = sizeof(info) - 1 };
	client_expect_error(rig.socket, VFIO_USER_DEVICE_GET_INFO, &info, sizeof(info), EINVAL);
	rig_end(&rig);
}
END_TEST

static struct vfio_region_info region_info(uint32_t index, int *fd)
{
	struct vfio_region_info info = { .argsz = sizeof(info), .index = index };
	struct reply reply = client_request(rig.socket, VFIO_USER_DEVICE_GET_REGION_INFO, &info,
					    sizeof(info), NULL, 0);

	ck_assert_int_eq(reply.header.error, 0);
	ck_assert_uint_eq(reply.size, sizeof(info));
	memcpy(&info, reply.body, sizeof(info));
	ck_assert_uint_eq(info.index, index);
	*fd = reply.fd;
	return info;
}

static void expect_regions(const uint64_t sizes[VFIO_PCI_NUM_REGIONS])
{
	const uint32_t access = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	int fd;

	for (uint32_t i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
		struct vfio_region_info info = region_info(i, &fd);
		bool mapped = i == TRN_BAR_HBM && sizes[i];

		ck_assert_uint_eq(info.size, sizes[i]);
		ck_assert_uint_eq(info.flags, (sizes[i] ? access : 0) |
						      (mapped ? VFIO_REGION_INFO_FLAG_MMAP : 0));
		ck_assert_int_eq(fd >= 0, mapped);
		if (fd >= 0)
			close(fd);
	}
}

START_TEST(region_info_of_all_regions)
{
	/* Six queues of 4 KiB need 32 KiB. */
	static const uint64_t sizes[VFIO_PCI_NUM_REGIONS] = {
		[0] = 128 << 10,
		[2] = RIG_APERTURE,
		[4] = 32 << 10,
		[VFIO_PCI_CONFIG_REGION_INDEX] = 4096,
	};
	struct vfio_region_info info = { .argsz = sizeof(info), .index = VFIO_PCI_NUM_REGIONS };

	rig_begin_attached(&rig);
	expect_regions(sizes);
	client_expect_error(rig.socket, VFIO_USER_DEVICE_GET_REGION_INFO, &info, sizeof(info),
			    EINVAL);
	info = (struct vfio_region_info){ .argsz = sizeof(info) - 1 };
	client_expect_error(rig.socket, VFIO_USER_DEVICE_GET_REGION_INFO, &info, sizeof(info),
			    EINVAL);
	rig_end(&rig);
}
END_TEST

START_TEST(defects_shape_the_regions)
{
	static const uint64_t sizes[VFIO_PCI_NUM_REGIONS] = {
		[0] = 128 << 10,
		[4] = 16 << 10,
		[VFIO_PCI_CONFIG_REGION_INDEX] = 4096,
	};

	rig_begin(&rig, TRN_DEFECT_NO_APERTURE | TRN_DEFECT_SMALL_BAR);
	rig_attach(&rig);
	client_negotiate(rig.socket);
	expect_regions(sizes);
	rig_end(&rig);
}
END_TEST

START_TEST(aperture_is_hbm)
{
	struct vfio_region_info info;
	uint32_t *aperture;
	int fd;

	rig_begin_attached(&rig);
	info = region_info(TRN_BAR_HBM, &fd);
	aperture = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, info.offset);
	ck_assert_ptr_ne(aperture, MAP_FAILED);
	close(fd);
	aperture[3] = 0x12345678;
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_HBM, 12, 4), 0x12345678);
	client_write(rig.socket, TRN_BAR_HBM, RIG_APERTURE - 4, 4, 0xcafe);
	/* A write is answered before it is done; the read is behind it. */
	ck_assert_uint_eq(client_read(rig.socket, TRN_BAR_HBM, RIG_APERTURE - 4, 4), 0xcafe);
	ck_assert_uint_eq(aperture[RIG_APERTURE / 4 - 1], 0xcafe);
	munmap(aperture, info.size);
	rig_end(&rig);
}
END_TEST

START_TEST(not_offered_is_said)
{
	static const uint16_t unknown[] = {
		0, 14, 16, 17, 18, 100, 0xffff, VFIO_USER_DMA_READ, VFIO_USER_DMA_WRITE
	};
	uint32_t io_fds[4] = { sizeof(io_fds), 0, 0, 0 };
	int fd = make_file(4096);

	rig_begin_attached(&rig);
	client_expect_error(rig.socket, VFIO_USER_DEVICE_GET_REGION_IO_FDS, io_fds, sizeof(io_fds),
			    ENOTSUP);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct reply reply;

		client_expect_error(rig.socket, unknown[i], NULL, 0, ENOTSUP);
		/* With a descriptor, which is not kept. */
		reply = client_request(rig.socket, unknown[i], "abc", 3, &fd, 1);
		ck_assert_int_eq(reply.header.error, ENOTSUP);
	}
	rig_end(&rig);
	close(fd);
}
END_TEST

START_TEST(no_reply_is_respected)
{
	struct {
		struct vfio_user_region_access access;
		uint32_t value;
	} body = { { 0x40, TRN_BAR_REGS, 4 }, 0x1000 };
	uint16_t id;
	struct reply reply;

	rig_begin_attached(&rig);
	client_send(rig.socket, VFIO_USER_REGION_WRITE, VFIO_USER_NO_REPLY, &body, 20, NULL, 0);
	/* Not even when it fails. */
	body.access.region = 77;
	client_send(rig.socket, VFIO_USER_REGION_WRITE, VFIO_USER_NO_REPLY, &body, 20, NULL, 0);
	client_send(rig.socket, 1234, VFIO_USER_NO_REPLY, NULL, 0, NULL, 0);
	body.access.region = TRN_BAR_REGS;
	id = client_send(rig.socket, VFIO_USER_REGION_READ, 0, &body, 16, NULL, 0);
	ck_assert(client_receive(rig.socket, &reply));
	ck_assert_uint_eq(reply.header.id, id);
	ck_assert_uint_eq(*(uint32_t *)(reply.body + 16), 0x1000);
	rig_end(&rig);
}
END_TEST

START_TEST(device_reset_resets_all)
{
	rig_begin_attached(&rig);
	client_write(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 4, 2, 6);
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 4, 2), 6);
	ck_assert_uint_eq(
		client_request(rig.socket, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0).header.error,
		0);
	ck_assert_uint_eq(fake_chip_state().resets, 1);
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 4, 2), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(client_that_goes_away_leaves_nothing)
{
	struct trn_server_stats stats;
	int file;

	rig_begin_attached(&rig);
	file = make_file(1 << 20);
	client_write(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 4, 2, 6);
	ck_assert_int_eq(client_map(rig.socket, 0, 1 << 20, 3, file, 0), 0);
	close(file);
	rig_detach(&rig);
	ck_assert_uint_eq(fake_chip_state().resets, 1);
	trn_server_read_stats(rig.server, &stats);
	ck_assert_uint_eq(stats.mappings, 0);
	ck_assert_uint_eq(stats.clients, 1);

	rig_attach(&rig);
	client_negotiate(rig.socket);
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 4, 2), 0);
	rig_detach(&rig);
	ck_assert_uint_eq(rig_log_lines(&rig, "client attached"), 2);
	ck_assert_uint_eq(rig_log_lines(&rig, "client detached"), 2);
	ck_assert_uint_eq(rig_log_lines(&rig, ""), 4);
	rig_end(&rig);
}
END_TEST

START_TEST(second_client_is_refused)
{
	int pair[2];
	char byte;

	rig_begin_attached(&rig);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	ck_assert_int_eq(trn_server_attach(rig.server, pair[1]), -EBUSY);
	ck_assert_int_eq(recv(pair[0], &byte, 1, 0), 0);
	close(pair[0]);
	/* The first one has not noticed. */
	ck_assert_uint_eq(client_read(rig.socket, VFIO_PCI_CONFIG_REGION_INDEX, 0, 2),
			  TRN_PCI_VENDOR);
	rig_end(&rig);
}
END_TEST

START_TEST(server_ends_with_a_client_attached)
{
	int file, socket;
	char byte;

	rig_begin_attached(&rig);
	file = make_file(4096);
	ck_assert_int_eq(client_map(rig.socket, 0, 4096, 3, file, 0), 0);
	close(file);
	/* In the middle of a message, too. */
	ck_assert(client_send_raw(rig.socket, "\1\0\1\0", 4, NULL, 0));
	socket = dup(rig.socket);
	rig.fds_before++;
	rig_end(&rig);
	ck_assert_int_eq(recv(socket, &byte, 1, 0), 0);
	close(socket);
}
END_TEST

START_TEST(clients_come_and_go)
{
	rig_begin(&rig, 0);
	for (int i = 0; i < 200; i++) {
		rig_attach(&rig);
		if (i % 3)
			client_negotiate(rig.socket);
		rig_detach(&rig);
	}
	ck_assert_uint_eq(fake_chip_state().resets, 200);
	rig_end(&rig);
}
END_TEST

/* Nobody waits for the server to notice that the first one has gone. */
START_TEST(next_client_follows_at_once)
{
	rig_begin(&rig, 0);
	for (int i = 0; i < 200; i++) {
		rig_attach(&rig);
		if (i % 3 == 0)
			client_negotiate(rig.socket);
		else if (i % 3 == 1)
			ck_assert(client_send_raw(rig.socket, "broken", 6, NULL, 0));
		close(rig.socket);
	}
	rig_attach(&rig);
	ck_assert_uint_eq(fake_chip_state().resets, 200);
	client_negotiate(rig.socket);
	rig_end(&rig);
}
END_TEST

/* It has said that nothing more comes, and takes no replies: the server is in the middle of one. */
START_TEST(client_that_hangs_up_without_reading_is_not_waited_for)
{
	const struct vfio_user_region_access access = { 0, TRN_BAR_HBM, RIG_APERTURE };
	int socket;

	rig_begin_attached(&rig);
	/* More than fits into the socket. */
	for (int i = 0; i < 16; i++)
		client_send(rig.socket, VFIO_USER_REGION_READ, 0, &access, sizeof(access), NULL, 0);
	ck_assert_int_eq(shutdown(rig.socket, SHUT_WR), 0);
	socket = rig.socket;
	rig_attach(&rig);
	close(socket);
	client_negotiate(rig.socket);
	rig_end(&rig);
}
END_TEST

TCase *session_tests(void)
{
	TCase *tests = tcase_create("session");

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, version_answers_what_was_asked);
	tcase_add_test(tests, version_without_data);
	tcase_add_test(tests, version_reply_is_no_longer_than_the_request);
	tcase_add_test(tests, device_info);
	tcase_add_test(tests, region_info_of_all_regions);
	tcase_add_test(tests, defects_shape_the_regions);
	tcase_add_test(tests, aperture_is_hbm);
	tcase_add_test(tests, not_offered_is_said);
	tcase_add_test(tests, no_reply_is_respected);
	tcase_add_test(tests, device_reset_resets_all);
	tcase_add_test(tests, client_that_goes_away_leaves_nothing);
	tcase_add_test(tests, second_client_is_refused);
	tcase_add_test(tests, server_ends_with_a_client_attached);
	tcase_add_test(tests, clients_come_and_go);
	tcase_add_test(tests, next_client_follows_at_once);
	tcase_add_test(tests, client_that_hangs_up_without_reading_is_not_waited_for);
	return tests;
}
