// tests/web/passes.test.mjs -- passes as rows, differences of graphs, the list of ops.
import test from "node:test";
import assert from "node:assert/strict";
import { diffLines, folded, passRows, sideBySide } from "../../web/js/model/passes.js";
import { dtypesText, filterOps, kindsOf, loweredText, opsVerdict } from "../../web/js/model/ops.js";

const part = {
  part: "",
  nodes: 3,
  before: "%x\n%mul\nreturn %mul\n",
  left_out_bytes: 0,
  steps: [
    { pass: "fold", off: false, changed: false, nodes: 3, us: 1, rules: [], after: null },
    {
      pass: "simplify",
      off: false,
      changed: true,
      nodes: 2,
      us: 2,
      rules: [{ rule: "x * 1 is x", count: 3, at: [{ node: "mul", line: 4 }, { node: "mul_1", line: 4 }, { node: "c", line: 0 }] }],
      after: "%x\nreturn %x\n",
    },
    { pass: "cse", off: true, changed: false, nodes: 0, us: 0, rules: [], after: null },
    { pass: "dce", plugin: "p.so", off: false, changed: true, nodes: 1, us: 2, rules: [], rules_left_out: 2, after: "%x\n" },
  ],
};

test("rows have the text before each pass, node counts and distinct lines", () => {
  const rows = passRows(part);
  assert.deepEqual(rows.map((r) => [r.name, r.state, ...r.nodes]), [
    ["fold", "unchanged", 3, 3],
    ["simplify", "changed", 3, 2],
    ["cse", "off", 2, 2],
    ["dce", "changed", 2, 1],
  ]);
  assert.equal(rows[1].before, part.before);
  assert.equal(rows[3].before, "%x\nreturn %x\n");
  assert.deepEqual(rows[1].rules[0].places, [{ line: 4, file: "" }]);
  assert.deepEqual([rows[1].fired, rows[3].fired], [3, 2]);
});

test("a report of before says passes by the names they have today", () => {
  const step = (pass, plugin) => ({ pass, plugin, off: false, changed: false, nodes: 3, us: 1, rules: [], after: null });
  const rows = passRows({ ...part, steps: [step("calls"), step("lift"), step("sink"), step("sink", "p.so")] });
  assert.deepEqual(rows.map((r) => r.name), ["pattern_match", "hoist_views", "sink_views", "sink"]);
});

test("after a graph that was left out nothing is compared", () => {
  const cut = structuredClone(part);
  cut.steps[1].after = null;
  const rows = passRows(cut);
  assert.equal(rows[1].after, null);
  assert.equal(rows[3].before, null);
});

test("a difference keeps order, and both texts can be read from it", () => {
  const random = (seed) => () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let trial = 1; trial < 60; trial++) {
    const r = random(trial);
    const a = Array.from({ length: Math.floor(r() * 20) + 1 }, () => `l${Math.floor(r() * 8)}`);
    const b = a.filter(() => r() > 0.3).flatMap((x) => (r() > 0.7 ? [x, `n${Math.floor(r() * 5)}`] : [x]));
    if (!b.length) b.push("z");
    const lines = diffLines(`${a.join("\n")}\n`, `${b.join("\n")}\n`);
    assert.deepEqual(lines.filter((x) => x.kind !== "add").map((x) => x.text), a);
    assert.deepEqual(lines.filter((x) => x.kind !== "del").map((x) => x.text), b);
    const rows = sideBySide(lines);
    assert.deepEqual(rows.flatMap((x) => (x.left === null ? [] : [x.left])), a);
    assert.deepEqual(rows.flatMap((x) => (x.right === null ? [] : [x.right])), b);
    const shown = folded(rows).reduce((n, x) => n + (typeof x === "number" ? x : 1), 0);
    assert.equal(shown, rows.length);
  }
  const big = Array.from({ length: 2500 }, (_, i) => `%n${i}`);
  const lines = diffLines(big.join("\n"), big.filter((_, i) => i !== 7).join("\n"));
  assert.deepEqual(lines.filter((x) => x.kind !== "same"), [{ kind: "del", text: "%n7" }]);
});

test("long runs of unchanged lines are folded, what surrounds a change is not", () => {
  const rows = Array.from({ length: 12 }, (_, i) => ({ same: i !== 6, i }));
  assert.deepEqual(folded(rows).map((x) => (typeof x === "number" ? -x : x.i)), [-4, 4, 5, 6, 7, 8, -3]);
});

const op = (name, more = {}) => ({
  name, kind: "pointwise", spellings: [`torch.${name}`], operators: [], signature: "Tensor x", dtypes: "",
  doc: "", gradient: "yes", backends: { cpu: ["float32"] }, plugin: null, ...more,
});

test("ops are found by name, spelling, words and F.", () => {
  const ops = [
    op("gelu", { spellings: ["torch.nn.functional.gelu"], kind: "composite" }),
    op("sin", { doc: "sine" }),
    op("argmax", { gradient: "none", backends: { cpu: [] } }),
    op("mul", { operators: ["*"] }),
  ];
  const find = (text, kind = "", gradient = "") => filterOps(ops, { text, kind, gradient }).map((o) => o.name);
  assert.deepEqual(find("F.gelu"), ["gelu"]);
  assert.deepEqual(find("SINE"), ["sin"]);
  assert.deepEqual(find("*"), ["mul"]);
  assert.deepEqual(find("", "composite"), ["gelu"]);
  assert.deepEqual(find("", "", "none"), ["argmax"]);
  assert.deepEqual(find("sin gelu"), []);
  assert.deepEqual(kindsOf(ops), ["composite", "pointwise"]);
  assert.deepEqual(opsVerdict(ops, ["cpu"]), ["4 ops under 5 spellings", ": 3 have a gradient, 3 are lowered by every backend."]);
});

test("dtypes in few words", () => {
  const floats = ["float16", "bfloat16", "float32", "float64"];
  const ints = ["uint8", "int8", "int16", "int32", "int64"];
  assert.equal(dtypesText([]), "no: a call");
  assert.equal(dtypesText(["bool", ...ints, ...floats]), "all dtypes");
  assert.equal(dtypesText([...ints, ...floats]), "floats, ints");
  assert.equal(dtypesText(["float32"]), "float32");
  assert.equal(dtypesText(["bool", ...ints]), "ints, bool");
  assert.equal(loweredText([], ["float32"]), "on the host");
  assert.equal(loweredText(floats, ints), "floats; the rest on the host");
  assert.equal(loweredText(floats, []), "floats");
});
