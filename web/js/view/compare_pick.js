// js/view/compare_pick.js -- which runs are compared: two lists of those that are done.

import { h, add, button, select, stateWell } from "./dom.js";
import { go } from "./router.js";
import { getRun, listRuns } from "../api/client.js";
import { compareUrl } from "../model/compare.js";
import { age } from "../model/format.js";

const OFFERED = 200;
const MOST = 8;

/** @param {import("../api/types.js").RunRow} r */
const label = (r) => `#${r.id} ${r.name}${r.commit ? `, ${r.commit.slice(0, 7)}` : ""}, ${age(r.created_ns / 1e6, Date.now())}`;

/**
 * A form with a list for each run, the newest two at first.
 * @param {readonly string[]} ids what is compared now
 * @param {AbortSignal} signal
 */
export async function picker(ids, signal) {
  const { runs } = await listRuns({ status: "done", limit: OFFERED }, signal);
  const usable = runs.filter((r) => r.modes?.length);
  if (usable.length < 2) return none(usable.length);
  const options = usable.map((r) => ({ value: String(r.id), label: label(r) }));
  /** @type {HTMLSelectElement[]} */
  const lists = [];
  const form = h("form", { class: "pickers", "aria-label": "Runs to compare" });
  const rest = h("div", { class: "acts" }, h("button", { class: "btn primary" }, "Compare"));
  const offer = (/** @type {string | undefined} */ id) => {
    const name = String.fromCharCode(65 + lists.length);
    const known = options.some((o) => o.value === id);
    const own = id && !known ? [{ value: id, label: `#${id}` }, ...options] : options;
    const el = select(own, id ?? options[0].value, {});
    lists.push(el);
    rest.before(h("label", {}, name === "A" ? "A, what the others are held against" : name, el));
  };
  add(form, rest);
  const [first, ...others] = ids.length > 1 ? ids : [before(usable, ids[0]), ids[0] ?? String(usable[0].id)];
  offer(first);
  for (const id of others) offer(id);
  const more = button("Add a run", () => {
    offer(undefined);
    more.hidden = lists.length === MOST;
    lists[lists.length - 1].focus();
  });
  add(rest, more);
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    go(compareUrl(lists.map((l) => l.value)));
  });
  return form;
}

/**
 * What a run is held against: the baseline of its workload, else the run of it before.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>} null where there is none
 */
export async function counterpart(id, signal) {
  const run = await getRun(id, signal);
  const { runs } = await listRuns({ status: "done", q: run.name, limit: OFFERED }, signal);
  const others = runs.filter((r) => r.name === run.name && String(r.id) !== id);
  const found = others.find((r) => r.baseline) ?? others.find((r) => Number(r.id) < Number(id));
  return found ? String(found.id) : null;
}

/** The run before one (the newest), of the same workload if there is one.
 * @param {readonly import("../api/types.js").RunRow[]} runs @param {string | undefined} id */
function before(runs, id) {
  const run = runs.find((r) => String(r.id) === id) ?? runs[0];
  const others = runs.filter((r) => r !== run);
  return String((others.find((r) => r.name === run.name) ?? others[0]).id);
}

/** @param {number} n */
function none(n) {
  const text = n ? "One run is done; a comparison takes two. Run the same workload again, or another version of it." : "A comparison takes two runs that are done.";
  return stateWell(n ? "One run so far" : "No runs to compare", h("p", {}, text), h("div", { class: "acts" }, h("a", { class: "btn primary", href: "/new" }, "New run"), h("a", { class: "btn", href: "/runs" }, "All runs")));
}
