#!/bin/sh
# tests/vm/record.sh -- writes NAME.want for each NAME.py: what CPython
# gives for repr(model()).
set -e
cd "$(dirname "$0")"
for f in ${*:-*.py}; do
	python3 -c 'import sys
scope = {"__name__": "model"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), scope)
print(repr(scope["model"]()))' "$f" >"${f%.py}.want"
done
