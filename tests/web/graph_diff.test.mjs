// tests/web/graph_diff.test.mjs -- the ops of two runs beside each other.
import test from "node:test";
import assert from "node:assert/strict";
import { beside, opsOf } from "../../web/js/model/graph_diff.js";

const lines = (all) => all.map((l) => [l.a, l.b]);

test("what is in both stands beside itself, and what changed beside what took its place", () => {
  assert.deepEqual(lines(beside(["g", "sin", "mul", "sum"], ["g", "sin", "cos", "sum", "neg"])), [["g", "g"], ["sin", "sin"], ["mul", "cos"], ["sum", "sum"], [null, "neg"]]);
  assert.deepEqual(lines(beside([], ["a"])), [[null, "a"]]);
  assert.deepEqual(lines(beside(["a", "b"], [])), [["a", null], ["b", null]]);
  assert.deepEqual(beside([], []), []);
});

test("as few lines as can be are apart, of any two lists", () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 200; round++) {
    const [a, b] = [0, 0].map(() => Array.from({ length: random(9) }, () => "abc"[random(3)]));
    const found = beside(a, b);
    assert.deepEqual(found.flatMap((l) => l.a ?? []), a);
    assert.deepEqual(found.flatMap((l) => l.b ?? []), b);
    const longest = (x, y) => (!x.length || !y.length ? 0 : x[0] === y[0] ? 1 + longest(x.slice(1), y.slice(1)) : Math.max(longest(x.slice(1), y), longest(x, y.slice(1))));
    assert.equal(found.filter((l) => l.a === l.b).length >= longest(a, b), true);
  }
});

test("ops are those of a mode at a point, graph by graph", () => {
  const m = (...graphs) => ({ static: { graphs: graphs.map((ops) => ({ ops })) } });
  assert.deepEqual(opsOf({ modes: m(["sin"], ["cos", "sum"]) }, "static", null), ["graph 1", "  sin", "graph 2", "  cos", "  sum"]);
  assert.deepEqual(opsOf({ modes: {}, points: [{ n: 1, modes: m(["a"]) }, { n: 4, modes: m(["b"]) }] }, "static", 4), ["graph 1", "  b"]);
  assert.deepEqual(opsOf({ modes: {} }, "static", null), []);
});
