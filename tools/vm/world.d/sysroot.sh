# SPDX-License-Identifier: MIT
# Making the sysroot: resolve versions, fetch, mmdebstrap, kernels, rename.

# Whatever decides what the tree holds, so that a change of it makes another tree.
recipe() {
	cat "$vm_dir/sysroot.packages"
	declare -p suite unwanted_modules dpkg_excludes
	declare -f write_preferences image_packages make_tree kernel_packages \
		unpack_kernels unpack_checkpatch index_modules
}

recipe_hash() {
	recipe | sha256sum | cut -c 1-12
}

resolved_file() {
	echo "$cache/resolved-$(recipe_hash)"
}

# sysroot_dir RESOLVED
sysroot_dir() {
	echo "$cache/sysroot-$(recipe_hash)-$(sha256sum <"$1" | cut -c 1-12)"
}

# The sysroot of this recipe if there is one, without asking the archive.
current_sysroot() {
	local resolved dir

	resolved=$(resolved_file)
	[ -e "$resolved" ] || return 1
	dir=$(sysroot_dir "$resolved")
	[ -e "$dir/.complete" ] || return 1
	echo "$dir"
}

# Versions are asked for once a day at most, or when told to.
versions_are_fresh() {
	[ -n "$(find "$(resolved_file)" -mmin -1440 2>/dev/null)" ]
}

refresh_versions() {
	local resolved

	resolved=$(resolved_file)
	if ! archive_update; then
		tail -n 3 "$apt_dir/update.log" >&2
		return 1
	fi
	if ! resolve >"$resolved.new"; then
		tail -n 12 "$apt_dir/resolve.log" >&2
		return 1
	fi
	mv "$resolved.new" "$resolved"
}

# ensure_sysroot [--refresh]
ensure_sysroot() {
	if [ "${1:-}" != --refresh ] && versions_are_fresh && current_sysroot >/dev/null; then
		return
	fi
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "the sysroot is for Debian hosts of the amd64 architecture only"
	need_tools
	take_lock sysroot
	if [ "${1:-}" = --refresh ] || ! versions_are_fresh; then
		if ! refresh_versions; then
			current_sysroot >/dev/null ||
				die "cannot reach Debian's archive; check the network and /etc/apt, then try again"
			say "cannot reach Debian's archive; going on with the sysroot that is here"
		fi
	fi
	current_sysroot >/dev/null || build_sysroot
	drop_lock
}

