// tests/web/timeline.test.mjs -- windows of timelines: decoding, totals, search.
import test from "node:test";
import assert from "node:assert/strict";
import { AS_THEY_CAME, inOrder, processOf } from "../../web/js/model/lanes.js";
import { levelOf, levelsOf } from "../../web/js/model/levels.js";
import { byKind, causeOf, decodeTimeline, drawnIn, idleRows, isSame, keepInside, lanesIn, lanesOfView, onDevice, opensText, ordered, partner, sayClocks, sliceAt, sliceOf, tickStep, foundText, together } from "../../web/js/model/timeline.js";

const slice = (start, duration, kind = "kernel", more = {}) => ({
  start, duration, kind, as: kind, bytes: 0, lane: 0, name: 1, shape: 0, correlation: 0, events: 1, ...more,
});

/** An answer as timeline_view_columns() writes it. */
function answer(head, columns) {
  let text = JSON.stringify(head);
  while (text.length % 8) text += " ";
  const parts = columns.map(([type, values]) => (type === "f64" ? new Float64Array(values) : new Uint32Array(values)));
  const size = parts.reduce((n, p) => n + Math.ceil(p.byteLength / 8) * 8, 8 + text.length);
  const bytes = new Uint8Array(size);
  bytes.set(new TextEncoder().encode("BETV"));
  new DataView(bytes.buffer).setUint32(4, text.length, true);
  bytes.set(new TextEncoder().encode(text), 8);
  let at = 8 + text.length;
  for (const p of parts) {
    bytes.set(new Uint8Array(p.buffer), at);
    at += Math.ceil(p.byteLength / 8) * 8;
  }
  return bytes.buffer;
}

test("what is not all says what it opened on", () => {
  const opens = (of, t0, t1) => opensText({ opens: { of, t0, t1, percent: 95 }, span: 19e9 });
  assert.equal(opens("device", 18e9, 18e9 + 260e3), "opened on the 260 µs that hold 95 % of what devices ran");
  assert.equal(opens("host", 0, 20e6), "opened on the 20 ms that hold 95 % of what the host did");
  assert.equal(opens("call", 4e6, 5e6), "opened on the last call");
  assert.equal(opens("call", 0, 19e9), "");
  assert.equal(opens("whole", 0, 19e9), "");
});

test("of a job, a rank's compile log stands under it, and what says no rank under its process", () => {
  const lanes = [{ id: 0, name: "kernels", rank: 0 }, { id: 1, name: "kernels", rank: 1 }, { id: 2, name: "compiling, process 70", pid: 70, rank: 1 }, { id: 3, name: "compiling, process 80", pid: 80 }];
  const head = { span_ns: 1, t0_ns: 0, t1_ns: 1, events: 0, sampled: false, rows: 0, lanes, names: {}, shapes: {}, totals: [], kinds: [], facts: null, columns: [], opens: { of: "whole", t0_ns: 0, t1_ns: 1, percent: 0 } };
  assert.deepEqual(decodeTimeline(answer(head, [])).lanes.map((l) => l.pid), [0, 1, 1, 80]);
  assert.deepEqual(decodeTimeline(answer({ ...head, lanes: [lanes[3]] }, [])).lanes.map((l) => l.pid), [80]);
  // Below what ran, whichever file came first.
  const first = [{ id: 0, name: "compiling, process 70", pid: 70, rank: 1 }, { id: 1, name: "main", rank: 1 }, { id: 2, name: "main", rank: 2 }];
  assert.deepEqual(inOrder(decodeTimeline(answer({ ...head, lanes: first }, [])).lanes, AS_THEY_CAME).map((l) => l.id), [1, 0, 2]);
});

test("a compile log beside one trace, neither of a rank, is of the same program", () => {
  const lanes = [{ id: 0, name: "thread 9 of 42", process: "42" }, { id: 1, name: "GPU 0, stream 7" }, { id: 2, name: "compiling, process 77", pid: 77 }];
  assert.deepEqual(together(lanes).map((l) => [l.name, l.pid]), [["thread 9 of 42", undefined], ["GPU 0, stream 7", undefined], ["compiling", undefined]]);
  const two = [...lanes, { id: 3, name: "compiling, process 78", pid: 78 }];
  assert.deepEqual(together(two), two);
  const own = lanes.map((l) => ({ ...l, pid: 77 }));
  assert.deepEqual(together(own), own);
});

