// js/view/compare_runs.js -- the runs of a comparison, each with what changes it: chosen by search,
// added, left out, swapped.

import { h, add, button } from "./dom.js";
import { go } from "./router.js";
import { onKeys } from "./frame.js";
import { pickRun } from "./run_picker.js";
import { listRuns } from "../api/client.js";
import { compareUrl } from "../model/compare.js";
import { date } from "../model/format.js";

/** What the list says of a run, of a comparison or of the list of runs.
 * @typedef {{id: number | string, name: string, device?: string, project?: string | null, branch?: string,
 *   commit?: string, created_ns: number, modes?: readonly string[] | null}} Chosen */

const MOST = 8;

/** Of the place of a run its letter: A, B, ... @param {number} i */
const letter = (i) => String.fromCharCode(65 + i);

/** Runs by their numbers, as the list of runs has them; one that is not there has its number alone.
 * @param {readonly string[]} ids @param {AbortSignal} signal @returns {Promise<Chosen[]>} */
export async function runsOf(ids, signal) {
  const found = await Promise.all(ids.map((id) => listRuns({ q: `#${id}`, limit: 1 }, signal)));
  return found.map(({ runs }, i) => runs[0] ?? { id: ids[i], name: "no such run", created_ns: 0 });
}

/** The runs of a comparison as they are in the address. */
export class ComparedRuns {
  #ctx;
  #runs;

  /** @param {import("./router.js").Context} ctx @param {readonly Chosen[]} runs A first */
  constructor(ctx, runs) {
    this.#ctx = ctx;
    this.#runs = runs;
    onKeys(ctx.signal, { a: () => this.choose(0), b: () => this.choose(1), m: () => this.choose(runs.length), s: () => this.#swap() });
  }

  get #ids() {
    return this.#runs.map((r) => String(r.id));
  }

  /** What differs may not matter between other runs: what forces a comparison is asked for again.
   * @param {string[]} ids */
  #open(ids) {
    const query = new URLSearchParams(this.#ctx.query);
    query.delete("force");
    go(compareUrl(ids, query));
  }

  /** A run for a place: one that is there is replaced. @param {number} at */
  async choose(at) {
    const ids = this.#ids;
    if (at > ids.length) return this.start();
    if (at >= MOST) return;
    const run = await pickRun({ title: at ? `${letter(at)}: what is compared with A` : "A: what the others are compared with", like: this.#runs[at ? 0 : 1]?.name ?? this.#runs[0]?.name, taken: ids });
    if (!run || this.#ctx.signal.aborted) return;
    this.#open([...ids.slice(0, at), String(run.id), ...ids.slice(at + 1)]);
  }

  /** A, then B. */
  async start() {
    const a = await pickRun({ title: "A: what the others are compared with" });
    if (!a || this.#ctx.signal.aborted) return;
    const b = await pickRun({ title: "B: what is compared with A", like: a.name, taken: [String(a.id)] });
    if (!this.#ctx.signal.aborted) this.#open([a, b].flatMap((r) => (r ? [String(r.id)] : [])));
  }

  /** What to do where these cannot be compared: a run that is not there is replaced first. */
  mend() {
    const at = Math.max(0, this.#runs.findIndex((r) => !r.created_ns));
    return h("div", { class: "acts" }, button(`Choose another ${letter(at)}`, () => this.choose(at), { class: "btn primary" }), h("a", { class: "btn", href: "/runs" }, "Choose in the list"));
  }

  #swap() {
    const [a, b, ...more] = this.#ids;
    if (b) this.#open([b, a, ...more]);
  }

  /** What can be done with them, for the head of the page. */
  acts() {
    const n = this.#runs.length;
    return [
      n > 1 ? button("Swap A and B", () => this.#swap()) : null,
      n > 1 ? button("Add a run", () => this.choose(n), { disabled: n >= MOST }) : null,
      h("a", { class: "btn", href: "/runs" }, "All runs"),
    ];
  }

  list() {
    const rows = this.#runs.map((r, i) => this.#row(r, i));
    if (rows.length === 1) rows.push(h("li", {}, h("span", { class: "letter" }, "B"), button("Choose B", () => this.choose(1), { class: "btn primary" })));
    return h("ul", { class: "ab", "aria-label": "Runs that are compared" }, rows);
  }

  /** @param {Chosen} r @param {number} i */
  #row(r, i) {
    const spoken = h("span", { class: "vh" }, ` ${letter(i)}`);
    const change = button("Change", () => this.choose(i), { class: "btn link" });
    add(change, spoken);
    const acts = [change];
    if (this.#runs.length > 2) {
      const out = button("Remove", () => this.#open(this.#ids.filter((_, k) => k !== i)), { class: "btn link" });
      add(out, spoken.cloneNode(true));
      acts.push(out);
    }
    const facts = [r.device?.toUpperCase(), r.project, r.branch, r.created_ns ? date(r.created_ns / 1e6) : ""].filter(Boolean).join(", ");
    const commit = r.commit ? [", commit ", h("span", { class: "mono" }, r.commit.slice(0, 7), r.commit.endsWith("-dirty") ? "-dirty" : "")] : [];
    const name = r.created_ns ? h("a", { href: `/runs/${encodeURIComponent(r.id)}` }, r.name) : h("span", { class: "sub" }, r.name);
    return h("li", {}, h("span", { class: "letter" }, letter(i)), h("span", {}, name, " ", h("span", { class: "mono dim" }, `#${r.id}`), " ", h("span", { class: "sub" }, facts, commit), " ", h("span", { class: "small links" }, acts)));
  }
}
