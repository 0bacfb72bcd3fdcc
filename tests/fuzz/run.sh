#!/bin/sh
# tests/fuzz/run.sh TARGET SECONDS [SEED] -- runs one fuzz target from all our programs (or logs).
#
# With a seed it tries the same inputs each time (`make test`: what it finds there is found again).
# What it finds (crash-*, timeout-*, leak-*) is left in the build folder beside
# the target.
set -eu
target=$1
seconds=$2
seed=${3:-0} # 0: of the time
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT

case $target in
*fuzz_import) # the first byte of an input says in which pieces it comes
	for f in tests/import/*; do
		{ printf '\377'; cat "$f"; } >"$corpus/$(basename "$f")"
		{ printf '\001'; gzip -c "$f"; } >"$corpus/$(basename "$f").gz"
	done
	"$target" -max_total_time="$seconds" -seed="$seed" -timeout=120 -rss_limit_mb=2048 -max_len=32768 \
		-artifact_prefix="$(dirname "$target")/" -print_final_stats=1 "$corpus"
	exit
	;;
*fuzz_safetensors | *fuzz_pickle)
	case $target in
	*safetensors) cp tests/weights/*.safetensors "$corpus" ;;
	*) cp tests/weights/*.pt "$corpus"
	   for f in tests/weights/*.pt; do # the pickles alone
		python3 - "$f" "$corpus/$(basename "$f").pkl" <<'PYTHON'
import sys, zipfile
if zipfile.is_zipfile(sys.argv[1]):
    archive = zipfile.ZipFile(sys.argv[1])
    name = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
    open(sys.argv[2], "wb").write(archive.read(name))
PYTHON
	   done ;;
	esac
	"$target" -max_total_time="$seconds" -seed="$seed" -timeout=120 -rss_limit_mb=2048 -max_len=16384 \
		-artifact_prefix="$(dirname "$target")/" -print_final_stats=1 "$corpus"
	exit
	;;
esac
cp tests/lang/*.py tests/vm/*.py "$corpus"
python3 - "$corpus" <<'PYTHON'
import json, sys
for name in ("cases", "construct_cases"):
    for case in json.load(open(f"tests/oracle/{name}.json"))["cases"]:
        with open(f"{sys.argv[1]}/{case['name']}", "w") as out:
            out.write(case["source"])
PYTHON
"$target" -max_total_time="$seconds" -seed="$seed" -timeout=120 -rss_limit_mb=2048 -max_len=65536 \
	-artifact_prefix="$(dirname "$target")/" -print_final_stats=1 \
	-dict=tests/fuzz/python.dict "$corpus"
