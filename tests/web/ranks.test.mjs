// tests/web/ranks.test.mjs -- what the map of ranks shows, and how a figure stands among the others.
import test from "node:test";
import assert from "node:assert/strict";
import { FIGURES, MIXES, mixOf, percent, queueShape, standing } from "../../web/js/model/ranks.js";

const rank = (more) => ({ total_us: 1000, computation_us: 500, communication_us: 100, overlap: 0.5, exposed_us: 50, idle_us: 200, host_wait_us: 0, kernel_wait_us: 0, other_wait_us: 0, wait_us: 0, last: 0, caused_us: 0, peak_bytes: null, offset_us: null, offset_error_us: null, mix: [], ...more });
const figure = (key) => FIGURES.find((f) => f.key === key);

test("a figure is worse or better than the middle rank's, where one way is better", () => {
  const all = [rank({}), rank({ idle_us: 400, overlap: 0.25, computation_us: 900 }), rank({}), rank({ idle_us: 100 })];
  assert.equal(standing(figure("idle"), all[0], all), 1);
  assert.equal(standing(figure("idle"), all[1], all), 0.5);
  assert.equal(standing(figure("idle"), all[3], all), 2);
  assert.equal(standing(figure("overlap"), all[1], all), 0.5);
  assert.equal(standing(figure("computing"), all[1], all), 1); // neither way is better
  assert.equal(standing(figure("idle"), all[1], [all[1]]), 1); // nothing to compare with
});

test("what is next to nothing is no factor of another, and what is not there has no colour", () => {
  const all = [rank({}), rank({ caused_us: 160 }), rank({ caused_us: 1e-3 })];
  assert.equal(standing(figure("caused"), all[1], all), 1 / 16);
  assert.equal(standing(figure("caused"), all[2], all), 1);
  assert.equal(standing(figure("memory"), all[0], all), 1);
  assert.equal(figure("memory").text(null, all[0]), "not recorded");
  assert.equal(figure("clock").text(null, all[0]), "not known");
  assert.equal(figure("clock").text(12, rank({ offset_error_us: 1 })), "+12 µs ±1 µs");
});

test("the parts of a bar are those of the report and fill it", () => {
  const r = rank({ mix: [
    { kinds: ["computation"], share: 0.4 }, { kinds: ["communication"], share: 0.1 }, { kinds: ["computation", "communication"], share: 0.05 },
    { kinds: ["memory"], share: 0.02 }, { kinds: ["computation", "memory"], share: 0.2 }, { kinds: ["computation", "communication", "memory"], share: 0.03 }] });
  const mix = mixOf(r);
  assert.equal(mix.length, MIXES.length);
  assert.deepEqual(mix.map((x) => Math.round(1000 * x)), [600, 80, 100, 20, 200]);
  assert.deepEqual(mixOf(rank({ total_us: 0 })), [0, 0, 0, 0, 0]);
});

test("a share has a tenth of a percent", () => {
  assert.deepEqual([0, 0.0001, 0.0005, 0.031, 0.978, 1, null].map(percent), ["0.0 %", "<0.1 %", "0.1 %", "3.1 %", "97.8 %", "100.0 %", "none"]);
});

test("a queue is a band from its least to its most", () => {
  assert.equal(queueShape([[0, 2], [1, 4]], 10, 8, 4), "0,4 10,0 10,6 0,8");
  assert.equal(queueShape([[-1, 0]], 10, 8, 0), "0,8 0,8");
});
