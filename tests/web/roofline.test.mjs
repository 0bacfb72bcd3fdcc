// tests/web/roofline.test.mjs -- kernels under the roof that memory is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { roofline } from "../../web/js/model/roofline.js";

const kernel = (name, intensity, rate, more) => ({ name, graph: 0, form: "map", intensity, rate, median: 1, share: null, ...more });

test("a kernel as fast as a copy lies on the line, a slower one below it", () => {
  const r = roofline([kernel("at", 0.5, 50), kernel("below", 0.5, 5), kernel("right", 5, 500)], 100, 200, 300);
  assert.deepEqual(r.x.map((t) => t.value), [0.1, 1, 10]);
  assert.deepEqual(r.y.map((t) => t.value), [1, 10, 100, 1000]);
  const [at, below, right] = r.points;
  const line = (x) => r.roof.y1 + ((x - r.roof.x1) / (r.roof.x2 - r.roof.x1)) * (r.roof.y2 - r.roof.y1);
  assert.ok(Math.abs(line(at.x) - at.y) < 1e-9 && Math.abs(line(right.x) - right.y) < 1e-9);
  assert.equal(Math.round(below.y - at.y), 100); // a decade further down
  assert.equal(Math.round(right.x - at.x), 100);
});

test("names of kernels that lie close stand below each other, at the edge to the left", () => {
  const r = roofline([kernel("a", 1, 10), kernel("b", 1, 10), kernel("c", 100, 10)], null, 400, 300);
  const [a, b, c] = r.points.map((p) => p.label);
  assert.equal(Math.abs(b.y - a.y), 13);
  assert.ok(Math.max(a.y, b.y) < 300);
  assert.equal(a.anchor, "start");
  assert.equal(c.anchor, "end");
  assert.equal(r.roof, null);
});

test("of many kernels that lie close no name covers another, a point or the roof's", () => {
  const rows = Array.from({ length: 12 }, (_, i) => kernel(`fused_name_${i}`, 0.5 + i / 40, 8 + (i % 3), { median: i }));
  const { points } = roofline(rows, 100, 560, 260);
  const named = points.filter((p) => p.label);
  assert.ok(named.length >= 6, `${named.length} names`);
  const boxes = named.map(({ label: { x, y, anchor }, kernel: k }) => ({ x: anchor === "start" ? x : x - 6.8 * k.name.length, wide: 6.8 * k.name.length, y }));
  const apart = (a, b) => a.x >= b.x + b.wide || b.x >= a.x + a.wide || Math.abs(a.y - b.y) >= 12;
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert.ok(apart(a, b), JSON.stringify([a, b]))));
  for (const p of points) for (const b of boxes) assert.ok(p.x <= b.x || p.x >= b.x + b.wide || p.y <= b.y - 10 || p.y >= b.y + 3, JSON.stringify([p.x, p.y, b]));
});

test("no name is over the roof, and no line to a name is over another name", () => {
  const rows = Array.from({ length: 8 }, (_, i) => kernel(`fused_matmul_${i}`, 14 + i, 110 + 12 * i, { median: 9 - i }));
  const { points, roof } = roofline(rows, 100, 440, 280);
  const named = points.filter((p) => p.label).map((p) => ({ p, x: p.label.anchor === "start" ? p.label.x : p.label.x - 6.8 * p.kernel.name.length, w: 6.8 * p.kernel.name.length, y: p.label.y }));
  assert.ok(named.length >= 4);
  const inside = (n, x, y) => x > n.x + 1 && x < n.x + n.w - 1 && y > n.y - 9 && y < n.y + 2;
  for (const n of named) {
    for (let t = 0; t <= 1; t += 0.01) assert.ok(!inside(n, roof.x1 + (roof.x2 - roof.x1) * t, roof.y1 + (roof.y2 - roof.y1) * t), `${n.p.kernel.name} and the roof`);
    for (const { p } of named) for (let t = 0; p.label && Math.abs(p.label.y - p.y) > 8 && t <= 1; t += 0.02) assert.ok(p === n.p || !inside(n, p.x + (p.label.x - p.x) * t, p.y + (p.label.y - 4 - p.y) * t), `the line to ${p.kernel.name} and ${n.p.kernel.name}`);
  }
});

test("what computes nothing has no place, and there may be none at all", () => {
  const rows = [kernel("copy", 0, 0), kernel("unseen", 1, null), kernel("gemm", 10, 100, { form: "library" })];
  assert.deepEqual(roofline(rows, 10, 100, 100).points.map((p) => [p.kernel.name, p.library]), [["gemm", true]]);
  assert.equal(roofline(rows.slice(0, 2), 10, 100, 100), null);
});
