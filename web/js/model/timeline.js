// js/model/timeline.js -- a window of a timeline: decoded, summed up, searched.
//
// Times are nanoseconds since the first event of the lanes that were asked for.

/**
 * @typedef {object} LaneInfo
 * @property {number} id
 * @property {string} name
 * @property {string} [role] calls, host, kernels, counter, async
 * @property {number} [rank] of a job, of an imported trace
 * @property {boolean} [compiling] of a rank: its compile log
 * @property {number} [ahead_ns] of a rank: what its clock is ahead of the first rank's, as the next
 * @property {number} [ahead_error_ns]
 * @property {string} [clock] the same in words
 * @property {number} [pid] of a trace, as the next three
 * @property {number} [file] of a log
 * @property {string} [process] its command line
 * @property {string} [thread] of a log
 * @property {number} [device]
 * @property {number} [stream]
 * @property {string} [unit] of a counter: bytes
 * @property {number} events in the window, as the next two
 * @property {number} sum_ns
 * @property {number} busy_ns with overlaps counted once
 * @property {boolean} [has_rows] slices of it were asked for
 * @property {string} [ranges_are] what ranges in it are drawn as
 * @property {boolean} [busy_at_least] it may be more: events were too far out of their order
 * @property {number} [found] of its events are looked for
 *
 * @typedef {object} NameInfo what a name stands for
 * @property {string} name
 * @property {string[]} [ops]
 * @property {number[]} [lines]
 * @property {string[]} [files] of each line, of a program of several
 * @property {number} [graph]
 * @property {string} [frame]
 * @property {string} [compile]
 * @property {string} [why]
 * @property {string} [form]
 * @property {number} [read_bytes]
 * @property {number} [kernels] of the launch of a CUDA graph
 * @property {number} [written_bytes]
 * @property {string} [symbol] of what a library ran
 * @property {number} [scale] of a counter: a sample's value is its bytes / scale
 * @property {string} [flow] of an arrow: where it begins (s), passes (t) or ends (f)
 * @property {string} [idle] of a gap that no break made: its cause
 *
 * @typedef {object} Shape what a launch asks of the device
 * @property {number[]} grid
 * @property {number[]} block
 * @property {number} registers of a thread
 * @property {number} static_bytes of shared memory, of a block
 * @property {number} dynamic_bytes
 *
 * @typedef {object} Slice
 * @property {number} start
 * @property {number} duration
 * @property {number} bytes
 * @property {number} lane
 * @property {string} kind
 * @property {string} as what it is drawn as: its kind, or what its name says more (profiler/timeline/drawn.def)
 * @property {number} name
 * @property {number} shape
 * @property {number} correlation
 * @property {number} events that it stands for: the longest of so many
 * @property {number} [level] of those that lie inside each other (levels.js), from 0
 *
 * @typedef {object} View
 * @property {number} span all of it, from 0
 * @property {number} t0
 * @property {number} t1
 * @property {number} events
 * @property {"aligned" | "recorded" | null} clocks of ranks whose clocks are apart: times are on the first one's, or on each one's own
 * @property {boolean} sampled a slice may stand for several
 * @property {number} px columns that it was asked for in
 * @property {Set<number>} without lanes that no slice was asked for of
 * @property {LaneInfo[]} lanes
 * @property {Record<string, NameInfo>} names
 * @property {Record<string, Shape>} shapes
 * @property {Record<string, string>} drawn what events of a name are drawn as, where their kind does not say it
 * @property {Total[]} totals of the window, exact
 * @property {Record<string, any>} facts
 * @property {{of: string, t0: number, t1: number, percent: number}} opens what a page shows first: call, device, host, whole
 * @property {{devices: number, left_out: number, late: number, watching_ns: number}} idle whose gaps are among the slices
 * @property {(Found & {names: number[]}) | null} found of what was looked for, in the window; names: those of the answer's that are meant
 * @property {Slice[]} slices in order of their starts
 *
 * @typedef {object} LaneTotal
 * @property {LaneInfo} lane
 * @property {number} count
 * @property {number} sum
 * @property {number} union
 * @property {boolean} [atLeast] the union may be more
 *
 * @typedef {object} Total
 * @property {number} name
 * @property {string} kind
 * @property {string} [as] as of a slice
 * @property {number} count
 * @property {number} sum what lies in the window
 * @property {number} most the longest
 */

