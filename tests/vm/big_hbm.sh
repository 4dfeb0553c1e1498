#!/bin/sh
# SPDX-License-Identifier: MIT
# Four chips of 144 GiB: all of it is there, and none of it costs host memory
# until it is used.
set -eu

limit=$((200 << 20))
list=$(trn-smi list --json)
sizes=$(echo "$list" | jq -c '[.devices[].hbm_total_bytes]')
wanted="[154618822656,154618822656,154618822656,154618822656]"
if [ "$sizes" != "$wanted" ]; then
	echo "big_hbm: hbm_total_bytes is $sizes, not $wanted" >&2
	exit 1
fi
resident=$(trn-vmctl vm vdev-rss | jq .bytes)
echo "4 × 144 GiB listed, trn-vdev resident $((resident >> 20)) MiB (limit $((limit >> 20)) MiB)"
if [ "$resident" -ge "$limit" ]; then
	echo "big_hbm: trn-vdev has $resident bytes resident, the limit is $limit" >&2
	exit 1
fi
