// SPDX-License-Identifier: MIT
#include "chip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hw/trn_regs.h>

#include "clock.h"
#include "exec.h"
#include "state.h"

/*
 * How long an idle queue is polled before it sleeps.  A submit in this time costs
 * software no doorbell, which traps in a virtual machine and takes tens of
 * microseconds there; much longer would burn the host's processor for nothing.
 */
#define POLL_NS	    100000

#define STACK_ALIGN (2ULL << 20)

static bool config_valid(const struct trn_chip_config *config)
{
	uint64_t aperture = config->aperture;

	if (!config->generation || config->hbm_size == 0 ||
	    config->hbm_size % (config->generation->hbm_stacks * STACK_ALIGN))
		return false;
	if (!(config->page_sizes & TRN_PAGE_SIZE) || (config->page_sizes & ~TRN_CHIP_PAGE_SIZES))
		return false;
	/* A power of two, less than twice HBM: at most HBM rounded up. */
	return aperture >= TRN_PAGE_SIZE && !(aperture & (aperture - 1)) &&
	       aperture / 2 < config->hbm_size;
}

/* So many ns from now. */
static struct timespec monotonic_time(uint64_t ns)
{
	uint64_t time = trn_monotonic_ns() + ns;

	return (struct timespec){ .tv_sec = time / 1000000000, .tv_nsec = time % 1000000000 };
}

