// tests/web/verdict.test.mjs -- the sentence never claims more than the interval.
import test from "node:test";
import assert from "node:assert/strict";
import { asText, chipClass, headline, how, sentence, verdictOf, warnings } from "../../web/js/model/verdict.js";
import { reportOf } from "./report_of.mjs";

const last = (r) => r.points[r.points.length - 1];
const say = (r) => asText(sentence(r, last(r), "static"));

test("a verdict needs its whole interval beyond 2 %", () => {
  assert.equal(verdictOf([1.021, 1.5]), "FASTER");
  assert.equal(verdictOf([1.019, 1.5]), "AMBIGUOUS");
  assert.equal(verdictOf([0.5, 0.97]), "SLOWER");
  assert.equal(verdictOf([0.99, 1.01]), "SAME");
  assert.equal(verdictOf([2, 3], 5), "NOT ENOUGH");
  assert.equal(verdictOf(null), "NOT ENOUGH");
});

test("faster, with its interval, its price and its side", () => {
  assert.equal(
    say(reportOf([5, 30], 5)),
    "static is 6.2x (6.1–6.3) faster than eager at n = 30 and pays for its 50 ms after 4,320 calls. It is ahead at every n measured.",
  );
});

test("below the crossover the reader is sent to eager", () => {
  const r = reportOf([1, 30], 5, {
    break_even: { static: { crossover_n: 3.17, crossover_ci: [2.9, 3.5], side: "above" } },
  });
  assert.match(say(r), /Below n = 3\.2 \(2\.9–3\.5\) stay with eager\.$/);
});

test("a crossover the other way round says above", () => {
  const r = reportOf([1, 30], 5, {
    break_even: { static: { crossover_n: 40, crossover_ci: [38, 42], side: "below" } },
  });
  assert.match(say(r), /Above n = 40 \(38–42\) stay with eager\.$/);
});

test("slower says how much longer it takes, as a ratio above 1", () => {
  assert.equal(
    say(reportOf([1, 4], 10)),
    "static takes 2.00x (1.96–2.04) as long as eager at n = 4. Its 50 ms of compiling are never repaid. Stay with eager at every n measured.",
  );
});

test("an ambiguous ratio gets no verdict", () => {
  const r = reportOf([4], 5);
  last(r).break_even.static = { speedup: 1.06, speedup_ci: [0.95, 1.12], verdict: "AMBIGUOUS" };
  assert.match(
    say(r),
    /^static may lie anywhere from 0\.9\d?x to 1\.1\d?x of eager's speed at n = 4; the interval holds 1x, so no verdict is given\.$/,
  );
});

test("without a sweep no n is named", () => {
  const r = reportOf([30], 5);
  last(r).n = null;
  assert.doesNotMatch(say(r), / at n/);
});

test("without eager nothing is compared", () => {
  const r = reportOf([30], 5);
  delete last(r).modes.eager;
  delete last(r).break_even;
  assert.match(
    say(r),
    /^static takes 5\.00? us \(.*\) a call at n = 30\. Eager was not measured, so nothing is compared\.$/,
  );
});

test("a run without timing says so", () => {
  const r = reportOf([30], 5);
  for (const m of Object.values(last(r).modes)) delete m.latency;
  assert.match(say(r), /^Nothing was timed/);
});

test("the page speaks of static, else of the first compiled mode", () => {
  assert.equal(headline(["eager", "dynamic", "static"]), "static");
  assert.equal(headline(["dynamic", "eager"]), "dynamic");
  assert.equal(headline(["eager"]), null);
});

test("how it was measured names rounds and agreement", () => {
  const r = reportOf([30], 5);
  assert.equal(
    how(last(r)),
    "Median of 20 rounds, modes in turn in each; 95 % intervals. Every mode gives eager's bits.",
  );
  last(r).modes.static.max_abs_error = 4.8e-7;
  assert.match(how(last(r)), /within 4\.8e-7\.$/);
  last(r).modes.static.max_abs_error = "nan";
  assert.match(how(last(r)), /NaN/);
});

test("the profiler's note on noise becomes a warning with its place", () => {
  const r = reportOf([5, 30], 5);
  last(r).modes.static.latency.noise = "The middle half is wide.";
  assert.deepEqual(warnings(r), [{ title: "static at n\u00a0=\u00a030.", text: "The middle half is wide." }]);
  for (const p of r.points) for (const mode of ["eager", "static"]) p.modes[mode].latency.noise = "Few samples.";
  r.points[0].modes.eager.latency.noise = "";
  const places = warnings(r).map((w) => w.title.replaceAll("\u00a0", " "));
  assert.deepEqual(places, ["static at n = 5, 30.", "eager at n = 30."]);
  const alone = { modes: { eager: last(r).modes.eager, static: last(r).modes.static } };
  assert.deepEqual(warnings(alone), [{ title: "eager, static.", text: "Few samples." }]);
});

test("chip classes hold nothing but letters", () => {
  assert.equal(chipClass("NOT ENOUGH"), "notenough");
  assert.equal(chipClass('"><img'), "img");
});
