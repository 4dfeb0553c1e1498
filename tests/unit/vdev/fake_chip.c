/* SPDX-License-Identifier: MIT */
#include "fake_chip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hw/trn_regs.h"

struct trn_chip {
	struct fake_chip state;
	int hbm;
	uint8_t registers[TRN_BAR_REGS_SIZE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trn_chip *newest;
static void (*reset_hook)(void);
static int injection_error;

struct trn_chip *trn_chip_create(const struct trn_chip_config *config,
				 const struct trn_host_ops *ops, void *host)
{
	const uint32_t queues = FAKE_QUEUES, stride = FAKE_STRIDE, vectors = FAKE_VECTORS;
	struct trn_chip *chip = calloc(1, sizeof(*chip));

	chip->state.ops = ops;
	chip->state.host = host;
	chip->hbm = memfd_create("fake-hbm", MFD_CLOEXEC);
	if (ftruncate(chip->hbm, config->hbm_size))
		abort();
	memcpy(chip->registers + TRN_REG_CAP_QUEUES, &queues, sizeof(queues));
	memcpy(chip->registers + TRN_REG_CAP_DOORBELL_STRIDE, &stride, sizeof(stride));
	memcpy(chip->registers + TRN_REG_CAP_VECTORS, &vectors, sizeof(vectors));
	newest = chip;
	return chip;
}

void trn_chip_destroy(struct trn_chip *chip)
{
	close(chip->hbm);
	free(chip);
	newest = NULL;
}

uint64_t trn_chip_read_register(struct trn_chip *chip, uint64_t offset, unsigned int size)
{
	uint64_t value = 0;

	pthread_mutex_lock(&lock);
	memcpy(&value, chip->registers + offset, size);
	pthread_mutex_unlock(&lock);
	return value;
}

void trn_chip_write_register(struct trn_chip *chip, uint64_t offset, unsigned int size,
			     uint64_t value)
{
	pthread_mutex_lock(&lock);
	memcpy(chip->registers + offset, &value, size);
	pthread_mutex_unlock(&lock);
}

void trn_chip_write_doorbell(struct trn_chip *chip, uint64_t offset, unsigned int size,
			     uint64_t value)
{
	(void)size;
	pthread_mutex_lock(&lock);
	chip->state.doorbell_offset = offset;
	chip->state.doorbell_value = value;
	pthread_mutex_unlock(&lock);
}

int trn_chip_hbm_fd(const struct trn_chip *chip)
{
	return chip->hbm;
}

void trn_chip_reset(struct trn_chip *chip)
{
	void (*hook)(void);

	pthread_mutex_lock(&lock);
	chip->state.resets++;
	hook = reset_hook;
	pthread_mutex_unlock(&lock);
	if (hook)
		hook();
}

void trn_chip_power_on(struct trn_chip *chip)
{
	pthread_mutex_lock(&lock);
	chip->state.power_ons++;
	pthread_mutex_unlock(&lock);
}

int trn_chip_inject(struct trn_chip *chip, const struct trn_injection *injection)
{
	int err;

	pthread_mutex_lock(&lock);
	chip->state.injection = *injection;
	err = injection_error;
	pthread_mutex_unlock(&lock);
	return err;
}

void fake_chip_refuse_injection(int err)
{
	pthread_mutex_lock(&lock);
	injection_error = err;
	pthread_mutex_unlock(&lock);
}

int trn_chip_start(struct trn_chip *chip)
{
	(void)chip;
	return 0;
}

void trn_chip_stop(struct trn_chip *chip)
{
	(void)chip;
}

struct fake_chip fake_chip_state(void)
{
	struct fake_chip state;

	pthread_mutex_lock(&lock);
	state = newest->state;
	pthread_mutex_unlock(&lock);
	return state;
}

void fake_chip_on_reset(void (*hook)(void))
{
	pthread_mutex_lock(&lock);
	reset_hook = hook;
	pthread_mutex_unlock(&lock);
}
