// js/view/fields.js -- the form's fields: inputs, modes, device, sweep.
//
// Every field writes straight into the form's state and calls `changed`; an
// error is shown below the field it belongs to, tied by aria-describedby.

import { h, add, select } from "./dom.js";
import { modeMark } from "./marks.js";
import { BUILT } from "../model/modes.js";
import { DTYPES, KINDS, extent } from "../model/workload.js";

/** @typedef {import("../model/workload.js").Form} Form */

/** @param {readonly string[]} values @returns {{value: string, label: string}[]} */
const options = (values) => values.map((v) => ({ value: v, label: v }));

/** A text field that writes into the state. @param {Form} f @param {"name" | "threads" | "counts" | "sizes" | "dim" | "project" | "tags"} key @param {string} label @param {() => void} changed @param {import("./dom.js").Attributes} [more] */
function textField(f, key, label, changed, more = {}) {
  const el = h("input", { class: "field", type: "text", "aria-label": label, autocomplete: "off", data: { field: key }, ...more });
  el.value = f[key];
  el.addEventListener("input", () => { f[key] = el.value; changed(); });
  return el;
}

/** @param {Form} f @param {() => void} changed */
export function inputsPart(f, changed) {
  const set = h("fieldset", { id: "inputs" }, h("legend", {}, "Inputs"));
  if (!f.inputs.length) add(set, h("p", { class: "hint" }, `${f.entry} takes no arguments.`));
  f.inputs.forEach((row, i) => {
    const line = h("div", { class: "inp", data: { field: `input-${i}` } }, h("code", { title: row.name }, row.name));
    const fill = () => {
      while (line.children.length > 1) line.lastChild?.remove();
      const kinds = [...options(KINDS), { value: "value", label: "a value" }, ...(row.raw && !row.raw.random && !("value" in row.raw) ? [{ value: "given", label: "as given" }] : [])];
      const kind = select(kinds, row.kind, { "aria-label": `Values of ${row.name}` }, (v) => { row.kind = v; fill(); changed(); kindNow()?.focus(); });
      const kindNow = () => /** @type {HTMLElement | null} */ (line.querySelector("select:last-of-type"));
      if (row.kind === "value") {
        const value = h("input", { class: "field mono span", type: "text", "aria-label": `Value of ${row.name}`, placeholder: "2.5, True or \"sum\"" });
        value.value = row.text;
        value.addEventListener("input", () => { row.text = value.value; changed(); });
        return add(line, value, kind);
      }
      const given = row.kind === "given";
      const shape = h("input", { class: "field mono", type: "text", "aria-label": `Shape of ${row.name}`, placeholder: "scalar", disabled: given, autocomplete: "off" });
      shape.value = row.shape;
      shape.addEventListener("input", () => { row.shape = shape.value; changed(); });
      const dtype = select(options(DTYPES), row.dtype || "float32", { "aria-label": `Type of ${row.name}`, disabled: given }, (v) => { row.dtype = v; changed(); });
      return add(line, shape, dtype, kind);
    };
    fill();
    add(set, line);
  });
  if (f.moreCalls.length) add(set, h("p", { class: "hint" }, `The workload has ${f.moreCalls.length + 1} calls: the fields edit the first, the others are kept as they are.`));
  return set;
}

/** @param {Form} f @param {() => void} changed */
export function modesPart(f, changed) {
  const grid = h("div", { class: "grid thirds", data: { field: "modes" } });
  for (const m of BUILT) {
    const box = h("input", { type: "checkbox", data: { mode: m } });
    box.checked = f.modes.includes(m);
    box.addEventListener("change", () => {
      f.modes = BUILT.filter((x) => (x === m ? box.checked : f.modes.includes(x)));
      changed();
    });
    add(grid, h("label", {}, box, " ", modeMark(m)));
  }
  return h("fieldset", {}, h("legend", {}, "Modes"), grid, h("p", { class: "hint" }, "Speedups are against eager: leave it in to get a verdict."));
}

