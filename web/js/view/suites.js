// js/view/suites.js -- the list of suites, and the one that comes with the program.

import { h, button, chip, focusKept, headRow, loadStyle, say, scroller, section, stateWell } from "./dom.js";
import { cards } from "./cards.js";
import { jobsChanged, onKeys } from "./frame.js";
import { progressBar } from "./marks.js";
import { go, pause } from "./router.js";
import { removeSuites } from "./suite_changes.js";
import { listSuites, postSuite } from "../api/suites.js";
import { origin } from "../api/place.js";
import { age, count, plural, ratio, stamp } from "../model/format.js";
import { columnName, compared } from "../model/suite.js";

/** @typedef {import("../api/types.js").SuiteHead} SuiteHead */

const LIVE_MS = 2000;
const IDLE_MS = 15000;

/** @param {import("./router.js").Context} ctx */
export async function suitesView(ctx) {
  const styled = loadStyle("suites");
  ctx.setTitle("Suites");
  const place = h("div", { id: "suite-list" });
  const why = h("p", { class: "errline", role: "alert" });
  const acts = h("div", { class: "acts" }, runBlocks(why));
  ctx.main.replaceChildren(h("div", { class: "head list" }, h("div", { class: "titles" }, h("h1", {}, "Suites")), acts), why, place);
  const picked = new PickedSuites(place, () => load());
  onKeys(ctx.signal, { x: () => picked.toggle(), Delete: () => picked.remove() });
  const load = async () => {
    const { suites, total } = await listSuites(ctx.signal);
    await styled;
    if (ctx.signal.aborted) return false;
    picked.keep(suites);
    const back = focusKept(place);
    if (suites.length) place.replaceChildren(list(suites, total, picked), picked.bar);
    else if (!place.querySelector(".state")) place.replaceChildren(empty());
    back();
    return suites.some((s) => s.status === "running" || s.status === "queued");
  };
  let live = await load();
  while (await pause(live ? LIVE_MS : IDLE_MS, ctx.signal)) {
    if (document.hidden) continue;
    try {
      live = await load();
    } catch {
      /* asked again soon; the rows stay */
    }
  }
}

/** Suites that are selected in the list, to be deleted. */
class PickedSuites {
  /** @type {Map<string, SuiteHead>} */
  #all = new Map();
  /** @type {readonly SuiteHead[]} */
  #shown = [];
  #again;
  bar = h("div", { class: "picked", role: "region", "aria-label": "Selected suites", hidden: true });

  /** @param {HTMLElement} place of the boxes @param {() => unknown} again the list is to be read again */
  constructor(place, again) {
    this.#again = again;
    place.addEventListener("change", (e) => {
      const box = e.target;
      if (box instanceof HTMLInputElement && box.dataset.suite) this.#set(box.dataset.suite, box.checked);
    });
  }

  /** @param {SuiteHead} s */
  has = (s) => this.#all.has(String(s.id));