import { count, duration } from "./format.js";

export const DEVICE_KINDS = ["kernel", "library", "eager", "copy", "set"];
/** Around others: their time is in those. */
const AROUND_KINDS = ["call", "piece", "break", "range", "op", "idle"];
const HOST_KINDS = ["guards", "dispatch", "alloc", "launch"];

/** Kernels, copies and sets of a view's lanes; its totals are those with the largest sums alone. @param {LaneInfo[]} lanes */
export const onDevice = (lanes) => lanes.reduce((n, lane) => n + (lane.role === "kernels" ? lane.events : 0), 0);

/** What a kind is called, one and many. @type {Record<string, string>} */
export const KIND_NAMES = {
  kernel: "Fused kernels",
  library: "Library kernels",
  eager: "Eager kernels",
  copy: "Copies",
  set: "Memory sets",
  guards: "Guards",
  dispatch: "Dispatch",
  alloc: "Allocation",
  launch: "Launches",
  call: "Calls",
  api: "API calls",
  range: "Marked ranges",
  overhead: "Recording",
  wait: "Waits",
  memory: "Memory",
  piece: "Graphs",
  break: "Breaks",
  op: "Ops on the host",
  counter: "Counters",
  flow: "Arrows",
  idle: "Idle",
  collective: "Collectives",
  compile: "Compile phases",
  python: "Python",
};

/** @type {WeakMap<View, Map<number, Slice[]>>} */
const sorted = new WeakMap();

/** The slices of each lane, in order of their starts. @param {View} view */
export function lanesOfView(view) {
  const known = sorted.get(view);
  if (known) return known;
  /** @type {Map<number, Slice[]>} */
  const lanes = new Map(view.lanes.map((l) => [l.id, []]));
  for (const s of view.slices) lanes.get(s.lane)?.push(s);
  sorted.set(view, lanes);
  return lanes;
}

/** Kinds whose names say more. */
const NAMED = ["kernel", "library", "op", "api", "range"];

/** Undefined: a range, as its lane says. @param {Record<string, string>} drawn @param {string} kind @param {number} name */
const drawnAs = (drawn, kind, name) => (NAMED.includes(kind) && drawn[name]) || (kind === "range" ? undefined : kind);

/** What the events of a view are drawn as. @param {View} view */
export function drawnIn({ totals, lanes }) {
  const all = new Set(totals.map((t) => t.as ?? t.kind));
  for (const lane of lanes) if (lane.events && lane.ranges_are && all.has("range")) all.add(lane.ranges_are);
  return all;
}

/** @type {WeakMap<View, {hidden: string, spans: [number, number][]}>} */
const spansOf = new WeakMap();
/** What is closer together is one: the whole has no more pixels. */
const SPANS = 3000;

/** When any device ran something that is not hidden, in order. @param {View} whole @param {Set<string>} hidden */
export function deviceSpans(whole, hidden) {
  const key = [...hidden].join();
  const known = spansOf.get(whole);
  if (known?.hidden === key) return known.spans;
  /** @type {[number, number][]} */
  const spans = [];
  for (const s of whole.slices) {
    if (!DEVICE_KINDS.includes(s.kind) || hidden.has(s.as)) continue;
    const last = spans[spans.length - 1];
    if (last && s.start <= last[1] + whole.span / SPANS) last[1] = Math.max(last[1], s.start + s.duration);
    else spans.push([s.start, s.start + s.duration]);
  }
  spansOf.set(whole, { hidden: key, spans });
  return spans;
}

/**
 * Of a job each rank's lanes are together, as those of a process of one program are.  A trace and one compile log beside it,
 * neither of which says a rank, are one program's.
 * @param {LaneInfo[]} lanes @returns {LaneInfo[]}
 */
export function together(lanes) {
  if (new Set(lanes.map((l) => l.rank)).size > 1) return lanes.map((l) => (l.rank === undefined ? l : { ...l, pid: l.rank, process: "", compiling: l.pid !== undefined }));
  const pids = new Set(lanes.map((l) => l.pid));
  if (pids.size !== 2 || !pids.has(undefined)) return lanes;
  return lanes.map(({ pid, ...l }) => (pid === undefined ? l : { ...l, name: l.name.replace(`, process ${pid}`, "") }));
}

