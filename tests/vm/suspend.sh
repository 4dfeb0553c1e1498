#!/bin/sh
# SPDX-License-Identifier: MIT
# suspend.sh: runs suspend in a guest of trn-vm --suspend.  What it needs is in memory: the guest's
# files are out of reach after it has slept.
set -e

memory=/run/suspend
mkdir -p $memory
program=$(command -v suspend)
cp "$program" $memory
for library in $(ldd "$program" | grep -o '/[^ ]*'); do
	cp "$library" $memory
done
modprobe -q vgem || true
# Nothing of this script is left to read.
exec $memory/ld-linux-x86-64.so.2 --library-path $memory $memory/suspend
