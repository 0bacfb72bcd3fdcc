// tests/web/layout.test.mjs -- what the page asks the server to lay out, what it reads of the answer, and labels.
import test from "node:test";
import assert from "node:assert/strict";
import { labelPlaces, laidOut, layoutBody } from "../../web/js/model/layout.js";

const box = (id, group = null) => ({ id, w: 100, h: 40, group });
const shown = {
  boxes: [box("x"), box("a", "inner"), box("b", "outer"), box("c", "alone")],
  edges: [["x", "a"], ["a", "b"]],
  parents: { inner: "outer", outer: null, alone: null, closed: null },
};

test("boxes, groups and edges are asked for by number, each group after the one that it is in", () => {
  const { boxes, groups, edges, band_height } = layoutBody(shown, (id) => (id === "outer" ? "a title of many letters, many more than would fit" : ""), 300);
  assert.deepEqual(boxes, [[100, 40, -1], [100, 40, 1], [100, 40, 0], [100, 40, 2]]);
  assert.deepEqual(groups.map(([parent]) => parent), [-1, 0, -1]);
  assert.deepEqual(groups.map(([, w]) => w), [240, 24, 24]);
  assert.deepEqual(edges, [[0, 1], [1, 2]]);
  assert.equal(band_height, 300);
});

test("what is answered has the names again", () => {
  const rect = (i) => [i, 2 * i, 3, 4];
  const laid = laidOut(shown, { width: 7, height: 8, boxes: [0, 1, 2, 3].map(rect), groups: [4, 5, 6].map(rect), edges: ["M0 0", "M1 1"] });
  assert.deepEqual(laid.boxes.c, { x: 3, y: 6, w: 3, h: 4 });
  assert.deepEqual(Object.keys(laid.groups), ["outer", "inner", "alone"]);
  assert.deepEqual(laid.groups.inner, { x: 5, y: 10, w: 3, h: 4 });
  assert.equal(laid.paths["a\nb"], "M1 1");
  assert.deepEqual([laid.width, laid.height], [7, 8]);
});

test("labels lie on their edges, over no box and not over each other; one without room is left out", () => {
  const boxes = { a: { x: 0, y: 0, w: 100, h: 40 }, b: { x: 0, y: 80, w: 100, h: 40 } };
  const down = "M50 40C50 60 50 60 50 80";
  const paths = { "a\nb": down, "b\na": down, "a\nc": "M50 40V60H300C300 100 300 100 300 200" };
  const places = labelPlaces({ boxes, groups: {}, paths, width: 300, height: 200 }, [["a\nb", "16 kB"], ["b\na", "16 kB"], ["a\nc", "256 B"], ["c\nd", "no such edge"]]);
  assert.deepEqual(places.get("a\nb"), [50, 60]);
  assert.equal(places.get("b\na"), undefined);
  const [x, y] = places.get("a\nc");
  assert.ok(x === 300 && y > 60 && y < 200);
  assert.equal(places.size, 2);
});
