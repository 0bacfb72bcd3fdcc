#!/usr/bin/env bash
# tests/trial.sh NAME SECONDS BUILD -- a long trial, as a release goes through (web/docs/contributing.md): what was built is tried
# for so long, and the last line says what held, of which commit, where and when.
set -u
cd "$(dirname "$0")/.." || exit 2
name=$1 seconds=$2 B=$3
failed=0
try() { # COMMAND...: goes on after a failure
	"$@" || { echo "FAILED: $*"; failed=$((failed + 1)); }
}

began=$SECONDS
case $name in
differential) try python3 tests/differential/run.py "$B/breakeven" --seconds "$seconds" ;;
clients) CLIENTS=2000 BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/clients.test.mjs ;;
image) try python3 tests/package/image.py "$B" ;;
package) try python3 tests/package/trial.py "$B" ;;
kill-store) KILLS=200 BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/store.test.mjs ;;
postgres)
	for suite in "$B"/tests/test_db_*; do
		case $suite in *.[od]) ;; *) KILLS=200 try node tests/api/postgres.mjs "$suite" ;; esac
	done
	STORE=1 BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/{runs,lists,routes,removed,hooks,changes,suite,since,once,heat,folded,tokens,restore,archive,history,kept,groups,limits,server,import}.test.mjs
	STORE=1 KILLS=200 BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/kill.test.mjs
	KILLS=200 BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/postgres.test.mjs
	;;
kill) KILLS=200 BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/kill.test.mjs ;;
soak) SOAK_SECONDS=$seconds BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/soak.test.mjs ;;
attribution) try python3 tests/bench/attribution.py "$B/breakeven" $(ls ../shared/traces/kineto*.json.gz 2>/dev/null) --tries 100 ;;
verdicts) try python3 tests/bench/verdicts.py "$B/breakeven" --seconds-limit "$seconds" ;;
server) try python3 tests/bench/server_speed.py "$B/breakeven" ;;
proxy) BREAKEVEN="$PWD/$B/breakeven" try node --test tests/api/proxy.test.mjs ;;
import) try python3 tests/growth.py "$B/breakeven" --trial 256 1024 ;;
ranks) try python3 tests/bench/ranks_trial.py "$B/breakeven" --ranks 64 ;;
archive) try python3 tests/bench/archive.py "$B/breakeven" ;;
slurm) try python3 tests/hosts/slurm.py "$B/breakeven" ;;
walks) try python3 tests/walks.py --try "$B" ;;
fuzz)
	for target in build-asan/fuzz/fuzz_*; do
		for kind in $(sh tests/fuzz/run.sh kinds "$target"); do
			echo "$(basename "$target"), $kind"
			try sh tests/fuzz/run.sh "$target" "$seconds" 0 "$kind"
		done
	done
	;;
sanitize) # as much as without a sanitizer
	export FULL=1
	for t in tests/test_*.c; do try "build-asan/tests/$(basename "$t" .c)"; done
	try python3 tests/oracle/replay.py build-asan/breakeven
	try python3 tests/ops/check.py build-asan/breakeven
	;;
faults) # each call of the C library fails by each way that leads to it; each allocation of an import, once and from then on
	try python3 tests/faults/run.py "$B/breakeven" "$B/tests/faults/inject.so"
	try python3 tests/faults/run.py build-asan/tests/faults/breakeven "$B/tests/faults/inject.so" commands engine files traces --share 40
	FULL=1 try "$B/tests/test_profiler_faults"
	;;
busy) # beside loops that want every core: no test may depend on how much of it is left
	for _ in $(seq $((4 * $(nproc)))); do
		while :; do :; done &
	done
	trap 'kill $(jobs -p)' EXIT
	try bash tests/run.sh "$B"
	;;
*)
	echo "tests/trial.sh: no trial $name: differential, walks, import, ranks, clients, proxy, server, kill, kill-store, package, slurm, postgres, archive, image, soak, verdicts, attribution, faults, fuzz, sanitize or busy"
	exit 2
	;;
esac
echo "trial $name: $([ "$failed" -eq 0 ] && echo held || echo "$failed failed"), $((SECONDS - began)) s, $(git describe --tags --always --dirty), $(nproc) cores, $(date -u +%F)"
[ "$failed" -eq 0 ]
