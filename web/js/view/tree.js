// js/view/tree.js -- the files of a program as a tree.

import { h, button } from "./dom.js";
import { treeOf } from "../model/program.js";

/**
 * @param {readonly string[]} paths
 * @param {{entry: string, note?: (path: string) => string, choose: (path: string) => void}} how entry: its path;
 *   note: what is shown beside a name
 * @returns {{el: HTMLElement, show: (path: string) => void}} show marks the file that is shown
 */
export function fileTree(paths, { entry, note, choose }) {
  /** @param {readonly import("../model/program.js").Tree[]} level @returns {HTMLElement} */
  const list = (level) =>
    h("ul", {}, level.map((t) => {
      if (t.below) return h("li", {}, h("details", { open: true }, h("summary", {}, `${t.name}/`), list(t.below)));
      const said = [t.path === entry ? "entry" : "", note?.(t.path) ?? ""].filter(Boolean).join(", ");
      const open = button(t.name, () => choose(t.path), { class: "btn link", "data-path": t.path });
      return h("li", {}, open, said ? h("span", { class: "small sub" }, said) : null);
    }));
  const el = h("nav", { class: "tree", "aria-label": "Files" }, list(treeOf(paths)));
  const show = (/** @type {string} */ path) => {
    for (const b of /** @type {NodeListOf<HTMLElement>} */ (el.querySelectorAll("[data-path]"))) {
      if (b.dataset.path === path) b.setAttribute("aria-current", "true");
      else b.removeAttribute("aria-current");
    }
  };
  return { el, show };
}
