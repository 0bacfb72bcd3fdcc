// js/view/timeline_head.js -- what is above the canvas of a timeline, and the ledger below it.

import { h, button } from "./dom.js";
import { chartFiles } from "./chart_files.js";
import { idleSwatch } from "./timeline_idle.js";
import { kindName } from "./timeline_slice.js";
import { swatch } from "./timeline_tables.js";
import { fileUrl } from "../api/client.js";
import { fileStem } from "../model/commands.js";
import { bytes, count, duration, plural } from "../model/format.js";
import { drawnIn, idleRows, onDevice, opensText } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").View} View */
/** @typedef {import("./timeline.js").Asked} Asked */

const LEGEND = ["kernel", "library", "eager", "collective", "copy", "set", "compile", "guards", "dispatch", "alloc", "launch", "op", "range", "python", "api", "wait", "memory", "overhead"];
/** Causes of idle time that the legend names; the table has all. */
const MOST_CAUSES = 4;

/** A kind that is drawn or, once it is pressed, is not. @param {Set<string>} hidden @param {string} kind @param {(kinds: Set<string>) => void} hide @param {import("./dom.js").Child[]} label */
function key(hidden, kind, hide, ...label) {
  const b = button("", () => {
    if (!hidden.delete(kind)) hidden.add(kind);
    b.setAttribute("aria-pressed", String(!hidden.has(kind)));
    hide(hidden);
  }, { class: "btn key", "aria-pressed": String(!hidden.has(kind)), title: "Drawn, or not; the numbers stay" });
  b.replaceChildren(...label.map((l) => /** @type {Node | string} */ (l)));
  return b;
}

/** @param {View} whole @param {Set<string>} hidden @param {(kinds: Set<string>) => void} hide */
function legend(whole, hidden, hide) {
  const kinds = drawnIn(whole);
  /** @type {HTMLElement[]} */
  const keys = LEGEND.filter((k) => kinds.has(k)).map((k) => key(hidden, k, hide, swatch(k), kindName(whole, k).replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase())));
  if (whole.totals.some((t) => t.kind === "idle")) keys.push(key(hidden, "idle", hide, idleSwatch("any"), "idle"));
  const { rows } = idleRows(whole.totals, whole, whole.span);
  const causes = [...new Map(rows.map((r) => [r.cause, r.cause === "break" ? "graph break" : r.name]))];
  for (const [cause, name] of causes.slice(0, MOST_CAUSES)) keys.push(h("span", { class: "key" }, idleSwatch(cause), `idle: ${name}`));
  if (causes.length > MOST_CAUSES) keys.push(h("span", { class: "key" }, idleSwatch("any"), "idle: others"));
  return h("div", { class: "legend" }, keys);
}

/** What it is, and what its colours mean.
 * @param {View} whole @param {Asked} asked @param {Set<string>} hidden kinds that are not drawn @param {(kinds: Set<string>) => void} hide */
export function heading(whole, { mode }, hidden, hide) {
  const calls = whole.totals.filter((t) => t.kind === "call").reduce((sum, t) => sum + t.count, 0);
  const words = calls ? `${plural(calls, "call")} of ${mode}` : mode || "All processes";
  const opened = opensText(whole);
  const size = [duration(whole.span / 1000), plural(whole.events, "event"), ...(opened ? [`${opened} (B); 0 shows all`] : [])].join(", ");
  return h("div", { class: "bar" }, h("h3", {}, words), h("span", { class: "sub small" }, size), h("div", { class: "acts" }, legend(whole, hidden, hide)));
}

/**
 * What can be done with it.
 * @param {View} whole @param {Asked} asked @param {HTMLElement} find
 * @param {{all: () => void, lanes: (on: boolean) => void, sql: (on: boolean) => void, selects: (on: boolean) => void, drawing: () => import("./chart_files.js").Drawing | null}} acts
 */
export function tools(whole, { run, mode, n, clocks, onClocks }, find, acts) {
  const at = n === null ? "" : `&n=${n}`;
  const file = `${fileUrl(String(run.id), "trace.json")}?mode=${encodeURIComponent(mode)}${at}`;
  const title = `Timeline of ${mode || "all processes"}, run ${run.id}`;
  const fileName = [fileStem(run.name), run.id, "timeline", mode, n ?? ""].filter((part) => part !== "").join("_");
  const range = pressed("Select a range", acts.selects, { title: "Dragging selects instead of panning; Shift and a drag always select" });
  const own = whole.clocks ? pressed("Own clocks", (on) => onClocks(on ? "recorded" : ""), { title: "Each rank's times as its own clock had them; else all are on the first rank's", "data-act": "clocks", ...(clocks ? { "aria-pressed": "true" } : {}) }) : null;
  return h(
    "div",
    { class: "bar tools" },
    find,
    h("div", { class: "acts" }, pressed("Lanes", acts.lanes, { title: "Fold, pin, move and filter lanes" }), pressed("SQL", acts.sql, { title: "Ask for anything else" }), own, range, button("All", acts.all, { "aria-label": "Show all calls" }), linkButton(), chartFiles(fileName, title, acts.drawing), h("a", { class: "btn", href: file, download: "" }, "Chrome trace")),
  );
}

/** A button that is on or off. @param {string} text @param {(on: boolean) => void} act @param {Record<string, string>} more */
function pressed(text, act, more) {
  const b = button(text, () => {
    const on = b.getAttribute("aria-pressed") !== "true";
    b.setAttribute("aria-pressed", String(on));
    act(on);
  }, { "aria-pressed": "false", ...more });
  return b;
}

/** The address has window, selection, marks, search and what is pointed at. */
function linkButton() {
  const b = button("Copy link", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      b.textContent = "Copied";
    } catch {
      b.textContent = "It is in the address bar"; // refused, or not a secure origin
    }
    setTimeout(() => (b.textContent = "Copy link"), 2000);
  });
  return b;
}

/** @param {import("../api/report.js").ReportTracedProcess} p */
function ofProcess(p) {
  const text = (/** @type {string} */ t) => h("span", {}, t);
  const memory = p.memory.map((m) => text(`${p.pid}: at most ${bytes(m.peak_bytes)} of GPU ${m.device}`));
  if (p.fault) return [text(`${p.pid} was not recorded: ${p.fault}`), ...memory];
  return p.finished ? memory : [text(`${p.pid} ended without its last records`), ...memory];
}

/** What was recorded and what was lost, always. @param {View} whole */
export function ledger(whole) {
  const { facts } = whole;
  const text = (/** @type {string} */ t) => h("span", {}, t);
  const copies = whole.totals.some((t) => t.kind === "copy" || t.kind === "set");
  return h(
    "p",
    { class: "ledger" },
    h("b", {}, "Ledger"),
    text(`${copies ? plural(onDevice(whole.lanes), "copy", "kernels and copies") : plural(onDevice(whole.lanes), "kernel")} recorded`),
    text(`${count(facts.dropped ?? 0)} dropped in the whole run`),
    text(`${count(facts.doubtful ?? 0)} doubtful`),
    text(`${count(facts.out_of_range ?? 0)} out of range`),
    facts.api_records ? text("calls of the driver are recorded: a launch takes 0.2 µs more") : null,
    facts.not_recorded ? text(`the device was not recorded: ${facts.not_recorded}`) : null,
    facts.processes ? null : text("recorded in a separate run, after the latencies: recording slows calls"),
    (facts.processes ?? []).flatMap(ofProcess),
  );
}

