/* SPDX-License-Identifier: MIT */
/* What differs between generations of the chip: data only, never code. */
#ifndef TRN_VDEV_GENERATIONS_H
#define TRN_VDEV_GENERATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct trn_generation {
	const char	*name;
	uint16_t	pci_device;	/* TRN_PCI_DEVICE_* */
	uint32_t	cores;
	uint32_t	hbm_stacks;
	uint64_t	hbm_size;	/* bytes, all stacks */
	uint32_t	dma_engines;
	uint32_t	coll_cores;
	uint32_t	dtypes;		/* bit n = TRN_DTYPE_n */
	uint32_t	links;
	uint32_t	sbuf_size;	/* bytes per core */
	uint32_t	psum_size;	/* bytes per core */
	bool		tensor_packs_fp8;	/* two terms of fp8 in a cell */
	/* Of the model clock (Documentation/isa.rst, "Time") */
	uint32_t	tensor_mhz;
	uint32_t	vector_mhz;
	uint32_t	scalar_mhz;	/* gpsimd and sync, too */
	uint32_t	hbm_mb_per_s;
};

extern const struct trn_generation trn_generations[];
extern const unsigned int trn_generations_count;

/* Returns NULL for an unknown name. */
const struct trn_generation *trn_generation_by_name(const char *name);

#endif /* TRN_VDEV_GENERATIONS_H */
