/* SPDX-License-Identifier: MIT */
/*
 * A chip from outside of its queues: faults of the device model's making (Documentation/vdev.rst),
 * what the kernel says of the chip, and its place on the bus.
 */
#ifndef TRN_TESTS_CHIP_H
#define TRN_TESTS_CHIP_H

#include "guest.h"

/* A request to trn-vdev, the members of the JSON object after the verb; fails if it is refused. */
void chip_request(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether it is not. */
bool chip_try_request(const char *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* drm-client-id of an open node. */
uint64_t chip_client_id(int fd);

/* What debugfs has of a queue of the file. */
struct chip_queue {
	unsigned int number; /* the hardware's */
	unsigned int vector;
};
struct chip_queue chip_queue(unsigned int chip, int fd, uint32_t queue);
/* What a chip has: free HBM, queues and address spaces. */
struct chip_use {
	uint64_t free;
	unsigned int queues, spaces;
};
struct chip_use chip_use(unsigned int chip, int fd);
/* Fails unless it has that again, within ten seconds. */
void chip_expect_use(unsigned int chip, int fd, struct chip_use use);

struct drm_trn_query_recovery chip_recovery(int fd);

/* A number that is a parameter of the module. */
unsigned int chip_parameter(const char *name);

/* The chip's PCI address, in a buffer of the caller's. */
#define CHIP_ADDRESS_SIZE 24
void chip_address(unsigned int chip, char address[CHIP_ADDRESS_SIZE]);
/* Writes to /sys/bus/pci/PATH. */
void chip_bus(const char *path, const char *text);
void chip_unbind(const char *address);
void chip_bind(const char *address);
/* Takes it off the bus, and looks what is there. */
void chip_remove(const char *address);
void chip_rescan(void);
/* Waits until there are so many chips. */
void chip_expect(unsigned int count);

/* A socket on which the kernel says what happens to devices. */
int chip_events(void);
/* Whether a message says "TRN_RESET=queue" or the like, within a second; forgets the messages. */
bool chip_event_seen(int events, const char *assignment);

/* Whether a device coredump with content is there; forgets it.  True on a kernel without them. */
bool chip_dump_taken(const char *address);

/* Lines that the kernel has logged of chips at error level or worse. */
unsigned int chip_error_lines(void);

#endif /* TRN_TESTS_CHIP_H */
