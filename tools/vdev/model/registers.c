// SPDX-License-Identifier: MIT
#include "registers.h"

#include <errno.h>

#include <hw/trn_queue.h>
#include <hw/trn_regs.h>

#include "clock.h"
#include "state.h"

static uint32_t low(uint64_t value)
{
	return (uint32_t)value;
}

static uint32_t high(uint64_t value)
{
	return value >> 32;
}

static uint32_t heartbeat(const struct trn_chip *chip)
{
	if (chip->config.defects & TRN_DEFECT_NO_HEARTBEAT)
		return 0;
	if (chip->registers.heartbeat_stands)
		return chip->registers.heartbeat;
	return (trn_monotonic_ns() - chip->epoch) / (TRN_HEARTBEAT_MS * 1000000ULL);
}

int trn_heartbeat_stop(struct trn_chip *chip)
{
	struct trn_registers *registers = &chip->registers;
	bool stood;

	pthread_mutex_lock(&chip->lock);
	stood = registers->heartbeat_stands;
	registers->heartbeat = heartbeat(chip);
	registers->heartbeat_stands = true;
	pthread_mutex_unlock(&chip->lock);
	return stood ? -EALREADY : 0;
}

/* BAR 2 may be larger than HBM: it is rounded up to a power of two. */
static uint64_t visible_hbm(const struct trn_chip_config *config)
{
	return config->aperture < config->hbm_size ? config->aperture : config->hbm_size;
}

/* Registers are read by halves; offset is aligned to 4. */
static uint32_t read32(const struct trn_chip *chip, uint64_t offset)
{
	const struct trn_registers *registers = &chip->registers;
	const struct trn_chip_config *config = &chip->config;
	const struct trn_generation *generation = config->generation;
	uint64_t stack_size = config->hbm_size / generation->hbm_stacks;

	switch (offset) {
	case TRN_REG_MAGIC:
		return TRN_MAGIC;
	case TRN_REG_VERSION:
		return TRN_VERSION_1_0;
	case TRN_REG_CTRL:
		return registers->ctrl;
	case TRN_REG_STATUS:
		return registers->status;
	case TRN_REG_HEARTBEAT:
		return heartbeat(chip);
	case TRN_REG_ADMIN_SQ_BASE:
		return low(registers->sq_base);
	case TRN_REG_ADMIN_SQ_BASE + 4:
		return high(registers->sq_base);
	case TRN_REG_ADMIN_CQ_BASE:
		return low(registers->cq_base);
	case TRN_REG_ADMIN_CQ_BASE + 4:
		return high(registers->cq_base);
	case TRN_REG_ADMIN_SIZE:
		return registers->size;
	case TRN_REG_CAP_CORES:
		return generation->cores;
	case TRN_REG_CAP_HBM_STACKS:
		return generation->hbm_stacks;
	case TRN_REG_CAP_HBM_STACK_SIZE:
		return low(stack_size);
	case TRN_REG_CAP_HBM_STACK_SIZE + 4:
		return high(stack_size);
	case TRN_REG_CAP_HBM_APERTURE:
		return low(visible_hbm(config));
	case TRN_REG_CAP_HBM_APERTURE + 4:
		return high(visible_hbm(config));
	case TRN_REG_CAP_DMA_ENGINES:
		return generation->dma_engines;
	case TRN_REG_CAP_COLL_CORES:
		return generation->coll_cores;
	case TRN_REG_CAP_DTYPES:
		return generation->dtypes;
	case TRN_REG_CAP_LINKS:
		return generation->links;
	case TRN_REG_CAP_CONTEXTS:
		return TRN_CONTEXTS;
	case TRN_REG_CAP_QUEUES:
		return TRN_QUEUES;
	case TRN_REG_CAP_DOORBELL_STRIDE:
		return TRN_DOORBELL_STRIDE;
	case TRN_REG_CAP_VECTORS:
		return TRN_VECTORS;
	case TRN_REG_CAP_VA_BITS:
		return TRN_VA_BITS;
	case TRN_REG_CAP_PAGE_SIZES:
		return chip->config.page_sizes;
	case TRN_REG_CAP_RING_MAX:
		return 1U << TRN_RING_LOG2_MAX;
	case TRN_REG_CAP_SBUF_SIZE:
		return generation->sbuf_size;
	case TRN_REG_CAP_PSUM_SIZE:
		return generation->psum_size;
	case TRN_REG_CAP_SEMAPHORES:
		return TRN_SEMAPHORES;
	case TRN_REG_CAP_READY_TIMEOUT:
		return TRN_READY_TIMEOUT_MS;
	case TRN_REG_CAP_HEARTBEAT_PERIOD:
		return TRN_HEARTBEAT_MS;
	case TRN_REG_CAP_ADMIN_TIMEOUT:
		return TRN_ADMIN_TIMEOUT_MS;
	case TRN_REG_CAP_EVENTS:
		return TRN_EVENT_COMMANDS;
	case TRN_REG_CAP_TENSOR_PACK:
		return 1U << 1 | (generation->tensor_packs_fp8 ? 1U << 2 : 0);
	default:
		return 0;
	}
}

