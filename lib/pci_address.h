/* SPDX-License-Identifier: MIT */
/* The order of chips, for libtrn and tools alike: by PCI address. */
#ifndef TRN_PCI_ADDRESS_H
#define TRN_PCI_ADDRESS_H

#include <stdint.h>
#include <stdio.h>

/* A number that sorts as "domain:bus:device.function" does; what has another form comes last. */
static inline uint64_t trn_pci_order(const char *address)
{
	unsigned int domain, bus, device, function;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return UINT64_MAX;
	return (uint64_t)domain << 16 | (bus & 0xff) << 8 | (device & 0x1f) << 3 | (function & 7);
}

#endif /* TRN_PCI_ADDRESS_H */
