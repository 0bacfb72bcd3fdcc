#!/bin/sh
# deploy/install-deps.sh PACKAGE... -- installs the Debian packages that are missing.
#
# As root, or through sudo where it asks for no password; else it prints the
# line to run and fails.  Packages that are there are left as they are.
set -eu

missing=
for package in "$@"; do
	status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
	case $status in
	"install ok installed") continue ;;
	esac
	# Another source may provide the command (node by version, clang-14).
	case $package in
	nodejs) command -v node >/dev/null 2>&1 && continue ;;
	libopenblas0-pthread) ldconfig -p 2>/dev/null | grep -q 'libopenblas\.so\.0 ' && continue ;;
	npm) command -v npm >/dev/null 2>&1 && continue ;;
	esac
	missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
	sudo=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
	sudo=sudo
else
	echo "These packages are missing, and installing needs root:" >&2
	echo "  apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 -- a list of package names
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
