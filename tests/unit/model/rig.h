/* SPDX-License-Identifier: MIT */
/*
 * Test rig: a chip in a host of plain memory, and the little software that it
 * takes to drive it.  Unless a test starts the executor, the chip does nothing but
 * in rig_step(), so that a test decides what happens between any two steps.
 */
#ifndef TRN_TEST_RIG_H
#define TRN_TEST_RIG_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include <hw/trn_admin.h>
#include <hw/trn_mmu.h>
#include <hw/trn_queue.h>
#include <hw/trn_regs.h>

#include "tools/vdev/model/chip.h"
#include "tools/vdev/model/shared.h"
#include "tools/vdev/model/state.h"

/* Host DMA addresses.  What is in neither range is not mapped. */
#define RIG_RAM		0x100000000ULL
#define RIG_RAM_SIZE	(512ULL << 20)
#define RIG_REMOTE	0x800000000ULL /* reached by read() and write() alone */
#define RIG_REMOTE_SIZE (1ULL << 20)
#define RIG_NOWHERE	0x200ULL << 32

#define RIG_DENY_READ	1
#define RIG_DENY_WRITE	2

#define RIG_HBM_SIZE	(64ULL << 20)
#define RIG_HBM_KEPT	(32ULL << 20)

struct rig {
	struct trn_chip *chip;

	uint8_t *ram;
	uint8_t *remote;
	uint64_t ram_used;
	uint8_t *denied;  /* RIG_DENY_* for each page of RAM */
	size_t map_limit; /* most bytes that one map() gives; 0 = no limit */
	uint64_t window;  /* a map holds aligned RAM of this size; 0 = what it gives */
	/* Called by the chip's thread; data is the test's. */
	void (*on_map)(void *data, uint64_t dma);
	void (*on_interrupt)(void *data, unsigned int vector);
	void *data;
	int held;			      /* maps not given back; atomic */
	unsigned int accesses;		      /* calls of the chip but interrupts; atomic */
	unsigned int interrupts[TRN_VECTORS]; /* atomic */

	/* admin queue */
	uint64_t sq;
	uint64_t cq;
	uint32_t admin_size;
	uint32_t sq_tail;
	uint32_t cq_head;
	uint16_t phase;
	uint16_t command_id;
};

struct rig_space {
	uint16_t asid;
	uint64_t root;
};

struct rig_queue {
	uint16_t id;
	uint16_t vector;
	uint32_t size; /* packets */
	uint32_t tail;
	struct trn_control *control;
	struct trn_packet *ring;
	uint64_t control_dma;
	uint64_t ring_dma;
	uint64_t ring_va;
};

/* Chip and host, chip not enabled.  hbm_size 0: RIG_HBM_SIZE. */
void rig_create(struct rig *rig, const char *generation, uint64_t hbm_size, unsigned int defects);
void rig_destroy(struct rig *rig);

/* Zeroed, page aligned RAM; never freed. */
uint64_t rig_alloc(struct rig *rig, size_t length);
void *rig_pointer(struct rig *rig, uint64_t dma);
/* Sets what the host refuses for the page at dma. */
void rig_deny(struct rig *rig, uint64_t dma, uint8_t what);
/* How often the chip has reached for host memory. */
unsigned int rig_accesses(const struct rig *rig);
unsigned int rig_interrupts(const struct rig *rig, unsigned int vector);

uint32_t rig_read32(struct rig *rig, uint64_t offset);
uint64_t rig_read64(struct rig *rig, uint64_t offset);
void rig_write32(struct rig *rig, uint64_t offset, uint32_t value);
void rig_write64(struct rig *rig, uint64_t offset, uint64_t value);
void rig_kick(struct rig *rig, unsigned int queue);

/* Time passes: so much between the last step and the next. */
void rig_pass(struct rig *rig, uint64_t ns);

/* One step; checks that the chip holds no host memory after it. */
uint64_t rig_step(struct rig *rig);
/* Steps until the chip has nothing to do at once.  Returns what the last step did. */
uint64_t rig_run(struct rig *rig);

/* Sets up the admin queue and enables the chip; returns with READY or FATAL set. */
void rig_enable(struct rig *rig, uint32_t admin_size);
/* rig_create(trn1), enabled. */
void rig_ready(struct rig *rig);