test("a rank whose clock is apart says by how much its lanes are", () => {
  const view = sayClocks({ lanes: [{ id: 0, rank: 0, pid: 0 }, { id: 1, rank: 1, pid: 1 }, { id: 2, rank: 2, pid: 2 }, { id: 3, pid: 7, process: "" }] }, [{ rank: 0, offset_us: 0 }, { rank: 1, offset_us: 10.9 }, { rank: 2, offset_us: -1341.4 }]);
  assert.deepEqual(view.lanes.map(processOf), ["Rank 0", "Rank 1, its times 10.9 µs too late", "Rank 2, its times 1,340 µs too early", "Process 7"]);
  const lanes = () => [{ id: 0, rank: 0, pid: 0, ahead_ns: 0, ahead_error_ns: 0 }, { id: 1, rank: 1, pid: 1, ahead_ns: -10900, ahead_error_ns: 1200 }, { id: 2, rank: 2, pid: 2 }];
  const said = (clocks) => sayClocks({ clocks, lanes: lanes() }, [{ rank: 0, offset_us: 0 }, { rank: 1, offset_us: -10.9 }, { rank: 2, offset_us: null }]).lanes.map(processOf);
  assert.deepEqual(said("aligned"), ["Rank 0", "Rank 1, its clock 10.9 µs slow (±1.20 µs), put right", "Rank 2, its clock not known"]);
  assert.deepEqual(said("recorded"), ["Rank 0", "Rank 1, its times 10.9 µs too early", "Rank 2, its clock not known"]);
});

test("an answer's columns become slices, in order", () => {
  const names = ["start_ns", "duration_ns", "bytes", "lane", "kind", "name", "shape", "correlation", "events"];
  const types = ["f64", "f64", "f64", "u32", "u32", "u32", "u32", "u32", "u32"];
  const head = {
    span_ns: 100, t0_ns: 0, t1_ns: 100, events: 3, sampled: false, rows: 3, lanes: [{ id: 0, name: "kernels" }],
    names: { 1: { name: "sin" } }, shapes: {}, totals: [[1, 1, 3, 60, 30]], kinds: ["call", "kernel"], facts: null, opens: { of: "whole", t0_ns: 0, t1_ns: 100, percent: 95 },
    columns: names.map((n, i) => [n, types[i]]),
  };
  const columns = [[10, 10, 50], [30, 20, 10], [8, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0], [1, 2, 3], [1, 1, 1]];
  const view = decodeTimeline(answer(head, columns.map((c, i) => [types[i], c])));
  assert.deepEqual(view.slices.map((s) => [s.start, s.duration, s.kind, s.correlation]),
    [[10, 30, "call", 1], [10, 20, "kernel", 2], [50, 10, "kernel", 3]]);
  assert.deepEqual(view.totals, [{ name: 1, kind: "kernel", as: "kernel", count: 3, sum: 60, most: 30 }]);
  assert.deepEqual(view.facts, {});
  assert.equal(lanesOfView(view).get(0).length, 3);
  assert.equal(lanesOfView(view), lanesOfView(view)); // made once
  assert.throws(() => decodeTimeline(new ArrayBuffer(16)), /not a timeline/);
});

test("what ran on the device is counted by lanes, of which none is left out", () => {
  const lane = (role, events) => ({ name: "", id: 0, role, events });
  assert.equal(onDevice([lane("kernels", 230), lane("host", 502), lane("kernels", 10)]), 240);
  assert.equal(onDevice([]), 0);
});

test("a range has its ends in order, within the whole", () => {
  assert.deepEqual(ordered(30, 10, 100), { t0: 10, t1: 30 });
  assert.deepEqual(ordered(-5, 500, 100), { t0: 0, t1: 100 });
});

test("lanes are told as the server counted them, but for counters", () => {
  const told = [{ id: 1, role: "kernels", events: 4, sum_ns: 9, busy_ns: 7, busy_at_least: true }, { id: 2, role: "counter", events: 3, sum_ns: 0, busy_ns: 0 }];
  assert.deepEqual(lanesIn({ lanes: told }), [{ lane: told[0], count: 4, sum: 9, union: 7, atLeast: true }]);
});

test("a search says what it found, and where its time was up what that is of and how to narrow it", () => {
  const all = { events: 1200, sum: 9000, busy: 7000, atLeast: false, lookedAt: 50000, cut: false };
  assert.equal(foundText(all, "relu"), "1,200 found, 9 µs in all, 7 µs with overlaps once");
  assert.equal(foundText({ ...all, busy: 9000 }, "relu"), "1,200 found, 9 µs in all");
  assert.equal(foundText({ ...all, atLeast: true }, "relu"), "1,200 found, 9 µs in all, at least 7 µs with overlaps once");
  assert.equal(foundText(all, "relu", 3), "3 of 1,200, 9 µs in all");
  assert.equal(foundText({ ...all, events: 0 }, "relu"), "No event's name has \u201crelu\u201d.");
  const cut = / The search was stopped after 50,000 events; choose a mode, a point or a run of fewer events\.$/;
  assert.match(foundText({ ...all, cut: true, events: 0 }, "relu"), /^None found so far\./);
  for (const f of [all, { ...all, events: 0 }]) assert.match(foundText({ ...f, cut: true }, "relu"), cut);
  assert.match(foundText({ ...all, cut: true }, "relu", 3), /^3 of 1,200 so far, 9 µs in all\. The/);
});

