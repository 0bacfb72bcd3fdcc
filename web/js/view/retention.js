// js/view/retention.js -- what old runs lose and when: the server's rule, what a rule would take and free, and taking it.

import { h, button, headRow, scroller, section, stateWell, toast } from "./dom.js";
import { cards } from "./cards.js";
import { remember } from "./router.js";
import { getRetention, thinOut } from "../api/retention.js";
import { bytes, count, date, plural, stamp } from "../model/format.js";

/** @typedef {import("../api/retention.js").Retention} Retention */

const DAYS = 60;
const DAYS_MOST = 36500;

/** @param {import("./router.js").Context} ctx */
export async function retentionView(ctx) {
  ctx.setTitle("Retention");
  const asked = Number(ctx.query.get("days") ?? NaN);
  const first = await getRetention({ project: ctx.query.get("project") ?? "", ...(asked >= 0 && asked <= DAYS_MOST ? { days: asked } : {}) }, ctx.signal);
  if (!ctx.signal.aborted) new RetentionPage(ctx, first, asked).show(first);
}

class RetentionPage {
  #ctx;
  #days;
  #project;
  #rule;
  #place = h("div", { id: "retention" });
  #why = h("p", { class: "errline", role: "alert" });
  #act = button("Thin them out", () => this.#ask(), { class: "btn primary" });

  /** @param {import("./router.js").Context} ctx @param {Retention} first @param {number} asked */
  constructor(ctx, first, asked) {
    this.#ctx = ctx;
    this.#rule = first.days;
    this.#days = h("input", { class: "field", type: "number", min: "0", max: String(DAYS_MOST), step: "1", required: true, "aria-label": "Older than, in days" });
    this.#days.value = String(Number.isFinite(asked) ? asked : first.days || DAYS);
    this.#project = h("input", { class: "field", "aria-label": "Project; none: of all", placeholder: "every project", maxlength: 200 });
    this.#project.value = ctx.query.get("project") ?? "";
    const form = h("form", { class: "bar" }, h("label", { class: "small sub" }, "Older than ", this.#days, " days"), this.#project, h("button", { class: "btn" }, "See what would go"));
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.#read();
    });
    const rule = this.#rule
      ? `This server thins out runs that are older than ${plural(this.#rule, "day")}.`
      : "This server keeps all of every run: it was started without --keep-days.";
    const what = "A run that is pinned or a baseline is never thinned out. Others keep figures, verdicts, intervals, breaks with their costs, notes and histories; they lose samples, the timeline, values of calls, memory, and the nodes and code of graphs, for good.";
    ctx.main.replaceChildren(h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Retention"), h("p", { class: "sub small" }, rule)), h("div", { class: "acts" }, this.#act)), h("p", { class: "sub small" }, what, " ", h("a", { href: "/docs/archive" }, "The archive")), form, this.#why, this.#place);
  }

  /** @param {Retention} found */
  show(found) {
    const { total, runs } = found;
    this.#why.textContent = "";
    this.#act.hidden = !total;
    if (!total) return this.#place.replaceChildren(stateWell("Nothing would go", h("p", {}, "No run that has ended and is neither pinned nor a baseline is older than that and still has all that it measured.")));
    const rows = runs.map(row);
    const body = h("tbody", {}, rows);
    const table = h("table", { id: "old-runs" }, h("caption", { class: "vh" }, "Runs that would be thinned out, the oldest first"), headRow(["Run", "Project", "Date", ["Stored", "r"], ["Would free", "r"]]), body);
    const more = found.next ? h("div", { class: "acts" }, this.#moreButton(found.next, body, table)) : null;
    const text = `${plural(total, "run")} with ${bytes(found.stored_bytes)} of samples, graphs and timelines; ${runs.length < total ? `the first ${count(runs.length)} free` : "thinning out frees"} ${bytes(found.frees_bytes)}`;
    return this.#place.replaceChildren(section("What would go", text, null, scroller("Runs that would be thinned out, table", cards(table)), ...(more ? [more] : [])));
  }

  /** @param {number} cursor @param {HTMLElement} body @param {HTMLTableElement} table */
  #moreButton(cursor, body, table) {
    let next = cursor;
    const b = button("More", async () => {
      const found = await getRetention({ ...this.#of(), cursor: next }, this.#ctx.signal).catch((e) => this.#refused(e));
      if (!found) return;
      body.append(...found.runs.map(row));
      cards(table);
      next = found.next ?? 0;
      b.hidden = !next;
    });
    return b;
  }

  #of = () => ({ days: Number(this.#days.value), project: this.#project.value.trim() });

  /** @param {unknown} e */
  #refused(e) {
    if (!this.#ctx.signal.aborted) this.#why.textContent = e instanceof Error ? e.message : String(e);
    return null;
  }

  async #read() {
    const of = this.#of();
    remember({ days: String(of.days), project: of.project || null });
    const found = await getRetention(of, this.#ctx.signal).catch((e) => this.#refused(e));
    if (found) this.show(found);
  }

  /** What cannot be had back is asked for twice. */
  async #ask() {
    const of = this.#of();
    const found = await getRetention(of, this.#ctx.signal).catch((e) => this.#refused(e));
    if (!found) return;
    this.show(found);
    if (!found.total) return;
    const go = h("button", { class: "btn primary", value: "go" }, `Thin out ${plural(found.total, "run")}`);
    const form = h("form", { method: "dialog" }, h("h2", { id: "thin-title" }, `Thin out ${plural(found.total, "run")}?`), h("p", {}, `Older than ${plural(of.days, "day")}${of.project ? `, of project ${of.project}` : ", of every project"}. What goes cannot be had back; a backup keeps it.`), h("div", { class: "bar" }, go, h("button", { class: "btn", value: "" }, "Cancel")));
    const dialog = h("dialog", { class: "ask", "aria-labelledby": "thin-title" }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue === "go") this.#thin(of);
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  /** A hundred at a time, and how far it is. @param {{days: number, project: string}} of */
  async #thin({ days, project }) {
    let runs = 0;
    let freed = 0;
    this.#act.disabled = true;
    try {
      for (let more = true; more && !this.#ctx.signal.aborted; ) {
        const did = await thinOut(project ? { days, project } : { days });
        runs += did.runs;
        freed += did.bytes;
        more = did.more;
        this.#act.textContent = more ? `${count(runs)} thinned out` : "Thin them out";
      }
      toast(`${plural(runs, "run")} thinned out: ${bytes(freed)} freed. The file shrinks while the server has nothing to run.`);
      await this.#read();
    } catch (e) {
      this.#refused(e);
    }
    this.#act.disabled = false;
    this.#act.textContent = "Thin them out";
  }
}

/** @param {import("../api/retention.js").OldRun} r */
function row(r) {
  const ms = r.created_ns / 1e6;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("a", { href: `/runs/${encodeURIComponent(r.id)}` }, r.name, " ", h("span", { class: "mono dim" }, `#${r.id}`))),
    h("td", {}, r.project || h("span", { class: "dim" }, "none")),
    h("td", { class: "sub" }, h("time", { datetime: new Date(ms).toISOString(), title: stamp(ms) }, date(ms))),
    h("td", { class: "r" }, bytes(r.stored_bytes)),
    h("td", { class: "r" }, bytes(r.frees_bytes)),
  );
}
