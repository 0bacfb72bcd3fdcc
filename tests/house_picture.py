"""tests/house_picture.py BUILD -- draws web/docs/images/house.svg from the symbols of the objects; --check: says whether it is that.

A box is a folder, an arrow says that its objects use symbols of the folder below.  An arrow that
follows from others is left out (server uses db, db uses base: none from server to base).
"""
import argparse
import collections
import sys

import house

PURPOSE = {
    "server": "commands, HTTP, queue",
    "profiler": "a workload in, a report out",
    "db": "SQLite",
    "session": "fusion.h, plugin.h",
    "capture": "frames into graphs, guards",
    "lazy": "traces until a value is read",
    "eager": "one op at once, autograd",
    "compile": "a graph to what runs it",
    "torch": "calls of torch, bound",
    "weights": "safetensors, torch.save",
    "tensor": "tensors, views, storage",
    "backends": "interp, cpu, cuda",
    "vm": "runs the bytecode",
    "report": "graphs, breaks, reasons",
    "passes": "rewrite, fuse",
    "lower": "tile programs",
    "graph": "ops.def, symbolic sizes",
    "lang": "source to bytecode",
    "base": "errors, arenas, threads",
}
WIDTH, BEND, HEIGHT, GAP, DOWN = 190, 8, 46, 24, 88
STYLE = """text { font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #16181b }
.t { font-size: 14px; font-weight: 600 }
.s { font-size: 12px; fill: #4d5158 }
.b { fill: #ffffff; stroke: #85888c }
.a { fill: none; stroke: #85888c; marker-end: url(#p) }"""


def arrows(build):
    """folder -> folders whose symbols its objects use; rooms of capture and of backends are one folder."""
    found = collections.defaultdict(set)
    for a, b in house.House(build).arrows():
        ra, rb = (house.room_of(x + "/x.c").split("/")[0] for x in (a, b))
        if ra != rb:
            found[ra].add(rb)
    return found


def reduced(graph):
    """Without the arrows that follow from others."""
    reach = {}

    def below(room):
        if room not in reach:
            reach[room] = set()
            for to in graph.get(room, ()):
                reach[room] |= {to} | below(to)
        return reach[room]

    return {room: {to for to in graph[room] if not any(to in below(other) for other in graph[room] if other != to)} for room in graph}


def levels(graph):
    """Rooms by level: each is below all that use it."""
    users = collections.defaultdict(set)
    for room, uses in graph.items():
        for to in uses:
            users[to].add(room)
    depth = {}

    def level(room):
        if room not in depth:
            depth[room] = 1 + max((level(u) for u in users[room]), default=-1)
        return depth[room]

    rows = collections.defaultdict(list)
    for room in PURPOSE:
        rows[level(room)].append(room)
    return [rows[i] for i in sorted(rows)]


def stretched(rows, graph):
    """The rows with a bend, (from, to, row), in each row that a long arrow goes through; and its way: [room, bends, room]."""
    row_of = {room: i for i, row in enumerate(rows) for room in row}
    rows, ways = [list(row) for row in rows], []
    for room in sorted(graph):
        for to in sorted(graph[room]):
            bends = [(room, to, i) for i in range(row_of[room] + 1, row_of[to])]
            for bend in bends:
                rows[bend[2]].append(bend)
            ways.append([room, *bends, to])
    return rows, ways


def placed(rows, ways):
    """What is in the rows -> (x of its middle, y): in each row by the middle of those above that lead to it."""
    above = collections.defaultdict(list)
    for way in ways:
        for a, b in zip(way, way[1:]):
            above[b].append(a)
    width_of = lambda item: BEND if isinstance(item, tuple) else WIDTH
    at = {}
    for y, row in enumerate(rows):
        wishes = sorted((sum(at[a][0] for a in above[i]) / len(above[i]) if above[i] else 0, str(i), i) for i in row)
        x, items = [w for w, _, _ in wishes], [i for _, _, i in wishes]
        for _ in range(300):  # apart, and as near to their wishes as that leaves
            for i in range(1, len(x)):
                lack = (width_of(items[i]) + width_of(items[i - 1])) / 2 + GAP - (x[i] - x[i - 1])
                if lack > 0:
                    x[i - 1], x[i] = x[i - 1] - lack / 2, x[i] + lack / 2
        for item, middle in zip(items, x):
            at[item] = (middle, GAP + y * DOWN)
    left = min(x - width_of(i) / 2 for i, (x, _) in at.items()) - GAP
    width = max(x + width_of(i) / 2 for i, (x, _) in at.items()) + GAP - left
    return {item: (round(x - left), y) for item, (x, y) in at.items()}, round(width)


def line(way, at, ways):
    """The path of an arrow: curves from row to row, straight through a row that it passes."""
    outs = sorted((w for w in ways if w[0] == way[0]), key=lambda w: at[w[1]])
    ins = sorted((w for w in ways if w[-1] == way[-1]), key=lambda w: at[w[-2]])
    x, y = at[way[0]][0] + (outs.index(way) - (len(outs) - 1) / 2) * 16, at[way[0]][1] + HEIGHT
    d = f"M{x:.0f} {y}"
    for item in way[1:]:
        x2, y2 = at[item]
        if item == way[-1]:
            x2 += (ins.index(way) - (len(ins) - 1) / 2) * 16
        half = (y2 - y) / 2
        d += f" C{x:.0f} {y + half:.0f} {x2:.0f} {y2 - half:.0f} {x2:.0f} {y2}"
        x, y = x2, y2
        if item != way[-1]:
            y += HEIGHT
            d += f" L{x:.0f} {y}"
    return f'<path class="a" d="{d}"/>'


def svg(graph):
    rows, ways = stretched(levels(graph), graph)
    at, width = placed(rows, ways)
    height = GAP * 2 + (len(rows) - 1) * DOWN + HEIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="The folders of Breakeven and their arrows">',
        f"<style>\n{STYLE}\n</style>",
        f'<rect width="{width}" height="{height}" fill="#fbfbf9"/>',
        '<defs><marker id="p" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#85888c"/></marker></defs>',
    ]
    out += [line(way, at, ways) for way in ways]
    for room in PURPOSE:
        x, y = at[room][0] - WIDTH // 2, at[room][1]
        name = room if room in ("server", "profiler", "db") else f"fusion/{room}"
        out.append(f'<rect class="b" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>')
        out.append(f'<text class="t" x="{x + 10}" y="{y + 19}">{name}</text><text class="s" x="{x + 10}" y="{y + 36}">{PURPOSE[room]}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("build")
    parse.add_argument("--check", action="store_true")
    args = parse.parse_args()
    drawn, path = svg(reduced(arrows(args.build))), "web/docs/images/house.svg"
    if not args.check:
        open(path, "w").write(drawn)
    elif open(path).read() != drawn:
        sys.exit(f"  {path} is not what the objects say: python3 tests/house_picture.py {args.build} draws it again")


main()
