#!/bin/sh
# SPDX-License-Identifier: MIT
# reload.sh [COUNT]: COUNT times rmmod and insmod, then COUNT times unbind and bind of
# every chip.  After each, trn-smi lists the same chips, and all their memory is free.
# COUNT is 50 (500 with TRN_LONG=1).  Runs in the guest.

default=50
[ "${TRN_LONG:-0}" = 1 ] && default=500
count=${1:-$default} # "" too is the default
case $count in
''|*[!0-9]*|0*)
	echo "reload.sh: COUNT \"$count\" is not a number from 1" >&2
	exit 2 ;;
esac

driver=/sys/bus/pci/drivers/trn

fail() {
	echo "reload.sh: $*" >&2
	trn-smi list >&2
	echo "reload: $cycle of $count cycles, 1 failed"
	exit 1
}

# Bound chips, one PCI address a line.
bound() {
	for path in "$driver"/????:*; do
		[ -e "$path" ] && echo "${path##*/}"
	done
}

# Every chip is listed as it was at the beginning, when nothing held memory.
check() {
	listed=$(trn-smi list --json) || fail "$1: trn-smi: status $?"
	[ "$listed" = "$expected" ] || fail "$1: the list of chips has changed"
}

progress() {
	[ $((cycle % 10)) -ne 0 ] || echo "reload.sh: $1, $cycle of $count" >&2
}

cycle=0
addresses=$(bound)
chips=$(echo "$addresses" | grep -c .)
[ "$chips" -gt 0 ] || fail "no chip is bound"
expected=$(trn-smi list --json) || fail "trn-smi: status $?"
free=$(echo "$expected" | grep -c '"hbm_used_bytes": 0[,]*$')
[ "$free" -eq "$chips" ] || fail "$free of $chips chips are listed with all memory free"

while [ $cycle -lt "$count" ]; do
	cycle=$((cycle + 1))
	rmmod trn || fail "rmmod"
	trn-smi list --json >/dev/null 2>&1
	[ $? -eq 9 ] || fail "without the driver trn-smi's status is not 9"
	insmod "$TRN_MODULE" || fail "insmod"
	check "insmod"
	progress "insmod"
done

cycle=0
while [ $cycle -lt "$count" ]; do
	cycle=$((cycle + 1))
	for address in $addresses; do
		echo "$address" >"$driver/unbind" || fail "unbind of $address"
	done
	[ -z "$(bound)" ] || fail "a chip is still bound"
	for address in $addresses; do
		echo "$address" >"$driver/bind" || fail "bind of $address"
	done
	check "bind"
	progress "bind"
done
echo "reload: $((2 * count)) of $((2 * count)) cycles, 0 failed"
