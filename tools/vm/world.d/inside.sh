# SPDX-License-Identifier: MIT
# inside.sh SYSROOT CACHE CWD SHARED-DIR... -- CMD...
#
# The first process of the new pid and mount namespaces.  It makes a root out
# of a tmpfs, with the sysroot read-only and some host directories in it, runs
# CMD there and passes signals on.  When it ends the kernel kills whatever is left.

# Whether PATH is one of the targets.
is_target() {
	local t

	for t in "${targets[@]}"; do
		[ "$t" = "$1" ] && return 0
	done
	return 1
}

# Whether PATH has one of them below it.
leads_to_target() {
	local t

	for t in "${targets[@]}"; do
		[[ $t == "$1"/* ]] && return 0
	done
	return 1
}

# bind FROM TO OPTIONS: a line for fstab, so that one mount does them all.
bind() {
	table+="${1// /\\040} ${2// /\\040} none $3 0 0"$'\n'
}

# fill PATH: what the sysroot has at PATH.  A directory that a target lies in
# is made anew, so that the target gets its mount point; all else is bound whole.
fill() {
	local entry path links=()

	for entry in "$sysroot$1"/*; do
		path=$1/${entry##*/}
		if is_target "$path"; then
			continue
		elif [ -L "$entry" ]; then
			links+=("$entry")
		elif leads_to_target "$path"; then
			mkdir -p "$root$path"
			fill "$path"
		elif [ -d "$entry" ]; then
			directories+=("$root$path")
			bind "$entry" "$root$path" "$sysroot_options"
		elif [ -f "$entry" ]; then
			: >"$root$path"
			bind "$entry" "$root$path" "$sysroot_options"
		fi
	done
	[ ${#links[@]} -eq 0 ] || cp -P "${links[@]}" "$root$1/"
}

make_root() {
	local dir table= directories=()

	local sysroot_options=bind,ro

	mount -t tmpfs -o mode=755 world "$root"
	# An ordinary user cannot have it read-only where the cache's file system is
	# mounted with certain flags; the files are his own there.
	mount -o bind,ro "$sysroot/mnt" "$root" 2>/dev/null || sysroot_options=bind
	umount "$root" 2>/dev/null
	mountpoint -q "$root" || mount -t tmpfs -o mode=755 world "$root"
	fill ""
	for dir in "${targets[@]}"; do
		directories+=("$root$dir")
	done
	for dir in /sys /dev /tmp; do
		bind "$dir" "$root$dir" rbind
	done
	bind "$cache" "$root$cache" bind
	for dir in "${shared[@]}"; do
		bind "$dir" "$root$dir" rbind
	done
	mkdir -p "${directories[@]}" "$root/.old"
	chmod 1777 "$root/var/tmp"
	mount -t proc proc "$root/proc"
	printf '%s' "$table" >"$root/.fstab"
	mount -a -T "$root/.fstab"
	rm "$root/.fstab"
	: >"$root/.trn-world"
}

move_to_root() {
	cd "$root"
	pivot_root . .old
	umount -l /.old
	rmdir /.old
	cd "$cwd" 2>/dev/null || cd "${shared[0]}"
}

run_command() {
	local child signal status again

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
	return $status
}

main() {
	sysroot=$1 cache=$2 cwd=$3
	root=$cache/mnt
	shift 3
	shared=()
	while [ "$1" != -- ]; do
		shared+=("$1")
		shift
	done
	shift
	targets=(/proc /sys /dev /tmp /run /root /var/tmp "$cache" "${shared[@]}")

	set -e
	make_root
	move_to_root
	set +e
	unset TRN_WORLD_USER
	run_command "$@"
}

# One line, read as a whole: the file may change while we run.
main "$@"; exit
