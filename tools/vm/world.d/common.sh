# SPDX-License-Identifier: MIT
# Messages, the cache's place, and running long or interruptible commands.

cache=${TRN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/trn}

say() {
	printf 'world: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 1
}

usage_error() {
	say "$1; see tools/vm/world --help"
	exit 2
}

# How a child is given a signal; `world run` has another way.
pass_signal=signal_child
signal_child() {
	kill -s "$1" "$2" 2>/dev/null
}

# run_child CMD...: CMD with our standard streams, killed when we die however
# that happens, and given the signals that we are given.  A shell starts a
# background command with SIGINT ignored, which env undoes.
run_child() {
	local pid status again

	env --default-signal=INT,QUIT setpriv --pdeathsig KILL -- "$@" <&0 &
	pid=$!
	trap '$pass_signal TERM $pid' TERM
	trap '$pass_signal HUP $pid' HUP
	trap '$pass_signal INT $pid' INT
	while :; do
		wait "$pid"
		status=$?
		kill -0 "$pid" 2>/dev/null || break
	done
	trap - TERM HUP INT
	# A trap makes wait return early, perhaps just before the command ended.
	if [ $status -gt 128 ]; then
		wait "$pid"
		again=$?
		[ $again -eq 127 ] || status=$again
	fi
	return $status
}

# with_progress LABEL LOG CMD...: CMD with its output in LOG, a line with the
# elapsed time now and then, and LOG's end on failure.
with_progress() {
	local label=$1 log=$2 start=$SECONDS ticker status

	shift 2
	say "$label ..."
	ticker "$label" & ticker=$!
	run_child "$@" >"$log" 2>&1 </dev/null
	status=$?
	kill "$ticker" 2>/dev/null
	wait "$ticker" 2>/dev/null
	[ -t 2 ] && printf '\r\033[K' >&2
	if [ $status -ne 0 ]; then
		say "$label failed (status $status); the end of $log:"
		tail -n 25 "$log" | sed 's/^/    /' >&2
		return $status
	fi
	say "$label: done in $((SECONDS - start)) s"
}

ticker() {
	local parent=$$ start=$SECONDS step=30

	trap - EXIT
	[ -t 2 ] && step=2
	while sleep $step && [ -d "/proc/$parent" ]; do
		if [ -t 2 ]; then
			printf '\r\033[Kworld: %s: %d s' "$1" $((SECONDS - start)) >&2
		else
			say "$1: $((SECONDS - start)) s so far"
		fi
	done
}

# need_space DIR MIB WHAT
need_space() {
	local free

	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] ||
		die "$3 needs $2 MiB free in $1, which has $free MiB; free some, or set TRN_CACHE to another place"
}

# take_lock WHAT: one builder at a time of each thing in the cache.  Whoever
# waited looks again.
take_lock() {
	mkdir -p "$cache" || die "cannot make $cache"
	exec {lock_fd}>"$cache/lock-$1"
	if ! flock -n "$lock_fd"; then
		say "another command is making the $1 in $cache; waiting for it"
		flock "$lock_fd"
	fi
}

drop_lock() {
	exec {lock_fd}>&-
}

# need_tools: what Debian's minimal system lacks.  Root installs it.
need_tools() {
	local missing=()

	command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
	command -v xz >/dev/null || missing+=(xz-utils)
	command -v mount >/dev/null || missing+=(mount)
	if [ "$(id -u)" -ne 0 ]; then
		command -v newuidmap >/dev/null || missing+=(uidmap)
	fi
	[ ${#missing[@]} -eq 0 ] && return
	if [ "$(id -u)" -ne 0 ]; then
		die "missing on this machine; run: sudo apt install ${missing[*]}"
	fi
	say "installing ${missing[*]}"
	mkdir -p "$cache"
	{
		apt-get update &&
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
	} >"$cache/host.log" 2>&1 </dev/null || {
		tail -n 5 "$cache/host.log" >&2
		die "cannot install ${missing[*]}; try: apt install ${missing[*]}"
	}
}
