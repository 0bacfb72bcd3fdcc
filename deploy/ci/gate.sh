#!/bin/sh
# deploy/ci/gate.sh -- the step that every example shares: workloads beside those of the merge base.
#
#   deploy/ci/gate.sh WORKLOADS [flags of `breakeven gate`]
#
# BASE names the commit or branch to compare with (origin/main). Its workloads are run on this machine
# too, right before ours: two machines are never compared. Reports, table, JUnit XML and SARIF are left
# in $OUT (breakeven-gate). BREAKEVEN names the program (breakeven).
set -eu
workloads=$1
shift
base=${BASE:-origin/main}
out=${OUT:-breakeven-gate}
breakeven=${BREAKEVEN:-breakeven}
mkdir -p "$out"
tree=$(mktemp -d)
trap 'git worktree remove --force "$tree/base" >/dev/null 2>&1 || true; rm -rf "$tree"' EXIT
git worktree add -q --detach "$tree/base" "$(git merge-base HEAD "$base")"
mkdir -p "$out/base"
# What the base measured is kept; whether it passes beside nothing does not matter: status 3.
if [ -e "$tree/base/$workloads" ]; then
    (cd "$tree/base" && "$breakeven" gate "$workloads" --baseline "$tree/none" --save "$tree/reports" >/dev/null) || [ $? -eq 3 ]
    cp "$tree"/reports/*.json "$out/base/"
fi
"$breakeven" gate "$workloads" --baseline "$out/base" --save "$out/now" --markdown "$out/gate.md" --junit "$out/junit.xml" --sarif "$out/gate.sarif" "$@"