build_sysroot() {
	local resolved dir part

	resolved=$(resolved_file)
	dir=$(sysroot_dir "$resolved")
	part=$cache/part-sysroot
	need_space "$cache" 4500 "making the sysroot"
	remove_tree "$part"
	with_progress "fetching packages" "$cache/fetch.log" \
		"$vm_dir/world" --step fetch_packages "$resolved" ||
		die "cannot fetch packages; run the same command again to go on from there"
	with_progress "making the sysroot" "$cache/sysroot.log" \
		"$vm_dir/world" --step make_tree "$resolved" "$part" || {
			remove_tree "$part"
			die "cannot make the sysroot; the whole log is $cache/sysroot.log"
		}
	cp "$resolved" "$part/.complete"
	remove_tree "$dir"
	mv "$part" "$dir" || die "cannot rename $part"
	rm -rf "$apt_dir"/{archives,kernels} "$apt_dir"/var/cache/apt/*.bin
	remove_stale "$dir"
	say "sysroot: $(du -sm "$dir" | cut -f 1) MiB in $dir"
}

# Debian names no module directory that a guest of ours could do without
# as a whole, so the drivers of hardware that no virtual machine has are left out:
# nine tenths of the size.
unwanted_modules=(
	sound
	drivers/{media,iio,usb,platform,hid,input,comedi,scsi,mtd,bluetooth,staging}
	drivers/{infiniband,isdn,gpib,leds,mfd,mmc,memstick,nfc,parport,pcmcia,power,rtc}
	drivers/{spi,soundwire,target,thermal,tty,w1,watchdog,xen,ata,md,message,regulator}
	drivers/{accessibility,atm,bcma,ssb,firewire,gnss,pinctrl,hwtracing,extcon,gpio}
	drivers/net/{ethernet,wireless,can,usb,phy,wwan,dsa,ieee802154,hamradio,fddi,arcnet}
	drivers/gpu/drm/{amd,i915,xe,nouveau,radeon,gma500,ast,mgag200,qxl,vmwgfx}
	net/{netfilter,bluetooth,wireless,mac80211,mac802154,nfc,can,atm,rds,batman-adv,6lowpan,sctp,tipc}
	fs/{ocfs2,gfs2,dlm,ceph,smb,coda,afs,jfs,reiserfs,xfs,btrfs,f2fs,bcachefs,nilfs2,ntfs3,ubifs,orangefs}
)

dpkg_excludes=(
	'/usr/share/doc/*' '/usr/share/man/*' '/usr/share/info/*' '/usr/share/locale/*'
	'/usr/share/lintian/*' '/usr/share/bug/*' '/usr/share/i18n/*' '/usr/share/gdb/*'
)

# make_tree RESOLVED DIR
make_tree() {
	local resolved=$1 dir=$2 include options

	set -e
	printf 'path-exclude=%s\n' "${dpkg_excludes[@]}" >"$apt_dir/trn-excludes"
	include="$(package_list) $(kernel_packages $(sed -n 's/^lane [^ ]* //p' "$resolved"))"
	# The lists and packages are those that were resolved and fetched.  copy-in
	# works in all of mmdebstrap's modes, whoever may read the cache.
	# The excludes come late: mmdebstrap filters essential packages in slow ways.
	options=(
		--variant=essential --architectures=amd64 --include="$include"
		--aptopt='APT::Install-Recommends "false"' --skip=update
		--dpkgopt=force-unsafe-io
		--setup-hook="copy-in '$apt_dir/lists' /var/lib/apt"
		--setup-hook="copy-in '$apt_dir/archives' /var/cache/apt"
		--setup-hook="copy-in '$apt_dir/etc/apt/preferences.d' /etc/apt"
		--essential-hook="copy-in '$apt_dir/trn-excludes' /etc/dpkg/dpkg.cfg.d"
	)
	if [ "$(id -u)" -eq 0 ]; then
		mmdebstrap --mode=root --format=directory "${options[@]}" \
			"$suite" "$dir" - <"$apt_dir/etc/apt/sources.list"
	else
		# A tree that belongs to the user, who can delete it like any other.
		# mmdebstrap unpacks in TMPDIR, which its other user ids must reach.
		mkdir "$dir"
		mmdebstrap --mode=unshare --format=tar "${options[@]}" \
			"$suite" - - <"$apt_dir/etc/apt/sources.list" |
		tar -x -C "$dir" --no-same-owner --exclude='./dev/*'
		chmod -R u+rwX "$dir"
	fi
	rm -rf "$dir"/usr/share/{doc,man,info,locale,lintian,i18n}/*
	unpack_kernels "$dir"
	unpack_checkpatch "$dir"
	index_modules "$resolved" "$dir"
	printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$dir/etc/hosts"
}

unpack_kernels() {
	local deb drop options=()

	for drop in "${unwanted_modules[@]}"; do
		options+=(--exclude="*/modules/*/kernel/$drop")
	done
	for deb in "$apt_dir"/kernels/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$1" --no-same-owner --keep-directory-symlink \
				"${options[@]}" --exclude='./boot/System.map*' --exclude='./usr/share/*'
	done
	find "$1/usr/lib/modules" -name '*.ko.xz' -print0 |
		xargs -0 -n 64 -P "$(nproc)" xz -d
}

# Debian packages it nowhere but in the source.
unpack_checkpatch() {
	mkdir "$1/usr/src/checkpatch"
	tar -x -C "$1/usr/src/checkpatch" --no-same-owner --strip-components=2 \
		-f "$1"/usr/src/linux-source-*.tar.xz --wildcards \
		'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'
}

# All of a kernel in one directory, and plain modules: xz is slow in a guest.
# The host may have no depmod, and the sysroot's runs on any host by its own loader.
index_modules() {
	local release modules

	for release in $(sed -n 's/^lane \(stable\|backports\) //p' "$1"); do
		modules=$2/usr/lib/modules/$release
		[ -e "$modules/vmlinuz" ] || mv "$2/boot/vmlinuz-$release" "$modules/vmlinuz"
		[ -e "$modules/config" ] || mv "$2/boot/config-$release" "$modules/config"
		"$2/lib64/ld-linux-x86-64.so.2" --library-path "$2/usr/lib/x86_64-linux-gnu" \
			--argv0 depmod "$2/usr/bin/kmod" -b "$2" "$release"
	done
}

# A tree that mmdebstrap left half-made belongs to root or to subordinate ids.
remove_tree() {
	[ -e "$1" ] || return 0
	rm -rf --one-file-system "$1" 2>/dev/null ||
		unshare --map-root-user --map-auto rm -rf --one-file-system "$1" ||
		die "cannot remove $1"
}

# Trees that nobody used for a week; `world run` holds a lock on what it uses.
remove_stale() {
	local dir

	for dir in "$cache"/sysroot-* "$cache"/kernel-*; do
		[ "$dir" = "$1" ] || [ ! -d "$dir" ] && continue
		[ -n "$(find "$dir/.complete" -mtime -7 2>/dev/null)" ] && continue
		flock -n "$dir" true || continue
		say "removing $dir, not used for a week"
		remove_tree "$dir"
	done
}