test("an event that the server found is the slice of the window", () => {
  const e = { start_ns: 5, duration_ns: 7, bytes: 0, lane: 2, kind: "kernel", name: 4, shape: 0, correlation: 9, info: { name: "x" } };
  assert.ok(isSame(sliceOf(e), slice(5, 7, "kernel", { lane: 2, name: 4 })));
  assert.ok(!isSame(sliceOf(e), slice(5, 8, "kernel", { lane: 2, name: 4 })));
  assert.equal(sliceOf(e).events, 1);
});

test("idle time by its cause and busy time add up to what is in sight", () => {
  const view = { names: { 1: { name: "guards", idle: "guards" }, 2: { name: "break, line 3: print()", break: 0 } }, idle: { devices: 2 } };
  const total = (kind, name, count, sum) => ({ kind, name, count, sum, most: sum });
  const totals = [total("idle", 2, 1, 25), total("kernel", 1, 1, 10), total("idle", 1, 1, 3)];
  assert.deepEqual(idleRows(totals, view, 38), {
    rows: [{ cause: "break", name: "break, line 3: print()", count: 1, sum: 25 }, { cause: "guards", name: "guards", count: 1, sum: 3 }],
    idle: 28, busy: 48, whole: 76,
  });
  assert.equal(causeOf(view, totals[2]), "guards");
  // a gap is no row of its own among what the time is of
  assert.deepEqual(byKind(totals, 38).rows.map((r) => r.kind), ["kernel", "rest"]);
});

test("rows by kind add up to the calls", () => {
  const totals = [
    { name: 1, kind: "call", count: 2, sum: 100, most: 50 },
    { name: 2, kind: "kernel", count: 2, sum: 40, most: 20 },
    { name: 3, kind: "kernel", count: 2, sum: 20, most: 20 },
    { name: 4, kind: "guards", count: 2, sum: 10, most: 5 },
    { name: 5, kind: "piece", count: 4, sum: 80, most: 30 },
    { name: 6, kind: "break", count: 2, sum: 5, most: 4 },
  ];
  const { rows, whole, calls } = byKind(totals, 500);
  assert.deepEqual(rows, [
    { kind: "kernel", count: 4, sum: 60 },
    { kind: "guards", count: 2, sum: 10 },
    { kind: "rest", count: 0, sum: 30 },
  ]);
  assert.equal(rows.reduce((n, r) => n + r.sum, 0), whole);
  assert.equal(calls, 2);
  assert.equal(byKind([], 500).whole, 500);
  const beside = [{ name: 1, kind: "kernel", count: 2, sum: 800, most: 400 }, { name: 2, kind: "range", count: 1, sum: 900, most: 900 }];
  assert.deepEqual(byKind(beside, 500), { rows: [{ kind: "kernel", count: 2, sum: 800 }], whole: 800, calls: 0, beside: true });
});

test("what a name says an event is, it is drawn and counted as", () => {
  const types = ["f64", "f64", "f64", "u32", "u32", "u32", "u32", "u32", "u32"];
  const names = ["start_ns", "duration_ns", "bytes", "lane", "kind", "name", "shape", "correlation", "events"];
  const lane = (id, ranges_are) => ({ id, name: "", events: 1, ranges_are });
  const head = {
    span_ns: 9, t0_ns: 0, t1_ns: 9, events: 3, sampled: false, rows: 3, lanes: [lane(0, "range"), lane(1, "compile")], names: {}, shapes: {},
    totals: [[1, 0, 1, 5, 5], [2, 0, 1, 3, 3], [3, 1, 1, 9, 9]], kinds: ["kernel", "range"], drawn: { 1: "collective" }, facts: null,
    opens: { of: "whole", t0_ns: 0, t1_ns: 9 }, columns: names.map((n, i) => [n, types[i]]),
  };
  const columns = [[0, 1, 2], [5, 3, 9], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 2, 3], [0, 0, 0], [0, 0, 0], [1, 1, 1]];
  const view = decodeTimeline(answer(head, columns.map((c, i) => [types[i], c])));
  assert.deepEqual(view.slices.map((s) => s.as), ["collective", "kernel", "compile"]);
  assert.deepEqual([...drawnIn(view)].sort(), ["collective", "compile", "kernel", "range"]);
  assert.deepEqual(byKind(view.totals, 9).rows.slice(0, 2), [{ kind: "kernel", count: 1, sum: 3 }, { kind: "collective", count: 1, sum: 5 }]);
});

