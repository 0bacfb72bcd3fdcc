// tests/web/lanes.test.mjs -- lanes of a timeline as a reader arranges them.
import test from "node:test";
import assert from "node:assert/strict";
import { AS_THEY_CAME, inOrder, keep, kept, layLanes, moveLane, neighbour, turn, widen } from "../../web/js/model/lanes.js";

const lane = (id, pid, role = "host", more = {}) => ({ id, name: `lane ${id}`, pid, role, ...more });
const two = [lane(0, 7), lane(1, 7, "kernels", { device: 0, stream: 3 }), lane(2, 8), lane(3, 8, "kernels", { device: 1, stream: 3 })];
const ids = (lanes) => lanes.map((l) => l.id);
const lay = (how, filter = "", levels = new Map()) => layLanes(two, levels, how, filter, 60);

test("lanes of a process stand below its name, those of a device after those of the host", () => {
  const { rows, fixed, height } = lay(AS_THEY_CAME);
  assert.deepEqual(rows.map((r) => [r.id, r.process]), [[0, "Process 7"], [1, ""], [2, "Process 8"], [3, ""]]);
  for (const [i, r] of rows.slice(1).entries()) assert.ok(r.y >= rows[i].y + rows[i].height);
  assert.equal(fixed, 60);
  assert.ok(height >= rows[3].y + rows[3].height);
});

test("lanes of a rank stand below its number", () => {
  const ranks = two.map((l) => ({ ...l, rank: l.pid, process: "" }));
  assert.deepEqual(layLanes(ranks, new Map(), AS_THEY_CAME, "", 60).rows.map((r) => r.process), ["Rank 7", "", "Rank 8", ""]);
  assert.deepEqual(layLanes(ranks, new Map(), AS_THEY_CAME, "rank 8", 60).rows.map((r) => r.id), [2, 3]);
});

test("what is pinned comes first and says its process; folded and closed take less room", () => {
  const pinned = lay(turn(AS_THEY_CAME, "pinned", 3));
  assert.deepEqual(pinned.rows.map((r) => r.id), [3, 0, 1, 2]);
  assert.match(pinned.rows[0].label, /\(8\)$/);
  assert.equal(pinned.fixed, pinned.rows[0].y + pinned.rows[0].height + 4);
  const folded = lay(turn(AS_THEY_CAME, "folded", 0), "", new Map([[0, 6]]));
  assert.ok(folded.rows[0].height < 20 && folded.rows[0].deep === 1);
  const closed = lay(turn(AS_THEY_CAME, "closed", 7));
  assert.deepEqual(closed.rows.map((r) => [r.id, r.closed]), [[-1, true], [2, false], [3, false]]);
  assert.ok(closed.height < lay(AS_THEY_CAME).height);
  assert.deepEqual(turn(turn(AS_THEY_CAME, "closed", 7), "closed", 7), AS_THEY_CAME);
});

test("a filter leaves the lanes whose name or process has it, and what is pinned", () => {
  assert.deepEqual(lay(AS_THEY_CAME, "process 8").rows.map((r) => r.id), [2, 3]);
  assert.deepEqual(lay(turn(AS_THEY_CAME, "pinned", 0), "LANE 3").rows.map((r) => r.id), [0, 3]);
  assert.deepEqual(lay(AS_THEY_CAME, "nothing").rows, []);
});

test("a lane is moved within its process; a process follows its lanes", () => {
  const moved = moveLane(two, AS_THEY_CAME, 1, 0);
  assert.deepEqual(ids(inOrder(two, moved)), [1, 0, 2, 3]);
  assert.deepEqual(ids(inOrder(two, moveLane(two, moved, 1, 0))), [0, 1, 2, 3]);
  assert.deepEqual(ids(inOrder(two, moveLane(two, AS_THEY_CAME, 3, 0))), [3, 2, 0, 1]);
  assert.equal(moveLane(two, AS_THEY_CAME, 9, 0), AS_THEY_CAME);
  assert.equal(neighbour(two, AS_THEY_CAME, 0, 1), 1);
  assert.equal(neighbour(two, AS_THEY_CAME, 1, 1), null);
  // lanes that a later answer has beside those that were moved
  assert.deepEqual(ids(inOrder([...two, lane(4, 7)], moved)), [1, 0, 4, 2, 3]);
});

test("what was arranged is kept for a run, for so many runs, and read whatever is stored", () => {
  const how = widen(turn(AS_THEY_CAME, "folded", 2), 200);
  const text = keep(null, "1 static", how);
  assert.deepEqual(kept(text, "1 static"), how);
  assert.equal(kept(text, "2 static"), AS_THEY_CAME);
  for (const bad of [null, "", "{", "3", "[]", '{"1 static": 5}', '{"1 static": {"order": "x", "left": -4, "folded": [1.5, -2, "a"]}}']) assert.deepEqual(kept(bad, "1 static"), AS_THEY_CAME);
  let all = text;
  for (let i = 2; i < 70; i++) all = keep(all, `${i} static`, how);
  assert.equal(Object.keys(JSON.parse(all)).length, 50);
  assert.equal(kept(all, "1 static"), AS_THEY_CAME);
  assert.equal(Object.keys(JSON.parse(keep(all, "69 static", AS_THEY_CAME))).length, 49);
  assert.equal(widen(how, 5).left, 48);
  assert.equal(widen(how, 5000).left, 420);
});
