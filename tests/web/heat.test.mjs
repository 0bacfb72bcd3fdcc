// tests/web/heat.test.mjs -- which colour a ratio has on the map of workloads.
import test from "node:test";
import assert from "node:assert/strict";
import { heatLevel } from "../../web/js/model/heat.js";

test("as far from 1x on both sides is as strong, and what is within 2 % has no colour", () => {
  assert.deepEqual([1, 1.01, 0.99, NaN, 0].map(heatLevel), [0, 0, 0, 0, 0]);
  assert.deepEqual([1.05, 2, 4, 100].map(heatLevel), [1, 3, 5, 5]);
  for (const x of [1.05, 1.7, 2, 3.3, 4, 100]) assert.equal(heatLevel(1 / x), -heatLevel(x));
});
