// tests/web/sentence.test.mjs -- sentences in parts, as the server says them.
import test from "node:test";
import assert from "node:assert/strict";
import { asText, chipClass, intervalOf, meetsEager, unbroken } from "../../web/js/model/sentence.js";
import { headline } from "../../web/js/model/modes.js";

test("a view opens with static, else with the first compiled mode", () => {
  assert.equal(headline(["eager", "dynamic", "static"]), "static");
  assert.equal(headline(["dynamic", "eager"]), "dynamic");
  assert.equal(headline(["eager"]), null);
});

test("a curve that does not cross eager's is ahead of it everywhere, or nowhere", () => {
  const of = (verdict, crossover_n = null, at_n = 30) => meetsEager({ mode: "static", verdict, speedup: 2, crossover_n, at_n });
  assert.deepEqual([of("FASTER"), of("SLOWER"), of("SAME"), of("AMBIGUOUS")], ["always ahead", "never ahead", "no crossing", "no crossing"]);
  assert.deepEqual([of("FASTER", 4.56), of("FASTER", null, null), meetsEager({ speedup: null })], ["n = 4.56", "no sweep", "none"]);
});

test("the parts of a sentence are its text", () => {
  assert.equal(asText([{ text: "static is 3.55x", as: "claim" }, { text: " (3.54–3.55)", as: "interval" }, { text: "." }]), "static is 3.55x (3.54–3.55).");
});

test("an equation and a figure with its unit stay on one line", () => {
  assert.equal(unbroken("at n = 1,024 it takes 44.8 ms of it, 2 B").replaceAll("\u00a0", "_"), "at n_=_1,024 it takes 44.8_ms of it, 2_B");
  assert.equal(unbroken("30 million, 5 more"), "30 million, 5 more");
});

test("an interval has its ends, or is not there", () => {
  assert.equal(intervalOf({ text: "3.55x", low: "3.54", high: "3.55" }), "(3.54–3.55)");
  assert.equal(intervalOf({ text: "1", low: "-5", high: "7" }), "(-5 to 7)");
  assert.equal(intervalOf({ text: "5.00", low: null, high: null }), "");
  assert.equal(intervalOf(null), "");
});

test("chip classes hold nothing but letters", () => {
  assert.equal(chipClass("NOT ENOUGH"), "notenough");
  assert.equal(chipClass('"><img'), "img");
});
