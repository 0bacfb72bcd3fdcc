#!/bin/sh
# tests/run.sh BUILD -- every suite, one line each, and a count at the end.
#
# A suite's output is shown only when it fails.  What cannot run here is
# skipped by name and counted.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${1:-build}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 skipped=0

# suite NAME COMMAND...: counts cmocka's and node's closing lines.
suite() {
	name=$1
	shift
	log=$logs/$(echo "$name" | tr ' /' '__')
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	p=$(sed -n -e 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' -e 's/^# pass \([0-9]*\)/\1/p' -e 's/^\([0-9]*\) passed, [0-9]* failed.*/\1/p' "$log" | tail -n 1)
	f=$(sed -n -e 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' -e 's/^# fail \([0-9]*\)/\1/p' -e 's/^[0-9]* passed, \([0-9]*\) failed.*/\1/p' "$log" | tail -n 1)
	s=$(sed -n -e 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' -e 's/^# skipped \([0-9]*\)/\1/p' -e 's/^.* failed, \([0-9]*\) skipped.*/\1/p' "$log" | tail -n 1)
	p=${p:-0} f=${f:-0} s=${s:-0}
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ "$status" -eq 0 ] && [ "$p" -eq 0 ]; then p=1; fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if [ "$status" -eq 0 ]; then
		printf 'ok    %-44s %4d tests%s\n' "$name" "$p" "$([ "$s" -gt 0 ] && echo ", $s skipped")"
	else
		printf 'FAIL  %-44s exit %d\n' "$name" "$status"
		tail -n 60 "$log" | sed 's/^/      /'
	fi
}

# skip NAME WHY
skip() {
	printf 'skip  %-44s %s\n' "$1" "$2"
	skipped=$((skipped + 1))
}

export BREAKEVEN="$PWD/$B/breakeven"

suite "format, analyzer, sizes" sh tests/check.sh
for t in tests/test_*.c; do
	name=$(basename "$t" .c)
	suite "$name" "$B/tests/$name"
done
for t in tests/test_*.c; do
	name=$(basename "$t" .c)
	suite "$name (asan, ubsan)" "build-asan/tests/$name"
done
suite "oracle: recorded programs" python3 tests/oracle/replay.py "$B/breakeven"
suite "oracle: recorded programs (asan, ubsan)" python3 tests/oracle/replay.py build-asan/breakeven
for f in build-fuzz/fuzz_*; do
	suite "$(basename "$f"), 15 s" sh tests/fuzz/run.sh "$f" 15
done
suite "web: types" sh -c 'cd web && npx --no-install tsc -p tsconfig.json'
suite "web: units" node --test --test-reporter=tap $(ls tests/web/*.test.mjs)
suite "api: a real server" node --test --test-reporter=tap $(ls tests/api/*.test.mjs)
suite "e2e: a real browser" node --test --test-reporter=tap $(ls tests/e2e/*.test.mjs)

echo
echo "tests: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
