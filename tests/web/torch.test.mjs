// tests/web/torch.test.mjs -- PyTorch's part of a report: points, curves, the sentence on values.
import test from "node:test";
import assert from "node:assert/strict";
import { torchAt, torchOf, torchOverlay, torchPoints, valuesSentence } from "../../web/js/model/torch.js";

const values = { agree: true, elements: 10, outside: 0, left_out: 0, max_abs_error: 1e-7, max_rel_error: 1e-8, stdout_same: true, first: null };
const mode = (median_us, more = {}) => ({ latency: { median_us, ci_us: [median_us * 0.9, median_us * 1.1] }, values, ...more });
const point = (n, eager, fast, more) => ({
  n,
  modes: { eager: mode(eager), static: mode(fast, more) },
  break_even: { static: { speedup: eager / fast, speedup_ci: [1, 3] } },
});
const engine = (points) => ({ error: null, version: "2.11.0", seconds: 1, modes: {}, points, break_even: {}, log: null, log_error: null });

test("its curves are laid over ours as another's, under their own names", () => {
  const overlay = torchOverlay(engine([point(1, 10, 20), point(3, 30, 15)]));
  assert.deepEqual(overlay.latency.map((s) => [s.label, s.imported, s.dots.map((d) => d.y)]), [
    ["eager, torch", true, [10, 30]],
    ["static, torch", true, [20, 15]],
  ]);
  assert.deepEqual(overlay.speedup.map((s) => [s.key, s.mode]), [["static-torch", "static"]]);
  assert.equal(overlay.crossings[0].x, 2);
  assert.equal(overlay.here, true);
});

test("without a sweep there is one point and no curve", () => {
  const t = { ...engine([]), modes: { eager: mode(5) } };
  assert.equal(torchOverlay(t), null);
  assert.equal(torchOverlay(null), null);
  assert.deepEqual(Object.keys(torchAt(t, undefined).modes), ["eager"]);
  assert.equal(torchPoints(t).length, 1);
  assert.equal(torchAt(engine([point(1, 1, 1)]), 2), null);
  assert.equal(torchOf({ modes: {} }), null);
});

test("the sentence says whether values agree, and where they part first", () => {
  assert.equal(valuesSentence(engine([point(1, 1, 1)])), "Its values agree with Breakeven's within 1.0e-7, over 20 numbers.");
  const equal = engine([point(1, 1, 1)]);
  for (const m of Object.values(equal.points[0].modes)) m.values = { ...values, max_abs_error: 0 };
  assert.match(valuesSentence(equal), /^Its values equal Breakeven's, over \d+ numbers\.$/);
  const apart = { values: { ...values, agree: false, first: "calls[0].output: 1, torch has 2", stdout_same: false }, draws: true };
  assert.equal(
    valuesSentence(engine([point(1, 1, 1, apart)])),
    "Values differ in 1 of 2: static at n = 1, calls[0].output: 1, torch has 2. The program draws random numbers, of which each engine has its own. What it prints differs.",
  );
  assert.equal(valuesSentence(engine([])), "Its values could not be compared with Breakeven's.");
});