/* Puts a command into the ring; without doorbell. Returns its id. */
uint16_t rig_admin_put(struct rig *rig, const struct trn_admin_command *command);
void rig_admin_ring(struct rig *rig);
/* The next completion, if there is one; releases the entry. */
bool rig_admin_get(struct rig *rig, struct trn_admin_completion *completion);
/* One command from start to completion; returns its status. */
uint16_t rig_admin(struct rig *rig, struct trn_admin_command command);

/* A log page, read anew; queue is that of TRN_LOG_QUEUE. */
void *rig_log(struct rig *rig, uint8_t page, uint16_t id);
/* The newest event in the log; fails the test when there is none. */
struct trn_event rig_last_event(struct rig *rig);
uint64_t rig_event_count(struct rig *rig);

void rig_space_create(struct rig *rig, struct rig_space *space, uint16_t asid);
/* The entry of level that translates va; makes the tables above it. */
__le64 *rig_entry_at(struct rig *rig, const struct rig_space *space, uint64_t va,
		     unsigned int level);
/* The same of level 0. */
__le64 *rig_entry(struct rig *rig, const struct rig_space *space, uint64_t va);
/* Maps length bytes of HBM or host memory, readable and writable. */
void rig_map(struct rig *rig, const struct rig_space *space, uint64_t va, uint64_t target,
	     uint64_t address, uint64_t length);
/* The same with leaves of level, whose size all three are multiples of. */
void rig_map_leaves(struct rig *rig, const struct rig_space *space, uint64_t va, uint64_t target,
		    uint64_t address, uint64_t length, unsigned int level);
/* Maps a new page of the host's at va, and returns it. */
void *rig_map_host_page(struct rig *rig, const struct rig_space *space, uint64_t va);
uint16_t rig_invalidate(struct rig *rig, uint16_t asid, uint64_t va, uint64_t length);

/* A queue with its ring mapped at 1 TiB + id × 1 MiB of ring_space; vector 1 + id % 32. */
void rig_queue_create(struct rig *rig, struct rig_queue *queue, uint16_t id,
		      const struct rig_space *ring_space, const struct rig_space *space,
		      uint8_t ring_log2);
/* The same with a priority and a time limit in ms. */
void rig_queue_create_limited(struct rig *rig, struct rig_queue *queue, uint16_t id,
			      const struct rig_space *ring_space, const struct rig_space *space,
			      uint8_t ring_log2, uint8_t priority, uint32_t time_limit);
/* A queue of type EXEC with 16 packets, all of it in one space. */
void rig_exec_queue_create(struct rig *rig, struct rig_queue *queue, uint16_t id,
			   const struct rig_space *space);
uint16_t rig_queue_command(struct rig *rig, uint8_t opcode, uint16_t id);

struct trn_packet rig_nop(void);
struct trn_packet rig_fence(uint8_t opcode, uint64_t address, uint64_t value);
struct trn_packet rig_copy(uint64_t source, uint64_t destination, uint64_t length);
struct trn_packet rig_copy_nd(uint64_t source, uint64_t destination, const uint32_t size[4],
			      const uint32_t source_stride[3],
			      const uint32_t destination_stride[3]);
struct trn_packet rig_fill(uint64_t destination, uint64_t length, uint64_t pattern,
			   uint8_t unit_log2);

/* The steps of a submit, one by one and together. */
void rig_put(struct rig_queue *queue, struct trn_packet packet);
void rig_store_tail(struct rig_queue *queue);
bool rig_need_kick(struct rig_queue *queue);
void rig_submit(struct rig *rig, struct rig_queue *queue, struct trn_packet packet);
/* Submits and runs until the chip has nothing to do. */
void rig_execute(struct rig *rig, struct rig_queue *queue, struct trn_packet packet);

uint32_t rig_head(const struct rig_queue *queue);
enum trn_queue_state rig_state(const struct rig *rig, const struct rig_queue *queue);

/* The queue stopped at its head packet for this reason, and told so. */
void rig_assert_stopped(struct rig *rig, const struct rig_queue *queue, uint8_t reason);
/* … with this fault. */
void rig_assert_fault(struct rig *rig, const struct rig_queue *queue, uint8_t reason, uint16_t asid,
		      uint8_t access, uint64_t address);

/* Bytes that differ from place to place. */
void rig_pattern(void *memory, size_t length, unsigned int seed);

/* Random numbers, the same from the same seed, which is not 0. */
void rig_random_seed(uint64_t seed);
uint64_t rig_random(void);
/* 0 … @limit - 1 */
uint64_t rig_below(uint64_t limit);

/* Bytes of memory that this process has. */
uint64_t rig_resident(void);

#endif /* TRN_TEST_RIG_H */
