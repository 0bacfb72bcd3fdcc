#!/bin/sh
# web/embed.sh ROOT IMPORTS OUT.S -- every file under ROOT as a table of struct asset.
#
# The table (server/text/text.h) is sorted by path in byte order: LC_ALL=C is what
# makes sort agree with the server's strcmp.  Each file is embedded twice, plain
# and gzipped (a PNG once), without time and name, so equal files give equal bytes.  zopfli makes our scripts and
# styles 3 % smaller than gzip and takes seconds: what it made of a file is kept, under the file's hash, in ROOT.zopfli.
# IMPORTS has a line for each script (imports.mjs).
set -eu
LC_ALL=C
export LC_ALL

root=$1
imports=$2
out=$3
zipped=$root.gz
kept=$root.zopfli
rm -rf "$zipped" "$kept.last"
if [ -d "$kept" ]; then mv "$kept" "$kept.last"; fi
mkdir -p "$zipped" "$kept"
command -v zopfli >/dev/null || echo "embed.sh: zopfli is missing (make deps): gzip makes the page 3 % larger" >&2

# compress FILE HASH OUT -- what neither zopfli nor a build of before has is gzip's.
compress() {
	if [ -f "$kept.last/$2" ]; then
		mv "$kept.last/$2" "$kept/$2"
		cp "$kept/$2" "$3"
	elif command -v zopfli >/dev/null; then
		zopfli --i5 -c "$1" >"$3"
		cp "$3" "$kept/new" # whole before it has its name: a build may be stopped
		mv "$kept/new" "$kept/$2"
	else
		gzip -9 -n -c "$1" >"$3"
	fi
}

media_type() {
	case $1 in
	*.html) echo 'text/html; charset=utf-8' ;;
	*.css) echo 'text/css; charset=utf-8' ;;
	*.js) echo 'text/javascript; charset=utf-8' ;;
	*.json) echo 'application/json' ;;
	*.py) echo 'text/x-python; charset=utf-8' ;;
	*.png) echo 'image/png' ;;
	*.svg) echo 'image/svg+xml' ;;
	*.txt) echo 'text/plain; charset=utf-8' ;;
	*) echo "embed.sh: $1: no media type is known for this ending; add it to media_type" >&2; exit 1 ;;
	esac
}

# Scripts and styles are at addresses with the hash of all of them: what is there never changes.
version=$(cd "$root/assets" && find css js vendor -type f | sort | xargs sha256sum | sha256sum | cut -c1-12)
sed -i "s#=\"/assets/\(css\|js\)/#=\"/assets/$version/\1/#g" "$root/index.html"

exec >"$out"
cat <<TEXT
	.section .rodata
	.global assets_version
	.type assets_version, %object
	.size assets_version, 13
assets_version:	.string "$version"
TEXT
count=0
rows=
for path in $(cd "$root" && find . -type f | sed 's|^\.||' | sort); do
	type=$(media_type "$path")
	etag=$(sha256sum "$root$path" | cut -c1-32)
	needs=$(awk -v path="$path" '$1 == path { sub(/^[^ ]+ ?/, ""); print }' "$imports")
	case $path in
	*.png) : >"$zipped/$count.gz" ;; # as small as it gets: none is sent
	/assets/js/* | /assets/css/*) compress "$root$path" "$etag" "$zipped/$count.gz" ;;
	*) gzip -9 -n -c "$root$path" >"$zipped/$count.gz" ;;
	esac
	cat <<TEXT
path_$count:	.string "$path"
type_$count:	.string "$type"
etag_$count:	.string "\"$etag\""
needs_$count:	.string "$needs"
gzip_$count:	.incbin "$zipped/$count.gz"
gzip_end_$count:
data_$count:	.incbin "$root$path"
data_end_$count:
TEXT
	rows="$rows
	.quad path_$count, type_$count, etag_$count, needs_$count
	.quad gzip_$count, gzip_end_$count - gzip_$count
	.quad data_$count, data_end_$count - data_$count"
	count=$((count + 1))
done
cat <<TEXT
	.balign 8
	.global n_assets
	.type n_assets, %object
	.size n_assets, 8
n_assets:
	.quad $count
	.section .data.rel.ro, "aw"
	.balign 8
	.global assets
	.type assets, %object
assets:$rows
	.size assets, . - assets
	.section .note.GNU-stack, "", %progbits
TEXT
rm -rf "$kept.last"
