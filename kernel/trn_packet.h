/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRN_PACKET_H
#define _TRN_PACKET_H

#include <linux/types.h>

#include <hw/trn_queue.h>

int trn_packet_check(const struct trn_packet *packet, u8 type, u32 cores);
void trn_packet_fence_write(struct trn_packet *packet, u64 address, u64 value);
void trn_packet_clear(struct trn_packet *packet, u64 address, u64 length);

#endif /* _TRN_PACKET_H */
