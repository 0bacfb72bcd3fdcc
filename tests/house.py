"""tests/house.py BUILD [--list RULE] -- is the house what it is drawn as?  Read from the objects, not only from includes.

Arrows between rooms (ARROWS below) by the symbols of the objects and by includes; headers of a
room's inside that are included outside it; public symbols that one file alone uses, which could
be static.  The headers at the top of fusion/ are all that profiler and server see of the engine,
beside the C utilities of fusion/base: "fusion.h" below is these headers.  Needs nm (binutils) and
cc.  Prints what breaks a rule, each after the name of its rule, and nothing else.
--list RULE: what breaks that one alone (RULES, below).  --list arrows: all arrows between folders;
--list single: all public functions that one file uses, those with a reason too.
"""
import argparse
import collections
import functools
import os
import re
import subprocess
import sys

# Each room and those whose symbols it may use, directly; a room may also use what these may use.
ARROWS = {
    "server": "profiler db fusion.h base",
    # The profiler's rooms; profiler.h, which declares what they do for server, is the face of them all.
    "profiler": "profiler/align profiler/lists profiler/history profiler/gate profiler/export profiler/suite profiler/layout profiler/bisect profiler/results",
    "profiler/bisect": "profiler/findings",
    "profiler/lists": "profiler/torch",
    "profiler/torch": "profiler/run profiler/import",
    "profiler/run": "profiler/breaks",
    "profiler/breaks": "profiler/cost profiler/allclose profiler/report",
    "profiler/cost": "profiler/roofline",
    "profiler/history": "profiler/compare",
    "profiler/align": "profiler/compare profiler/timeline",
    "profiler/gate": "profiler/compare",
    "profiler/compare": "profiler/report profiler/findings",
    "profiler/export": "profiler/report profiler/import profiler/findings profiler/layout",
    "profiler/suite": "profiler/findings",
    "profiler/results": "profiler/findings",
    "profiler/roofline": "profiler/recorder",
    "profiler/allclose": "profiler/measure",
    "profiler/report": "profiler/measure",
    "profiler/recorder": "profiler/measure profiler/cupti profiler/timeline",
    "profiler/measure": "profiler/workload",
    "profiler/workload": "profiler/fields profiler.h",
    "profiler/import": "profiler/ranks",
    "profiler/ranks": "profiler/numbers profiler/timeline",
    "profiler/cupti": "profiler/timeline",
    "profiler/timeline": "base",
    "profiler/findings": "profiler/measure profiler/numbers",
    "profiler/numbers": "profiler/fields",
    "profiler/fields": "base",
    "profiler/layout": "base",
    "profiler.h": "profiler/timeline fusion.h base",
    "db": "db/sql",
    "db/sql": "base",
    "session": "capture lazy",
    "capture": "capture/control capture/guards",  # and its room backward, which sees struct entry
    "capture/control": "capture/trace",
    "capture/guards": "capture/trace",
    "capture/trace": "capture/sources",
    "capture/sources": "eager",
    "lazy": "eager",
    "eager": "compile torch",
    "compile": "tensor backends passes",
    "torch": "weights tensor vm",
    "weights": "tensor vm",
    "tensor": "report vm backends",
    "report": "graph",
    "vm": "lang graph",
    "backends": "lower",
    "passes": "graph",
    "lower": "graph",
    "graph": "base",
    "lang": "base",
    "base": "",
}
# A folder's public header is named for it; others that files outside of it include are:
PUBLIC = {
    "db": "archive copy",
    "fusion/backends/cuda/library": "args lt",
    "fusion/backends/plan": "reduce",
    "fusion/backends/simd": "vec",
    "fusion/base": "*",
    "fusion/capture": "attempt entry",
    "fusion/capture/control": "cond",
    "fusion/compile": "watch",
    "fusion/eager": "autograd operators",
    "fusion/graph": "custom domain einsum loop op operations ops_some scalar sym symreal lay view",
    "fusion/tensor": "keep mapping shadow view",
    "fusion/torch": "autocast bind convert decomposition natives numbers torch_control torch_host",
    "fusion/vm": "builtins call_path classes format frame generator modules namedtuple operators absent_modules placement prelude value",
    "profiler/allclose": "difference elements reference",
    "profiler/bisect": "bisection repository",
    "profiler/breaks": "change rewrites",
    "profiler/compare": "figures ratio settings",
    "profiler/cupti": "collector wire",
    "profiler/fields": "breaks json schema",
    "profiler/findings": "sentence",
    "profiler/gate": "baseline",
    "profiler/history": "changes history",
    "profiler/import": "counters joined model",
    "profiler/layout": "groups",
    "profiler/measure": "autocast break_even candidate memory program split stats",
    "profiler/recorder": "traced watch_cost",
    "profiler/report": "passes places sizes",
    "profiler/roofline": "copy_curve",
    "profiler/timeline": "format idle lanes_view",
    "server/api": "texts timelines",
    "server/queue": "bounds cgroup hosts outgoing query sandbox",
    "server/text": "secret",
    "profiler/torch": "host",
    "profiler/workload": "call bulk random spec value_json",
    "server/http": "access listen metrics pages route",
}
# Headers at the top of fusion/ that declare what session implements: no room below includes them.
# The others hold what the rooms below share with whoever calls the engine: dtypes, values, tensors.
OF_SESSION = {"fusion/fusion.h", "fusion/inspect.h", "fusion/registry.h", "fusion/plugin.h"}
SINGLE = "tests/single.txt"
C_HEADERS = {"stdbool.h", "stddef.h", "stdint.h"}
SYMBOL = re.compile(r"^(\S+)\.o:[0-9a-f]* *([A-Za-z]) (\S+)$")  # a line of nm -A


