# SPDX-License-Identifier: MIT
# Debian's archive: where it is, and which versions it has now.
#
# The host's apt does the asking, in a directory of its own below the cache.  It
# only simulates and downloads: dpkg would work on the host whatever Dir says,
# so it is switched off for good measure.

suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
apt_dir=$cache/apt

# Mirrors as the host has them configured, in whichever format.  Only the
# address is taken: the host's own suite may be another.
host_mirror() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 2>/dev/null |
	awk -v kind="$1" '
		$3 != "main" { next }
		$2 !~ /^(bookworm|trixie|forky|duke|oldstable|stable|testing|unstable|sid)/ { next }
		{ security = $2 ~ /-security$/ }
		(kind == "security") == security { print $1; exit }'
}

# A host without any: what mmdebstrap would take by itself.
default_mirror() {
	mmdebstrap --simulate --verbose "$suite" /dev/null 2>&1 |
		sed -n "s/^\(Get\|Hit\):[0-9]* \([^ ]*\) $suite InRelease.*/\2/p" | head -n 1
}

write_sources() {
	local main security by="[signed-by=$keyring]"

	main=$(host_mirror main)
	security=$(host_mirror security)
	if [ -z "$main" ]; then
		main=$(default_mirror)
		[ -n "$main" ] ||
			die "no Debian archive in this machine's apt configuration; add one to /etc/apt/sources.list"
	fi
	echo "deb $by $main $suite main"
	echo "deb $by $main $suite-updates main"
	echo "deb $by $main $suite-backports main"
	[ -z "$security" ] || echo "deb $by $security $suite-security main"
}

# QEMU attaches to a vfio-user server from 10.1 on.
write_preferences() {
	cat <<-EOF
	Package: src:qemu src:seabios
	Pin: release n=$suite-backports
	Pin-Priority: 600
	EOF
}

write_apt_conf() {
	cat <<-EOF
	Dir "$apt_dir";
	Dir::State::status "$apt_dir/status";
	Dir::Bin::dpkg "/bin/false";
	Dir::Log "$apt_dir";
	APT::Architecture "amd64";
	APT::Architectures { "amd64"; };
	APT::Install-Recommends "false";
	APT::Sandbox::User "";
	APT::Get::Assume-Yes "true";
	APT::Cmd::Disable-Script-Warning "true";
	Acquire::Languages "none";
	Acquire::Retries "3";
	EOF
	# The host's way out, and nothing else of its configuration.
	apt-config dump | grep -E '^Acquire::(http|https)::?(Proxy|Proxy-Auto-Detect|AllowRedirect|Timeout)'
}

in_archive() {
	APT_CONFIG=$apt_dir/apt.conf "$@" </dev/null
}

archive_setup() {
	[ -r "$keyring" ] ||
		die "$keyring is missing; run: apt install debian-archive-keyring"
	mkdir -p "$apt_dir"/{lists/partial,archives/partial,kernels,etc/apt/{preferences.d,apt.conf.d}} \
		"$apt_dir"/var/{lib/apt,cache/apt,lib/dpkg}
	ln -sfn ../../../lists "$apt_dir/var/lib/apt/lists"
	ln -sfn ../../../archives "$apt_dir/var/cache/apt/archives"
	: >"$apt_dir/status"
	write_apt_conf >"$apt_dir/apt.conf"
	write_sources >"$apt_dir/etc/apt/sources.list"
	write_preferences >"$apt_dir/etc/apt/preferences.d/trn"
}

# archive_update: the only step that must have the network.
archive_update() {
	archive_setup
	in_archive apt-get update -qq --error-on=any >"$apt_dir/update.log" 2>&1
}

# The release that the newest META of a lane depends on: "linux-headers-amd64 bpo"
# gives 7.3.4+deb13.  apt-cache lists the newest version first.
lane_release() {
	in_archive apt-cache show "$1" |
	awk -v lane="$2" -v prefix="${1%-amd64}-" '
		$1 == "Version:" { ours = ($2 ~ /~bpo/) == (lane == "bpo") }
		$1 == "Depends:" && ours {
			n = split(substr($0, 10), dep, ", *")
			for (i = 1; i <= n; i++) {
				sub(/ .*/, "", dep[i])
				if (index(dep[i], prefix) == 1) {
					print substr(dep[i], length(prefix) + 1)
					exit
				}
			}
		}'
}

# From 7.x on linux-image is empty and depends on these.
image_packages() {
	if in_archive apt-cache show "linux-binary-$1" >/dev/null 2>&1; then
		echo "linux-base-$1 linux-binary-$1 linux-modules-$1"
	else
		echo "linux-image-$1"
	fi
}

package_list() {
	sed 's/#.*//' "$vm_dir/sysroot.packages" | tr -s ' \n' ' '
}

# resolve: prints "install PACKAGE=VERSION" for all that gets installed, "unpack
# PACKAGE=VERSION" for the kernels' images and headers, which are unpacked only:
# installing them brings an initramfs generator, and runs it.  "lane NAME RELEASE"
# says which kernel is which.
resolve() {
	local stable bpo source release pkg commons=()

	stable=$(lane_release linux-headers-amd64 stable)
	bpo=$(lane_release linux-headers-amd64 bpo)
	source=$(lane_release linux-source bpo)
	[ -n "$stable" ] && [ -n "$bpo" ] && [ -n "$source" ] || {
		say "the archive has no kernel packages for both lanes"
		return 1
	}
	echo "lane stable $stable"
	echo "lane backports $bpo"
	echo "lane source $source"
	in_archive apt-get -s install '?essential' $(package_list) \
		$(kernel_packages "$stable" "$bpo" "$source") >"$apt_dir/resolve.log" 2>&1 || return 1
	sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/install \1=\2/p' "$apt_dir/resolve.log" | sort
	for release in "$stable" "$bpo"; do
		for pkg in "linux-headers-$release" $(image_packages "$release"); do
			echo "unpack $pkg=$(in_archive apt-cache show "$pkg" | awk '$1 == "Version:" { print $2; exit }')"
		done
	done
}

# kernel_packages STABLE BACKPORTS SOURCE: what of the kernels gets installed.
kernel_packages() {
	local release

	for release in "$1" "$2"; do
		echo "linux-headers-${release%-*}-common linux-kbuild-${release%-*}"
	done
	echo "linux-source-$3"
}

# fetch RESOLVED: every package into the cache, going on where it stopped.
fetch_packages() {
	local name

	in_archive apt-get -q --download-only install $(sed -n 's/^install //p' "$1") || return 1
	cd "$apt_dir/kernels" || return 1
	for name in $(sed -n 's/^unpack //p' "$1"); do
		[ -e "${name%%=*}.deb" ] && continue
		in_archive apt-get -q download "$name" || return 1
		mv "${name%%=*}"_*.deb "${name%%=*}.deb" || return 1
	done
}
