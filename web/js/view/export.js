// js/view/export.js -- the menu of what a run can be exported as.
//
// The server has the list (GET /api/v1/formats); it is asked for when the menu is opened
// first.  One box leaves out source, paths and names in all of them.

import { h, add } from "./dom.js";
import { fileUrl, getFormats } from "../api/client.js";
import { fileStem } from "../model/commands.js";

/** @typedef {import("../api/types.js").Run} Run */

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

/** @param {Run} run */
export function exportMenu(run) {
  const list = h("ul");
  const box = h("input", { type: "checkbox" });
  const label = h("label", {}, box, "Without source, paths and names");
  const panel = h("div", { class: "panel" }, list, label);
  const menu = h("details", { class: "export" }, h("summary", { class: "btn" }, "Export"), panel);
  const script = run.workload?.trace ? null : h("a", { href: fileUrl(String(run.id), "script.py"), download: `${fileStem(run.name)}_pytorch.py` }, "PyTorch script");
  /** @type {ReturnType<typeof linksOf>} */
  let links = [];
  const draw = () => {
    const redact = box.checked ? "&redact=1" : "";
    const items = links.map((l) => h("li", {}, h("a", { href: l.href + redact, download: l.name }, l.label)));
    list.replaceChildren(...items);
    if (script && !box.checked) add(list, h("li", {}, script));
  };
  const load = async () => {
    try {
      links = linksOf(run, (await getFormats()).formats);
      draw();
    } catch (e) {
      list.replaceChildren(h("li", { class: "small" }, `The formats are not known: ${e instanceof Error ? e.message : e}`));
    }
  };
  box.addEventListener("change", draw);
  menu.addEventListener("toggle", () => {
    if (menu.open && !links.length) load();
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