def room_of(path):
    """fusion/vm/x.c: vm; fusion/capture/trace/x.c: capture/trace; fusion/value.h: fusion.h; profiler/torch: profiler/torch; server/api/x.c: server."""
    parts = path.split("/")
    if path == "profiler/profiler.h":
        return "profiler.h"
    if "/".join(parts[:2]) in ARROWS:
        return "/".join(parts[:2])
    if parts[0] != "fusion":
        return parts[0]
    if "/".join(parts[1:3]) in ARROWS:
        return "/".join(parts[1:3])
    return parts[1] if len(parts) > 2 else "fusion.h"


def inner_room(path):
    return os.path.dirname(path)


def reach():
    """room -> every room it may use."""
    seen = {}

    def walk(room):
        if room not in seen:
            seen[room] = {room}
            for to in ARROWS.get(room, "").split():
                seen[room] |= {to} if to == "fusion.h" else {to} | walk(to)
        return seen[room]

    for room in ARROWS:
        walk(room)
    return seen


def sources():
    return [p for p in subprocess.check_output(["git", "ls-files", "fusion", "profiler", "server", "db"], text=True).split("\n") if p.endswith((".c", ".h"))]


class House:
    def __init__(self, build):
        self.defines, self.uses = {}, collections.defaultdict(set)  # symbol -> file; symbol -> files
        self.wants = collections.defaultdict(set)  # file -> symbols
        self.data = set()
        objects = [p[:-2] + ".o" for p in sources() if p.endswith(".c") and os.path.exists(os.path.join(build, p[:-2] + ".o"))]
        for line in subprocess.check_output(["nm", "-A", "--", *objects], text=True, cwd=build).split("\n"):
            m = SYMBOL.match(line)
            if m:
                self.read(m[1] + ".c", *m.groups()[1:])
        for symbol, files in list(self.uses.items()):
            if symbol not in self.defines:
                del self.uses[symbol]

    def read(self, path, kind, name):
        if kind == "U":
            self.uses[name].add(path)
            self.wants[path].add(name)
        elif kind in "TDBRVWC":
            self.defines[name] = path

    def arrows(self):
        """(room, room used) -> [(file, symbol, file that defines it)], by symbols."""
        found = collections.defaultdict(list)
        for name, files in self.uses.items():
            for path in files:
                a, b = inner_room(path), inner_room(self.defines[name])
                if a != b:
                    found[a, b].append((path, name, self.defines[name]))
        return found

    def upward(self):
        allowed = reach()
        # What the public headers declare session defines, and the rooms below do for its types.
        faced = set().union(*(declared(p) for p in faces()))
        wrong = []
        for (a, b), uses in sorted(self.arrows().items()):
            ra, rb = room_of(a + "/x.c"), room_of(b + "/x.c")
            for path, name, where in uses:
                if rb in allowed.get(ra, ()) or ("fusion.h" in allowed.get(ra, ()) and name in faced):
                    continue
                wrong.append(f"{path} uses {name} of {where}")
        return wrong

    def knots(self):
        """Groups of inner rooms (folders) that reach each other, by symbols."""
        graph = collections.defaultdict(set)
        for a, b in self.arrows():
            graph[a].add(b)
        return [sorted(c) for c in components(graph) if len(c) > 1]

    @functools.cache
    def single(self):
        """Public symbols that at most one other file uses, or none: those outside the tables of .def and the public headers.

        A unit test that calls a function is a file that uses it: the function cannot be static.  The linker calls __wrap_X."""
        listed = names_of_tables() | called_by_tests()
        for p in public_headers():
            listed |= declared(p)
        return sorted(f"{self.defines[n]}: {n}" + (f", used by {next(iter(self.uses[n]))}" if self.uses.get(n) else ", used by none")
                      for n in self.defines if len(self.uses.get(n, ())) < 2 and n not in listed and n != "main" and not n.startswith("__wrap_"))


