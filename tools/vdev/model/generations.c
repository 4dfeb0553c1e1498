// SPDX-License-Identifier: MIT
/*
 * Sources, all public.  "Docs" is the documentation of AWS Neuron SDK 2.32, "driver" the
 * vendor's Linux driver, versions 2.24.7.0 and 2.26.5.0.
 *
 * inf2, trn1, trn2, trn3:
 *   cores, hbm_size         docs
 *   hbm_stacks              driver: 2 × 16, 4 × 24, 4 × 36 GiB
 *   dma_engines             driver: 16 for each core, without those that serve the host
 *   coll_cores              docs and driver: 6 and 16
 *   dtypes                  docs: all have fp8; MXFP8 from trn3 on
 *   links                   trn1: docs; trn2: driver (4 neighbours); trn3: docs, 4 in the
 *                           server, 5 in the rack, 2 between racks; inf2: the 2
 *                           neighbours of a ring
 *   sbuf_size, psum_size    docs: 128 partitions × 192, 224, 256 KiB and × 16 KiB
 *   tensor_packs_fp8        docs: 1299 TFLOPS of fp8 beside 667 of bf16 on trn2, equal on trn1
 *   *_mhz                   docs: clocks of the engines
 *   hbm_mb_per_s            docs
 *
 * trn4 is announced, not documented: hbm_size, its bandwidth and FP4 as announced, and everything
 * else is trn3's, which is an assumption.
 */
#include "generations.h"

#include <string.h>

#include <hw/trn_regs.h>

#define MIB	    (1ULL << 20)
#define GIB	    (1ULL << 30)

#define DTYPE(type) (1U << TRN_DTYPE_##type)

#define DTYPES_TRN1                                                                                \
	(DTYPE(FP32) | DTYPE(BF16) | DTYPE(FP16) | DTYPE(FP8_E4M3) | DTYPE(FP8_E5M2) |             \
	 DTYPE(INT8) | DTYPE(INT16) | DTYPE(INT32))
#define DTYPES_TRN3 (DTYPES_TRN1 | DTYPE(MXFP8))
#define DTYPES_TRN4 (DTYPES_TRN3 | DTYPE(FP4))

const struct trn_generation trn_generations[] = {
	{
		.name = "inf2",
		.pci_device = TRN_PCI_DEVICE_INF2,
		.cores = 2,
		.hbm_stacks = 2,
		.hbm_size = 32 * GIB,
		.dma_engines = 32,
		.coll_cores = 6,
		.dtypes = DTYPES_TRN1,
		.links = 2,
		.sbuf_size = 24 * MIB,
		.psum_size = 2 * MIB,
		.tensor_packs_fp8 = false,
		.tensor_mhz = 2800,
		.vector_mhz = 1120,
		.scalar_mhz = 1400,
		.hbm_mb_per_s = 820000,
	},
	{
		.name = "trn1",
		.pci_device = TRN_PCI_DEVICE_TRN1,
		.cores = 2,
		.hbm_stacks = 2,
		.hbm_size = 32 * GIB,
		.dma_engines = 32,
		.coll_cores = 6,
		.dtypes = DTYPES_TRN1,
		.links = 4,
		.sbuf_size = 24 * MIB,
		.psum_size = 2 * MIB,
		.tensor_packs_fp8 = false,
		.tensor_mhz = 2800,
		.vector_mhz = 1120,
		.scalar_mhz = 1400,
		.hbm_mb_per_s = 820000,
	},
	{
		.name = "trn2",
		.pci_device = TRN_PCI_DEVICE_TRN2,
		.cores = 8,
		.hbm_stacks = 4,
		.hbm_size = 96 * GIB,
		.dma_engines = 128,
		.coll_cores = 16,
		.dtypes = DTYPES_TRN1,
		.links = 4,
		.sbuf_size = 28 * MIB,
		.psum_size = 2 * MIB,
		.tensor_packs_fp8 = true,
		.tensor_mhz = 2400,
		.vector_mhz = 960,
		.scalar_mhz = 1200,
		.hbm_mb_per_s = 2900000,
	},
	{
		.name = "trn3",
		.pci_device = TRN_PCI_DEVICE_TRN3,
		.cores = 8,
		.hbm_stacks = 4,
		.hbm_size = 144 * GIB,
		.dma_engines = 128,
		.coll_cores = 16,
		.dtypes = DTYPES_TRN3,
		.links = 11,
		.sbuf_size = 32 * MIB,
		.psum_size = 2 * MIB,
		.tensor_packs_fp8 = true,
		.tensor_mhz = 2400,
		.vector_mhz = 1200,
		.scalar_mhz = 1200,
		.hbm_mb_per_s = 4900000,
	},
	{
		.name = "trn4",
		.pci_device = TRN_PCI_DEVICE_TRN4,
		.cores = 8,
		.hbm_stacks = 4,
		.hbm_size = 288 * GIB,
		.dma_engines = 128,
		.coll_cores = 16,
		.dtypes = DTYPES_TRN4,
		.links = 11,
		.sbuf_size = 32 * MIB,
		.psum_size = 2 * MIB,
		.tensor_packs_fp8 = true,
		.tensor_mhz = 2400,
		.vector_mhz = 1200,
		.scalar_mhz = 1200,
		.hbm_mb_per_s = 19600000,
	},
};

const unsigned int trn_generations_count = sizeof(trn_generations) / sizeof(trn_generations[0]);

const struct trn_generation *trn_generation_by_name(const char *name)
{
	for (unsigned int i = 0; i < trn_generations_count; i++) {
		if (!strcmp(trn_generations[i].name, name))
			return &trn_generations[i];
	}
	return NULL;
}
