#!/usr/bin/env bash
# tests/differential/coverage.sh SECONDS -- how much of capture the differential tester's programs reach: lines, by gcov.
# The language's programs, against CPython, count too.
# Builds into build-coverage; prints a line for each folder and one for all.
set -eu
cd "$(dirname "$0")/../.."
B=build-coverage
make --no-print-directory -j"$(nproc)" B=$B CFLAGS="--coverage -O1" LDFLAGS=--coverage $B/breakeven $B/tests/plugins/loops.so >/dev/null
find $B -name '*.gcda' -delete
python3 tests/differential/run.py $B/breakeven --seconds "$1" --shrink 0 | sed -n '/rows of the op table/,$p'
python3 tests/differential/language/run.py $B/breakeven --seconds $(($1 / 4)) --jobs "$(nproc)" | tail -n 1
for folder in fusion/vm fusion/capture fusion/capture/sources fusion/capture/control fusion/capture/backward fusion/lazy; do
	gcov -n -o $B/$folder $B/$folder/*.gcda 2>/dev/null |
		awk -v folder=$folder -v want="File '$folder/.*[.]c'" '
			$0 ~ "^File" { ours = $0 ~ want }
			ours && /^Lines executed/ { split($2, a, ":"); lines += $4; ran += $4 * a[2] / 100; ours = 0 }
			END { printf "%s %d %d\n", folder, ran, lines }'
done | awk '{ printf "%-24s %5.1f %% of %d lines\n", $1, $3 ? 100 * $2 / $3 : 0, $3; ran += $2; lines += $3 } END { printf "%-24s %5.1f %% of %d lines\n", "all", 100 * ran / lines, lines }'