def reasons():
    """file -> why functions of it that one other file uses are public (tests/single.txt)."""
    rows = [line.split(": ", 1) for line in open(SINGLE).read().splitlines() if line and not line.startswith("#")]
    return {path: reason for path, reason in rows}


def unexplained(house):
    """Files with functions that one file alone uses and no row in tests/single.txt, and rows without
    need: of files that are built here (those of CUDA are where its headers are), or that are not there."""
    given, needed = reasons(), {line.split(": ", 1)[0] for line in house.single()}
    built = set(house.defines.values())
    idle = sorted(path for path in set(given) - needed if path in built or not os.path.exists(path))
    return [f"{path} has no reason in {SINGLE}" for path in sorted(needed - set(given))] + [f"{SINGLE}: {path} needs no reason" for path in idle]


def declared(header):
    text = open(header).read()
    return set(re.findall(r"\b([a-z_][a-z0-9_]*)\s*\(", text)) | set(re.findall(r"extern[^;]*?\b([a-z_][a-z0-9_]*)(?:\[[^]]*\])?;", text))


def faces():
    """The headers at the top of fusion/, but what plugins see."""
    return [p for p in sources() if os.path.dirname(p) == "fusion" and p.endswith(".h") and p != "fusion/plugin.h"]


def wrong_faces():
    """What they include beside C and each other; those that do not compile alone."""
    wrong = []
    for path in faces():
        for c, own in re.findall(r'^ *# *include +(?:<([^>]+)>|"([^"]+)")', open(path).read(), re.M):
            if c and c not in C_HEADERS or own and own not in faces() and own not in ("fusion/dtypes.def", "fusion/scalars.def"):
                wrong.append(f"{path} includes {c or own}")
        done = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", "-fsyntax-only", "-x", "c", "-"],
                              input=f'#include "{path}"\n', text=True, capture_output=True)
        if done.returncode:
            wrong.append(f"{path} does not compile alone: {re.search('error: .*', done.stderr).group()}")
    return wrong


def public_headers():
    """A folder's public header is named for it, others are in PUBLIC; those at the top of fusion/ are the engine's."""
    found = faces() + ["fusion/plugin.h"]
    for path in sources():
        folder, name = os.path.split(path)
        if path.endswith(".h") and (name == os.path.basename(folder) + ".h" or PUBLIC.get(folder) == "*" or name[:-2] in PUBLIC.get(folder, "").split()):
            found.append(path)
    return found


