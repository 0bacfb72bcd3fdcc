// js/view/views.js -- filters that people keep under a name: chosen, kept, renamed and removed in a dialog.

import { h, button, toast } from "./dom.js";
import { go } from "./router.js";
import { deleteView, listViews, patchView, postView } from "../api/views.js";
import { viewText, viewUrl } from "../model/views.js";

/** @typedef {import("../api/views.js").View} View */
/** @typedef {{query: Record<string, string>, project: string}} Now what the page shows, and the project that it is filtered by */

/** @param {import("../api/views.js").ViewPage} page @param {() => Now} now */
export async function openViews(page, now) {
  const place = h("div");
  const why = h("p", { class: "errline", role: "alert" });
  const title = h("h2", { id: "views-title" }, "Views");
  const dialog = h("dialog", { class: "ask", "aria-labelledby": "views-title" }, title, place, why, keepForm(page, now, tell(why, () => fill())), h("div", { class: "acts" }, button("Close", () => dialog.close())));
  const fill = async () => {
    const { views } = await listViews(page);
    place.replaceChildren(...(views.length ? views.map((v) => row(v, dialog, tell(why, fill))) : [h("p", { class: "sub" }, "None is kept yet: a view is a filter under a name.")]));
  };
  dialog.addEventListener("close", () => dialog.remove());
  await tell(why, fill)(async () => {});
  document.body.append(dialog);
  dialog.showModal();
}

/** Does it, says why it could not, else draws again. @param {HTMLElement} why @param {() => Promise<void>} again */
const tell = (why, again) => async (/** @type {() => Promise<unknown>} */ act) => {
  why.textContent = "";
  try {
    await act();
    await again();
    return true;
  } catch (e) {
    why.textContent = e instanceof Error ? e.message : String(e);
    return false;
  }
};

/** @typedef {ReturnType<typeof tell>} Try */

/** @param {View} view @param {HTMLDialogElement} dialog @param {Try} attempt */
function row(view, dialog, attempt) {
  const open = h("a", { href: viewUrl(view) }, view.name);
  open.addEventListener("click", (e) => {
    e.preventDefault();
    dialog.close();
    go(viewUrl(view));
  });
  const of = h("span", { class: "sub small" }, [view.project, viewText(view)].filter(Boolean).join(": "));
  const name = h("span", { class: "vh" }, ` ${view.name}`);
  const line = h("div", { class: "bar" }, h("span", { class: "grow" }, open, " ", of));
  const remove = button("Delete", () => attempt(() => deleteView(view.id)).then((did) => did && toast(`The view ${view.name} is deleted.`)));
  remove.append(name.cloneNode(true));
  const rename = button("Rename", () => line.replaceChildren(renameForm(view, attempt, () => line.replaceChildren(...whole))));
  rename.append(name);
  const whole = [line.firstElementChild, h("span", { class: "acts" }, rename, remove)].filter((x) => x !== null);
  line.replaceChildren(...whole);
  return line;
}

/** @param {View} view @param {Try} attempt @param {() => void} back */
function renameForm(view, attempt, back) {
  const field = h("input", { class: "field grow", "aria-label": `New name of ${view.name}`, maxlength: 80, required: true });
  field.value = view.name;
  const form = h("form", { class: "bar grow" }, field, h("button", { class: "btn primary" }, "Save"), button("Cancel", back));
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    attempt(() => patchView(view.id, { name: field.value }));
  });
  queueMicrotask(() => field.select());
  return form;
}

/** @param {import("../api/views.js").ViewPage} page @param {() => Now} now @param {Try} attempt */
function keepForm(page, now, attempt) {
  const { query, project } = now();
  const field = h("input", { class: "field grow", "aria-label": "Name of the view", placeholder: "Name", maxlength: 80, required: true });
  const form = h("form", { class: "bar" }, field, h("button", { class: "btn primary" }, "Keep this view"));
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const name = field.value.trim();
    if (!(await attempt(() => postView({ name, project, page, query })))) return;
    field.value = "";
    toast(`The view ${name} is kept${project ? `, for project ${project}` : ""}.`);
  });
  return form;
}
