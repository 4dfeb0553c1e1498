/* SPDX-License-Identifier: MIT */
/*
 * Configuration space of one chip's PCIe function: 4 KiB of values with a mask
 * of writable bits and one of bits that writing 1 clears.  No locks: its owner
 * makes one call at a time.
 */
#ifndef TRN_VDEV_PCI_CONFIG_H
#define TRN_VDEV_PCI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRN_PCI_CONFIG_SIZE 4096
#define TRN_PCI_BARS	    6

struct trn_pci_identity {
	uint16_t device;		 /* TRN_PCI_DEVICE_* */
	unsigned int vectors;		 /* MSI-X, 1 … 2048 */
	uint64_t bar_size[TRN_PCI_BARS]; /* powers of two >= 4096, 0 = absent */
};

struct trn_pci_config {
	uint8_t value[TRN_PCI_CONFIG_SIZE];
	uint8_t writable[TRN_PCI_CONFIG_SIZE];
	uint8_t clearable[TRN_PCI_CONFIG_SIZE]; /* RW1C */
	struct trn_pci_identity identity;
};

/* Values after power-on. */
void trn_pci_config_init(struct trn_pci_config *config, const struct trn_pci_identity *identity);

/*
 * Values after a function level reset: all but the sticky registers (AER's
 * status, masks and severity) as after power-on.
 */
void trn_pci_config_reset(struct trn_pci_config *config);

/* offset + length <= TRN_PCI_CONFIG_SIZE is the caller's to check. */
void trn_pci_config_read(const struct trn_pci_config *config, size_t offset, void *data,
			 size_t length);

/*
 * Returns true if the write asks for a reset of the function: Initiate FLR, or
 * a change from D3hot to D0.  The caller resets the chip and calls
 * trn_pci_config_reset().
 */
bool trn_pci_config_write(struct trn_pci_config *config, size_t offset, const void *data,
			  size_t length);

/* The function may access host memory and send MSI-X messages: Bus Master Enable, in D0. */
bool trn_pci_bus_master(const struct trn_pci_config *config);

#endif /* TRN_VDEV_PCI_CONFIG_H */
