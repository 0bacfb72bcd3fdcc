// tests/web/suite.test.mjs -- what the page says of a suite.
import test from "node:test";
import assert from "node:assert/strict";
import { bucketNames, buckets, columnName, failures, sorted } from "../../web/js/model/suite.js";
import { ratio } from "../../web/js/model/format.js";

const column = (mode, speedup, extra = {}) => ({
  engine: "breakeven", policy: "dynamo", mode, workloads: 4, pass: 4, failed: 0, disagrees: 0, cancelled: 0, waiting: 0, pass_rate: 1,
  geomean: { common: { n: 3, speedup, speedup_ci: speedup && [speedup * 0.9, speedup * 1.1] }, own: {} }, histogram: null, ...extra,
});
const result = (mode, status, speedup, capture = 0) =>
  ({ engine: "breakeven", policy: "dynamo", mode, status, speedup, breaks: { capture, lowering: 0 } });
const workload = (name, ...results) => ({ name, results });

test("columns are named by what is not usual", () => {
  assert.equal(columnName({ engine: "breakeven", policy: "dynamo", mode: "static" }), "static");
  assert.equal(columnName({ engine: "torch", policy: "dynamo", mode: "static" }), "torch static");
  assert.equal(columnName({ engine: "breakeven", policy: "native", mode: "auto" }), "auto, native");
});

test("rows are sorted by a column; what has no value comes last either way", () => {
  const rows = [
    workload("b", result("static", "pass", 2, 1)),
    workload("a", result("static", "failed", null)),
    workload("c", result("static", "pass", 3, 0)),
  ];
  const names = (key, down) => sorted(rows, { key, down }).map((w) => w.name).join("");
  assert.equal(names("name", false), "abc");
  assert.equal(names("breakeven/dynamo/static", true), "cba");
  assert.equal(names("breakeven/dynamo/static", false), "bca");
  assert.equal(names("breaks:dynamo", true), "bac");
});

test("buckets have names, and empty ones at the ends are left out", () => {
  assert.deepEqual(bucketNames([0.5, 0.707107, 1]), ["below 0.5x", "0.5–0.71x", "0.71–1x", "1x and above"]);
  assert.deepEqual(buckets([{ histogram: [0, 1, 0, 2] }], [0.5, 0.7, 1]).map((b) => b.i), [1, 2, 3]);
  assert.deepEqual(buckets([{ histogram: null }], [0.5, 0.7, 1]), []);
});

test("a wide interval does not round a ratio to 0", () => {
  assert.deepEqual(ratio(3, [0.4, 80]), { text: "3.0x", interval: "(0.4–80.0)" });
  assert.deepEqual(ratio(7.13, [7.0, 7.3]), { text: "7.1x", interval: "(7.0–7.3)" });
});

test("a reason that differs by the mode's file name alone is one, with the modes that met it", () => {
  const bad = (mode, reason, extra = {}) => ({ ...result(mode, "failed", null), run: 7, reason, ...extra });
  const torch = { engine: "torch", run: 8 };
  const list = [
    workload("a",
      bad("static", 'File "<static, n = 3>", line 2: no such op', torch), bad("dynamic", 'File "<dynamic, n = 3>", line 2: no such op', torch),
      bad("graphs", 'File "<graphs, n = 3>", line 4: no such op', torch)),
    workload("b", bad("eager", "shape"), bad("static", "shape"), bad("static", "shape", { policy: "native" }), bad("auto", null, { status: "disagrees" }), result("lazy", "pass", 2)),
    workload("c", bad("static", "shape"), bad("static", "shape", { policy: "native" })),
  ];
  const a = { name: "a", run: 8, status: "failed", engine: "torch", policies: ["dynamo"] };
  const b = { name: "b", run: 7, status: "failed", engine: "breakeven", policies: ["dynamo"] };
  assert.deepEqual(failures(list), [
    { ...a, modes: ["static", "dynamic"], reason: 'File "<source, n = 3>", line 2: no such op' },
    { ...a, modes: ["graphs"], reason: 'File "<source, n = 3>", line 4: no such op' },
    { ...b, modes: ["eager", "static"], reason: "shape" },
    { ...b, policies: ["native"], modes: ["static"], reason: "shape" },
    { ...b, status: "disagrees", modes: ["auto"], reason: "no reason was kept" },
    { ...b, name: "c", policies: ["dynamo", "native"], modes: ["static"], reason: "shape" },
  ]);
});
