/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <linux/pci_regs.h>
#include <string.h>

#include "hw/trn_regs.h"

/* Where the capabilities are: a chain 0x34 -> PM -> MSI-X -> PCIe, and AER. */
#define CAP_PM		     0x40
#define CAP_MSIX	     0x48
#define CAP_EXP		     0x60
#define CAP_AER		     0x100
#define CAP_AER_END	     (CAP_AER + PCI_ERR_ROOT_COMMAND)

#define AER_UNCORRECTABLE    0x007ff030
#define AER_CORRECTABLE	     0x0000f1c1
/* PCIe base specification, defaults of severity and correctable mask */
#define AER_SEVERITY_DEFAULT 0x00462030
#define AER_MASK_DEFAULT     0x0000e000

#define STATE_D0	     0
#define STATE_D3HOT	     3

#define LINK_SPEED	     PCI_EXP_LNKCAP_SLS_32_0GB
#define LINK_WIDTH	     16

static void put(uint8_t *space, size_t offset, uint32_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		space[offset + i] = value >> (8 * i);
}

static uint32_t get(const uint8_t *space, size_t offset, unsigned int bytes)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint32_t)space[offset + i] << (8 * i);
	return value;
}

/* A register with its value after reset and the bits that software may write. */
static void define(struct trn_pci_config *config, size_t offset, unsigned int bytes, uint32_t value,
		   uint32_t writable)
{
	put(config->value, offset, value, bytes);
	put(config->writable, offset, writable, bytes);
}

static void define_bar(struct trn_pci_config *config, unsigned int bar, uint32_t type)
{
	uint64_t size = config->identity.bar_size[bar];
	size_t offset = PCI_BASE_ADDRESS_0 + 4 * bar;
	uint64_t writable = ~(size - 1);

	if (!size)
		return;
	define(config, offset, 4, type, writable);
	if (type & PCI_BASE_ADDRESS_MEM_TYPE_64)
		define(config, offset + 4, 4, 0, writable >> 32);
}

