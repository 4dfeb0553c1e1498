/* SPDX-License-Identifier: MIT */
/* A fence that signals when the test says so, made by the kernel's vgem. */
#ifndef TRN_TESTS_GATE_H
#define TRN_TESTS_GATE_H

#include <stdint.h>

struct gate {
	int vgem;
	uint32_t handle; /* of an object of vgem's */
	uint32_t fence;
};

/*
 * Gives @syncobj of @fd a closed gate's fence, at @point if that is not 0.  The kernel opens it by
 * itself after ten seconds.
 */
void gate_close(struct gate *gate, int fd, uint32_t syncobj, uint64_t point);
void gate_open(struct gate *gate);

#endif /* TRN_TESTS_GATE_H */
