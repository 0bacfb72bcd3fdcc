// tests/web/kernels.test.mjs -- kernels of a report, as their table shows them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { codeParts, kernelFacts } from "../../web/js/model/kernels.js";

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

test("generated code is told apart by kernels: C with its parts, CUDA C with its libraries, pieces with their own counts", () => {
  const c = "#define VECTOR_BYTES 64\n/* words */\nvoid k0p2(const void *code, const struct tile *t)\n{\n\tif (n) {\n\t}\n}\nvoid k0p3(const void *code)\n{\n}\nvoid k2p0(const void *code)\n{\n}\n";
  assert.deepEqual(codeParts({ lowered: c }), [{ kernel: 0, from: 3, to: 7 }, { kernel: 0, from: 8, to: 10 }, { kernel: 2, from: 11, to: 13 }]);
  const cuda = '// fused_a\nextern "C" __global__ void __launch_bounds__(256) k0(const float *a)\n{\n}\nextern "C" __global__ void l1_sum(const __grid_constant__ struct x a)\n{\n}\n';
  assert.deepEqual(codeParts({ lowered: cuda }), [{ kernel: 0, from: 1, to: 4 }, { kernel: 1, from: 5, to: 7 }]);
  const equal = '// fused_a; also k2 fused_a_1, k5 fused_a_2\nextern "C" __global__ void __launch_bounds__(256) k0(const float *a)\n{\n}\n';
  assert.deepEqual(codeParts({ lowered: equal }), [0, 2, 5].map((kernel) => ({ kernel, from: 1, to: 4 })));
  const passes = [{ part: "piece 0", first_kernel: 0 }, { part: "loop 1", first_kernel: 3 }, { part: "backward piece 1", first_kernel: 9 }];
  const pieces = "/* piece 0 */\nvoid k0p2(x)\n{\n}\n/* piece 1 */\nvoid k1p0(x)\n{\n}\n";
  assert.deepEqual(codeParts({ lowered: pieces, passes }).map((p) => p.kernel), [0, 4]);
  assert.deepEqual([codeParts({ lowered: null }), codeParts({})], [[], []]);
  assert.deepEqual(codeParts({ lowered: "void k0p2(x)\n{\n\tcut of" }), [{ kernel: 0, from: 1, to: 3 }]); // over the limit of a report
});
