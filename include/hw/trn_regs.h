/* SPDX-License-Identifier: MIT */
/*
 * trn device architecture: PCI identity, BARs and BAR0 registers.
 *
 * Normative text: Documentation/device.rst, chapters "PCI function" and
 * "Registers".  All registers are little-endian.  A 64-bit register may be
 * accessed as one 8-byte access or as two aligned 4-byte ones.
 */
#ifndef _HW_TRN_REGS_H
#define _HW_TRN_REGS_H

/* PCI identity.  The device id names the generation; software uses it to bind
 * and to print, never to decide: what differs is in capability registers.
 */
#define TRN_PCI_VENDOR			0x1234
#define TRN_PCI_DEVICE_TRN1		0x7401
#define TRN_PCI_DEVICE_TRN2		0x7402
#define TRN_PCI_DEVICE_TRN3		0x7403
#define TRN_PCI_DEVICE_TRN4		0x7404
#define TRN_PCI_DEVICE_INF2		0x7412
#define TRN_PCI_CLASS			0x120000	/* processing accelerator */

#define TRN_BAR_REGS			0
#define TRN_BAR_HBM			2
#define TRN_BAR_DOORBELL		4

#define TRN_BAR_REGS_SIZE		0x20000
#define TRN_MSIX_TABLE_OFFSET		0x10000
#define TRN_MSIX_PBA_OFFSET		0x18000

/* Identification */
#define TRN_REG_MAGIC			0x0000	/* RO 32 */
#define   TRN_MAGIC			0x314e5254	/* "TRN1", little-endian */
#define TRN_REG_VERSION			0x0004	/* RO 32 */
#define   TRN_VERSION(major, minor)	(((major) << 16) | (minor))
#define   TRN_VERSION_MAJOR(v)		((v) >> 16)
#define   TRN_VERSION_MINOR(v)		((v) & 0xffff)
#define   TRN_VERSION_1_0		TRN_VERSION(1, 0)

/* Control and status */
#define TRN_REG_CTRL			0x0010	/* RW 32 */
#define   TRN_CTRL_ENABLE		(1U << 0)
#define TRN_REG_STATUS			0x0014	/* RO 32 */
#define   TRN_STATUS_READY		(1U << 0)
#define   TRN_STATUS_FATAL		(1U << 1)
#define   TRN_STATUS_REASON_SHIFT	8
#define   TRN_STATUS_REASON_MASK	0xff
#define TRN_REG_HEARTBEAT		0x0018	/* RO 32, free running */

/* Values of STATUS.REASON while STATUS.FATAL is set */
#define TRN_FATAL_ADMIN_CONFIG		1	/* ADMIN_* registers invalid at enable */
#define TRN_FATAL_ADMIN_DMA		2	/* admin ring could not be read or written */
#define TRN_FATAL_ADMIN_DOORBELL	3	/* index out of range written */

/* Admin queue; *_BASE and SIZE may be written only while CTRL.ENABLE is 0 */
#define TRN_REG_ADMIN_SQ_BASE		0x0040	/* RW 64, host DMA address, 4 KiB aligned */
#define TRN_REG_ADMIN_CQ_BASE		0x0048	/* RW 64, host DMA address, 4 KiB aligned */
#define TRN_REG_ADMIN_SIZE		0x0050	/* RW 32, entries of each ring */
#define   TRN_ADMIN_SIZE_MIN		2
#define   TRN_ADMIN_SIZE_MAX		1024	/* powers of two only */
#define TRN_REG_ADMIN_SQ_TAIL		0x0054	/* WO 32, doorbell: index of next free entry */
#define TRN_REG_ADMIN_CQ_HEAD		0x0058	/* WO 32, doorbell: index of next entry to read */

/* Capabilities, RO */
#define TRN_REG_CAP_CORES		0x0100	/* 32: NeuronCores */
#define   TRN_CORES_MAX			256
#define TRN_REG_CAP_HBM_STACKS		0x0104	/* 32 */
#define TRN_REG_CAP_HBM_STACK_SIZE	0x0108	/* 64: bytes per stack, multiple of 2 MiB */
#define TRN_REG_CAP_HBM_APERTURE	0x0110	/* 64: bytes of HBM, from 0, visible in BAR2 */
#define TRN_REG_CAP_DMA_ENGINES		0x0118	/* 32 */
#define TRN_REG_CAP_COLL_CORES		0x011c	/* 32: collective cores */
#define TRN_REG_CAP_DTYPES		0x0120	/* 32: bit n set = data type TRN_DTYPE_n */
#define TRN_REG_CAP_LINKS		0x0124	/* 32: fabric links */
#define TRN_REG_CAP_CONTEXTS		0x0128	/* 32: ASIDs, 0 among them */
#define TRN_REG_CAP_QUEUES		0x012c	/* 32: queues, ids 0 … n-1 */
#define TRN_REG_CAP_DOORBELL_STRIDE	0x0130	/* 32: bytes, power of two >= 4096 */
#define TRN_REG_CAP_VECTORS		0x0134	/* 32: MSI-X vectors, 0 = admin */
#define TRN_REG_CAP_VA_BITS		0x0138	/* 32: device virtual address bits (48) */
#define TRN_REG_CAP_PAGE_SIZES		0x013c	/* 32: bit n set = leaves of 2^n bytes */
#define TRN_REG_CAP_RING_MAX		0x0140	/* 32: most packets in a ring, power of two */
#define TRN_REG_CAP_SBUF_SIZE		0x0144	/* 32: bytes per core */
#define TRN_REG_CAP_PSUM_SIZE		0x0148	/* 32: bytes per core */
#define TRN_REG_CAP_SEMAPHORES		0x014c	/* 32: per core */
#define TRN_REG_CAP_READY_TIMEOUT	0x0150	/* 32: ms, worst case of an ENABLE change */
#define TRN_REG_CAP_HEARTBEAT_PERIOD	0x0154	/* 32: ms between HEARTBEAT increments */
#define TRN_REG_CAP_ADMIN_TIMEOUT	0x0158	/* 32: ms, worst case of an admin command but EVENT */
#define TRN_REG_CAP_EVENTS		0x015c	/* 32: EVENT commands that may be outstanding */
#define TRN_REG_CAP_TENSOR_PACK		0x0160	/* 32: bit n set = n fp8 terms of a sum in a cell */

/* Data types: bit numbers in CAP_DTYPES */
#define TRN_DTYPE_FP32			0
#define TRN_DTYPE_BF16			1
#define TRN_DTYPE_FP16			2
#define TRN_DTYPE_FP8_E4M3		3
#define TRN_DTYPE_FP8_E5M2		4
#define TRN_DTYPE_INT8			5
#define TRN_DTYPE_INT16			6
#define TRN_DTYPE_INT32			7
#define TRN_DTYPE_MXFP8			8
#define TRN_DTYPE_FP4			9

#endif /* _HW_TRN_REGS_H */
