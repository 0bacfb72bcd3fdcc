// tests/web/guards.test.mjs -- versions of frames, and the guards that made them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameTrees, recompileCount } from "../../web/js/model/guards.js";

const entry = (compile, more = {}) => ({ compile, call: 0, compile_ms: 10, uses: 1, reason: null, guards: ["x is a Tensor", "x.size(0) == 64"], ...more });
const report = { tree: [{ frame: "model", line: 3, entries: [entry("0/0", { uses: 2 }), entry("0/1", { call: 1, reason: "x.size(0) is 32, was 64" })] }, { frame: "loop", line: 9, skipped: true, entries: [] }] };
const version = (failed) => ({ causes: [], fits: [], compile: "10 ms", used: "2 calls", failed });
const said = { frames: [{ facts: "2 versions", versions: [version([{ guard: 1, call: 1, by: "0/1" }]), version([])] }, { facts: "runs in eager", versions: [] }] };

test("a guard that failed says when, and what was compiled for it", () => {
  const [frame, loop] = frameTrees(report, said);
  assert.deepEqual(frame.versions.map((v) => v.guards.map((g) => g.failed.map((f) => f.by))), [[[], ["0/1"]], [[], []]]);
  assert.deepEqual(frame.versions.map((v) => v.few), [false, true]);
  assert.deepEqual([loop.versions, loop.facts, loop.notice], [[], "runs in eager", ""]);
});

test("advice that an older entry of the frame has is not said again", () => {
  const advised = (...fits) => ({ ...version([]), fits });
  const tree = [{ frame: "model", entries: ["0/0", "0/1", "0/2", "0/3"].map((id) => entry(id)) }];
  const [frame] = frameTrees({ tree }, { frames: [{ facts: "", versions: [advised(), advised("pad"), advised("pad", "cast"), advised("cast")] }] });
  assert.deepEqual(frame.versions.map((v) => v.fits), [[], ["pad"], ["cast"], []]);
});

test("versions that older ones should have served are counted", () => {
  assert.equal(recompileCount(report), 1);
  assert.deepEqual([recompileCount({}), frameTrees({}, undefined)], [0, []]);
});