/** How far a rank's clock is from the first rank's, beside its name. @param {View} view @param {LaneInfo} lane @param {number | null | undefined} offset of the report, us: what was imported before the timeline had clocks has times as recorded */
function clockText({ clocks }, lane, offset) {
  const us = lane.ahead_ns === undefined ? offset : lane.ahead_ns / 1000;
  if (clocks && us === null) return ", its clock not known";
  if (!us) return "";
  const apart = duration(Math.abs(us));
  if (clocks === "aligned" && lane.ahead_ns !== undefined) return `, its clock ${apart} ${us > 0 ? "fast" : "slow"} (\u00b1${duration((lane.ahead_error_ns ?? 0) / 1000)}), put right`;
  return `, its times ${apart} too ${us > 0 ? "late" : "early"}`;
}

/** Says at the lanes of each rank how far its clock is from the first rank's. @param {View} view @param {readonly import("../api/report.js").ReportRank[]} ranks */
export function sayClocks(view, ranks) {
  for (const lane of view.lanes) {
    const text = clockText(view, lane, ranks.find((r) => r.rank === lane.rank)?.offset_us);
    if (text) lane.clock = text;
  }
  return view;
}

/** What is asked for of a timeline: a mode, a point, and on which clocks. @param {{mode: string, n: number | null, clocks: string}} asked @returns {Record<string, string | number>} */
export const partOf = ({ mode, n, clocks }) => ({ mode, ...(n === null ? {} : { n }), ...(clocks ? { clocks } : {}) });

/** The answer of the server, whose rows are in order of their starts. @param {ArrayBuffer} buffer @returns {View} */
export function decodeTimeline(buffer) {
  const bytes = new DataView(buffer);
  if (buffer.byteLength < 8 || bytes.getUint32(0, true) !== 0x56544542)
    throw new Error("The server's answer is not a timeline.");
  const length = bytes.getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  /** @type {Record<string, Float64Array | Uint32Array>} */
  const columns = {};
  let at = 8 + length;
  for (const [name, type] of head.columns) {
    columns[name] =
      type === "f64" ? new Float64Array(buffer, at, head.rows) : new Uint32Array(buffer, at, head.rows);
    at += Math.ceil(columns[name].byteLength / 8) * 8;
  }
  const drawn = head.drawn ?? {};
  const ranges = new Map(head.lanes.map((/** @type {LaneInfo} */ l) => [l.id, l.ranges_are ?? "range"]));
  const slices = Array.from({ length: head.rows }, (_, i) => ({
    start: columns.start_ns[i],
    duration: columns.duration_ns[i],
    bytes: columns.bytes[i],
    lane: columns.lane[i],
    kind: head.kinds[columns.kind[i]],
    as: drawnAs(drawn, head.kinds[columns.kind[i]], columns.name[i]) ?? ranges.get(columns.lane[i]),
    name: columns.name[i],
    shape: columns.shape[i],
    correlation: columns.correlation[i],
    events: columns.events[i],
    level: undefined, // here already: slices of one form are read faster
  }));
  return {
    span: head.span_ns,
    t0: head.t0_ns,
    t1: head.t1_ns,
    events: head.events,
    clocks: head.clocks ?? null,
    sampled: head.sampled,
    px: head.px,
    without: new Set(head.lanes.filter((/** @type {LaneInfo} */ l) => l.has_rows === false).map((/** @type {LaneInfo} */ l) => l.id)),
    lanes: together(head.lanes),
    names: head.names,
    shapes: head.shapes,
    drawn,
    facts: head.facts ?? {},
    opens: { ...head.opens, t0: head.opens.t0_ns, t1: head.opens.t1_ns },
    idle: head.idle ?? { devices: 0, left_out: 0, late: 0, watching_ns: 0 },
    found: head.found ? { ...foundFigures(head.found), names: head.found.names } : null,
    totals: head.totals.map((/** @type {number[]} */ t) => ({
      name: t[0],
      kind: head.kinds[t[1]],
      as: drawnAs(drawn, head.kinds[t[1]], t[0]) ?? "range",
      count: t[2],
      sum: t[3],
      most: t[4],
    })),
    slices,
  };
}

