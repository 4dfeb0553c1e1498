# SPDX-License-Identifier: MIT
# A test that passed runs again only when something that it depends on has changed.
# Bash functions, for what runs tests.

# key_of CMD...: a hash of CMD, of the variables that tests read, and of the bytes of
# the files `inputs`, where a directory stands for all files below it.  Fails if one
# of them does not exist.
key_of() (
	set -o pipefail
	{
		printf '%s\n' "$@" ''
		for name in $(compgen -e | sort); do
			[[ $name =~ ^(TRN_.*|CK_.*|.*SAN_OPTIONS)$ ]] && [ "$name" != TRN_CACHE ] &&
				echo "$name=${!name}"
		done
		find -L "${inputs[@]}" -type f -print0 | sort -z | xargs -0 sha256sum
	} | sha256sum
)

# if_changed STAMP INPUT... -- CMD...: runs CMD, unless STAMP says that it passed with
# all as it is now.  Then `unchanged_since` tells when that was; else it is empty.
if_changed() {
	local stamp=$1 inputs=() key status

	shift
	while [ "$1" != -- ]; do
		inputs+=("$1")
		shift
	done
	shift
	unchanged_since=
	key=$(key_of "$@" 2>/dev/null) || key=
	if [ "${FORCE:-0}" != 1 ] && [ -n "$key" ] && [ "$key" = "$(cat "$stamp" 2>/dev/null)" ]; then
		unchanged_since=$(date -r "$stamp" '+%F %T')
		return 0
	fi
	rm -f "$stamp"
	"$@"
	status=$?
	# What changed meanwhile was tested in part only.
	if [ $status -eq 0 ] && [ -n "$key" ] && [ "$(key_of "$@" 2>/dev/null)" = "$key" ]; then
		mkdir -p "$(dirname "$stamp")" && echo "$key" >"$stamp"
	fi
	return $status
}
