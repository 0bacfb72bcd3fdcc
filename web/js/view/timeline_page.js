// js/view/timeline_page.js -- a timeline that has come: its canvas, and below it the numbers of what is
// selected or in sight.  The canvas is drawn first; window, selection, search and the slice that is
// pointed at are in the address.

import { button, h, say, toast } from "./dom.js";
import { onKeys } from "./frame.js";
import { markLines } from "./joined.js";
import { pick, picked } from "./pick.js";
import { remember } from "./router.js";
import { TimelineCanvas } from "./timeline_canvas.js";
import { Finder } from "./timeline_find.js";
import { heading, ledger, tools } from "./timeline_head.js";
import { fillIdle } from "./timeline_idle.js";
import { fillSlice, nameOf, placeTip, showTip } from "./timeline_slice.js";
import { fillKernels, fillLanes, fillList, fillTotals } from "./timeline_tables.js";
import { failure } from "./waiting.js";
import { findEvent, getTimeline } from "../api/client.js";
import { duration, plural } from "../model/format.js";
import { keep, kept } from "../model/lanes.js";
import { marksOf, marksText } from "../model/timeline_marks.js";
import { keyOf, placesOf } from "../model/places.js";
import { DEVICE_KINDS, isSame, lanesIn, partner, partOf, sayClocks, sliceOf } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("../model/timeline.js").View} View */
/** @typedef {import("./timeline_tables.js").Scope} Scope */
/** @typedef {import("./timeline.js").Asked} Asked */

const WAIT_MS = 80;
/** Arrangements of lanes, in this browser. */
const STORED = "lanes";

/** How lanes were arranged; null where nothing is kept, or may be. */
function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
/** Lanes whose rows are asked for at once: no window shows more. */
const MOST_ASKED = 400;
/** Columns of what is selected: enough for its list. */
const PART_PX = 100;

/** @param {Asked} asked @param {Record<string, string | number>} params */
export const ask = async (asked, params) =>
  sayClocks(await getTimeline(String(asked.run.id), { ...partOf(asked), ...params }, asked.signal), asked.run.report?.import?.ranks?.ranks ?? []);

export class TimelinePage {
  #asked;
  #query;
  /** All of it, as it came; with what is looked for it is asked for again. */
  #plain;
  #whole;
  /** The finest that there is of the window. */
  #view;
  #q = "";
  /** @type {Scope | null} */
  #scope = null;
  /** @type {Slice | null} the end of the pointed slice's arrow that no row is of */
  #other = null;
  #mark;
  /** @type {Slice | null} whose line was picked last */
  #last = null;
  /** Of the address, not yet found in a view. */
  #sought = "";
  #waiting = 0;
  #turn = 0;
  #summed = 0;
  #canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-describedby": "tl-keys" });
  #tip = h("div", { class: "tip", hidden: true });
  #panel = h("div", { class: "panel", hidden: true });
  #few = h("p", { class: "bar small", role: "status", hidden: true });
  #sql = h("div", { class: "panel", hidden: true });
  #marks = h("div", { class: "below", hidden: true });
  /** @type {((how: import("../model/lanes.js").Arrangement) => void) | null} the panel of lanes, once it is there */
  #told = null;
  #parts = { totals: h("div", { class: "fills" }), idle: h("div", { class: "fills" }), slice: h("div"), lanes: h("div", { class: "below fills" }), kernels: h("div", { class: "below fills" }) };
  #list = h("details", { class: "events", hidden: true }, h("summary", {}, "Events as a list"), h("div"));

  #groups = h("details", { class: "events", hidden: true }, h("summary", {}, "Grouped by name, op, line or kernel"), h("div"));
  /** @type {import("./timeline_groups.js").GroupsTable | null} once it is opened */
  #table = null;

