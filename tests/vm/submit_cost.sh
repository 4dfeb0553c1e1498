#!/bin/bash
# SPDX-License-Identifier: MIT
# submit_cost: what submits cost, in instructions, is within trn-bench's limits, beside a flush of
# an NVMe disk; and a submit through a user queue makes no system call, for strace either.
# Runs in a guest of trn-vm run --icount --nvme SIZE.

out=$(mktemp)
trap 'rm -f "$out"*' EXIT
failed=0

fail() {
	echo "submit_cost: $*" >&2
	failed=1
}

# check WHAT FILTER: the filter is true of the results.
check() {
	jq -e "$2" "$out" >/dev/null || fail "not so: $1"
}

trn-bench submit --json >"$out" || exit 1
jq -r '.submits[] | "submit_cost: \(.path), \(.packets) packets: \(.cost_ns) instructions, limit \(.limit_ns // "none"), \(.cost_per_flush) of the flush"' "$out"

check "a ns is an instruction" '.submits | all(.ns_are_instructions)'
check "all kinds of submits were measured" '[.submits[] | "\(.path) \(.packets)"] ==
	["user queue 1", "user queue 32", "user queue, empty packet 1",
	 "user queue, empty program 1", "kernel queue 1", "kernel queue 32",
	 "kernel queue, program 1", "kernel queue, behind another 1", "NVMe flush 0"]'
check "each has a cost" '.submits | all(.cost_ns > 0)'
check "four have a limit" '[.submits[] | select(.limit_ns)] | length == 4'
check "user queues make no system call" \
	'[.submits[] | select(.path | startswith("user queue")) | .system_calls] == [0, 0, 0, 0]'
while read -r line; do
	fail "over the limit: $line"
done < <(jq -c '.submits[] | select(.limit_ns and .cost_ns > .limit_ns)' "$out")

# calls SAMPLES: ioctls, and all system calls, of so many batches through a user queue and more.
calls() {
	strace -f -c -o "$out.strace" trn-bench submit --queue user --samples "$1" >/dev/null || exit 1
	awk '$NF == "ioctl" { ioctls = $4 } $NF == "total" { all = $4 } END { print ioctls, all }' "$out.strace"
}

read -r few_ioctls few < <(calls 100)
read -r many_ioctls many < <(calls 2100)
echo "submit_cost: strace -c: $few_ioctls ioctls and $few calls with 100 batches, $many_ioctls and $many with 2100"
[ "${few_ioctls:-0}" -gt 0 ] || fail "strace counted no ioctl"
[ "$few_ioctls" = "$many_ioctls" ] || fail "more batches make more ioctls"
# Memory for the samples takes a few.
[ $((many - few)) -lt 200 ] || fail "more batches make more system calls"

[ $failed -eq 0 ] && echo "submit_cost: passed"
exit $failed
