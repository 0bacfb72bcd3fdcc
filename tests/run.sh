#!/usr/bin/env bash
# tests/run.sh BUILD -- every suite, one line each, and a count at the end.
#
# A suite's output is shown only when it fails.  What cannot run here is
# skipped, counted, and named at the end.  Suites run side by side, the long ones first.  Files
# that start servers and browsers wait for half of their time: they stand in one queue (tests/node.sh)
# that runs beside what computes, from the start.
#
# FULL=1 in the environment: nothing is thinned.  Without it what repeats another suite takes one part of several, the
# next with each commit (tests/part.py): programs with memory watched or sanitized, suites of C sanitized, kernels on the host.
# Sanitized suites take a part of their random and repeated cases (tests/effort.h), axe sees each width and each
# theme of a page, not all four pairs, and the scripts below choose as they say at --all.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${1:-build}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
cores=$(nproc)
full=${FULL:+--all}
# A suite that takes that long hangs; it is no measure of a machine that is busy.
limit=$([ "$full" ] && echo 8h || echo 2h)

# Commits so far: parts move with them, so that n commits have all n parts.
commits=$(git rev-list --count HEAD 2>/dev/null || echo 0)
# part N: the flags of a script that takes one part of N.
part() { [ "$full" ] || echo "--every $1 --first $((commits % $1))"; }

# The suite's skipped tests by name, as cmocka, node and our scripts write them.
skips() {
	echo "  $name:"
	sed -n -e 's/^\[  SKIPPED \] \([a-zA-Z_0-9]*\)$/\1/p' -e 's/^ *ok [0-9]* - \(.*\) # SKIP *\(.*\)/\1 (\2)/p' -e 's/^skipped: //p' "$log" | sort -u | sed 's/^/    /'
}

