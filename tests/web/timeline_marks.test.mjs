// tests/web/timeline_marks.test.mjs -- times that are marked, as the address has them.
import test from "node:test";
import assert from "node:assert/strict";
import { dropMark, markName, marksOf, marksText, moveMark, nameMark, setMark } from "../../web/js/model/timeline_marks.js";

test("marks are set, named, moved past each other and removed; the address has them", () => {
  let marks = setMark(setMark([], 500.4, 1000), 100, 1000);
  assert.deepEqual(marks, [{ t: 100, name: "" }, { t: 500, name: "" }]);
  assert.equal(setMark(marks, 500, 1000), marks);
  marks = nameMark(marks, 1, "  first~kernel. of\tall ");
  assert.equal(markName(marks, 0), "mark 1");
  assert.equal(markName(marks, 1), "first kernel of all");
  marks = moveMark(marks, 0, 9999, 1000);
  assert.deepEqual(marks.map((m) => m.t), [500, 1000]);
  assert.deepEqual(marksOf(marksText(marks), 1000), marks);
  assert.deepEqual(dropMark(marks, 0), [{ t: 1000, name: "" }]);
});

test("whatever the address has, marks lie within the run, and there are not too many", () => {
  assert.deepEqual(marksOf("", 10), []);
  assert.deepEqual(marksOf("x~a.-1~b.11~c.1e3.5.~.7~ok", 10), [{ t: 5, name: "" }, { t: 7, name: "ok" }]);
  assert.equal(marksOf(Array.from({ length: 99 }, (_, i) => i).join("."), 1000).length, 40);
  assert.equal(marksOf(`3~${"n".repeat(500)}`, 10)[0].name.length, 40);
  const full = marksOf(Array.from({ length: 40 }, (_, i) => i).join("."), 1000);
  assert.equal(setMark(full, 900, 1000), full);
});
