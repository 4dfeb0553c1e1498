// SPDX-License-Identifier: MIT
#include "admin.h"

#include <string.h>

#include <hw/trn_regs.h>

#include "commands.h"
#include "shared.h"
#include "state.h"

static uint32_t ring_next(const struct trn_admin *admin, uint32_t index)
{
	return (index + 1) & (admin->size - 1);
}

/* As in the submission ring one entry stays empty: full and empty would look alike. */
static bool completion_room(const struct trn_admin *admin)
{
	return ring_next(admin, admin->cq_tail) != admin->cq_head;
}

bool trn_admin_runnable(const struct trn_admin *admin, uint64_t now)
{
	if (now >= admin->late_at)
		return true;
	if (admin->result_count)
		return completion_room(admin);
	return admin->sq_head != admin->sq_tail;
}

void trn_admin_complete(struct trn_admin *admin, uint16_t command_id, uint16_t status,
			uint64_t value)
{
	admin->result[admin->result_count++] = (struct trn_admin_result){
		.value = value,
		.command_id = command_id,
		.status = status,
	};
}

/* Is it the id of a command that has not completed, as far as the device can know? */
static bool in_flight(struct trn_chip *chip, uint16_t command_id)
{
	const struct trn_admin *admin = &chip->admin;
	struct trn_admin_command command;

	for (unsigned int i = 0; i < chip->events.waiting_count; i++) {
		if (chip->events.waiting[i].command_id == command_id)
			return true;
	}
	for (unsigned int i = 0; i < admin->result_count; i++) {
		if (admin->result[i].command_id == command_id)
			return true;
	}
	if (admin->late_at != UINT64_MAX && admin->late.command_id == command_id)
		return true;
	for (uint32_t i = admin->sq_head; i != admin->sq_tail; i = ring_next(admin, i)) {
		if (!chip->ops->read(chip->host, admin->sq_base + i * sizeof(command), &command,
				     sizeof(command)) &&
		    le16toh(command.command_id) == command_id)
			return true;
	}
	return false;
}

/* TRN_INJECT_GARBAGE_COMPLETION, in the place of the result that was just written. */
static void complete_garbage(struct trn_chip *chip)
{
	uint16_t command_id = UINT16_MAX;

	while (in_flight(chip, command_id))
		command_id--;
	chip->faults.garbage_completion = false;
	trn_admin_complete(&chip->admin, command_id, TRN_ADMIN_SUCCESS, 0);
}

static void write_completion(struct trn_chip *chip)
{
	struct trn_admin *admin = &chip->admin;
	struct trn_admin_completion *completion;
	struct trn_admin_result result = admin->result[0];
	struct trn_host_map map;

	if (chip->ops->map(chip->host, admin->cq_base + admin->cq_tail * sizeof(*completion),
			   sizeof(*completion), true, &map)) {
		trn_chip_fatal(chip, TRN_FATAL_ADMIN_DMA);
		return;
	}
	if (map.length < sizeof(*completion)) {
		chip->ops->unmap(chip->host, &map);
		trn_chip_fatal(chip, TRN_FATAL_ADMIN_DMA);
		return;
	}
	completion = map.address;
	completion->result = htole64(result.value);
	completion->sq_head = htole16(admin->sq_head);
	completion->command_id = htole16(result.command_id);
	completion->status = htole16(result.status);
	/* Release order: the entry is complete when software sees the phase. */
	trn_store16(&completion->phase, admin->phase);
	chip->ops->unmap(chip->host, &map);

	admin->result_count--;
	memmove(&admin->result[0], &admin->result[1],
		admin->result_count * sizeof(admin->result[0]));
	admin->cq_tail = ring_next(admin, admin->cq_tail);
	if (admin->cq_tail == 0)
		admin->phase ^= TRN_ADMIN_PHASE;
	trn_vectors_raise(chip, 0);
	if (chip->faults.garbage_completion)
		complete_garbage(chip);
}

/* A command was executed: completes it, unless an injected fault has other plans. */
static void finish(struct trn_chip *chip, uint16_t command_id, uint16_t status)
{
	struct trn_admin *admin = &chip->admin;
	struct trn_faults *faults = &chip->faults;

	if (faults->lost_completion) {
		faults->lost_completion = false;
	} else if (faults->slow_completion) {
		faults->slow_completion = false;
		admin->late = (struct trn_admin_result){ 0, command_id, status };
		admin->late_at = chip->now + faults->slow_completion_ns;
	} else {
		trn_admin_complete(admin, command_id, status, 0);
	}
}

static void execute_next(struct trn_chip *chip)
{
	struct trn_admin *admin = &chip->admin;
	struct trn_admin_command command;
	uint16_t status;

	if (chip->ops->read(chip->host, admin->sq_base + admin->sq_head * sizeof(command), &command,
			    sizeof(command))) {
		trn_chip_fatal(chip, TRN_FATAL_ADMIN_DMA);
		return;
	}
	admin->sq_head = ring_next(admin, admin->sq_head);
	status = trn_command_execute(chip, &command);
	/* An EVENT command that was accepted completes when the event happens. */
	if (command.opcode != TRN_ADMIN_EVENT || status != TRN_ADMIN_SUCCESS)
		finish(chip, le16toh(command.command_id), status);
}

void trn_admin_step(struct trn_chip *chip)
{
	struct trn_admin *admin = &chip->admin;

	if (chip->now >= admin->late_at) {
		admin->late_at = UINT64_MAX;
		trn_admin_complete(admin, admin->late.command_id, admin->late.status,
				   admin->late.value);
	} else if (admin->result_count) {
		write_completion(chip);
	} else {
		execute_next(chip);
	}
}
