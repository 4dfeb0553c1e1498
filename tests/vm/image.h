/* SPDX-License-Identifier: MIT */
/* Images of small programs (Documentation/isa.rst), instruction by instruction. */
#ifndef TRN_TESTS_IMAGE_H
#define TRN_TESTS_IMAGE_H

#include <stdint.h>

#include <hw/trn_isa.h>
#include <hw/trn_queue.h>
#include <hw/trn_regs.h>

#define IMAGE_LENGTH_MAX 16

struct image {
	struct trn_instruction stream[TRN_ENGINES][IMAGE_LENGTH_MAX];
	uint32_t length[TRN_ENGINES];
};

/* More than any image has. */
#define IMAGE_SIZE sizeof(struct image)

/* Appends an instruction with nothing but its opcode, and returns it. */
struct trn_instruction *image_add(struct image *image, unsigned int engine, uint8_t opcode);
/* Appends a DMA of rows of so many bytes, one after the other from offset of the binding on, to or
 * from @place of partitions 0 …
 */
struct trn_instruction *image_transfer(struct image *image, unsigned int engine, uint8_t opcode,
				       uint8_t binding, uint64_t offset, uint32_t place,
				       uint8_t partitions, uint16_t bytes);
/* Appends instructions that repeat for ever. */
void image_loop(struct image *image, unsigned int engine);
void image_acquire(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count);
void image_release(struct trn_instruction *instruction, uint8_t semaphore, uint8_t count);
/* Writes header and streams to memory, as the device reads it. */
void image_write(const struct image *image, void *memory);

#endif /* TRN_TESTS_IMAGE_H */