/**
 * @typedef {object} Found
 * @property {number} events
 * @property {number} sum
 * @property {number} busy a lane's overlaps counted once
 * @property {boolean} atLeast busy may be more
 * @property {number} lookedAt events
 * @property {boolean} cut the search's time was up before all were looked at
 */
/**
 * @param {{events: number, sum_ns: number, busy_ns: number, busy_at_least: boolean, looked_at: number, cut: string | null}} told
 * @returns {Found}
 */
export const foundFigures = (told) => ({ events: told.events, sum: told.sum_ns, busy: told.busy_ns, atLeast: told.busy_at_least, lookedAt: told.looked_at, cut: told.cut !== null });

const NARROW = "choose a mode, a point or a run of fewer events.";

/** What is said of a search. @param {Found} f @param {string} q @param {number} [index] of the one that was gone to, from 1 */
export function foundText(f, q, index) {
  const stopped = f.cut ? ` The search was stopped after ${count(f.lookedAt)} events; ${NARROW}` : "";
  if (!f.events) return f.cut ? `None found so far.${stopped}` : `No event's name has \u201c${q}\u201d.`;
  const once = f.busy < f.sum ? `, ${f.atLeast ? "at least " : ""}${duration(f.busy / 1000)} with overlaps once` : "";
  const which = index ? `${count(index)} of ${count(f.events)}` : `${count(f.events)} found`;
  return `${which}${f.cut ? " so far" : ""}, ${duration(f.sum / 1000)} in all${index ? "" : once}${stopped ? `.${stopped}` : ""}`;
}

/** Lanes whose events take time. @param {readonly LaneInfo[]} lanes */
const timed = (lanes) => lanes.filter((l) => l.role !== "counter");

/** What ran in each lane of a window, as the server counted it: `union` is time in which at least one event ran. @param {View} view @returns {LaneTotal[]} */
export const lanesIn = (view) => timed(view.lanes).map((lane) => ({ lane, count: lane.events, sum: lane.sum_ns, union: lane.busy_ns, atLeast: lane.busy_at_least }));

/** Collectives apart from other kernels. @param {Total} t */
const kindOf = (t) => (DEVICE_KINDS.includes(t.kind) ? t.as ?? t.kind : t.kind);

/**
 * Where the time goes, by kind, so that the rows add up to the calls: what is in no
 * other row is "rest".  Of a window without calls the whole is its length.  Where lanes
 * run beside each other (`beside`) the whole is the sum of all.
 * @param {readonly Total[]} totals @param {number} length
 * @returns {{rows: {kind: string, count: number, sum: number}[], whole: number, calls: number, beside: boolean}}
 */
export function byKind(totals, length) {
  const sum = (/** @type {string} */ kind) => {
    const of = totals.filter((t) => kindOf(t) === kind);
    return { kind, count: of.reduce((n, t) => n + t.count, 0), sum: of.reduce((n, t) => n + t.sum, 0) };
  };
  const known = [...DEVICE_KINDS, "collective", ...HOST_KINDS];
  const others = [...new Set(totals.map(kindOf))].filter((k) => !AROUND_KINDS.includes(k) && !known.includes(k));
  const rows = [...known, ...others].map(sum).filter((r) => r.count > 0);
  const calls = sum("call");
  const all = rows.reduce((n, r) => n + r.sum, 0);
  // Streams of a GPU, and other processes, run beside the host.
  const time = calls.count ? calls.sum : length;
  const whole = Math.max(time, all);
  const rest = whole - all;
  if (rest > 0) rows.push({ kind: "rest", count: 0, sum: rest });
  return { rows, whole, calls: calls.count, beside: all > time };
}

/** Why a device was idle: what a break runs has the break's name. @param {View} view @param {Slice | Total} of */
export const causeOf = (view, of) => view.names[of.name]?.idle ?? "break";

/**
 * What the devices waited for, dearest first, and the time that they ran something.
 * @param {readonly Total[]} totals @param {View} view @param {number} length of what is in sight
 */
