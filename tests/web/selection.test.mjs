// tests/web/selection.test.mjs -- what is picked in a run, and what comes from a line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinLines, readSelection, sameSelection, selectionParams, sharedQuery, shownOf } from "../../web/js/model/selection.js";

const query = (text) => new URLSearchParams(text);

test("the address is read with what is no line left out", () => {
  assert.deepEqual(readSelection(query("line=6&node=relu&graph=1&break=2&t0=5")), { line: 6, file: "", graph: "1", node: "relu", kernel: "", brk: "2" });
  for (const bad of ["-1", "x", "1.5", "0", ""]) assert.equal(readSelection(query(`line=${bad}`)).line, 0, bad);
});

test("what is picked takes the place of all that was", () => {
  assert.deepEqual(selectionParams({ line: 4, brk: "1" }), { line: "4", file: null, graph: null, node: null, kernel: null, break: "1" });
  assert.equal(sharedQuery(query("mode=static&n=10&line=6&node=relu&t0=5&step=2")), "?mode=static&n=10&line=6&node=relu");
  assert.equal(sharedQuery(query("mode=static&line=6&node=relu"), { line: 7 }), "?mode=static&line=7");
  assert.equal(sharedQuery(query("mode=static&line=6&file=a.py"), { line: 7, file: "net/b.py" }), "?mode=static&line=7&file=net%2Fb.py");
  assert.equal(sharedQuery(query("t0=5")), "");
  assert.ok(sameSelection(readSelection(query("line=6&t0=1")), readSelection(query("t0=2&line=6"))));
  assert.ok(!sameSelection(readSelection(query("line=6")), readSelection(query("line=6&node=a"))));
});

test("a line has its ops, the kernels that compute one of them, and its breaks", () => {
  const node = (name, op, line) => ({ id: 0, name, op, line });
  const m = {
    graphs: [
      { id: 0, nodes: [node("x", "placeholder", 1), node("a", "relu", 2), node("b", "mul", 3)], kernel_details: [{ name: "fused", lines: [2, 3], median_us: 4 }] },
      { id: 3, nodes: [node("c", "sum", 3)], kernel_details: [{ name: "older" }] },
    ],
    breaks: [{ kind: "scalar-read", message: "m", stack: [{ line: 9, function: "model" }, { line: 3, function: "f" }], cost_us: 7 }],
  };
  const lines = joinLines(m, { distinct: [{ first: 0, met: 1, calls: [0], cost: { text: "7", low: null, high: null }, line_cost: "7" }] });
  assert.equal(lines.get("1"), undefined);
  assert.deepEqual(lines.get("2"), { nodes: [{ graph: "0", name: "a", op: "relu" }], kernels: [{ graph: "0", index: 0, name: "fused", us: 4 }], breaks: [] });
  assert.deepEqual(lines.get("3").nodes.map((n) => [n.graph, n.name]), [["0", "b"], ["3", "c"]]);
  assert.deepEqual(lines.get("3").breaks, [{ index: 0, kind: "scalar-read", cost: "7", lineCost: "7" }]);
});

test("a view without a choice is about the mode and point of the address, else the first and the last", () => {
  const points = [1, 10].map((n) => ({ n, modes: { eager: {}, static: { launches: n } } }));
  assert.equal(shownOf(query("n=1&mode=static"), points, "static").m.launches, 1);
  assert.equal(shownOf(query("mode=none"), points, "static").m.launches, 10);
  assert.equal(shownOf(query(""), points, null).m, null);
});
