// js/view/export.js -- the menu of what a run can be exported as.
//
// The server has the list (GET /api/v1/formats); it is asked for when the menu is opened
// first.  One box leaves out source, paths and names in all of them.

import { add, button, h, toast } from "./dom.js";
import { progressBar } from "./marks.js";
import { cancelExport, fileUrl, getExports, getFormats } from "../api/client.js";
import { fileStem } from "../model/commands.js";
import { bytes } from "../model/format.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Format} Format */

const LOOK_MS = 400;
/** An export that was asked for has begun by then, or is there. */
const BEGINS_MS = 2000;

/** What csv has of a run; a recording has no modes of its own. */
const TABLES = { kernels: "Kernels", modes: "Modes", breaks: "Breaks" };

/** @param {Run} run @param {import("../api/types.js").Format[]} formats */
function linksOf(run, formats) {
  const id = String(run.id);
  const stem = `${fileStem(run.name)}_${id}`;
  const graphs = Object.values(run.report?.modes ?? {}).concat((run.report?.points ?? []).flatMap((p) => Object.values(p.modes)));
  const drawn = graphs.some((m) => (m.graphs ?? []).some((g) => (g.nodes ?? []).length));
  /** @type {{label: string, href: string, name: string}[]} */
  const links = [];
  for (const f of formats) {
    if ((f.name === "dot" || f.name === "svg") && !drawn) continue;
    const tables = f.name === "csv" ? Object.entries(TABLES) : [["", ""]];
    for (const [table, title] of tables)
      links.push({
        label: title ? `${title}, CSV` : f.title,
        href: `${fileUrl(id, "export")}?format=${f.name}${table ? `&table=${table}` : ""}`,
        name: `${stem}${table ? `_${table}` : ""}.${f.extension}`,
      });
  }
  return links;
}

/** One that the server is writing: its row, and what shows how far it is.
 * @param {Run} run @param {number} id @param {string} title */
function underWay(run, id, title) {
  const [far, bar] = [h("p"), h("div")];
  const cancel = async () => {
    try {
      await cancelExport(String(run.id), id);
    } catch (why) {
      toast(`The export was not cancelled: ${why instanceof Error ? why.message : why}`);
    }
  };
  const el = h("li", {}, far, bar, button("Cancel", cancel, { class: "btn link", "aria-label": `Cancel ${title}` }));
  const update = (/** @type {import("../api/types.js").ExportUnderWay} */ e) => {
    const read = `${Math.round(100 * e.share)} % of the timeline read`;
    const state = [e.share > 0 ? read : "", e.bytes > 0 ? `${bytes(e.bytes)} written` : ""].filter(Boolean).join(", ");
    far.textContent = `${title}: ${e.cancelled ? "being cancelled" : state || "starting"}`;
    bar.replaceChildren(progressBar(e.share));
  };
  return { el, update };
}

/** Shows in `list` how far the exports of the run are, for as long as there is one or one may begin.
 * @param {Run} run @param {HTMLElement} list @param {(format: string) => string} titleOf */
function exportsWatch(run, list, titleOf) {
  /** @type {Map<number, ReturnType<typeof underWay>>} */
  const shown = new Map();
  let [until, looks] = [0, false];
  const draw = (/** @type {import("../api/types.js").ExportUnderWay[]} */ exports) => {
    for (const [id, row] of shown)
      if (!exports.some((e) => e.id === id)) {
        row.el.remove();
        shown.delete(id);
      }
    for (const e of exports) {
      const row = shown.get(e.id) ?? underWay(run, e.id, titleOf(e.format));
      if (!shown.has(e.id)) add(list, row.el);
      shown.set(e.id, row);
      row.update(e);
    }
    list.hidden = !exports.length;
  };
  const look = async () => {
    looks = true;
    while (list.isConnected && (shown.size || Date.now() < until)) {
      draw(await getExports(String(run.id)).then((answer) => answer.exports, () => []));
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
    looks = false;
  };
  return () => {
    until = Date.now() + BEGINS_MS;
    if (!looks) look();
  };
}

/** @param {Run} run */
export function exportMenu(run) {
  const list = h("ul");
  const box = h("input", { type: "checkbox" });
  const label = h("label", {}, box, "Without source, paths and names");
  const writing = h("ul", { class: "writing small", hidden: true });
  const panel = h("div", { class: "panel" }, writing, list, label);
  const menu = h("details", { class: "export" }, h("summary", { class: "btn" }, "Export"), panel);
  const script = run.workload?.trace ? null : h("a", { href: fileUrl(String(run.id), "script.py"), download: `${fileStem(run.name)}_pytorch.py` }, "PyTorch script");
  /** @type {ReturnType<typeof linksOf>} */
  let links = [];
  /** @type {Format[]} */
  let formats = [];
  const watch = exportsWatch(run, writing, (name) => formats.find((f) => f.name === name)?.title ?? name);
  const draw = () => {
    const redact = box.checked ? "&redact=1" : "";
    const items = links.map((l) => h("li", {}, h("a", { href: l.href + redact, download: l.name }, l.label)));
    list.replaceChildren(...items);
    if (script && !box.checked) add(list, h("li", {}, script));
  };
  const load = async () => {
    try {
      formats = (await getFormats()).formats;
      links = linksOf(run, formats);
      draw();
    } catch (e) {
      list.replaceChildren(h("li", { class: "small" }, `The formats could not be read: ${e instanceof Error ? e.message : e}`));
    }
  };
  box.addEventListener("change", draw);
  menu.addEventListener("toggle", async () => {
    if (menu.open && !links.length) await load(); // what is under way is called by their titles
    if (menu.open) watch();
  });
  list.addEventListener("click", (e) => {
    if (e.target instanceof HTMLAnchorElement) watch();
  });
  menu.addEventListener("keydown", (e) => {
    if (e.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
  menu.addEventListener("focusout", (e) => {
    if (e.relatedTarget instanceof Node && !menu.contains(e.relatedTarget)) menu.open = false;
  });
  return menu;
}