static void write_ctrl(struct trn_registers *registers, uint32_t value)
{
	uint32_t ctrl = value & TRN_CTRL_ENABLE;

	if (ctrl == registers->ctrl)
		return;
	registers->ctrl = ctrl;
	if (ctrl) {
		registers->sq_tail = 0;
		registers->cq_head = 0;
		registers->bad_index = false;
	} else {
		registers->stop = true;
	}
}

static void write_index(struct trn_registers *registers, uint32_t *index, uint32_t value)
{
	if (!(registers->ctrl & TRN_CTRL_ENABLE))
		return;
	if (value < registers->size)
		*index = value;
	else
		registers->bad_index = true;
}

static void set_low(uint64_t *value, uint32_t half)
{
	*value = (*value & 0xffffffff00000000ULL) | half;
}

static void set_high(uint64_t *value, uint32_t half)
{
	*value = (*value & 0xffffffffULL) | (uint64_t)half << 32;
}

static void write32(struct trn_registers *registers, uint64_t offset, uint32_t value)
{
	bool enabled = registers->ctrl & TRN_CTRL_ENABLE;

	switch (offset) {
	case TRN_REG_CTRL:
		write_ctrl(registers, value);
		break;
	case TRN_REG_ADMIN_SQ_BASE:
		if (!enabled)
			set_low(&registers->sq_base, value);
		break;
	case TRN_REG_ADMIN_SQ_BASE + 4:
		if (!enabled)
			set_high(&registers->sq_base, value);
		break;
	case TRN_REG_ADMIN_CQ_BASE:
		if (!enabled)
			set_low(&registers->cq_base, value);
		break;
	case TRN_REG_ADMIN_CQ_BASE + 4:
		if (!enabled)
			set_high(&registers->cq_base, value);
		break;
	case TRN_REG_ADMIN_SIZE:
		if (!enabled)
			registers->size = value;
		break;
	case TRN_REG_ADMIN_SQ_TAIL:
		write_index(registers, &registers->sq_tail, value);
		break;
	case TRN_REG_ADMIN_CQ_HEAD:
		write_index(registers, &registers->cq_head, value);
		break;
	}
}

static bool access_valid(uint64_t offset, unsigned int size)
{
	return (size == 4 || size == 8) && offset % size == 0;
}

uint64_t trn_chip_read_register(struct trn_chip *chip, uint64_t offset, unsigned int size)
{
	uint64_t value;

	if (!access_valid(offset, size))
		return 0;
	pthread_mutex_lock(&chip->lock);
	value = read32(chip, offset);
	if (size == 8)
		value |= (uint64_t)read32(chip, offset + 4) << 32;
	if (chip->dead)
		value = UINT64_MAX >> (64 - 8 * size);
	pthread_mutex_unlock(&chip->lock);
	return value;
}

void trn_chip_write_register(struct trn_chip *chip, uint64_t offset, unsigned int size,
			     uint64_t value)
{
	if (!access_valid(offset, size))
		return;
	pthread_mutex_lock(&chip->lock);
	write32(&chip->registers, offset, low(value));
	if (size == 8)
		write32(&chip->registers, offset + 4, high(value));
	chip->attention = true;
	pthread_cond_broadcast(&chip->changed);
	pthread_mutex_unlock(&chip->lock);
}

void trn_chip_write_doorbell(struct trn_chip *chip, uint64_t offset, unsigned int size,
			     uint64_t value)
{
	uint64_t queue = offset / TRN_DOORBELL_STRIDE;

	(void)value;
	if (size != 4 || offset % TRN_DOORBELL_STRIDE != TRN_DOORBELL_KICK || queue >= TRN_QUEUES)
		return;
	pthread_mutex_lock(&chip->lock);
	chip->registers.kicked[queue / 64] |= 1ULL << (queue % 64);
	chip->attention = true;
	pthread_cond_broadcast(&chip->changed);
	pthread_mutex_unlock(&chip->lock);
}
