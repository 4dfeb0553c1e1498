# SPDX-License-Identifier: MIT
# The debug kernel: Debian's source of the backports lane with debug.config.
#
# $cache/kernel-KEY/ has vmlinuz, config, and build/, which modules build against.

kernel_recipe() {
	sed -n -e '/^lane source/p' -e '/^install linux-source/p' -e '/^install gcc-[0-9]*=/p' "$(resolved_file)"
	cat "$vm_dir/debug.config" "$vm_dir/debug.Kconfig"
	declare -f unpack_source configure_kernel compile_kernel collect_kernel
}

kernel_path() {
	echo "$cache/kernel-$(kernel_recipe | sha256sum | cut -c 1-12)"
}

debug_kernel_dir() {
	local dir

	[ -e "$(resolved_file)" ] || return 1
	dir=$(kernel_path)
	[ -e "$dir/.complete" ] && echo "$dir"
}

ensure_debug_kernel() {
	local dir part=$cache/part-kernel sysroot

	debug_kernel_dir >/dev/null && return
	sysroot=$(current_sysroot) || die "there is no sysroot yet"
	take_lock kernel
	if debug_kernel_dir >/dev/null; then
		drop_lock
		return
	fi
	dir=$(kernel_path)
	# What an interrupted build left is gone on with, if it was for the same kernel.
	if [ "$(cat "$part/.for" 2>/dev/null)" != "$dir" ]; then
		need_space "$cache" 4000 "building the debug kernel"
		remove_tree "$part"
		mkdir -p "$part"
		kernel_step "unpacking the kernel's source" unpack_source "$part"
		kernel_step "configuring the debug kernel" configure_kernel "$part"
		echo "$dir" >"$part/.for"
	fi
	kernel_step "compiling the debug kernel (about twenty minutes on two cores)" compile_kernel "$part"
	kernel_step "collecting the debug kernel" collect_kernel "$part"
	remove_tree "$dir"
	mv "$part/result" "$dir" || die "cannot rename $part/result"
	remove_tree "$part"
	drop_lock
	remove_stale "$dir"
	say "debug kernel: $(du -sm "$dir" | cut -f 1) MiB in $dir"
}

# A step runs inside the sysroot.
kernel_step() {
	with_progress "$1" "$cache/kernel.log" "$vm_dir/world" run "$vm_dir/world" --step "$2" "$3" ||
		die "$1 failed; the whole log is $cache/kernel.log"
}

unpack_source() {
	tar -x -C "$1" --strip-components=1 -f /usr/src/linux-source-*.tar.xz
	sed -i "\$r $vm_dir/debug.Kconfig" "$1/drivers/accel/Kconfig"
}

configure_kernel() {
	local line missing=

	cd "$1" || return 1
	make -s tinyconfig &&
		scripts/kconfig/merge_config.sh -m .config "$vm_dir/debug.config" &&
		make -s olddefconfig || return 1
	while read -r line; do
		grep -qxF -- "$line" .config || missing+=" $line;"
	done < <(grep -E '^(# )?CONFIG_[A-Z0-9_]+[= ]' "$vm_dir/debug.config")
	[ -z "$missing" ] || {
		echo "these lines of debug.config did not hold:$missing"
		return 1
	}
}

compile_kernel() {
	export KBUILD_BUILD_USER=trn KBUILD_BUILD_HOST=world
	make -s -C "$1" -j "$(nproc)" bzImage modules
}

# The kernel's own script picks what building modules needs.
collect_kernel() {
	cd "$1" || return 1
	rm -rf result
	mkdir -p result &&
		make -s run-command KBUILD_RUN_COMMAND='+$(srctree)/scripts/package/install-extmod-build result/build' &&
		cp arch/x86/boot/bzImage result/vmlinuz &&
		cp .config result/config &&
		make -s kernelrelease >result/release &&
		touch result/.complete
}
