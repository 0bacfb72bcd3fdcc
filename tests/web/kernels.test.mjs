// tests/web/kernels.test.mjs -- kernels of a report, as their table shows them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kernelFacts } from "../../web/js/model/kernels.js";

const kernel = { name: "a", form: "map", why: "", ops: 1, read_bytes: 600, written_bytes: 400, saved_bytes: 0, copies: false };
const seen = (more) => ({ ...kernel, operations: 50, intensity: 0.05, median_us: 10, ci_us: [9, 11], copy_share: 0.9, ...more });

test("the longest kernel comes first, one that was not seen last, each with what is said of it", () => {
  const m = { graphs: [{ id: 0, kernel_details: [kernel, seen({ name: "b" })] }, { id: 1, kernel_details: [seen({ name: "c", median_us: 30 })] }] };
  const said = { graphs: [{ kernels: [{ about: "of a" }, { about: "of b" }] }, { kernels: [{ about: "of c" }] }] };
  assert.deepEqual(kernelFacts(m, said).map((r) => [r.name, r.graph, r.said.about, r.median]), [
    ["c", 1, "of c", 30], ["b", 0, "of b", 10], ["a", 0, "of a", null],
  ]);
});

test("a run without times has no table", () => {
  assert.deepEqual(kernelFacts({ graphs: [{ kernel_details: [kernel] }] }), []);
  assert.deepEqual(kernelFacts({}), []);
});