/** @param {Form} f @param {() => void} changed */
export function devicePart(f, changed) {
  const backends = [{ value: "", label: "best backend" }, { value: "cpu", label: "generated C" }, { value: "interp", label: "interpreter" }];
  return h("fieldset", {}, h("legend", {}, "Device: CPU"),
    h("div", { class: "grid backend" },
      h("label", { class: "up" }, "Backend", select(backends, f.backend, { id: "backend" }, (v) => { f.backend = v; changed(); })),
      h("label", { class: "up" }, "Threads", textField(f, "threads", "Threads", changed, { inputmode: "numeric", placeholder: "all" }))),
    h("p", { class: "hint" }, "Generated C goes through the system's compiler; the interpreter needs none and compiles in no time."));
}

/** @param {Form} f @param {() => void} changed */
export function sweepPart(f, changed) {
  const place = h("div", { class: "sweep" });
  const hint = h("p", { class: "hint", id: "extent" });
  const fill = () => {
    place.replaceChildren();
    if (f.sweep === "statements") {
      const pool = h("textarea", { class: "field mono pool", id: "pool", rows: 6, spellcheck: "false", wrap: "off", data: { field: "pool" } });
      pool.value = f.pool;
      pool.addEventListener("input", () => { f.pool = pool.value; changed(); });
      add(place, h("label", { class: "up" }, "Pool, one statement a line", pool), h("label", { class: "up" }, "Counts", textField(f, "counts", "Counts", changed, { class: "field mono" })),
        h("p", { class: "hint" }, "The first n statements, cycling, stand where the source has a line of three dots."));
    }
    if (f.sweep === "input") {
      const args = f.inputs.map((r, i) => ({ value: String(i), label: r.name }));
      add(place, h("div", { class: "grid" },
        h("label", { class: "up" }, "Input", select(args, f.arg, { id: "sweep-arg" }, (v) => { f.arg = v; changed(); })),
        h("label", { class: "up" }, "Dimension", textField(f, "dim", "Dimension", changed, { inputmode: "numeric" }))),
      h("label", { class: "up" }, "Sizes", textField(f, "sizes", "Sizes", changed, { class: "field mono", placeholder: "512, 1024, 2048" })));
    }
  };
  const what = [{ value: "nothing", label: "nothing: one point" }, { value: "statements", label: "statements in the body" }, { value: "input", label: "the size of an input" }];
  const chooser = select(what, f.sweep, { id: "sweep", data: { field: "sweep" } }, (v) => {
    f.sweep = /** @type {Form["sweep"]} */ (v);
    fill();
    changed();
  });
  fill();
  return { el: h("fieldset", {}, h("legend", {}, "Sweep"), h("label", { class: "up" }, "What varies", chooser), place, hint), update: () => { hint.textContent = extent(f); } };
}

/** @param {Form} f @param {() => void} changed */
export function filingPart(f, changed) {
  return h("fieldset", {}, h("legend", {}, "Filing"),
    h("label", { class: "up" }, "Name", textField(f, "name", "Name", changed, { id: "name" })),
    h("div", { class: "grid" },
      h("label", { class: "up" }, "Project", textField(f, "project", "Project", changed)),
      h("label", { class: "up" }, "Tags", textField(f, "tags", "Tags", changed, { placeholder: "nightly, main" }))));
}

/** Shows each error below its field; fields without one lose theirs.
 * @param {HTMLElement} form @param {readonly import("../model/workload.js").FieldError[]} errors */
export function showErrors(form, errors) {
  for (const old of form.querySelectorAll(".errline.of-field")) old.remove();
  for (const el of form.querySelectorAll("[aria-invalid]")) { el.removeAttribute("aria-invalid"); el.removeAttribute("aria-describedby"); }
  for (const { field, message } of errors) {
    const el = form.querySelector(`[data-field="${field}"]`);
    if (!el) continue;
    const line = h("p", { class: "errline of-field", id: `error-${field}` }, message);
    const label = el.closest("label") ?? el;
    const control = el.matches("input, textarea, select") ? el : el.querySelector("input, select");
    control?.setAttribute("aria-invalid", "true");
    control?.setAttribute("aria-describedby", line.id);
    label.after(line);
  }
}