static void define_header(struct trn_pci_config *config)
{
	define(config, PCI_VENDOR_ID, 2, TRN_PCI_VENDOR, 0);
	define(config, PCI_DEVICE_ID, 2, config->identity.device, 0);
	define(config, PCI_COMMAND, 2, 0,
	       PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
		       PCI_COMMAND_INTX_DISABLE);
	define(config, PCI_STATUS, 2, PCI_STATUS_CAP_LIST, 0);
	put(config->clearable, PCI_STATUS,
	    PCI_STATUS_PARITY | PCI_STATUS_SIG_TARGET_ABORT | PCI_STATUS_REC_TARGET_ABORT |
		    PCI_STATUS_REC_MASTER_ABORT | PCI_STATUS_SIG_SYSTEM_ERROR |
		    PCI_STATUS_DETECTED_PARITY,
	    2);
	define(config, PCI_CLASS_REVISION, 4, TRN_PCI_CLASS << 8 | 1, 0);
	define(config, PCI_CACHE_LINE_SIZE, 1, 0, 0xff);
	define_bar(config, TRN_BAR_REGS, PCI_BASE_ADDRESS_MEM_TYPE_32);
	define_bar(config, TRN_BAR_HBM,
		   PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
	define_bar(config, TRN_BAR_DOORBELL, PCI_BASE_ADDRESS_MEM_TYPE_64);
	define(config, PCI_SUBSYSTEM_VENDOR_ID, 2, TRN_PCI_VENDOR, 0);
	define(config, PCI_SUBSYSTEM_ID, 2, config->identity.device, 0);
	define(config, PCI_CAPABILITY_LIST, 1, CAP_PM, 0);
	define(config, PCI_INTERRUPT_LINE, 1, 0, 0xff);
}

static void define_pm(struct trn_pci_config *config)
{
	define(config, CAP_PM, 2, PCI_CAP_ID_PM | CAP_MSIX << 8, 0);
	define(config, CAP_PM + PCI_PM_PMC, 2, 3, 0); /* version of the structure */
	define(config, CAP_PM + PCI_PM_CTRL, 2, 0, PCI_PM_CTRL_STATE_MASK);
}

static void define_msix(struct trn_pci_config *config)
{
	define(config, CAP_MSIX, 2, PCI_CAP_ID_MSIX | CAP_EXP << 8, 0);
	define(config, CAP_MSIX + PCI_MSIX_FLAGS, 2, config->identity.vectors - 1,
	       PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	define(config, CAP_MSIX + PCI_MSIX_TABLE, 4, TRN_MSIX_TABLE_OFFSET | TRN_BAR_REGS, 0);
	define(config, CAP_MSIX + PCI_MSIX_PBA, 4, TRN_MSIX_PBA_OFFSET | TRN_BAR_REGS, 0);
}

static void define_express(struct trn_pci_config *config)
{
	define(config, CAP_EXP, 2, PCI_CAP_ID_EXP, 0);
	define(config, CAP_EXP + PCI_EXP_FLAGS, 2, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 0);
	define(config, CAP_EXP + PCI_EXP_DEVCAP, 4,
	       1 /* 256 bytes of payload */ | PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_RBER |
		       PCI_EXP_DEVCAP_FLR,
	       0);
	define(config, CAP_EXP + PCI_EXP_DEVCTL, 2,
	       PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ_512B,
	       0x7fff & ~(PCI_EXP_DEVCTL_PHANTOM | PCI_EXP_DEVCTL_AUX_PME));
	put(config->clearable, CAP_EXP + PCI_EXP_DEVSTA,
	    PCI_EXP_DEVSTA_CED | PCI_EXP_DEVSTA_NFED | PCI_EXP_DEVSTA_FED | PCI_EXP_DEVSTA_URD, 2);
	define(config, CAP_EXP + PCI_EXP_LNKCAP, 4, LINK_SPEED | LINK_WIDTH << 4, 0);
	define(config, CAP_EXP + PCI_EXP_LNKCTL, 2, 0,
	       PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
	define(config, CAP_EXP + PCI_EXP_LNKSTA, 2, LINK_SPEED | LINK_WIDTH << 4, 0);
	define(config, CAP_EXP + PCI_EXP_DEVCAP2, 4, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS, 0);
	define(config, CAP_EXP + PCI_EXP_DEVCTL2, 2, 0, PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
	define(config, CAP_EXP + PCI_EXP_LNKCAP2, 4,
	       PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB |
		       PCI_EXP_LNKCAP2_SLS_16_0GB | PCI_EXP_LNKCAP2_SLS_32_0GB,
	       0);
	define(config, CAP_EXP + PCI_EXP_LNKCTL2, 2, LINK_SPEED, PCI_EXP_LNKCTL2_TLS);
}

static void define_aer(struct trn_pci_config *config)
{
	define(config, CAP_AER, 4, PCI_EXT_CAP_ID_ERR | 2 << 16, 0);
	put(config->clearable, CAP_AER + PCI_ERR_UNCOR_STATUS, AER_UNCORRECTABLE, 4);
	define(config, CAP_AER + PCI_ERR_UNCOR_MASK, 4, 0, AER_UNCORRECTABLE);
	define(config, CAP_AER + PCI_ERR_UNCOR_SEVER, 4, AER_SEVERITY_DEFAULT, AER_UNCORRECTABLE);
	put(config->clearable, CAP_AER + PCI_ERR_COR_STATUS, AER_CORRECTABLE, 4);
	define(config, CAP_AER + PCI_ERR_COR_MASK, 4, AER_MASK_DEFAULT, AER_CORRECTABLE);
}

void trn_pci_config_init(struct trn_pci_config *config, const struct trn_pci_identity *identity)
{
	struct trn_pci_identity copy = *identity; /* may be config's own */

	memset(config, 0, sizeof(*config));
	config->identity = copy;
	define_header(config);
	define_pm(config);
	define_msix(config);
	define_express(config);
	define_aer(config);
}

void trn_pci_config_reset(struct trn_pci_config *config)
{
	uint8_t sticky[CAP_AER_END - CAP_AER];

	memcpy(sticky, config->value + CAP_AER, sizeof(sticky));
	trn_pci_config_init(config, &config->identity);
	memcpy(config->value + CAP_AER, sticky, sizeof(sticky));
}

void trn_pci_config_read(const struct trn_pci_config *config, size_t offset, void *data,
			 size_t length)
{
	memcpy(data, config->value + offset, length);
}

static unsigned int power_state(const struct trn_pci_config *config)
{
	return get(config->value, CAP_PM + PCI_PM_CTRL, 1) & PCI_PM_CTRL_STATE_MASK;
}

bool trn_pci_config_write(struct trn_pci_config *config, size_t offset, const void *data,
			  size_t length)
{
	const size_t flr = CAP_EXP + PCI_EXP_DEVCTL + 1;
	unsigned int before = power_state(config), after;
	const uint8_t *bytes = data;

	for (size_t i = 0; i < length; i++) {
		uint8_t *value = &config->value[offset + i];
		uint8_t writable = config->writable[offset + i];

		*value &= ~(bytes[i] & config->clearable[offset + i]);
		*value = (*value & ~writable) | (bytes[i] & writable);
	}

	/* There are no D1 and D2: such a write changes nothing. */
	after = power_state(config);
	if (after != STATE_D0 && after != STATE_D3HOT) {
		put(config->value, CAP_PM + PCI_PM_CTRL, before, 1);
		after = before;
	}
	if (before == STATE_D3HOT && after != before)
		return true;
	return offset <= flr && flr < offset + length &&
	       (bytes[flr - offset] << 8 & PCI_EXP_DEVCTL_BCR_FLR);
}

bool trn_pci_bus_master(const struct trn_pci_config *config)
{
	return (get(config->value, PCI_COMMAND, 2) & PCI_COMMAND_MASTER) &&
	       power_state(config) == STATE_D0;
}
