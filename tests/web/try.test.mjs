// tests/web/try.test.mjs -- a suggested change as a run of its own, and what it showed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, changeRows, tryWorkload, valuesText } from "../../web/js/model/try.js";

const change = { before: "a\n", after: "b\n", mode: "static", n: null, what: "line 4 rewritten" };

test("the run keeps what makes it comparable, and is no run of the workload's history", () => {
  const posted = { name: "m", title: "t", source: "a\n", calls: [[]], modes: ["eager", "static", "auto"], engines: ["breakeven", "torch"], device: "cuda", threads: 2, time: { auto: [0], static: [1] }, tags: ["x"], seconds: 9 };
  const w = tryWorkload(posted, change);
  assert.deepEqual(w, { name: "m, line 4 rewritten", source: "b\n", before: "a\n", calls: [[]], modes: ["eager", "static"], device: "cuda", threads: 2, time: { static: [1] }, tags: ["x", "tried"], seconds: 0.6 });
  assert.deepEqual(tryWorkload({ source: "a\n", modes: ["lazy"] }, { ...change, mode: "lazy" }).modes, ["lazy"]);
  const long = tryWorkload({ source: "a\n", name: "\u00e9".repeat(100) }, change).name;
  assert.ok(new TextEncoder().encode(long).length <= 200 && long.endsWith("\u00e9, line 4 rewritten"));
});

test("of a sweep the point that is shown is left", () => {
  const input = { arg: 0, dim: 1, sizes: [2, 4, 8] };
  assert.deepEqual(tryWorkload({ source: "a\n", sweep: { input } }, { ...change, n: 4 }).sweep, { input: { ...input, sizes: [4] } });
  assert.equal(tryWorkload({ source: "a\n", sweep: { statements: { pool: [], counts: [3] } } }, { ...change, n: 3 }).sweep, undefined);
});

test("before and after stand beside each other", () => {
  const c = { agrees: true, max_abs_error: 0, breaks: [4, 2], graphs: [4, 3], launches: [7, 5], median_us: [520, 260], ci_us: [[510, 530], [255, 265]] };
  const rows = changeRows(c).map((r) => [r.name, r.before[0], r.after[0]]);
  assert.deepEqual(rows, [["Breaks", "4", "2"], ["Graphs", "4", "3"], ["Launches a call", "7", "5"], ["A call, µs", "520", "260"]]);
  assert.deepEqual(changeRows({ agrees: true, breaks: [1, 0] }).map((r) => r.name), ["Breaks"]);
  assert.match(valuesText(c), /are the same/);
  assert.equal(valuesText({ agrees: true, max_abs_error: 0, prints_less: 2 }), "The values are the same, bit for bit where they are numbers. 2 printed lines are left out.");
  assert.match(valuesText({ agrees: true, max_abs_error: 1e-7 }), /1\.0e-7/);
  assert.match(valuesText({ agrees: false, disagreement: "the output differs" }), /differ: the output differs\./);
  const report = { modes: { static: { change: c } } };
  assert.equal(changeOf(report, "static"), c);
  assert.equal(changeOf({ modes: {}, points: [{ n: 4, modes: { static: { change: c } } }] }, "static"), c);
  assert.equal(changeOf(report, "auto"), null);
  assert.equal(changeOf(null, "static"), null);
});
