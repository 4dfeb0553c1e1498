# SPDX-License-Identifier: MIT
# Running a command inside the sysroot.

# What of the caller's environment goes along; all else is left behind.
passed_variables='TERM|COLORTERM|NO_COLOR|COLUMNS|LINES|CI|TZ|V|FORCE|SOURCE_DATE_EPOCH
MAKEFLAGS|MFLAGS|MAKELEVEL|MAKEOVERRIDES|KCFLAGS
TRN_.*|CK_.*|OPENBLAS_.*|OMP_NUM_THREADS|.*SAN_OPTIONS'

clean_environment() {
	local name

	# Not /tmp, which worlds share: each numbers its processes from 1, and make
	# names its job server's pipe by process number.
	kept=(TMPDIR=/var/tmp
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		HOME=/root USER=root LOGNAME=root SHELL=/bin/bash LANG=C.UTF-8
		TRN_CACHE="$cache")
	for name in $(compgen -e); do
		[[ $name =~ ^(${passed_variables//$'\n'/|})$ ]] || continue
		[ "$name" = TRN_CACHE ] || kept+=("$name=${!name}")
	done
}

# Directories of the host that are seen at their own path inside.
shared_dirs() {
	echo "$tree"
	case $PWD/ in
	"$tree"/* | "$cache"/* | /tmp/* | /usr/* | /etc/* | /bin/* | /sbin/* | /lib*/* | \
		/var/* | /proc/* | /sys/* | /dev/* | /run/* | /boot/* | //) ;;
	*) pwd ;;
	esac
}

# enter SYSROOT CMD...
enter() {
	local sysroot=$1 namespaces=(--mount --pid --fork --kill-child) status

	shift
	clean_environment
	if [ "$(id -u)" -ne 0 ]; then
		namespaces+=(--user --map-root-user)
		kept+=(TRN_WORLD_USER=1)
	fi
	[ -d "$cache/mnt" ] || mkdir -p "$cache/mnt"
	mapfile -t shared < <(shared_dirs)
	# The directory's lock says that it is in use, to remove_stale.
	exec {use_fd}<"$sysroot"
	flock -s "$use_fd"
	touch -c "$sysroot/.complete" 2>/dev/null
	pass_signal=signal_inside
	run_child unshare "${namespaces[@]}" env -i "${kept[@]}" \
		/bin/bash "$vm_dir/world.d/inside.sh" "$sysroot" "$cache" "$PWD" "${shared[@]}" -- "$@"
	status=$?
	[ $status -eq 0 ] || unshare "${namespaces[@]}" true 2>/dev/null || no_namespaces
	return $status
}

no_namespaces() {
	if [ "$(id -u)" -eq 0 ]; then
		die "this root may not make mount and pid namespaces (a container? it needs CAP_SYS_ADMIN, e.g. --privileged)"
	fi
	die "user namespaces are not allowed on this machine; run as root, or allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
}

# unshare blocks signals while it waits, so they go to the first process inside,
# which passes them on.
signal_inside() {
	local inner

	read -r inner _ <"/proc/$2/task/$2/children"
	kill -s "$1" "${inner:-$2}" 2>/dev/null
}
