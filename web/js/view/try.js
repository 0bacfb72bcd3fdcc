// js/view/try.js -- a suggested change, tried at a click: a short run of both programs, and
// beside each other what they gave.  The run is in the address: the page can be left meanwhile.

import { add, button, chip, ci, h, headRow, say, scroller } from "./dom.js";
import { jobsChanged } from "./frame.js";
import { progressBar } from "./marks.js";
import { remember } from "./router.js";
import { deleteRun, followRun, getRun, postRun } from "../api/client.js";
import { about, ratio } from "../model/format.js";
import { changeOf, changeRows, tryWorkload, valuesText } from "../model/try.js";
import { chipClass } from "../model/sentence.js";

/** @typedef {import("../api/types.js").Run} Run */
/**
 * @typedef {object} Suggestion
 * @property {Run} run
 * @property {string} mode
 * @property {number | null} n the point
 * @property {string} before the source of the point
 * @property {string} after
 * @property {string} what it changes: "line 6 rewritten"
 * @property {string} key in the address
 * @property {AbortSignal} signal
 */

/** The button, and in its place what came of it. @param {Suggestion} s */
export function tryPart(s) {
  const place = h("div", { class: "try" });
  const [key, id] = (new URLSearchParams(location.search).get("try") ?? "").split(".");
  if (key === s.key && id) follow(place, s, id).catch((e) => offer(place, s, message(e)));
  else offer(place, s, "");
  return place;
}

/** @param {unknown} e */
const message = (e) => (e instanceof Error ? e.message : String(e));

/** @param {HTMLElement} place @param {Suggestion} s @param {string} failed why the last one came to nothing */
function offer(place, s, failed) {
  const start = button("Try it", () => begin(place, s), { class: "btn", "aria-label": `Try it: ${s.what}` });
  const words = "Runs both programs in turn for a few seconds.";
  place.replaceChildren(h("div", { class: "acts" }, start, h("span", { class: "small dim" }, words)));
  if (failed) add(place, h("p", { class: "errline", role: "alert" }, failed));
}

/** @param {HTMLElement} place @param {Suggestion} s */
async function begin(place, s) {
  place.replaceChildren(h("p", { class: "small sub" }, "Sending both programs"));
  try {
    if (!s.run.workload) throw new Error("The run has no program.");
    const { id } = await postRun(tryWorkload(s.run.workload, s));
    jobsChanged();
    if (s.signal.aborted) return;
    remember({ try: `${s.key}.${id}` });
    await follow(place, s, String(id));
  } catch (e) {
    if (!s.signal.aborted) offer(place, s, message(e));
  }
}

/** @param {HTMLElement} place @param {Suggestion} s @param {string} id of the run */
async function follow(place, s, id) {
  const run = await getRun(id, s.signal);
  if (s.signal.aborted) return;
  if (run.status !== "queued" && run.status !== "running") return ended(place, s, run);
  const [what, bar] = [h("p", { class: "trying small sub" }), h("div")];
  const stop = button("Cancel", () => deleteRun(id).catch(() => {}), { class: "btn" });
  place.replaceChildren(what, bar, h("div", { class: "acts" }, stop, runLink(run)));
  const update = (/** @type {import("../api/types.js").Progress} */ p) => {
    const left = typeof p.left_s === "number" && p.left_s >= 0 ? `, ${about(p.left_s)} left` : "";
    what.textContent = p.status === "queued" ? "Waiting for its turn" : `Measuring ${p.what || "both programs"}${left}`;
    bar.replaceChildren(progressBar(p.progress ?? 0));
  };
  update(run);
  followRun(id, s.signal, update, async () => {
    const done = await getRun(id, s.signal).catch(() => null);
    if (!done || s.signal.aborted) return;
    jobsChanged();
    ended(place, s, done);
  });
}

/** @param {Run} run */
const runLink = (run) => h("a", { href: `/runs/${encodeURIComponent(run.id)}` }, `run #${run.id}`);

/** @param {HTMLElement} place @param {Suggestion} s @param {Run} run */
function ended(place, s, run) {
  const change = changeOf(run.report, s.mode);
  if (run.status !== "done" || !change || change.error) {
    const why = run.status === "cancelled" ? "It was cancelled." : (change?.error?.message ?? run.error?.message ?? "It has no figures for this mode.");
    return offer(place, s, `Run #${run.id} gave no result: ${why}`);
  }
  const cells = (/** @type {string[]} */ [text, interval]) => h("td", { class: "r" }, h("span", { class: "num-strong" }, text), ...ci(interval ?? ""));
  const rows = changeRows(change).map((r) => h("tr", {}, h("th", { scope: "row" }, r.name), cells(r.before), cells(r.after)));
  const name = `Before and after: ${s.what}`;
  const table = h("table", { class: "tried" }, h("caption", { class: "vh" }, name), headRow(["What", ["Before", "r"], ["After", "r"]]), h("tbody", {}, rows));
  const values = h("p", {}, change.agrees ? "" : chip("disagrees", "DISAGREES"), change.agrees ? "" : " ", valuesText(change));
  place.replaceChildren(verdictLine(change, s.mode), values, scroller(name, table), h("div", { class: "acts" }, button("Try it again", () => begin(place, s)), runLink(run)));
  say(`Tried: ${valuesText(change)}`);
}

/** @param {import("../model/try.js").Change} c @param {string} mode */
function verdictLine(c, mode) {
  if (!c.verdict || !c.speedup) return h("p", {}, "It was not timed.");
  if (c.verdict === "DISAGREES") return h("p", {}, chip("disagrees", c.verdict), ` ${mode} computes different values from the old program, so its speed is not compared.`);
  const r = ratio(c.speedup, c.speedup_ci);
  return h("p", {}, chip(chipClass(c.verdict), c.verdict), ` ${mode}, measured in turn with the old program, is `, h("b", {}, r.text), ...ci(r.interval), " as fast.");
}
