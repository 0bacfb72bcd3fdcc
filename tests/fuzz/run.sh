#!/bin/sh
# tests/fuzz/run.sh TARGET SECONDS -- runs one fuzz target from all our programs.
#
# What it finds (crash-*, timeout-*, leak-*) is left in the build folder beside
# the target.
set -eu
target=$1
seconds=$2
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT

cp tests/lang/*.py tests/capture/*.py "$corpus"
python3 - "$corpus" <<'PYTHON'
import json, sys
for name in ("cases", "construct_cases"):
    for case in json.load(open(f"tests/oracle/{name}.json"))["cases"]:
        with open(f"{sys.argv[1]}/{case['name']}", "w") as out:
            out.write(case["source"])
PYTHON
"$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=65536 \
	-artifact_prefix="$(dirname "$target")/" -print_final_stats=1 \
	-dict=tests/fuzz/python.dict "$corpus"
