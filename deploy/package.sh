#!/bin/sh
# deploy/package.sh BUILD OUT -- a Debian package of what was built in BUILD, in the folder OUT, made from deploy/debian by debhelper.
# PACKAGE_REVISION in the environment goes to the end of its version.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
built=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
release=$(sed -n 's/^RELEASE := //p' "$source/Makefile")
commit=$("$built/breakeven" --version | sed -n 's/.*+\([0-9a-f]*\).*/\1/p')
version=$release${commit:++$(git -C "$source" log -1 --format=%cd --date=format:%Y%m%d.%H%M%S 2>/dev/null).$commit}${PACKAGE_REVISION:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/breakeven"
cp -r "$source/deploy/debian" "$work/breakeven/debian"
cat > "$work/breakeven/debian/changelog" <<END
breakeven ($version) unstable; urgency=medium

  * What is new is at /docs/changelog of a server.

 -- Breakeven <breakeven@example.org>  $(date -uR)
END
cd "$work/breakeven"
# -d: what was built needs nothing more to be packed.
SOURCE=$source BUILT=$built dpkg-buildpackage -b -us -uc -d > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mv "$work"/breakeven_*.deb "$out"
ls "$out"/breakeven_"$version"_*.deb
