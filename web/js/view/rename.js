// js/view/rename.js -- name and tags of a run, edited where they stand.

import { button, h } from "./dom.js";
import { changeRuns, tagsOf } from "./run_changes.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */

/**
 * The fields, for the place of the name.  Enter saves, Escape leaves it as it was.
 * @param {RunRow} run @param {(changed: boolean) => unknown} onEnd
 */
export function renameForm(run, onEnd) {
  const name = h("input", { class: "field", "aria-label": "Name", maxlength: 200, required: true });
  const tags = h("input", { class: "field", "aria-label": "Tags, separated by commas", placeholder: "tag, another" });
  name.value = run.name;
  tags.value = (run.tags ?? []).join(", ");
  const form = h("form", { class: "rename" }, name, tags, h("button", { class: "btn primary" }, "Save"), button("Cancel", () => onEnd(false)));
  form.addEventListener("keydown", (e) => {
    if (e.key === "Escape") onEnd(false);
    e.stopPropagation();
  });
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    /** @type {{name?: string, tags?: string[]}} */
    const change = {};
    if (name.value.trim() !== run.name) change.name = name.value.trim();
    if (tagsOf(tags.value).join("\n") !== (run.tags ?? []).join("\n")) change.tags = tagsOf(tags.value);
    if (!Object.keys(change).length) return onEnd(false);
    const what = change.name ? `renamed to ${change.name}` : `tagged ${change.tags?.join(", ") || "nothing"}`;
    return changeRuns([run], () => change, what, () => onEnd(true));
  });
  queueMicrotask(() => name.select());
  return form;
}

/** What begins it. @param {RunRow} run @param {() => void} act */
export const renameButton = (run, act) => button("✎", act, { class: "pen", title: "Name and tags", "aria-label": `Name and tags of ${run.name} #${run.id}` });

/** @param {RunRow} run */
export const tagMarks = (run) => [run.pinned ? h("span", { class: "tag on" }, "pinned") : null, run.baseline ? h("span", { class: "tag on" }, "baseline") : null, ...(run.tags ?? []).map((t) => h("span", { class: "tag" }, t))];