  /** @param {Asked} asked @param {View} whole @param {URLSearchParams} query */
  constructor(asked, whole, query) {
    this.#asked = asked;
    this.#query = query;
    this.#plain = this.#whole = this.#view = whole;
    const { signal } = asked;
    this.line = new TimelineCanvas(this.#canvas, whole, signal, {
      moved: () => this.#moved(),
      pointed: (slice, kept) => this.#pointed(slice, kept),
      selected: (range, done) => this.#selected(range, done),
      step: (by) => this.find.step(by),
      arranged: (how) => this.#arranged(how),
      scrolled: () => this.#moved(false),
      marked: (done) => this.#marked(done),
    });
    this.line.stick.append(this.#tip);
    this.line.arrange(kept(stored(), this.#key()), false);
    this.line.filter(query.get("lanes") ?? "");
    addEventListener("addresschange", () => this.#narrowed(), { signal });
    this.#narrowed();
    this.line.mark(marksOf(query.get("marks") ?? "", whole.span), false);
    this.find = new Finder(this.#looking(), signal);
    this.#mark = markLines(signal, this.#parts.kernels);
    this.#canvas.setAttribute("aria-label", `Timeline of ${asked.mode || "all lanes"}: ${plural(whole.lanes.length, "lane")}, ${plural(whole.events, "event")} in ${duration(whole.span / 1000)}`);
    this.#canvas.addEventListener("pointermove", (e) => placeTip(this.#tip, this.#canvas, e), { signal });
    this.#canvas.addEventListener("pointerleave", () => showTip(this.#tip, null, this.#view), { signal });
    this.#list.addEventListener("toggle", () => this.#fillList(), { signal });
    this.#groups.addEventListener("toggle", () => this.#fillGroups(), { signal });
    onKeys(signal, { "/": () => this.find.focus() });
    signal.addEventListener("abort", () => clearTimeout(this.#waiting), { once: true });
  }

  /** The canvas at once, the numbers after its first frame. @param {HTMLElement} place */
  show(place) {
    const keys = "W and S zoom, A and D pan, F fits what is pointed at or selected, M selects it, Shift and M mark it, [ and ] and Shift with an arrow move the ends of the selection, slash finds, Enter goes to the next found, N and P step a call, full stop and comma a kernel, B what it opened on, 0 shows all, page up and down scroll the lanes, which the button Lanes lists and arranges. The tables below hold the numbers.";
    const acts = {
      all: () => this.line.show(0, this.#whole.span),
      lanes: (/** @type {boolean} */ on) => this.#showLanes(on),
      sql: (/** @type {boolean} */ on) => this.#showQuery(on),
      drawing: () => this.line.drawing(),
      selects: (/** @type {boolean} */ on) => {
        this.line.selects = on;
        this.#canvas.classList.toggle("selects", on);
      },
    };
    const hidden = new Set((this.#query.get("hide") ?? "").split(",").filter(Boolean));
    this.line.hide(hidden);
    place.replaceChildren(
      heading(this.#whole, this.#asked, hidden, (kinds) => {
        this.line.hide(kinds);
        remember({ hide: [...kinds].join(",") });
      }),
      tools(this.#whole, this.#asked, this.find.el, acts),
      this.#panel,
      this.#few,
      this.#sql,
      this.line.el,
      h("p", { class: "vh", id: "tl-keys" }, keys),
      ledger(this.#whole),
      this.#marks,
      h("div", { class: "three" }, this.#parts.totals, this.#parts.idle, this.#parts.slice),
      this.#groups,
      this.#parts.lanes,
      this.#parts.kernels,
      this.#list,
    );
    this.#start();
    this.line.draw();
    return new Promise((done) => {
      requestAnimationFrame(() =>
        setTimeout(() => {
          if (!this.#asked.signal.aborted) this.#settle();
          done(undefined);
        }),
      );
    });
  }

  /** The window of the address, else that of the server: all of it is seldom readable. */
  #start() {
    const number = (/** @type {string} */ key) => Number(this.#query.get(key) ?? NaN);
    const [t0, t1, s0, s1] = ["t0", "t1", "s0", "s1"].map(number);
    this.#sought = this.#query.get("on") ?? "";
    if (t1 > t0 && t0 >= 0) this.line.show(t0, t1);
    else this.line.show(this.#whole.opens.t0, this.#whole.opens.t1);
    if (s1 > s0 && s0 >= 0) this.line.select([s0, s1]);
  }

  /** What the first frame did without. */
  #settle() {
    clearTimeout(this.#waiting);
    // Whoever was quick points at something already.
    if (!this.line.pointedAt) {
      fillSlice(this.#parts.slice, null, this.#view, this.#asked, null);
      if (!this.#sought) this.#pointLine();
    }
    this.#note();
    this.#refine();
    this.find.start(this.#query.get("q") ?? "");
  }

  /** A kernel of the line that is picked, in another view. */
  #pointLine() {
    const at = picked();
    const { slices, names } = this.#whole;
    const of = slices.find((s) => at.line > 0 && s.start >= this.line.window.t0 && DEVICE_KINDS.includes(s.kind) && placesOf(names[s.name]?.lines, names[s.name]?.files).some((p) => keyOf(p) === keyOf(at)));
    if (of) this.line.point(of);
  }

  /** The slice that the address points at, once a view has it. */
  #resume() {
    const [lane, start, length] = this.#sought.split("-").map(Number);
    const slice = this.#sought && this.#view.slices.find((s) => s.lane === lane && s.start === start && s.duration === length);
    if (!slice) return;
    this.#sought = "";
    this.line.point(slice);
  }

  /** @returns {import("./timeline_find.js").Looking} */
  #looking() {
    const { run, signal } = this.#asked;
    return {
      look: (q) => ask(this.#asked, { q }),
      seek: (params) => findEvent(String(run.id), { ...partOf(this.#asked), ...params }, signal),
      window: () => this.line.window,
      left: () => this.#canvas.focus(),
      go: (slice, info) => {
        this.#name(slice, info);
        this.line.reveal(this.#view.slices.find((s) => isSame(s, slice)) ?? slice);
      },
      found: (q, whole) => {
        this.#q = q;
        this.#whole = whole ?? this.#plain;
        this.line.seen(this.#whole);
        this.#refine();
      },
    };
  }

  /** What an arrangement of lanes is kept by: those of another mode are others. */
  #key() {
    const { run, mode, n } = this.#asked;
    return [run.id, mode, n ?? ""].join(" ").trim();
  }

  /** @param {import("../model/lanes.js").Arrangement} how */
  #arranged(how) {
    try {
      localStorage.setItem(STORED, keep(stored(), this.#key(), how));
    } catch {
      // full, or not allowed: it holds until the page is left
    }
    this.#told?.(how);
    this.#moved(false);
  }

  /** In the address, and in their table, whose script comes with the first. @param {boolean} done */
  async #marked(done) {
    if (done) remember({ marks: marksText(this.line.marks) });
    if (this.#marks.hidden && !this.line.marks.length) return;
    const { fillMarks } = await import("./timeline_marks.js");
    if (!this.#asked.signal.aborted) fillMarks(this.#marks, this.line, this.#whole.span);
  }

  /** That lanes are left out, and the way to all of them. */
  #narrowed() {
    const q = new URL(location.href).searchParams.get("lanes") ?? "";
    const all = button("Show all lanes", () => {
      this.line.filter("");
      remember({ lanes: "" });
      if (this.#told) this.#panel.querySelector("input")?.dispatchEvent(new Event("cleared"));
      this.#canvas.focus();
    });
    this.#few.hidden = !q;
    this.#few.replaceChildren(...(q ? [`Lanes that have \u201c${q}\u201d alone. `, all] : []));
  }

  /** The list of lanes, whose script comes when it is opened. @param {boolean} on */
  async #showLanes(on) {
    this.#panel.hidden = !on;
    if (!on || this.#told) return;
    const { lanesPanel } = await import("./timeline_lanes.js");
    if (this.#asked.signal.aborted || this.#told) return;
    this.#told = lanesPanel(this.#panel, this.line, this.#whole.lanes, new URL(location.href).searchParams.get("lanes") ?? "");
  }

  /** @param {boolean} on */
  async #showQuery(on) {
    this.#sql.hidden = !on;
    if (!on || this.#sql.firstChild) return;
    const { queryPanel } = await import("./timeline_query.js");
    if (!this.#asked.signal.aborted && !this.#sql.firstChild) queryPanel(this.#sql, this.#asked, () => this.line.selection ?? this.line.window);
  }

  /** Names that no view has had yet. @param {Slice} slice @param {any} info */
  #name(slice, info) {
    for (const view of [this.#view, this.#whole]) view.names[slice.name] ??= info ?? { name: "" };
  }

  /** @param {boolean} [told] also spoken */
  #moved(told = true) {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => {
      const { t0, t1 } = this.line.window;
      this.#note();
      this.#refine();
      if (told) say(`${duration((t1 - t0) / 1000)} shown.`);
    }, WAIT_MS);
  }

  /** The window, in the address. */
  #note() {
    const { t0, t1 } = this.line.window;
    remember({ t0: String(Math.round(t0)), t1: String(Math.round(t1)) });
  }

  /** As many rows of the window as there are; of the whole they are here. */
  async #refine() {
    const turn = ++this.#turn;
    const { t0, t1 } = this.line.window;
    const px = Math.max(200, this.#canvas.clientWidth);
    const all = t0 <= 0 && t1 >= this.#whole.span && this.#whole.px * 2 > px;
    const lanes = this.line.inSight();
    const params = { t0: Math.floor(t0), t1: Math.ceil(t1), px, ...(this.#q ? { q: this.#q } : {}), ...(lanes ? { lanes: lanes.slice(0, MOST_ASKED).join(",") } : {}) };
    const view = this.#whole.sampled && !all ? await ask(this.#asked, params).catch((e) => this.#coarse(e)) : this.#whole;
    if (!view || this.#asked.signal.aborted || turn !== this.#turn) return;
    const { pointedAt } = this.line;
    if (pointedAt) view.names[pointedAt.name] ??= this.#view.names[pointedAt.name];
    this.#view = view;
    this.line.refine(view);
    this.#resume();
    this.#sums();
  }

  /** Rows of the window did not come: those of the whole stay. @param {Error} e */
  #coarse(e) {
    if (!this.#asked.signal.aborted) toast(`The events of this window could not be read: ${e.message} Move it to ask again.`);
    return null;
  }

  /** @param {{t0: number, t1: number} | null} range @param {boolean} done */
  #selected(range, done) {
    if (!done) return;
    remember({ s0: range && String(Math.round(range.t0)), s1: range && String(Math.round(range.t1)) });
    this.#sums(true);
  }

  /** The numbers of the selection, else of the window, as the server counts them.
   * @param {boolean} [told] also spoken */
  async #sums(told = false) {
    const turn = ++this.#summed;
    const { selection } = this.line;
    const { t0, t1 } = selection ?? this.line.window;
    const here = !selection && (this.#whole.sampled || (t0 <= 0 && t1 >= this.#whole.span));
    const summed = [this.#parts.totals, this.#parts.idle, this.#parts.lanes, this.#parts.kernels];
    for (const part of summed) if (part.hasChildNodes() || part === this.#parts.totals) part.setAttribute("aria-busy", "true"); // those that are empty would be pushed down
    const view = here ? this.#view : await this.#part({ t0, t1 }).catch((e) => failure("The numbers of what is selected", e, () => this.#sums(told)));
    if (this.#asked.signal.aborted || turn !== this.#summed) return;
    for (const part of summed) part.removeAttribute("aria-busy");
    if (view instanceof HTMLElement) {
      for (const part of summed) part.replaceChildren();
      return this.#parts.totals.replaceChildren(view);
    }
    /** @type {Scope} */
    const scope = { t0, t1, selected: !!selection, totals: view.totals, lanes: lanesIn(view), view: this.#whole.sampled ? view : this.#whole };
    this.#scope = scope;
    fillTotals(this.#parts.totals, scope, () => this.line.select(null));
    fillIdle(this.#parts.idle, scope.totals, t1 - t0, scope.view);
    fillLanes(this.#parts.lanes, scope);
    fillKernels(this.#parts.kernels, scope, this.#asked);
    this.#mark();
    this.#list.hidden = this.#groups.hidden = false; // below what has come: sooner it would be pushed down
    this.#fillList();
    this.#fillGroups();
    if (told && selection) say(`${duration((t1 - t0) / 1000)} selected, ${plural(scope.lanes.reduce((n, l) => n + l.count, 0), "event")}.`);
    else if (told) say("Nothing selected.");
  }

  /** @type {{key: string, view: View} | null} the last that was selected */
  #kept = null;

  /** @param {{t0: number, t1: number}} range */
  async #part(range) {
    const params = { t0: Math.floor(range.t0), t1: Math.ceil(range.t1), px: PART_PX };
    const key = JSON.stringify(params);
    if (this.#kept?.key === key) return this.#kept.view;
    const view = await ask(this.#asked, params);
    this.#kept = { key, view };
    return view;
  }

  /** The sums of what is selected, else in sight, while they are shown: their script comes then. */
  async #fillGroups() {
    if (!this.#groups.open || !this.#scope) {
      this.line.light(null);
      return;
    }
    const { GroupsTable } = await import("./timeline_groups.js");
    if (this.#asked.signal.aborted) return;
    this.#table ??= new GroupsTable(this.#asked, /** @type {HTMLElement} */ (this.#groups.lastElementChild), (names) => this.line.light(names));
    if (this.#scope) await this.#table.show(this.#scope);
  }

  #fillList() {
    const place = /** @type {HTMLElement} */ (this.#list.lastElementChild);
    if (!this.#list.open || !this.#scope) return;
    const { names } = this.#scope.view;
    fillList(place, this.#scope, (slice) => {
      this.#name(slice, names[slice.name]);
      this.line.reveal(this.#view.slices.find((s) => isSame(s, slice)) ?? slice);
      this.#canvas.focus();
      this.#canvas.scrollIntoView({ block: "nearest" });
    });
  }

  /** @param {Slice | null} slice @param {boolean} kept */
  #pointed(slice, kept) {
    if (kept) this.#other = null;
    fillSlice(this.#parts.slice, slice, this.#view, this.#asked, this.#other);
    showTip(this.#tip, slice && !kept ? slice : null, this.#view);
    if (!kept) return;
    this.#pickLine(slice);
    remember({ on: slice && `${slice.lane}-${slice.start}-${slice.duration}` });
    if (!slice) return;
    say(`${nameOf(this.#view, slice)}, ${duration(slice.duration / 1000)}.`);
    if (slice.correlation && slice.kind !== "flow" && this.#whole.sampled) this.#join(slice);
    this.#stack(slice);
  }

  /** Of a trace: what the host was in at the launch. @param {Slice} slice */
  async #stack(slice) {
    const device = DEVICE_KINDS.includes(slice.kind);
    const at = device ? partner(this.#view.slices, slice, this.#view.lanes) ?? this.#other : slice;
    if (!this.#asked.run.workload?.trace || !at || !["api", "op", "launch"].includes(at.kind)) return;
    const { addStack } = await import("./timeline_stack.js");
    await addStack(this.#parts.slice, at, this.#asked, () => this.line.pointedAt === slice);
  }

  /** The line of what is pointed at is that of the other views too. @param {Slice | null} slice */
  #pickLine(slice) {
    const of = slice && slice !== this.#last ? this.#view.names[slice.name] : null;
    const from = placesOf(of?.lines, of?.files);
    this.#last = slice;
    if (from.length && !from.some((p) => keyOf(p) === keyOf(picked()))) pick(from[0]);
  }

  /** The launch of a kernel, or the kernel of a launch, where the view has no row for it. @param {Slice} slice */
  async #join(slice) {
    const told = await this.#looking().seek({ correlation: slice.correlation, lane: slice.lane }).catch(() => null);
    if (!told || this.#asked.signal.aborted || this.line.pointedAt !== slice) return;
    const device = DEVICE_KINDS.includes(slice.kind);
    const event = told.joined.find((e) => DEVICE_KINDS.includes(e.kind) !== device);
    if (!event) return;
    this.#other = sliceOf(event);
    this.#name(this.#other, event.info);
    this.line.join(this.#other);
    fillSlice(this.#parts.slice, slice, this.#view, this.#asked, this.#other);
    this.#stack(slice);
  }
}