export function idleRows(totals, view, length) {
  const rows = totals
    .filter((t) => t.kind === "idle" && t.sum > 0)
    .map((t) => ({ cause: causeOf(view, t), name: view.names[t.name]?.name ?? "others", count: t.count, sum: t.sum }))
    .sort((a, b) => b.sum - a.sum);
  const idle = rows.reduce((n, r) => n + r.sum, 0);
  const whole = Math.max(view.idle.devices * length, idle);
  return { rows, idle, busy: whole - idle, whole };
}

/**
 * The slice at a time in a lane; within `slack` beside one, the nearest.
 * @param {readonly Slice[]} slices @param {number} lane @param {number} t @param {number} slack
 * @returns {Slice | null}
 */
export function sliceAt(slices, lane, t, slack) {
  let best = null;
  let nearest = Infinity;
  for (const s of slices) {
    if (s.lane !== lane || s.start > t + slack || s.start + s.duration < t - slack) continue;
    const away = Math.max(0, s.start - t, t - s.start - s.duration);
    // What is inside another comes after it in the list, and is drawn above it.
    if (away < nearest || (away === nearest && best && s.duration <= best.duration)) [best, nearest] = [s, away];
  }
  return best;
}

/** A sample's value. @param {View} view @param {Slice} s */
export const valueOf = (view, s) => s.bytes / (view.names[s.name]?.scale ?? 1);

/** Whose numbers of launches a lane has. @param {readonly LaneInfo[]} lanes @param {number} id */
function sourceOf(lanes, id) {
  const lane = lanes.find((l) => l.id === id);
  return lane?.pid ?? lane?.file;
}

/** The launch that a kernel came from, or the kernel of a launch; the next point of an arrow.
 * @param {readonly Slice[]} slices @param {Slice} of @param {readonly LaneInfo[]} lanes */
export function partner(slices, of, lanes) {
  if (!of.correlation) return null;
  if (of.kind === "flow") {
    const points = slices.filter((s) => s.kind === "flow" && s.correlation === of.correlation);
    return points[points.indexOf(of) + 1] ?? points.at(points.indexOf(of) - 1) ?? null;
  }
  const device = DEVICE_KINDS.includes(of.kind);
  const source = sourceOf(lanes, of.lane);
  const joined = (/** @type {Slice} */ s) =>
    s !== of && s.correlation === of.correlation && s.kind !== "flow" && DEVICE_KINDS.includes(s.kind) !== device;
  return slices.find((s) => joined(s) && sourceOf(lanes, s.lane) === source) ?? null;
}

/** An event that the server found, as a slice. @param {any} e @returns {Slice} */
export const sliceOf = (e) => ({
  start: e.start_ns, duration: e.duration_ns, bytes: e.bytes, lane: e.lane, kind: e.kind, as: e.kind, name: e.name,
  shape: e.shape, correlation: e.correlation, events: 1,
});

/** Whether two are the same event. @param {Slice} a @param {Slice} b */
export const isSame = (a, b) => a.start === b.start && a.lane === b.lane && a.duration === b.duration && a.name === b.name;

/** What is in sight at first, said where it is not all. @param {View} view */
export function opensText({ opens, span }) {
  if (opens.of === "whole" || opens.t1 - opens.t0 >= span) return "";
  if (opens.of === "call") return "opened on the last call";
  return `opened on the ${duration((opens.t1 - opens.t0) / 1000)} that hold ${opens.percent} % of what ${opens.of === "device" ? "devices ran" : "the host did"}`;
}

/** A step for the ruler: 1, 2 or 5 times a power of ten, at most `most` of them. @param {number} span @param {number} most */
export function tickStep(span, most) {
  const raw = Math.max(span / Math.max(most, 1), 1e-9);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((m) => m * power >= raw) ?? 10);
}

/** The window kept within [0, span], at least `least` long. @param {number} t0 @param {number} t1 @param {number} span @param {number} least */
export function keepInside(t0, t1, span, least) {
  const length = Math.min(span, Math.max(least, t1 - t0));
  const from = Math.min(Math.max(0, t0), span - length);
  return { t0: from, t1: from + length };
}

/** The ends in order, within [0, span]. @param {number} a @param {number} b @param {number} span */
export function ordered(a, b, span) {
  const within = (/** @type {number} */ t) => Math.min(span, Math.max(0, t));
  return { t0: within(Math.min(a, b)), t1: within(Math.max(a, b)) };
}