def names_of_tables():
    """What .def files name: a word of a row is a function, or makes the name of one (pass_##id, file##_builtins)."""
    words = set()
    for path in subprocess.check_output(["git", "ls-files", "*.def"], text=True).split():
        words |= set(re.findall(r"[a-z_][a-z0-9_]*", open(path).read()))
    texts = [open(path).read() for path in sources()]
    prefixes = {p for text in texts for p in re.findall(r"\b([a-z]\w*_)##", text)}
    suffixes = {s for text in texts for s in re.findall(r"##(_[a-z]\w*)", text)}
    return words | {p + w for p in prefixes for w in words} | {w + s for s in suffixes for w in words}


def called_by_tests():
    """Functions that unit tests call."""
    return {name for path in tracked("tests/*.c", "tests/*.h") for name in re.findall(r"\b([a-z]\w*)\(", without_comments(open(path, errors="replace").read()))}


def components(graph):
    """Strongly connected ones (Tarjan)."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def walk(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in graph.get(v, ()):
            if w not in index:
                walk(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = []
            while True:
                w = stack.pop()
                on.discard(w)
                group.append(w)
                if w == v:
                    break
            found.append(group)

    for v in list(graph):
        if v not in index:
            walk(v)
    return found


# Each backend defines these as it likes: fusion/backends/backends.h declares them alone.
OPAQUE = {"executable", "recording"}
# Functions that others call through a type of their library, which says what they take.
CALLED_BY_LIBRARIES = ("tests/cuda/", "tests/bench/bench_launch.c", "server/http/http.c: answer")
MOST_PARAMETERS = 6


def tracked(*patterns):
    return subprocess.check_output(["git", "ls-files", *patterns], text=True).split()


def without_comments(text):
    """The same lines, without comments and strings."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def long_parameter_lists():
    """Functions with more than MOST_PARAMETERS parameters."""
    wrong = []
    for path in tracked("*.c"):
        text = without_comments(open(path).read())
        for m in re.finditer(r"^[a-z][^\n;={}()]*?\b(\w+)\(([^;{}]*?)\)\n\{", text, re.M):
            n = len(re.sub(r"\([^()]*\)", "", m.group(2)).split(","))
            if n > MOST_PARAMETERS and not f"{path}: {m.group(1)}".startswith(CALLED_BY_LIBRARIES):
                wrong.append(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {m.group(1)} takes {n}")
    return wrong


def repeated_structs():
    """Names of structs, enums and unions that several files define."""
    found = collections.defaultdict(set)
    for path in sources():
        for name in re.findall(r"^[ \t]*(?:typedef |static |const )*(?:struct|enum|union) (\w+) \{", open(path).read(), re.M):
            found[name].add(path)
    return [f"{name}: {' '.join(sorted(files))}" for name, files in sorted(found.items()) if len(files) > 1 and name not in OPAQUE]


def wrong_guards():
    """Headers whose guard is not their path."""
    wrong = []
    for path in tracked("*.h"):
        guard = re.search(r"^#ifndef (\w+_H)\n#define \1\n", open(path).read(), re.M)
        if guard and guard.group(1) != re.sub(r"[^A-Z0-9]", "_", path.upper()):
            wrong.append(f"{path}: {guard.group(1)}")
    return wrong


def wrong_privates():
    """Headers that call themselves private to a folder, and are included outside of it."""
    used = collections.defaultdict(set)
    for path, header in includes():
        used[header].add(path)
    wrong = []
    for path in sources():
        private = re.match(r"/\* \S+ -- private(?: to ([\w/]+?)/?)?:", open(path).read())
        if private:
            folder = f"/{private.group(1)}/" if private.group(1) else f"/{os.path.dirname(path)}/"
            wrong += [f"{path} is private, {user} includes it" for user in sorted(used[path]) if folder not in f"/{user}"]
    return wrong


def includes():
    """(file, header it includes), rooted ones."""
    for path in sources():
        for header in re.findall(r'^#include "([^"]+)"', open(path).read(), re.M):
            yield path, header


def upward_includes():
    allowed = reach()
    wrong = []
    for path, header in includes():
        if not header.startswith(("fusion/", "profiler/", "server/", "db/")):
            continue
        a, b = room_of(path), room_of(header)
        if b in allowed.get(a, ()) or b == a or (b == "fusion.h" and path.startswith("fusion/") and (a == "session" or header not in OF_SESSION)):
            continue
        wrong.append(f"{path} includes {header}")
    return wrong


def inside():
    """Headers of a folder's inside that files outside of it include; and rows of PUBLIC without need."""
    public, wrong, needed = set(public_headers()), [], set()
    for path, header in includes():
        if header.startswith(("fusion/", "profiler/", "server/", "db/")) and header.endswith(".h") and os.path.dirname(path) != os.path.dirname(header):
            needed.add(header)
            if header not in public:
                wrong.append(f"{path} includes {header}")
    for folder, names in PUBLIC.items():
        wrong += [f"tests/house.py: nobody outside includes {folder}/{n}.h" for n in names.split() if n != "*" and f"{folder}/{n}.h" not in needed]
    return wrong


MOST_SINGLE = 150
MOST_PUBLIC = 9.9  # of 1,000 lines of C; 16.9 at fd00674


def too_many_public(house):
    n = len(house.defines)
    lines = sum(open(p, "rb").read().count(b"\n") for p in sources() if os.path.exists(p))
    share = 1000 * n / lines
    return [] if share <= MOST_PUBLIC else [f"{n} of {lines:,} lines, {share:.2f}: what its own file alone uses is static, and a table of functions is one symbol"]


def too_many_single(house):
    n = len(house.single())
    return [] if n < MOST_SINGLE else [f"{n}: python3 tests/house.py BUILD --list single"]


RULES = {
    "includes": ("includes what is above it, or inside another room", lambda house: upward_includes()),
    "symbols": ("uses symbols of what is above it, or inside the engine", lambda house: house.upward()),
    "public": ("the engine's public headers include C and each other, and compile alone", lambda house: wrong_faces()),
    "knots": ("rooms that use each other", lambda house: [" ".join(knot) for knot in house.knots()]),
    "guards": ("headers whose guard is not their path", lambda house: wrong_guards()),
    "private": ("headers that say they are private, and are included elsewhere", lambda house: wrong_privates()),
    "inside": ("headers of a room's inside, included outside of it", lambda house: inside()),
    "public symbols": (f"public symbols of the objects, of 1,000 lines (at most {MOST_PUBLIC}, a number that only falls)", too_many_public),
    "many": (f"public functions that one file uses (under {MOST_SINGLE})", too_many_single),
    "unexplained": (f"of these without a reason in {SINGLE}", unexplained),
    "parameters": (f"functions with more than {MOST_PARAMETERS} parameters", lambda house: long_parameter_lists()),
    "structs": ("struct names that several files define", lambda house: repeated_structs()),
}


def main():
    sys.setrecursionlimit(10000)
    parse = argparse.ArgumentParser()
    parse.add_argument("build")
    parse.add_argument("--list", choices=["arrows", "single", *RULES])
    args = parse.parse_args()
    house = House(args.build)
    if args.list == "arrows":
        for (a, b), uses in sorted(house.arrows().items()):
            print(f"{a} -> {b}: {len(uses)} uses of {len({n for _, n, _ in uses})} symbols")
    elif args.list:
        found = house.single() if args.list == "single" else RULES[args.list][1](house)
        print(*found, sep="\n", end="\n" if found else "")
    else:
        for title, rule in RULES.values():
            for i, line in enumerate(rule(house)):
                print(*([f"{title}:"] if i == 0 else []), f"  {line}", sep="\n")


if __name__ == "__main__":
    main()
