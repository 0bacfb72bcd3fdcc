// tests/web/ranks.test.mjs -- what the map of ranks shows, and how a figure stands among the others.
import test from "node:test";
import assert from "node:assert/strict";
import { FIGURES, MIXES, percent, queueShape, standing } from "../../web/js/model/ranks.js";

const rank = ({ idle = 0.2, ...more }) => ({ total_us: 1000, shares: { busy: 1 - idle, computation: 0.5, communication: 0.1, memory: 0, exposed: 0.05, idle, computation_alone: 0.45, both: 0.05, memory_alone: 0 }, overlap: 0.5, host_wait_us: 0, kernel_wait_us: 0, other_wait_us: 0, wait_us: 0, last: 0, caused_us: 0, peak_bytes: null, offset_us: null, offset_error_us: null, ...more });
const figure = (key) => FIGURES.find((f) => f.key === key);

test("a figure is worse or better than the middle rank's, where one way is better", () => {
  const all = [rank({}), rank({ idle: 0.4, overlap: 0.25 }), rank({}), rank({ idle: 0.1 })];
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

test("the parts of a bar are those of the report", () => {
  assert.deepEqual(MIXES.map((m) => m.of(rank({}))), [0.45, 0.05, 0.05, 0, 0.2]);
});

test("a share has a tenth of a percent", () => {
  assert.deepEqual([0, 0.0001, 0.0005, 0.031, 0.978, 1, null].map(percent), ["0.0 %", "<0.1 %", "0.1 %", "3.1 %", "97.8 %", "100.0 %", "none"]);
});

test("a queue is a band from its least to its most", () => {
  assert.equal(queueShape([[0, 2], [1, 4]], 10, 8, 4), "0,4 10,0 10,6 0,8");
  assert.equal(queueShape([[-1, 0]], 10, 8, 0), "0,8 0,8");
});
