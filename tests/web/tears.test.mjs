// tests/web/tears.test.mjs -- many graphs as one picture: what lives across, and where its lines and names go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { acrossOf, BAND, namePlaces, stack } from "../../web/js/model/tears.js";

const box = (id, ...nodes) => ({ id, kind: "op", title: id, sub: "", w: 80, h: 40, group: null, nodes: nodes.map((n) => ({ id: n })) });
const node = (id, name, shape = "[4]") => ({ id, name, op: "placeholder", dtype: "float32", shape });
const first = { graph: { id: 0, nodes: [node(0, "x"), node(1, "a"), node(2, "b", "[s0]")], outputs: [1, 2] }, boxes: [box("x", "x"), box("kernel 0", "a", "b")], outputs: ["a", "b"] };
const second = { graph: { id: 3, nodes: [node(0, "left"), node(1, "right", "[s0]")], origins: [{ node: 0, graph: 0, output: 0 }, { node: 1, graph: 0, output: 1 }, { node: 7, graph: 0, output: 1 }, { node: 0, graph: 9, output: 0 }] }, boxes: [box("left", "left"), box("right", "right")], outputs: [] };

test("a value goes from the box that has what is given to the box that takes it; those of the same two boxes are one edge", () => {
  assert.deepEqual(acrossOf([first, second]).map((a) => [a.from, a.to, a.text]), [[[0, "kernel 0"], [3, "left"], "left 16 B"], [[0, "kernel 0"], [3, "right"], "right"]]);
  const together = { ...second, boxes: [box("both", "left", "right")] };
  assert.deepEqual(acrossOf([first, together]).map((a) => [a.to, a.text]), [[[3, "both"], "2 values"]]);
  assert.deepEqual(acrossOf([second, first]), [], "what an earlier call left goes back, and is no edge");
  const renamed = { ...first, boxes: [box("x", "x"), box("kernel 0", "a_1", "b")], outputs: ["a_1", "b"] };
  assert.equal(acrossOf([renamed, second])[0].from[1], "kernel 0", "a pass may have renamed what is given");
});

test("lines go around boxes and texts, each with its name in a tear, none over another", () => {
  const laid = (boxes) => ({ boxes, groups: {}, paths: {}, width: 200, height: 100 });
  const of = Object.fromEntries(["p", "q", "r"].map((id, i) => [id, { x: 70 * i, y: 0, w: 60, h: 40 }]));
  const rows = [
    { text: "graph 0", graph: { id: 0, laid: laid({ ...of, below: { x: 0, y: 60, w: 60, h: 40 } }) } },
    { text: "line 4, a break", graph: null },
    { text: "graph 1", graph: { id: 1, laid: laid(of) } },
    { text: "line 6, a break", graph: null },
    { text: "graph 2", graph: { id: 2, laid: laid(of) } },
  ];
  const across = [[0, "p", 1, "p"], [0, "p", 1, "q"], [0, "q", 2, "r"], [1, "r", 2, "p"]].map(([a, x, b, y]) => ({ from: [a, x], to: [b, y], text: `${x}${y} 1.02 kB`, title: "" }));
  const s = stack(rows, across);
  assert.equal(s.routes.length, 4);
  const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
  const lanes = s.routes.map((r) => r.segments.reduce((a, b) => (b.h > a.h ? b : a))).map((l) => ({ ...l, y: l.y + 2, h: l.h - 4 })); // but for its ends
  for (const [i, lane] of lanes.entries()) {
    assert.ok(![...s.taken, ...s.texts].some((t) => meet(t, lane)), `line ${i} is clear of boxes and texts`);
    assert.ok(lanes.every((other, k) => k === i || !meet(other, lane)), `line ${i} is clear of the others`);
  }
  const bands = s.rows.filter((r) => r.h === BAND);
  for (const times of [1, 1.4]) {
    const names = namePlaces(s, [], times);
    assert.equal(names.size, 4);
    for (const [, y] of names.values()) assert.ok(bands.some((b) => y > b.y && y < b.y + b.h), String(y));
  }
  assert.ok(s.width >= Math.max(...lanes.map((l) => l.x)) && s.rows.every((r) => r.w === s.width));
});