# suite NAME COMMAND...: counts cmocka's and node's closing lines, and the time that its processes took of the cores.
TIMEFORMAT='%U %S'
suite() {
	name=$1
	shift
	log=$(mktemp "$logs/XXXXXX")
	began=$SECONDS
	{ time timeout "$limit" "$@" >"$log" 2>&1 </dev/null; } 2>"$log.time"
	status=$?
	p=$(sed -n -e 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' -e 's/^# pass \([0-9]*\)/\1/p' -e 's/^\([0-9]*\) passed, [0-9]* failed.*/\1/p' "$log" | tail -n 1)
	f=$(sed -n -e 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' -e 's/^# fail \([0-9]*\)/\1/p' -e 's/^[0-9]* passed, \([0-9]*\) failed.*/\1/p' "$log" | tail -n 1)
	s=$(sed -n -e 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' -e 's/^# skipped \([0-9]*\)/\1/p' -e 's/^.* failed, \([0-9]*\) skipped.*/\1/p' "$log" | tail -n 1)
	p=${p:-0} f=${f:-0} s=${s:-0}
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ "$status" -eq 0 ] && [ "$p" -eq 0 ] && [ "$s" -eq 0 ]; then p=1; fi
	[ "$s" -eq 0 ] || skips >"$log.skips"
	! grep -q '^unsteady: ' "$log" || { echo "  $name:"; grep -A 21 '^unsteady: ' "$log" | sed 's/^/    /'; } >"$log.unsteady"
	grep '^times: ' "$log" >"$log.times"
	echo "$p $f $s" >"$log.count"
	if [ "$status" -eq 0 ]; then
		printf 'ok    %-44s %4d tests%s, %d s, %d s of processors\n' "$name" "$p" "$([ "$s" -gt 0 ] && echo ", $s skipped")" \
			$((SECONDS - began)) "$(awk '{ print int($1 + $2 + 0.5) }' "$log.time")"
	else
		# Node tells a failure where it came; the end of its output may be far away.
		printf 'FAIL  %-44s exit %d\n%s\n' "$name" "$status" "$({ grep -A 16 '^not ok' "$log" | head -n 60; tail -n 60 "$log"; } | sed 's/^/      /')"
	fi
}

# beside NAME COMMAND...: a suite, with as many others as there are cores, and one more; half as many beside the queue.
queue=
beside() {
	while :; do
		running=$(jobs -rp)
		most=$((cores + 1))
		! grep -qx "${queue:-none}" <<<"$running" || most=$((cores / 2))
		[ "$(wc -w <<<"$running")" -gt "$most" ] || break
		wait -n
	done
	suite "$@" &
}

export BREAKEVEN="$PWD/$B/breakeven"
# Nothing of what is in the user's home is used or changed: compiled kernels stay beside the build.
export XDG_CACHE_HOME="$PWD/$B/cache" XDG_CONFIG_HOME="$logs/config"
# Kernels of C suites, which run plain and sanitized: compiled in one of the two.
export TEST_KERNELS="$logs/kernels"
mkdir -m 700 "$TEST_KERNELS"

beside "api, e2e: real servers, a real browser" bash tests/node.sh tests/e2e/*.test.mjs tests/api/*.test.mjs
queue=$!
beside "oracle: recorded programs" python3 tests/oracle/replay.py "$B/breakeven"
beside "gate: the examples beside the merge base" sh tests/gate/examples.sh
beside "ops: each against a float64 reference" python3 tests/ops/check.py "$B/breakeven" $full
beside "binding: every parameter counts or is refused" python3 tests/binding/check.py "$B/breakeven"
beside "cuda: NVRTC compiles the kernels" python3 tests/cuda/kernels.py "$B/breakeven" "$B/tests/cuda" $(part 8)
beside "models in published style, and workloads" python3 tests/models/run.py "$B/breakeven" $full
beside "oracle: random numbers of the CPU" python3 tests/oracle/random_cpu.py "$B/breakeven"
beside "oracle: random numbers of a GPU" python3 tests/oracle/random_gpu.py "$B/breakeven" "$B/tests/cuda/emulator"
beside "language: what differed from CPython once, and random programs" python3 tests/differential/language/run.py "$B/breakeven" --programs 600 --seed 1
beside "differential: programs that showed a fault, and random ones" python3 tests/differential/run.py "$B/breakeven" --seconds 7200 --programs 60 --seed 1 --jobs 1
beside "oracle: native breaks less than dynamo" python3 tests/oracle/native.py "$B/breakeven" $(part 3)
beside "cuda: what kernels give, run on the host" python3 tests/cuda/values.py "$B/breakeven" "$B/tests/cuda/emulator" $(part 2)
beside "oracle: recordings, replayed" python3 tests/oracle/graphs.py "$B/breakeven" $(part 2)
beside "oracle: recorded programs (asan, ubsan)" python3 tests/oracle/replay.py build-asan/breakeven $(part 5)
beside "oracle: recorded programs, memory watched" python3 tests/oracle/replay.py "$B/breakeven" --poison $(part 4)
beside "faults: calls of the C library that fail" python3 tests/faults/run.py "$B/breakeven" "$B/tests/faults/inject.so" --share "$([ "$full" ] && echo 0 || echo 2)"
beside "imports: twice the log is twice the work" python3 tests/growth.py "$B/breakeven" $(part 2)
beside "compare: a changed kernel is found in a timeline" python3 tests/bench/attribution.py "$B/breakeven" --tries "$([ "$full" ] && echo 100 || echo 10)"
beside "faults: what is left of memory after them (asan)" python3 tests/faults/run.py build-asan/tests/faults/breakeven "$B/tests/faults/inject.so" commands engine files traces --share 1
beside "oracle: any passes left out" python3 tests/oracle/passes.py "$B/breakeven" $(part 2)
beside "oracle: autocast, op by op" python3 tests/oracle/autocast_ops.py --check "$B/breakeven"
turn=$commits
for t in tests/test_*.c; do
	name=$(basename "$t" .c)
	turn=$((turn + 1))
	[ -z "$full" ] && [ $((turn % 2)) -eq 1 ] || beside "$name (asan, ubsan)" "build-asan/tests/$name"
done
for f in build-asan/fuzz/fuzz_*; do
	beside "$(basename "$f"), 3 s" sh tests/fuzz/run.sh "$f" 3 1
done
for t in tests/test_*.c; do
	name=$(basename "$t" .c)
	beside "$name" "$B/tests/$name"
done
# What holds memory between kernels, calls and steps of training, where that is watched.
for name in graphs grad_steps in_place views lazy replay native_carried native_loops; do
	beside "test_fusion_$name, memory watched" env TEST_POISON=1 "$B/tests/test_fusion_$name"
done
beside "format, analyzer, sizes" sh tests/check.sh
beside "web: types" sh -c 'cd web && npx --no-install tsc -p tsconfig.json'
beside "web: units" node --test --test-reporter=tap tests/web/*.test.mjs
wait

read -r passed failed skipped <<<"$(cat "$logs"/*.count | awk '{ p += $1; f += $2; s += $3 } END { print p, f, s }')"
echo
cat "$logs"/*.times
if [ "$skipped" -gt 0 ]; then
	echo "skipped here:"
	cat "$logs"/*.skips
	echo
fi
if ls "$logs"/*.unsteady >/dev/null 2>&1; then
	echo "failed once, and passed when run again (tests/node.sh):"
	cat "$logs"/*.unsteady
	echo
fi
echo "tests: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
