/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_ADMIN_H
#define _TRN_ADMIN_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <hw/trn_admin.h>
#include <hw/trn_isa.h>

struct trn_device;
struct trn_queue;
struct trn_vm;

#define TRN_ADMIN_ENTRIES	64
/* Commands in flight.  Fewer than the rings hold, so that neither overflows. */
#define TRN_ADMIN_SLOTS		32
/* The slot of the EVENT command, which waits in the device. */
#define TRN_ADMIN_EVENT_SLOT	TRN_ADMIN_SLOTS

enum trn_admin_slot_state {
	TRN_ADMIN_SLOT_FREE,
	TRN_ADMIN_SLOT_IN_FLIGHT,
	TRN_ADMIN_SLOT_DONE,		/* until its owner has read the result */
};

struct trn_admin_slot {
	struct completion done;
	enum trn_admin_slot_state state;
	u8 uses;	/* upper half of the command id: tells a late completion */
	int result;	/* as trn_admin_exec() returns it */
};

struct trn_admin {
	/* Protects everything below but wait queue and log. */
	spinlock_t lock;
	bool running;
	struct trn_admin_command *sq;
	struct trn_admin_completion *cq;
	dma_addr_t sq_dma;
	dma_addr_t cq_dma;
	u16 sq_tail;
	u16 cq_head;
	u16 phase;
	struct trn_admin_slot slots[TRN_ADMIN_SLOTS + 1];
	wait_queue_head_t slot_freed;

	struct trn_event *event;	/* written by the device; the log is what counts */
	dma_addr_t event_dma;

	/* Protects data, the buffer of IDENTIFY and GET_LOG. */
	struct mutex data_lock;
	void *data;
	dma_addr_t data_dma;
};

int trn_admin_init(struct trn_device *tdev);
void trn_admin_program(struct trn_device *tdev);
void trn_admin_start(struct trn_device *tdev);
void trn_admin_stop(struct trn_device *tdev);
unsigned int trn_admin_poll(struct trn_device *tdev);

int trn_admin_exec(struct trn_device *tdev, u32 epoch, struct trn_admin_command *cmd);
void trn_admin_check_revoked(struct trn_device *tdev, u32 epoch, u8 opcode, int result);
int trn_admin_identify(struct trn_device *tdev, struct trn_identify *identify);
int trn_admin_get_events(struct trn_device *tdev, u32 epoch, struct trn_log_events *log);
int trn_admin_get_running(struct trn_device *tdev, u32 epoch, struct trn_log_running *log);
int trn_admin_get_queue(struct trn_queue *queue, struct trn_log_queue *log);
int trn_admin_get_core_program(struct trn_device *tdev, u32 epoch, u16 core,
			       struct trn_core_program *program);
int trn_admin_get_core(struct trn_device *tdev, u32 epoch, u16 core, struct trn_log_core *log);
void trn_admin_post_event(struct trn_device *tdev);
int trn_admin_context_create(struct trn_vm *vm);
int trn_admin_context_reset(struct trn_vm *vm);
void trn_admin_context_destroy(struct trn_vm *vm);
int trn_admin_core_reset(struct trn_device *tdev, u32 epoch, u16 core, u16 queue);
int trn_admin_queue_reset(struct trn_queue *queue);
int trn_admin_queue_destroy(struct trn_queue *queue);
void trn_admin_invalidate(struct trn_vm *vm, u64 va, u64 length);

#endif /* _TRN_ADMIN_H */