  /** What is no longer there is not selected any more. @param {readonly SuiteHead[]} shown */
  keep(shown) {
    this.#shown = shown;
    for (const id of [...this.#all.keys()]) if (!shown.some((s) => String(s.id) === id)) this.#all.delete(id);
    this.#draw();
  }

  /** x selects the suite that has the focus. */
  toggle() {
    const box = document.activeElement?.closest("tr")?.querySelector("input.pick");
    if (!(box instanceof HTMLInputElement) || box.disabled) return;
    box.checked = !box.checked;
    this.#set(String(box.dataset.suite), box.checked);
  }

  remove() {
    const suites = [...this.#all.values()];
    this.#all.clear();
    return suites.length ? removeSuites(suites, this.#again) : undefined;
  }

  /** @param {string} id @param {boolean} on */
  #set(id, on) {
    const suite = this.#shown.find((s) => String(s.id) === id);
    if (on && suite) this.#all.set(id, suite);
    else this.#all.delete(id);
    this.#draw();
    say(this.#all.size ? `${plural(this.#all.size, "suite")} selected.` : "");
  }

  #draw() {
    const runs = [...this.#all.values()].flatMap((s) => Object.values(s.runs)).reduce((a, b) => a + b, 0);
    const words = `${plural(this.#all.size, "suite")} selected, with ${plural(runs, "run")}`;
    const clear = () => {
      this.#all.clear();
      return this.#again();
    };
    this.bar.hidden = !this.#all.size;
    if (this.bar.firstElementChild?.textContent === words) return; // its buttons keep the focus
    this.bar.replaceChildren(h("span", { class: "grow" }, words), h("div", { class: "acts" }, button("Delete", () => this.remove()), button("Clear", clear)));
  }
}

/** @param {HTMLElement} why */
function runBlocks(why) {
  const b = button(
    "Run the model blocks",
    async () => {
      b.setAttribute("disabled", "");
      try {
        const { id } = await postSuite({ suite: "blocks" });
        jobsChanged();
        go(`/suites/${encodeURIComponent(id)}`);
      } catch (e) {
        b.removeAttribute("disabled");
        why.textContent = e instanceof Error ? e.message : String(e);
        say(why.textContent);
      }
    },
    { class: "btn primary" },
  );
  return b;
}

function empty() {
  const text =
    "A suite runs many workloads together and shows how many pass, how much faster they are compiled, and where their graphs break. The model blocks come with this server; the command posts a folder of your own.";
  const command = h("pre", { tabindex: 0, role: "region", "aria-label": "The command" }, `breakeven suite FOLDER --post ${origin()}`);
  return stateWell("No suites yet", h("p", {}, text), command);
}

/** @param {readonly SuiteHead[]} suites @param {number} total @param {PickedSuites} picked */
function list(suites, total, picked) {
  const rows = suites.map((s) => {
    const ms = s.created_ns / 1e6;
    const when = h("time", { datetime: new Date(ms).toISOString(), title: stamp(ms) }, age(ms, Date.now()));
    const live = s.status === "running" || s.status === "queued";
    const pick = h("input", { type: "checkbox", class: "pick", "aria-label": `Select ${s.name} #${s.id}`, data: { suite: String(s.id) }, disabled: live });
    pick.checked = picked.has(s);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, pick, " ", h("a", { href: `/suites/${encodeURIComponent(s.id)}` }, s.name), " ", h("span", { class: "mono dim" }, `#${s.id}`)),
      h("td", {}, state(s)),
      h("td", { class: "r" }, count(s.common.of)),
      h("td", { class: "wrap" }, passed(s)),
      h("td", { class: "wrap" }, speedups(s)),
      h("td", { class: "r sub" }, when),
    );
  });
  const head = headRow(["Suite", "Status", ["Workloads", "r"], "Did not pass", "Geomean over the common set", ["Age", "r"]]);
  const table = h("table", {}, h("caption", { class: "vh" }, "Suites, newest first"), head, h("tbody", {}, rows));
  return section("All suites", suites.length < total ? `the newest ${count(suites.length)} of ${plural(total, "suite")}` : plural(total, "suite"), null, scroller("Suites, table", cards(table)));
}

/** @param {SuiteHead} s */
function state(s) {
  if (s.status !== "running") return chip(s.status, s.status);
  return h("span", {}, progressBar(s.progress, 96), ` ${Math.round(100 * s.progress)} %`);
}

/** @param {SuiteHead} s */
function passed(s) {
  const bad = s.columns.filter((c) => c.failed || c.disagrees);
  if (!bad.length) return h("span", { class: "dim" }, "nothing");
  return bad.map((c) => `${columnName(c)}: ${count(c.failed + c.disagrees)}`).join(" · ");
}

/** @param {SuiteHead} s */
function speedups(s) {
  const parts = compared(s.columns).flatMap((c) =>
    c.geomean.common.speedup === null ? [] : [`${columnName(c)} ${ratio(c.geomean.common.speedup, c.geomean.common.speedup_ci).text}`],
  );
  return parts.length ? parts.join(" · ") : h("span", { class: "dim" }, ["done", "failed", "cancelled"].includes(s.status) ? "none" : "none yet");
}
