#!/bin/sh
# tests/fuzz/run.sh TARGET SECONDS [SEED [KIND]] -- runs one fuzz target from all our programs (or logs).
# tests/fuzz/run.sh kinds TARGET -- the kinds of files that the target reads, one by one: KIND tries
# those alone, so that none lives on another's time.
#
# With a seed it tries the same inputs each time (`make test`: what it finds there is found again).
# What it finds (crash-*, timeout-*, leak-*) is left in the build folder beside
# the target.  FUZZ_FLAGS are given to the target too ("-fork=3").
set -eu
if [ "$1" = kinds ]; then
	case $2 in
	*fuzz_import) echo trace torch_trace pt_xla archive export ranks ;;
	*fuzz_results) echo json csv pickle ;;
	*) echo all ;;
	esac
	exit
fi
target=$1
seconds=$2
seed=${3:-0} # 0: of the time
kind=${4:-all}
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"; echo "processor time, the second line of the target (user, system):"; times' EXIT

run() { # LONGEST INPUT, then flags of its own
	longest=$1
	shift
	"$target" -max_total_time="$seconds" -seed="$seed" -timeout=120 -rss_limit_mb=2048 -max_len="$longest" \
		-artifact_prefix="$(dirname "$target")/" -print_final_stats=1 ${FUZZ_FLAGS:-} "$@" "$corpus"
}

case $target in
*fuzz_import) # the first byte of an input says in which pieces it comes
	case $kind in
	trace) files='*.json' ;;
	torch_trace) files='*.log' ;;
	pt_xla) files='pt_xla*' ;;
	archive) files='job.*' ;;
	export) files='export*.json' ;;
	ranks) files='*_rank_*' ;;
	*) files='*' ;;
	esac
	for f in tests/import/$files; do
		[ -f "$f" ] || continue
		{ printf '\377'; cat "$f"; } >"$corpus/$(basename "$f")"
		[ "$kind" != all ] && [ "$kind" != archive ] || { printf '\001'; gzip -c "$f"; } >"$corpus/$(basename "$f").gz"
	done
	for f in tests/import/*_rank_*; do # two ranks of a job
		[ "$kind" != ranks ] || { printf '\377'; cat "$f"; printf '\n\034\n'; cat "$f"; } >"$corpus/$(basename "$f").both"
	done
	run 32768
	exit
	;;
*fuzz_db) # the statements of the documentation
	awk -v to="$corpus/s" '/^```sql/ {n++; on=1; next} /^```/ {on=0} on {print > (to n)}' web/docs/query.md
	printf 'SELECT * FROM links' >"$corpus/links"
	printf 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 9) SELECT json_group_array(i) FROM n' >"$corpus/with"
	printf 'ATTACH x AS y; PRAGMA z; INSERT INTO event_rows DEFAULT VALUES' >"$corpus/denied"
	run 4096 -timeout=60 -dict=tests/fuzz/sql.dict
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
	run 16384
	exit
	;;
*fuzz_results) # what the tools wrote
	case $kind in
	json | csv) cp tests/results/*."$kind" "$corpus" ;;
	pickle) cp tests/results/*.p[tk]* "$corpus" ;;
	*) cp tests/results/*.json tests/results/*.csv tests/results/*.p[tk]* "$corpus" ;;
	esac
	run 65536
	exit
	;;
*fuzz_http) # requests are made from the table of routes
	printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' >"$corpus/get"
	run 4096 -rss_limit_mb=4096
	exit
	;;
*fuzz_gather) # archives as people make them, and as nobody should
	python3 - "$corpus" <<'PYTHON'
import stat, sys, zipfile
FILES = {"train.py": "from net.unet import f\n", "net/__init__.py": "", "net/unet.py": "def f(x):\n    return x\n" * 50}
def pack(name, files, method=zipfile.ZIP_DEFLATED, mode=0o644):
    with zipfile.ZipFile(f"{sys.argv[1]}/{name}", "w", method) as z:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr, entry.compress_type = mode << 16, method
            z.writestr(entry, text)
pack("deflated", FILES)
pack("stored", FILES, zipfile.ZIP_STORED)
pack("bzip2", FILES, zipfile.ZIP_BZIP2)
pack("lzma", FILES, zipfile.ZIP_LZMA)
pack("folder", {f"repository-main/{path}": text for path, text in FILES.items()})
pack("links", FILES, zipfile.ZIP_STORED, stat.S_IFLNK | 0o777)
pack("out", {"../a.py": "", "/b.py": "", "c\\d.py": ""})
PYTHON
	run 32768
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
run 65536 -dict=tests/fuzz/python.dict