static void changed_init(pthread_cond_t *changed)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct trn_chip *trn_chip_create(const struct trn_chip_config *config,
				 const struct trn_host_ops *ops, void *host)
{
	struct trn_chip *chip;
	int err;

	if (!config_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	chip = calloc(1, sizeof(*chip));
	if (!chip)
		return NULL;
	err = trn_hbm_init(&chip->hbm, config->hbm_size, config->aperture, config->hbm_kept);
	if (err) {
		free(chip);
		errno = -err;
		return NULL;
	}
	chip->config = *config;
	err = trn_cores_create(chip);
	if (err) {
		trn_hbm_destroy(&chip->hbm);
		free(chip);
		errno = -err;
		return NULL;
	}
	chip->ops = ops;
	chip->host = host;
	chip->poll_ns = POLL_NS;
	chip->epoch = trn_monotonic_ns();
	trn_vectors_reset(&chip->vectors);
	chip->admin.late_at = UINT64_MAX;
	pthread_mutex_init(&chip->lock, NULL);
	changed_init(&chip->changed);
	return chip;
}

/* Forgets all that ENABLE = 0 forgets.  The caller owns the state. */
static void forget(struct trn_chip *chip)
{
	for (unsigned int i = 0; i < TRN_QUEUES; i++) {
		free(chip->queue[i]);
		chip->queue[i] = NULL;
	}
	trn_cores_reset(chip);
	memset(&chip->rounds, 0, sizeof(chip->rounds));
	memset(chip->context, 0, sizeof(chip->context));
	trn_tlb_clear(&chip->tlb);
	trn_vectors_reset(&chip->vectors);
	chip->admin.late_at = UINT64_MAX;
	chip->power = TRN_POWER_OFF;
}

void trn_chip_destroy(struct trn_chip *chip)
{
	trn_chip_stop(chip);
	forget(chip);
	pthread_cond_destroy(&chip->changed);
	pthread_mutex_destroy(&chip->lock);
	trn_cores_destroy(chip);
	trn_hbm_destroy(&chip->hbm);
	free(chip);
}

int trn_chip_hbm_fd(const struct trn_chip *chip)
{
	return chip->hbm.fd;
}

bool trn_chip_hold(struct trn_chip *chip, uint64_t timeout_ns)
{
	struct timespec until = monotonic_time(timeout_ns == UINT64_MAX ? 0 : timeout_ns);
	bool ended;
	int err = 0;

	pthread_mutex_lock(&chip->lock);
	while (chip->held)
		pthread_cond_wait(&chip->changed, &chip->lock);
	/* No step begins from now on; the one in progress ends soon. */
	chip->held = true;
	while (chip->stepping && !err) {
		if (timeout_ns == UINT64_MAX)
			pthread_cond_wait(&chip->changed, &chip->lock);
		else
			err = pthread_cond_timedwait(&chip->changed, &chip->lock, &until);
	}
	ended = !chip->stepping;
	if (!ended) {
		chip->held = false;
		pthread_cond_broadcast(&chip->changed);
	}
	pthread_mutex_unlock(&chip->lock);
	return ended;
}

void trn_chip_release(struct trn_chip *chip)
{
	pthread_mutex_lock(&chip->lock);
	chip->held = false;
	chip->attention = true;
	pthread_cond_broadcast(&chip->changed);
	pthread_mutex_unlock(&chip->lock);
}

static void reset(struct trn_chip *chip, bool power_on)
{
	trn_chip_hold(chip, UINT64_MAX);
	forget(chip);
	memset(&chip->faults, 0, sizeof(chip->faults));
	trn_hbm_discard(&chip->hbm);

	pthread_mutex_lock(&chip->lock);
	memset(&chip->registers, 0, sizeof(chip->registers));
	chip->epoch = trn_monotonic_ns();
	if (power_on)
		chip->dead = false;
	pthread_mutex_unlock(&chip->lock);
	trn_chip_release(chip);
}

void trn_chip_reset(struct trn_chip *chip)
{
	reset(chip, false);
}

void trn_chip_power_on(struct trn_chip *chip)
{
	reset(chip, true);
}

void trn_chip_die(struct trn_chip *chip)
{
	forget(chip);
	pthread_mutex_lock(&chip->lock);
	chip->dead = true;
	pthread_mutex_unlock(&chip->lock);
}

static void set_status(struct trn_chip *chip, uint32_t status)
{
	pthread_mutex_lock(&chip->lock);
	chip->registers.status = status;
	pthread_mutex_unlock(&chip->lock);
}

void trn_chip_fatal(struct trn_chip *chip, uint8_t reason)
{
	chip->power = TRN_POWER_FATAL;
	set_status(chip, TRN_STATUS_FATAL | (uint32_t)reason << TRN_STATUS_REASON_SHIFT);
	trn_vectors_raise(chip, 0);
}

static bool admin_config_valid(const struct trn_registers *registers)
{
	uint32_t size = registers->size;

	return size >= TRN_ADMIN_SIZE_MIN && size <= TRN_ADMIN_SIZE_MAX && !(size & (size - 1)) &&
	       registers->sq_base % TRN_PAGE_SIZE == 0 && registers->cq_base % TRN_PAGE_SIZE == 0;
}

static void enable(struct trn_chip *chip, const struct trn_registers *registers)
{
	if (chip->config.defects & TRN_DEFECT_NEVER_READY)
		return;
	if (!admin_config_valid(registers)) {
		trn_chip_fatal(chip, TRN_FATAL_ADMIN_CONFIG);
		return;
	}
	chip->admin = (struct trn_admin){
		.sq_base = registers->sq_base,
		.cq_base = registers->cq_base,
		.size = registers->size,
		.phase = TRN_ADMIN_PHASE,
		.late_at = UINT64_MAX,
	};
	trn_events_reset(&chip->events);
	chip->power = TRN_POWER_READY;
	set_status(chip, TRN_STATUS_READY);
}

static void disable(struct trn_chip *chip)
{
	forget(chip);
	set_status(chip, 0);
}

static void deliver_kicks(struct trn_chip *chip, const uint64_t *kicked)
{
	for (unsigned int word = 0; word < TRN_QUEUES / 64; word++) {
		for (uint64_t bits = kicked[word]; bits; bits &= bits - 1) {
			struct trn_queue *queue =
				chip->queue[word * 64 + (unsigned int)__builtin_ctzll(bits)];

			if (queue)
				trn_queue_kick(queue);
		}
	}
}

/* From now until the earlier of wait, and the device time at; UINT64_MAX is never. */
static uint64_t earlier(const struct trn_chip *chip, uint64_t wait, uint64_t at)
{
	if (at == UINT64_MAX || at - chip->now > wait)
		return wait;
	return at - chip->now;
}

/* One admin command and one step of one queue take turns.  Returns as trn_chip_step(). */
static uint64_t work(struct trn_chip *chip)
{
	bool admin_has_work = trn_admin_runnable(&chip->admin, chip->now);

	if ((chip->admin_was_last || !admin_has_work) && trn_rounds_step(chip)) {
		chip->admin_was_last = false;
		return 0;
	}
	chip->admin_was_last = true;
	if (!admin_has_work)
		return earlier(chip, trn_rounds_wait(chip), chip->admin.late_at);
	trn_admin_step(chip);
	return 0;
}

/* Work of a device that is READY. */
static uint64_t step_ready(struct trn_chip *chip, const struct trn_registers *registers)
{
	if (registers->bad_index) {
		trn_chip_fatal(chip, TRN_FATAL_ADMIN_DOORBELL);
		return UINT64_MAX;
	}
	chip->admin.sq_tail = registers->sq_tail;
	chip->admin.cq_head = registers->cq_head;
	deliver_kicks(chip, registers->kicked);
	trn_rounds_account(chip);
	return work(chip);
}

static uint64_t step(struct trn_chip *chip, const struct trn_registers *registers)
{
	uint64_t wait = UINT64_MAX;

	if (chip->dead)
		return UINT64_MAX;
	if (registers->stop && chip->power != TRN_POWER_OFF) {
		disable(chip);
		return 0;
	}
	if (chip->power == TRN_POWER_OFF && (registers->ctrl & TRN_CTRL_ENABLE))
		enable(chip, registers);
	if (chip->now >= chip->vectors.next)
		trn_vectors_run(chip);
	if (chip->power == TRN_POWER_READY)
		wait = step_ready(chip, registers);
	return earlier(chip, wait, chip->vectors.next);
}

uint64_t trn_chip_step(struct trn_chip *chip)
{
	struct trn_registers registers;
	uint64_t wait;

	pthread_mutex_lock(&chip->lock);
	while (chip->held)
		pthread_cond_wait(&chip->changed, &chip->lock);
	chip->stepping = true;
	chip->attention = false;
	chip->now = trn_monotonic_ns() - chip->epoch;
	registers = chip->registers;
	chip->registers.stop = false;
	memset(chip->registers.kicked, 0, sizeof(chip->registers.kicked));
	pthread_mutex_unlock(&chip->lock);

	wait = step(chip, &registers);

	pthread_mutex_lock(&chip->lock);
	chip->stepping = false;
	if (chip->held)
		pthread_cond_broadcast(&chip->changed);
	pthread_mutex_unlock(&chip->lock);
	return wait;
}

/* Sleeps until a register is written, or for wait ns.  False when it is time to quit. */
static bool executor_sleep(struct trn_chip *chip, uint64_t wait)
{
	struct timespec until = { 0 };
	bool quit;

	if (wait && wait != UINT64_MAX)
		until = monotonic_time(wait);
	pthread_mutex_lock(&chip->lock);
	while (wait && !chip->attention && !chip->quit) {
		if (wait == UINT64_MAX)
			pthread_cond_wait(&chip->changed, &chip->lock);
		else if (pthread_cond_timedwait(&chip->changed, &chip->lock, &until) == ETIMEDOUT)
			break;
	}
	quit = chip->quit;
	pthread_mutex_unlock(&chip->lock);
	return !quit;
}

static void *executor(void *data)
{
	struct trn_chip *chip = data;

	while (executor_sleep(chip, trn_chip_step(chip)))
		;
	return NULL;
}

int trn_chip_start(struct trn_chip *chip)
{
	int err;

	chip->quit = false;
	err = pthread_create(&chip->executor, NULL, executor, chip);
	chip->executor_runs = !err;
	return -err;
}

void trn_chip_stop(struct trn_chip *chip)
{
	if (!chip->executor_runs)
		return;
	pthread_mutex_lock(&chip->lock);
	chip->quit = true;
	pthread_cond_broadcast(&chip->changed);
	pthread_mutex_unlock(&chip->lock);
	pthread_join(chip->executor, NULL);
	chip->executor_runs = false;
}
