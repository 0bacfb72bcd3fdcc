// tests/web/kernels.test.mjs -- kernels of a report, as their table shows them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { beyondCopy, kernelFacts } from "../../web/js/model/kernels.js";

const kernel = { name: "a", form: "map", why: "", ops: 1, read_bytes: 600, written_bytes: 400, saved_bytes: 0, copies: false };
const seen = (more) => ({ ...kernel, operations: 50, intensity: 0.05, median_us: 10, ci_us: [9, 11], copy_share: 0.9, ...more });

test("the longest kernel comes first, one that was not seen last", () => {
  const m = { graphs: [{ id: 0, kernel_details: [kernel, seen({ name: "b" })] }, { id: 1, kernel_details: [seen({ name: "c", median_us: 30 })] }] };
  assert.deepEqual(kernelFacts(m).map((r) => [r.name, r.graph, r.bytes, r.median]), [
    ["c", 1, 1000, 30], ["b", 0, 1000, 10], ["a", 0, 1000, null],
  ]);
});

test("a run without times has no table", () => {
  assert.deepEqual(kernelFacts({ graphs: [{ kernel_details: [kernel] }] }), []);
  assert.deepEqual(kernelFacts({}), []);
});

test("time beyond a copy's adds up, and none is below zero", () => {
  const rows = kernelFacts({ graphs: [{ kernel_details: [seen({ copy_share: 1.2 }), seen({ copy_share: 0.25, median_us: 40 })] }] });
  assert.deepEqual(beyondCopy(rows), { far: 1, over: 30, whole: 50 });
});
