#!/bin/sh
# SPDX-License-Identifier: MIT
# bad_device.sh CHIP...: in a guest of which the CHIPs, counted from 0, were built broken
# (trn-vm --defect), each of these is refused with one line at error level, and all
# others are listed and work.

for chip in "$@"; do
	case $chip in
	''|*[!0-9]*)
		echo "bad_device.sh: CHIP \"$chip\" is not a number" >&2
		exit 2 ;;
	esac
done

failed=0
fail() {
	echo "bad_device.sh: $*" >&2
	failed=$((failed + 1))
}

is_chip() {
	[ "$(cat "$1/vendor")" = 0x1234 ] && [ "$(cat "$1/class")" = 0x120000 ]
}

# Lines at error level that name a PCI address; they go to stderr too.
error_lines() {
	dmesg --level emerg,alert,crit,err | grep "trn $1:" | tee /dev/stderr | wc -l
}

index=0
good=0
for device in /sys/bus/pci/devices/*; do
	is_chip "$device" || continue
	address=${device##*/}
	lines=$(error_lines "$address")
	case " $* " in
	*" $index "*)
		[ ! -e "$device/driver" ] || fail "chip $index, $address, is broken but bound"
		[ "$lines" -eq 1 ] || fail "chip $index, $address, has $lines error lines, not 1" ;;
	*)
		good=$((good + 1))
		[ -e "$device/driver" ] || fail "chip $index, $address, is good but not bound"
		[ "$lines" -eq 0 ] || fail "chip $index, $address, has $lines error lines, not 0" ;;
	esac
	index=$((index + 1))
done
[ $index -eq $(($# + good)) ] || fail "there are only $index chips"

listed=$(trn-smi list --json | grep -c '"state": "ok"')
[ "$listed" -eq "$good" ] || fail "$listed of $good good chips are listed"
[ "$good" -eq 0 ] || trn-bench copy --size 1M >/dev/null || fail "the good chips do not copy"
rmmod trn || fail "rmmod"
echo "bad_device: $# refused, $good good, $failed failed"
[ $failed -eq 0 ]
