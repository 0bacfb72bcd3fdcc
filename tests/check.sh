#!/bin/sh
# tests/check.sh -- the form of the code: formatter, sizes, headers, layers.
set -u
cd "$(dirname "$0")/.." || exit 2
bad=0
say() { [ -z "$2" ] || { printf '%s\n%s\n' "$1" "$2"; bad=1; }; }

c_files=$(git ls-files '*.c' '*.h')
say "not formatted (clang-format -i FILE):" \
	"$(echo "$c_files" | xargs clang-format-14 --dry-run -Werror 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:.*/  \1/p' | sort -u)"
say "at the top level, where it has no place:" \
	"$(git ls-files | cut -d/ -f1 | sort -u | grep -vxE 'Makefile|README\.md|LICENSE|\..*|server|profiler|fusion|web|db|tests|deploy' | sed 's/^/  /')"
say "marks of a merge that nobody has solved:" "$(git grep -nE '^(<<<<<<<|>>>>>>>)( |$)' | cut -d: -f1,2 | sed 's/^/  /')"
say "scripts that bash or sh does not read:" \
	"$(for f in $(git ls-files '*.sh' .ci/run); do bash -n "$f" 2>&1; done)"
say "longer than 1,000 lines:" \
	"$(git ls-files '*.c' '*.h' '*.js' '*.mjs' '*.py' '*.css' '*.sh' | xargs wc -l | awk '$2 != "total" && $1 > 1000 {print "  " $2 "  " $1}')"
# Two are one switch each: the loop of the virtual machine, and what its instructions do to the stack.
say "functions longer than 60 lines:" \
	"$(echo "$c_files" | grep '\.c$' | grep -v -e vm/run.c -e lang/effect.c | xargs awk 'FNR==1{s=0} /^\{/ {s=FNR} /^\}/ {if (s && FNR-s-1 > 60) print "  " FILENAME ":" s "  " FNR-s-1; s=0}')"
# Those that include a header of the system that is missing (the CUDA Toolkit's, mostly) are named, not compiled.
headers=$(git ls-files '*.h' | grep -v -e ops_all.h -e ops_some.h -e infer_rules.h -e 'backends/simd/[fgovw]' | xargs -n 1 -P "$(nproc)" sh -c '
	said=$(echo "#include \"$1\"" | LC_ALL=C gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -isystem "$0/include" -isystem "$0/extras/CUPTI/include" -fsyntax-only -x c - 2>&1) && exit
	missing=$(echo "$said" | sed -n "/fatal error: .*No such file/{n; s/.*#include <\(.*\)>.*/\1/p}")
	if [ -n "$missing" ]; then echo "skipped: $1 alone ($missing is missing)"; else echo "  $1"; fi' "${CUDA_HOME:-/usr/local/cuda}" | sort)
say "headers that do not compile alone:" "$(echo "$headers" | grep '^ ')"
echo "$headers" | grep '^skipped'

# A fact of an op is a column of fusion/graph/ops.def.  Three files choose the function of a spelling
# that a row does not take as it is: torch.max(x, dim), x.to(y), torch.where(condition).
say "case OP_ beside fusion/graph/ops.def:" \
	"$(git grep -n 'case OP_[a-z]' -- fusion profiler server ':!fusion/torch/return_types.c' ':!fusion/torch/convert.c' ':!fusion/torch/data_dependent.c' | sed 's/^/  /')"

say "sqlite3.h outside db/:" "$(git grep -ln 'sqlite3\.h' -- 'fusion' 'profiler' 'server' || true)"
say "microhttpd.h outside server/http and server/queue/events.c:" \
	"$(git grep -ln '<microhttpd\.h>' -- '*.c' '*.h' | grep -v -e '^server/http/' -e '^server/queue/events.c' || true)"

# Arrows point down only (web/docs/architecture.md): by includes, and by the symbols of what is built.
B=${B:-build}
house=$(python3 tests/house.py "$B" 2>&1)
[ -z "$house" ] || { echo "$house"; bad=1; }
say "web/js/api/report.d.ts differs from profiler/fields/report.def (make writes it):" \
	"$([ ! -x "$B/gen/manual" ] || "$B/gen/manual" types | cmp - web/js/api/report.d.ts 2>&1)"
say "the picture of the house:" "$(python3 tests/house_picture.py "$B" --check 2>&1)"
say "comments and documents that name files that are not there:" "$(python3 tests/references.py 2>&1)"
say "changes that web/docs/additions.md shows:" "$(python3 tests/walks.py 2>&1)"
say "documentation that names what is not there:" "$(python3 tests/docs.py 2>&1)"

skipped=$(echo "$headers" | grep -c '^skipped')
[ "$skipped" -eq 0 ] || echo "$((1 - bad)) passed, $bad failed, $skipped skipped"
exit $bad
