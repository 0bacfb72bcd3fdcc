// tests/web/result.test.mjs -- samples of another tool, as a curve and as a file.
import test from "node:test";
import assert from "node:assert/strict";
import { dashed, samplesCsv, spread } from "../../web/js/model/result.js";

test("a curve goes from the least sample to the most, whatever their order and number", () => {
  assert.deepEqual(spread([3, 1, 2]), [{ x: 0, y: 1 }, { x: 50, y: 2 }, { x: 100, y: 3 }]);
  assert.deepEqual(spread([7]), [{ x: 0, y: 7 }]);
  const many = spread(Array.from({ length: 20000 }, (_, i) => 20000 - i));
  assert.equal(many.length, 101);
  assert.deepEqual([many[0], many[50].x, many[100]], [{ x: 0, y: 1 }, 50, { x: 100, y: 20000 }]);
});

test("samples are saved a column a figure, in the order they were taken", () => {
  const measure = (unit, samples) => ({ measure: { unit, samples } });
  const report = { modes: { wall: measure("us", [2, 1]), "a,b": measure("", [3]), value: { measure: { unit: "x" } } } };
  assert.equal(samplesCsv(report), 'wall (us),"a,b"\r\n2,3\r\n1,\r\n');
});

test("an interval is written as everywhere on the page", () => {
  assert.equal(dashed("513 µs (507-519)"), "513 µs (507–519)");
  assert.equal(dashed("1,200 B (1,100-1,300)"), "1,200 B (1,100–1,300)");
  assert.equal(dashed("-3 x"), "-3 x");
});
