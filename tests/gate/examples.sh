#!/bin/sh
# tests/gate/examples.sh -- the gate over web/examples: this build beside that of the merge base.
#
#   BREAKEVEN=build/breakeven sh tests/gate/examples.sh [FOLDER]
#
# Each commit keeps what its build gives of the examples in tests/gate/examples.json (`make baseline`
# writes it), so that nothing has to be built to know what the merge base gave: values that agree,
# graphs, breaks, launches.  More of them than there fails, here and in CI.  Times fail nothing: those of
# three examples are told (lines that begin with "times:"), with TIMED=1 those of all, which takes a minute.  A commit since then whose message has a line `Gate-accepts: why` lets it pass, and is named.
# BASE names the branch that is merged into (origin/main, main).  FOLDER keeps table, JUnit XML and SARIF.
set -eu
breakeven=${BREAKEVEN:-build/breakeven}
kept=tests/gate/examples.json
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
counts=values,graphs,breaks,launches

say() { echo "gate: $*"; }

# The file is what this build gives.
"$breakeven" gate web/examples --baseline "$kept" --no-timing --fail-on $counts --save-baseline "$out/now.json" >"$out/own" 2>&1 || true
if ! cmp -s "$out/now.json" "$kept"; then
    cat "$out/own"
    diff -u "$kept" "$out/now.json" | head -n 40 || true
    say "$kept is not what this build gives of web/examples: look at the difference, and if it is meant, make baseline"
    exit 1
fi

# What three of them take here, beside eager in the same run.
for name in 4_layer_norm 5_softmax 60_mlp; do
    [ -z "${TIMED:-}" ] && [ -f "web/examples/$name.json" ] || continue
    "$breakeven" gate "web/examples/$name.json" --baseline "$kept" --fail-on $counts |
        sed -n 's/^passed  *\([^ ]*\).* \(static over eager\) in this run /times: \1, \2: /p'
done

# The commit that this one is held against: what it has in common with the branch, and on that branch itself the commit before.
commit() { git rev-parse -q --verify "$1^{commit}" 2>/dev/null; }
head=$(commit HEAD) || { say "this is no clone of the repository: only its own file was looked at"; exit 0; }
branch=
for name in ${BASE:-origin/main main}; do
    commit "$name" >/dev/null && { branch=$name; break; }
done
base=$([ -z "$branch" ] || git merge-base HEAD "$branch" 2>/dev/null || true)
[ "$base" != "$head" ] || base=$(commit HEAD^ || true)
if [ -z "$base" ]; then
    if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
        say "a shallow clone has not the commit to compare with: fetch with depth 0 (GIT_DEPTH: 0, fetch-depth: 0); only its own file was looked at"
    else
        say "no commit to compare with: of ${BASE:-origin/main and main} none has one in common with this; only its own file was looked at"
    fi
    exit 0
fi
if ! git show "$base:$kept" >"$out/base.json" 2>/dev/null; then
    say "$(git rev-parse --short "$base") has no $kept yet: only its own file was looked at"
    exit 0
fi
[ $# -eq 0 ] || mkdir -p "$1"
status=0
"$breakeven" gate web/examples --baseline "$out/base.json" $([ "${TIMED:-}" ] || echo --no-timing) --fail-on $counts \
    ${1:+--markdown "$1/gate.md" --junit "$1/junit.xml" --sarif "$1/gate.sarif"} || status=$?
say "beside $(git log -1 --format='%h %s' "$base")"
# 3: an example that the merge base has not is no fault.
[ $status -ne 3 ] || status=0
accepts=$(git log --format='%h %(trailers:key=Gate-accepts,valueonly,separator=%x20)' "$base..HEAD" | grep ' .' || true)
if [ $status -eq 1 ] && [ -n "$accepts" ]; then
    say "accepted by $accepts"
    status=0
fi
exit $status
