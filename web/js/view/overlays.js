// js/view/overlays.js -- which series lie over a run's own: published ones, those of another run
// of this store, those of a file.
//
// The address remembers all but files, whose text is in this page alone.

import { h, add, button, say } from "./dom.js";
import { remember } from "./router.js";
import { getRun } from "../api/client.js";
import { date } from "../model/format.js";
import { overlayOfFile, overlayOfReport } from "../model/series_file.js";

/** @typedef {import("../model/published.js").Overlay} Overlay */
/** @typedef {import("../api/types.js").Run} Run */

const MOST_BYTES = 64 * 1024 * 1024;
const OF_RUN = /^run(\d+)$/;

/** Its curves as those of another; null where it has no sweep. @param {Run} other */
function ofRun(other) {
  const commit = other.commit ? `, commit ${other.commit.slice(0, 7)}` : "";
  const source = `${other.name} #${other.id}, ${(other.device ?? "").toUpperCase()}, ${date(other.created_ns / 1e6)}${commit}`;
  return other.report ? overlayOfReport(other.report, { key: `run${other.id}`, title: `${other.name} #${other.id}`, short: `#${other.id}`, source }) : null;
}

/** @param {ReadonlySet<Overlay>} on */
function sourcesText(on) {
  const each = [...on].map((p) => `Dotted: “${p.short}”: ${p.source}.`);
  const elsewhere = [...on].some((p) => !p.here && !OF_RUN.test(p.key));
  return [...each, elsewhere ? "Measured elsewhere: compare the shapes, not the microseconds." : ""].join(" ");
}

export class Overlays {
  #run;
  #signal;
  #changed;
  /** @type {Overlay[]} */
  #offered = [];
  #asked = new URLSearchParams(location.search).get("over");
  #list = h("span", { class: "overlays" });
  #why = h("p", { class: "errline", role: "alert" });
  #sources = h("p", { class: "small sub", id: "overlay-sources", hidden: true });
  /** @type {Set<Overlay>} those that are shown */
  on = new Set();
  /** @type {Node[]} */
  elements;

  /**
   * @param {Run} run whose curves they lie over @param {readonly Overlay[]} offered @param {AbortSignal} signal
   * @param {() => void} changed
   */
  constructor(run, offered, signal, changed) {
    this.#run = run;
    this.#signal = signal;
    this.#changed = changed;
    const asked = (this.#asked ?? "").split(",");
    for (const o of offered) this.#offer(o, this.#asked === null ? Boolean(o.here) : asked.includes(o.key));
    const acts = [button("Another run", () => this.#pick(), { class: "btn link" }), ...this.#opener()];
    this.elements = [h("fieldset", { class: "overlay" }, h("legend", {}, "Overlay"), this.#list, acts), this.#why, this.#sources];
    this.#say();
    for (const key of asked) if (OF_RUN.test(key)) this.#load(Number(key.slice(3)));
  }

  /** @param {Overlay} o @param {boolean} on */
  #offer(o, on) {
    this.#offered.push(o);
    if (on) this.on.add(o);
    const box = h("input", { type: "checkbox", data: { overlay: o.key } });
    box.checked = on;
    box.addEventListener("change", () => {
      if (box.checked) this.on.add(o);
      else this.on.delete(o);
      this.#tell();
    });
    add(this.#list, h("label", {}, box, o.title));
  }

  #say() {
    this.#sources.textContent = sourcesText(this.on);
    this.#sources.hidden = this.on.size === 0;
  }

  /** Shown again, and remembered. */
  #tell() {
    const keys = [...this.on].map((x) => x.key).filter((k) => !k.startsWith("file:"));
    remember({ over: keys.join(",") || (this.#offered.some((x) => x.here) ? "none" : "") });
    this.#why.textContent = "";
    this.#say();
    this.#changed();
  }

  /** @param {Overlay} o one that was chosen now */
  #addNew(o) {
    const known = this.#list.querySelector(`[data-overlay="${CSS.escape(o.key)}"]`);
    if (known) known.closest("label")?.remove();
    for (const old of this.#offered.filter((x) => x.key === o.key)) this.on.delete(old);
    this.#offered = this.#offered.filter((x) => x.key !== o.key);
    this.#offer(o, true);
    this.#tell();
    say(`${o.title} is overlaid.`);
  }

  async #pick() {
    const { pickRun } = await import("./run_picker.js");
    const fits = (/** @type {import("../api/types.js").RunRow} */ r) => typeof r.summary?.at_n === "number";
    const run = await pickRun({ title: "A run whose sweep is overlaid", like: this.#run.name, taken: [String(this.#run.id)], fits });
    if (run && !this.#signal.aborted) await this.#load(Number(run.id));
  }

  /** @param {number} id */
  async #load(id) {
    try {
      const o = ofRun(await getRun(String(id), this.#signal));
      if (this.#signal.aborted) return;
      if (o) this.#addNew(o);
      else this.#why.textContent = `Run #${id} has no sweep to overlay.`;
    } catch (e) {
      if (!this.#signal.aborted) this.#why.textContent = e instanceof Error ? e.message : String(e);
    }
  }

  #opener() {
    const file = h("input", { type: "file", accept: ".csv,.json", hidden: true, tabindex: -1, "aria-label": "A series from a file" });
    file.addEventListener("change", async () => {
      const chosen = file.files?.[0];
      file.value = "";
      if (chosen) await this.#read(chosen);
    });
    return [button("A file", () => file.click(), { class: "btn link", title: "CSV as exported from a chart (n, static_us, static_us_lo, ...), or a report as JSON" }), file];
  }

  /** @param {File} file */
  async #read(file) {
    try {
      if (file.size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES >> 20} MiB`);
      const o = overlayOfFile(file.name, await file.text());
      if (!this.#signal.aborted) this.#addNew(o);
    } catch (e) {
      this.#why.textContent = `${file.name} is not a series: ${e instanceof Error ? e.message : e}.`;
    }
  }
}
