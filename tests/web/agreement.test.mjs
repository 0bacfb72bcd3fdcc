// tests/web/agreement.test.mjs -- what a page says of modes whose values are not eager's.
import test from "node:test";
import assert from "node:assert/strict";
import { agreeText, byMode, claim, disagreeing, torchDisagreeing, valuesOf } from "../../web/js/model/agreement.js";
import { asText, how, sentence } from "../../web/js/model/verdict.js";

const where = { call: 0, when: "in order", what: "output", index: [3], why: null, ours: 0.273, eager: 0.287, reference: 0.2871234567891, allowed: 1e-6 };
const wrong = { agrees: false, disagreement: "output of calls[0] is 0.273", max_abs_error: 0.014, agreement: { verdict: "disagrees", judge: "float64", over_allowed: 14000.4, where } };
const mode = (us, more = {}) => ({ latency: { median_us: us, ci_us: [us, us], n: 30 }, ...more });
const none = { verdict: "DISAGREES", speedup: null, speedup_ci: null, calls_to_repay: null };
const report = {
  modes: {},
  points: [1, 5].map((n) => ({ n, modes: { eager: mode(2), static: mode(1, wrong), auto: mode(1, { agrees: true, agreement: { verdict: "exact", judge: "bits" } }) }, break_even: { static: none } })),
  break_even: { static: { side: "disagrees", crossover_n: null } },
};

test("a mode that is wrong is reported once, with its other points and the values that part", () => {
  const all = disagreeing(report);
  assert.deepEqual(all.map((w) => [w.mode, w.n]), [["static", 1], ["static", 5]]);
  assert.deepEqual(byMode(all).map(({ first, also }) => [first.n, also]), [[1, " Also at n = 5."]]);
  assert.equal(asText(claim(all)), "static DISAGREES with eager: its values are wrong, so how quick it is is not compared.");
  assert.deepEqual(valuesOf(wrong), [["This mode", "0.273"], ["Eager", "0.287"], ["float64", "0.287123457"], ["Beyond what is allowed", "14,000 times"]]);
  assert.deepEqual(valuesOf({ agreement: { where: { ...where, ours: undefined } } }), [], "structures that differ have no values");
  assert.deepEqual(disagreeing({ modes: { eager: mode(1), static: mode(1, { agrees: true }) } }), []);
});

test("its verdict claims no speed", () => {
  const said = asText(sentence(report, report.points[1], "static"));
  assert.equal(said, "static disagrees with eager at n = 5: it is neither faster nor slower, for what it computes is something else.");
  assert.match(how(report.points[1]), /static: other values than eager's\./);
});

test("what the dtype allows is said, and by whom", () => {
  const near = (judge) => ({ agreement: { verdict: "within_dtype", judge } });
  assert.equal(agreeText({ static: near("float64") }), " static: within what the dtype allows, as float64 judges.");
  assert.equal(agreeText({ static: near("bound"), auto: near("float64") }), " static, auto: within what the dtype allows.");
  assert.equal(agreeText({ static: { agreement: { verdict: "exact", judge: "bits" } } }), " Every mode gives eager's bits.");
  assert.equal(agreeText({ static: {} }), "");
});

test("PyTorch's modes too", () => {
  const t = { points: [], modes: { eager: { values: { agree: true } }, static: { values: { agree: false, first: "there" } }, graphs: { error: "no" } } };
  assert.deepEqual(torchDisagreeing({ engines: { torch: t } }), [{ mode: "static", n: null, text: "there" }]);
  assert.deepEqual(torchDisagreeing({}), []);
});
