// tests/web/guards.test.mjs -- versions of frames, and the guards that made them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fitOf, guardTree, reasonParts, recompileCount, subjectOf } from "../../web/js/model/guards.js";

const entry = (compile, more = {}) => ({ compile, call: 0, compile_ms: 10, uses: 1, bail_outs: 0, reason: null, guards: ["x is a Tensor", "x.size(0) == 64"], symbols: [], ...more });
const report = () => ({
  tree: [
    { frame: "model", line: 3, entries: [
      entry("0/0", { uses: 2 }),
      entry("0/1", { call: 1, compile_ms: 30, reason: "x.size(0) is 32, was 64", guards: ["x is a Tensor", "x.size(0) == 32"] }),
      entry("0/2", { call: 2, compile_ms: 20, reason: "0/1: x.size(0) is 16, was 32; 0/0: x.size(0) is 16, was 64", guards: [] }),
    ] },
    { frame: "loop", line: 9, skipped: true, entries: [] },
  ],
});

test("a reason names each older version, or means the one before", () => {
  assert.deepEqual(reasonParts("a is 3, was 2", "0/0"), [{ version: "0/0", text: "a is 3, was 2" }]);
  assert.deepEqual(reasonParts("0/1: a is '; b', was 2; 0/0: a is 3, was 1", "x").map((p) => p.version), ["0/1", "0/0"]);
});

test("what a reason speaks of", () => {
  assert.deepEqual(["x.size(0) is 32, was 64", "s0 + 2 == 9 no longer holds: s0 is 3", "x is not contiguous, was contiguous", "odd"].map(subjectOf),
    ["x.size(0)", "s0 + 2 == 9", "x.is_contiguous()", "odd"]);
});

test("a guard that failed says when, and what was compiled for it", () => {
  const [frame, loop] = guardTree(report(), "static").frames;
  assert.deepEqual(frame.versions[0].guards[1].failed.map((f) => [f.by, f.call]), [["0/1", 1], ["0/2", 2]]);
  assert.deepEqual(frame.versions[0].guards[0].failed, []);
  assert.deepEqual(frame.versions[1].guards[1].failed.map((f) => f.by), ["0/2"]);
  assert.deepEqual([loop.versions, loop.state], [[], "runs in eager"]);
});

test("versions that older ones should have served are counted", () => {
  assert.equal(recompileCount(report()), 2);
  assert.deepEqual([recompileCount({}), guardTree({}, "static").frames], [0, []]);
});

test("what would fit depends on what failed and on the mode", () => {
  assert.match(fitOf("x.size(1) is 5, was 4", "static", []), /Mode auto makes/);
  assert.match(fitOf("x.size(1) is 5, was 4", "auto", []), /"dynamic_dims": \[1\]/);
  assert.match(fitOf("x.size(1) is 5, was 4", "auto", ["s0 = x.size(1), 2 <= s0"]), /a symbol from this version on/);
  assert.match(fitOf("x.size(1) is 1, was 2 or more", "auto", []), /Sizes 0 and 1/);
  assert.match(fitOf("operand 0 is 341.42, was 339.3", "static", []), /Keep it a tensor/);
  assert.match(fitOf("n is 5, was 4", "static", []), /Mode auto makes one/);
  assert.match(fitOf("x.dtype is float16, was float32", "static", []), /Cast to one dtype/);
  assert.match(fitOf("torch.is_grad_enabled() is False, was True", "static", []), /a version each/);
  assert.match(fitOf("len(xs) is 3, was 2", "static", []), /Stack the list/);
  assert.equal(fitOf("something new", "static", []), "");
});
