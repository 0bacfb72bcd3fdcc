#!/usr/bin/env bash
# tests/node.sh FILE... -- node's tests of these files, as TAP, with one count at the end.
#
# They drive a browser and servers on a machine that does other things too.  A file with a failure is run once
# more, after all others: what fails again is a failure; what passes is named with what was seen ("unsteady:"),
# which tests/run.sh shows at its end, and is to be mended like any other.
set -u
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs

run_file() { # FILE: its log is .passed or .failed
	log=$logs/${1//\//_}
	node --test-reporter=tap "$1" >"$log" 2>&1 && mv "$log" "$log.passed" || mv "$log" "$log.failed"
}
export -f run_file

# Long files are long tests, as a rule: they come first, so that none is left alone at the end.
jobs=$(($(nproc) + 1))
ls -S -- "$@" | tr '\n' '\0' | xargs -0 -n 1 -P "$jobs" bash -c 'run_file "$0"'

failed=0
for file in "$@"; do
	log=$logs/${file//\//_}
	[ -f "$log.failed" ] || continue
	mv "$log.failed" "$log.first"
	run_file "$file"
	if [ -f "$log.passed" ]; then
		sed -n 's/^ *not ok [0-9]* - \(.*\)/unsteady: \1/p' "$log.first"
		grep -A 20 '^ *not ok' "$log.first" | sed 's/^/# /'
	else
		failed=1
	fi
done
cat "$logs"/*.passed
cat "$logs"/*.failed 2>/dev/null
cat "$logs"/*.passed "$logs"/*.failed 2>/dev/null | awk '$1 == "#" && $2 ~ /^(pass|fail|skipped)$/ { n[$2] += $3 }
	END { printf "# pass %d\n# fail %d\n# skipped %d\n", n["pass"], n["fail"], n["skipped"] }'
exit "$failed"