test("a slice is found where it is drawn: the inner of two, the nearest beside", () => {
  const slices = [slice(0, 100, "dispatch"), slice(20, 10, "alloc"), slice(200, 1)];
  assert.equal(sliceAt(slices, 0, 25, 0)?.kind, "alloc");
  assert.equal(sliceAt(slices, 0, 50, 0)?.kind, "dispatch");
  assert.equal(sliceAt(slices, 0, 205, 5)?.start, 200);
  assert.equal(sliceAt(slices, 0, 150, 5), null);
  assert.equal(sliceAt(slices, 1, 25, 0), null);
});

test("breaks nest: those of functions that one in eager calls are a level below", () => {
  const brk = (start, duration) => slice(start, duration, "break");
  const view = { lanes: [{ id: 0, name: "breaks", role: "breaks" }], slices: [brk(0, 100), brk(5, 2), brk(20, 30)] };
  assert.deepEqual([...levelsOf(view)], [[0, 2]]);
  assert.deepEqual(view.slices.map((s) => levelOf(view, s)), [0, 1, 1]);
});

test("host threads of a trace nest: what lies inside another is a level below, at most six", () => {
  const op = (start, duration, lane = 0) => slice(start, duration, "op", { lane });
  const inner = [op(0, 20), op(5, 5), op(5, 2), op(60, 10)];
  const outer = op(0, 100); // begins with another, and is around it
  const arrow = slice(6, 0, "flow");
  const deep = Array.from({ length: 9 }, (_, i) => op(i, 100 - 2 * i, 1));
  const view = {
    lanes: [{ id: 0, name: "thread", role: "host", pid: 7 }, { id: 1, name: "thread 2", role: "host", thread: "2" },
      { id: 2, name: "stream", pid: 7, role: "kernels" }, { id: 3, name: "host", role: "host" }],
    slices: [inner[0], outer, ...inner.slice(1), arrow, ...deep, op(0, 10, 2), op(2, 3, 2), op(0, 10, 3), op(2, 3, 3), op(200, 1)],
  };
  assert.deepEqual([...levelsOf(view)], [[0, 4], [1, 6]]); // a stream's kernels overlap, a measured run's lanes stay flat
  assert.deepEqual([outer, ...inner, arrow].map((s) => levelOf(view, s)), [0, 1, 2, 3, 1, 0]);
  assert.deepEqual(deep.map((s) => levelOf(view, s)), [0, 1, 2, 3, 4, 5, 5, 5, 5]);
  assert.equal(levelOf(view, { ...inner[1] }), 2); // as a search gives it
  assert.equal(levelOf(view, view.slices.at(-1)), 0); // after all of them
});

test("a kernel and its launch find each other", () => {
  const launch = slice(0, 5, "launch", { correlation: 7 });
  const kernel = slice(5, 9, "kernel", { correlation: 7 });
  const lanes = [{ id: 0, pid: 1 }, { id: 1, pid: 2 }];
  assert.equal(partner([launch, kernel], kernel, lanes), launch);
  assert.equal(partner([launch, kernel], launch, lanes), kernel);
  assert.equal(partner([kernel], kernel, lanes), null);
  assert.equal(partner([launch], slice(0, 1), lanes), null);
  // Another process counts its launches for itself.
  const other = slice(1, 5, "launch", { correlation: 7, lane: 1 });
  assert.equal(partner([other, launch, kernel], kernel, lanes), launch);
  assert.equal(partner([other, kernel], kernel, lanes), null);
});

test("the ruler steps by 1, 2 or 5, and a window stays inside", () => {
  assert.equal(tickStep(1000, 10), 100);
  assert.equal(tickStep(1100, 10), 200);
  assert.equal(tickStep(4300, 10), 500);
  assert.deepEqual(keepInside(-50, 50, 1000, 10), { t0: 0, t1: 100 });
  assert.deepEqual(keepInside(950, 1050, 1000, 10), { t0: 900, t1: 1000 });
  assert.deepEqual(keepInside(500, 501, 1000, 10), { t0: 500, t1: 510 });
  assert.deepEqual(keepInside(-5, 5000, 1000, 10), { t0: 0, t1: 1000 });
});
