# SPDX-License-Identifier: MIT
# inside.sh SYSROOT CACHE CWD SHARED-DIR... -- CMD...
#
# The first process of the new pid and mount namespaces.  It makes a root out
# of a tmpfs, with the sysroot read-only and some host directories in it, runs
# CMD there and passes signals on.  When it ends the kernel kills whatever is left.

set -e

sysroot=$1 cache=$2 cwd=$3
shift 3
shared=()
while [ "$1" != -- ]; do
	shared+=("$1")
	shift
done
shift

root=$cache/mnt
targets=(/proc /sys /dev /tmp /run /root /var/tmp "$cache" "${shared[@]}")

# Whether PATH is one of the targets or has one below it.
is_target() {
	local t

	for t in "${targets[@]}"; do
		[ "$t" = "$1" ] && return 0
	done
	return 1
}

leads_to_target() {
	local t

	for t in "${targets[@]}"; do
		[[ $t == "$1"/* ]] && return 0
	done
	return 1
}

# Remounting needs flags that an ordinary user cannot know to be set below; then
# the mount stays writable, for the one user whose files these are.
bind_readonly() {
	mount --bind "$1" "$2"
	mount -o remount,bind,ro "$2" 2>/dev/null || true
}

# fill PATH: what the sysroot has at PATH.  A directory that a target lies in
# is made anew, so that the target gets its mount point; all else is bound whole.
fill() {
	local entry path

	for entry in "$sysroot$1"/*; do
		path=$1/${entry##*/}
		if is_target "$path"; then
			continue
		elif [ -L "$entry" ]; then
			cp -P "$entry" "$root$path"
		elif leads_to_target "$path"; then
			mkdir -p "$root$path"
			fill "$path"
		elif [ -d "$entry" ]; then
			mkdir -p "$root$path"
			bind_readonly "$entry" "$root$path"
		elif [ -f "$entry" ]; then
			: >"$root$path"
			bind_readonly "$entry" "$root$path"
		fi
	done
}

mount -t tmpfs -o mode=755 world "$root"
fill ""
for dir in "${targets[@]}"; do
	mkdir -p "$root$dir"
done
chmod 1777 "$root/var/tmp"
mount -t proc proc "$root/proc"
for dir in /sys /dev /tmp; do
	mount --rbind "$dir" "$root$dir"
done
mount --bind "$cache" "$root$cache"
for dir in "${shared[@]}"; do
	mkdir -p "$root$dir"
	mount --rbind "$dir" "$root$dir"
done
: >"$root/.trn-world"
mkdir "$root/.old"
cd "$root"
pivot_root . .old
umount -l /.old
rmdir /.old
cd "$cwd" 2>/dev/null || cd "${shared[0]}"

set +e
# A shell starts a background command with SIGINT ignored; env undoes that.
env --default-signal=INT,QUIT -- "$@" <&0 &
child=$!
for signal in TERM HUP INT; do
	trap "kill -s $signal $child 2>/dev/null" $signal
done
while :; do
	wait "$child"
	status=$?
	kill -0 "$child" 2>/dev/null || break
done
# A trap makes wait return early, perhaps just before the command ended.
if [ $status -gt 128 ]; then
	wait "$child"
	again=$?
	[ $again -eq 127 ] || status=$again
fi
exit $status
