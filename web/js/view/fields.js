// js/view/fields.js -- the form's fields: inputs, modes, device, sweep.
//
// Every field writes straight into the form's state and calls `changed`; an
// error is shown below the field it belongs to, tied by aria-describedby.

import { h, add, button, select } from "./dom.js";
import { modeMark } from "./marks.js";
import { BUILT } from "../model/modes.js";
import { DTYPES, KINDS, extent } from "../model/workload.js";

/** @typedef {import("../model/workload.js").Form} Form */
/** @typedef {import("../model/workload.js").InputRow} InputRow */
/** @typedef {import("./dom.js").Attributes} Attributes */

/** @param {readonly string[]} values */
const options = (values) => values.map((v) => ({ value: v, label: v }));

/** @param {string} label @param {Node} control */
const above = (label, control) => h("label", { class: "up" }, label, control);

/**
 * A control whose text is a member of the state.
 * @template {string} K
 * @param {"input" | "textarea"} tag
 * @param {Record<K, string>} state
 * @param {K} key
 * @param {() => void} changed
 * @param {Attributes} attributes
 */
function bound(tag, state, key, changed, attributes) {
  const el = h(tag, { class: "field", autocomplete: "off", ...attributes });
  el.value = state[key];
  el.addEventListener("input", () => {
    state[key] = el.value;
    changed();
  });
  return el;
}

/**
 * A one-line text field of the form.
 * @param {Form} f
 * @param {"name" | "threads" | "counts" | "sizes" | "dim" | "project" | "tags"} key
 * @param {string} label
 * @param {() => void} changed
 * @param {Attributes} [more]
 */
function textField(f, key, label, changed, more = {}) {
  return bound("input", f, key, changed, { type: "text", "aria-label": label, data: { field: key }, ...more });
}

/** @param {Form} f @param {() => void} changed @param {Node} proposed a place for proposals */
export function inputsPart(f, changed, proposed) {
  const rows = f.inputs.flatMap((row, i) => inputLine(row, i, changed));
  const calls = f.moreCalls.length + 1;
  const hint = !f.inputs.length
    ? `${f.entry} takes no arguments.`
    : calls > 1
      ? `The workload has ${calls} calls: these fields edit the first; the others stay as they are.`
      : "";
  return h(
    "fieldset",
    { id: "inputs" },
    h("legend", {}, "Inputs"),
    proposed,
    rows,
    hint ? h("p", { class: "hint" }, hint) : null,
  );
}

/**
 * Inputs that the program's text tells, and a button that takes them.
 * @param {import("../api/types.js").Proposal} p @param {() => void} take
 */
export function proposalPart(p, take) {
  const head = p.line ? ["Line ", String(p.line), " calls ", h("code", {}, p.entry), " so:"] : ["The source suggests inputs for ", h("code", {}, p.entry), ":"];
  const items = p.inputs.map((input) => h("li", {}, h("code", {}, `${input.name} = ${input.text}`), p.line ? null : h("span", { class: "hint" }, input.because)));
  const group = { class: "proposal", role: "group", "aria-label": "Proposed inputs" };
  return h("div", group, h("p", {}, head), h("ul", {}, items), button("Use these inputs", take, { class: "btn" }));
}

/** @param {InputRow} row @param {number} i @param {() => void} changed */
function inputLine(row, i, changed) {
  const line = h("div", { class: "inp", data: { field: `input-${i}` } });
  const why = h("p", { class: "hint why", hidden: !row.why }, `Proposed: ${row.why ?? ""}`);
  const typed = () => {
    row.typed = true;
    row.why = "";
    why.hidden = true;
    changed();
  };
  const fill = () =>
    line.replaceChildren(h("code", { title: row.named ? `${row.name}, given by keyword` : row.name }, row.named ? `${row.name}=` : row.name), ...valueFields(row, typed), kind());
  const kind = () => {
    const exact = row.raw && !row.raw.random && !("value" in row.raw) && row.raw.python === undefined;
    const kinds = [...options(KINDS), { value: "value", label: "a value" }, { value: "python", label: "Python" }];
    if (exact) kinds.push({ value: "given", label: "as given" });
    return select(kinds, row.kind, { "aria-label": `Values of ${row.name}` }, (v) => {
      row.kind = v;
      fill();
      typed();
      /** @type {HTMLElement} */ (line.lastElementChild).focus();
    });
  };
  fill();
  return [line, why];
}

/** Shape and type, or the value itself. @param {InputRow} row @param {() => void} changed @returns {HTMLElement[]} */
function valueFields(row, changed) {
  if (row.kind === "value" || row.kind === "python") {
    const expression = row.kind === "python";
    const attributes = {
      type: "text",
      class: "field mono span",
      "aria-label": `${expression ? "Expression" : "Value"} of ${row.name}`,
      placeholder: expression ? "torch.randn(8, 16)" : '2.5, True or "sum"',
    };
    return [bound("input", row, "text", changed, attributes)];
  }
  const disabled = row.kind === "given";
  const shape = {
    type: "text",
    class: "field mono",
    "aria-label": `Shape of ${row.name}`,
    placeholder: "scalar",
    disabled,
  };
  const dtype = select(
    options(DTYPES),
    row.dtype || "float32",
    { "aria-label": `Type of ${row.name}`, disabled },
    (v) => {
      row.dtype = v;
      changed();
    },
  );
  return [bound("input", row, "shape", changed, shape), dtype];
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
  const hint = h("p", { class: "hint" }, "Speedups are over eager: keep it selected to get a verdict.");
  return h("fieldset", {}, h("legend", {}, "Modes"), grid, hint);
}

const BACKENDS = [
  { value: "", label: "best backend" },
  { value: "cpu", label: "generated C" },
  { value: "interp", label: "interpreter" },
];

/**
 * @param {Form} f
 * @param {() => void} changed
 * @param {readonly import("../api/types.js").BackendInfo[]} there those of plugins are choices too
 * @param {import("../api/report.js").ReportHostState[]} hosts the server's own machine first
 */
export function devicePart(f, changed, there, hosts) {
  const more = there.filter((b) => b.plugin).map((b) => ({ value: b.name, label: b.name }));
  const backend = select([...BACKENDS, ...more], f.backend, { id: "backend" }, (v) => {
    f.backend = v;
    changed();
  });
  const threads = textField(f, "threads", "Threads", changed, { inputmode: "numeric", placeholder: "all" });
  const gpu = there.some((b) => b.name === "cuda" && b.available) || f.device === "cuda" || hosts.length > 1;
  const devices = [{ value: "cpu", label: "CPU" }, ...(gpu ? [{ value: "cuda", label: "NVIDIA GPU" }] : [])];
  const device = select(devices, f.device, { id: "device" }, (v) => {
    f.device = v;
    changed();
  });
  const policy = select(POLICIES, f.policy, { id: "policy" }, (v) => {
    f.policy = v;
    changed();
  });
  const first = h("div", { class: "grid" }, above("Device", device), above("Policy", policy));
  const grid = h("div", { class: "grid backend" }, above("Backend", backend), above("Threads", threads));
  const hint = "Policy dynamo breaks where torch.compile would, native as rarely as it can. Generated C needs the system's compiler; the interpreter needs none and compiles at once.";
  return h("fieldset", {}, h("legend", {}, "Device and policy"), hostChoice(f, changed, hosts), first, grid, h("p", { class: "hint" }, hint));
}

/**
 * The machine, where the server hands runs to others, or the run had another.
 * @param {Form} f @param {() => void} changed @param {import("../api/report.js").ReportHostState[]} hosts
 */
function hostChoice(f, changed, hosts) {
  const others = hosts.filter((host) => host.name !== "local").map(({ name, title }) => ({ value: name, label: title ? `${name}: ${title}` : name }));
  if (f.host && !others.some((o) => o.value === f.host)) others.push({ value: f.host, label: `${f.host}, none of this server's` });
  if (!others.length) return null;
  const choice = select([{ value: "", label: "this server's own" }, ...others], f.host, { id: "host" }, (v) => {
    f.host = v;
    changed();
  });
  return h("div", { class: "grid" }, above("Machine", choice));
}

const POLICIES = [
  { value: "", label: "dynamo" },
  { value: "native", label: "native" },
];

const AUTOCAST = [
  { value: "", label: "off" },
  { value: "bfloat16", label: "bfloat16" },
  { value: "float16", label: "float16" },
];

/** @param {Form} f @param {() => void} changed */
export function precisionPart(f, changed) {
  const chooser = select(AUTOCAST, f.autocast, { id: "autocast" }, (v) => {
    f.autocast = v;
    changed();
  });
  const hint = "Each call runs under torch.autocast. Every mode is also measured without it, in the same rounds.";
  const grad = h("input", { type: "checkbox", id: "grad" });
  grad.checked = f.grad;
  grad.addEventListener("change", () => {
    f.grad = grad.checked;
    changed();
  });
  const grid = h("div", { class: "grid" }, above("Autocast", chooser), h("label", { class: "low" }, grad, " Run backward too"));
  return h("fieldset", {}, h("legend", {}, "Gradient and precision"), grid, h("p", { class: "hint" }, hint));
}

/**
 * PyTorch beside Breakeven, where the server has it; of a run that had it elsewhere too.
 * @param {Form} f
 * @param {() => void} changed
 * @param {readonly import("../api/types.js").EngineInfo[]} engines
 */
export function enginePart(f, changed, engines) {
  const torch = engines.find((e) => e.name === "torch");
  if (!torch?.available && !f.torch) return null;
  const box = h("input", { type: "checkbox", id: "engine-torch" });
  box.checked = f.torch;
  box.addEventListener("change", () => {
    f.torch = box.checked;
    changed();
  });
  const hint = torch?.available
    ? `PyTorch ${torch.version} of this server runs the same modes in a process of its own, after Breakeven's; it takes longer to compile.`
    : `This server has no PyTorch: ${torch?.why_not ?? "it is switched off"}`;
  return h("fieldset", {}, h("legend", {}, "Engines"), h("label", {}, box, " PyTorch too"), h("p", { class: "hint" }, hint));
}

/**
 * Switches of the passes that may be left out.
 * @param {Form} f
 * @param {() => void} changed
 * @param {readonly import("../api/types.js").PassInfo[]} passes
 */
export function passesPart(f, changed, passes) {
  const grid = h("div", { class: "grid thirds", data: { field: "passes" } });
  for (const p of passes.filter((x) => !x.required)) {
    const box = h("input", { type: "checkbox", data: { pass: p.name } });
    box.checked = !f.off.includes(p.name);
    box.addEventListener("change", () => {
      f.off = box.checked ? f.off.filter((name) => name !== p.name) : [...f.off, p.name];
      changed();
    });
    add(grid, h("label", { title: p.purpose }, box, " ", h("code", {}, p.name)));
  }
  const always = passes.filter((p) => p.required).map((p) => p.name);
  const names = `${always.slice(0, -1).join(", ")} and ${always[always.length - 1]}`;
  const hint = `Values are the same without any of them. ${names} always run, because others need their results.`;
  return h("fieldset", { id: "passes" }, h("legend", {}, "Passes"), grid, h("p", { class: "hint" }, hint));
}

const VARIES = [
  { value: "nothing", label: "nothing: one point" },
  { value: "statements", label: "statements in the body" },
  { value: "input", label: "the size of an input" },
];

/** @param {Form} f @param {() => void} changed */
export function sweepPart(f, changed) {
  const place = h("div", { class: "sweep" });
  const hint = h("p", { class: "hint", id: "extent" });
  const fill = () => place.replaceChildren(...sweepFields(f, changed));
  const chooser = select(VARIES, f.sweep, { id: "sweep", data: { field: "sweep" } }, (v) => {
    f.sweep = /** @type {Form["sweep"]} */ (v);
    fill();
    changed();
  });
  fill();
  const update = () => {
    hint.textContent = extent(f);
  };
  return { el: h("fieldset", {}, h("legend", {}, "Sweep"), above("What varies", chooser), place, hint), update };
}

/** @param {Form} f @param {() => void} changed @returns {HTMLElement[]} */
function sweepFields(f, changed) {
  if (f.sweep === "statements") {
    const pool = {
      class: "field mono pool",
      id: "pool",
      rows: 6,
      spellcheck: "false",
      wrap: "off",
      data: { field: "pool" },
    };
    return [
      above("Pool, one statement per line", bound("textarea", f, "pool", changed, pool)),
      above("Counts", textField(f, "counts", "Counts", changed, { class: "field mono" })),
      h("p", { class: "hint" }, "The first n statements, cycling, replace a line of three dots."),
    ];
  }
  if (f.sweep === "input") {
    const args = f.inputs.map((r, i) => ({ value: String(i), label: r.name }));
    if (f.arg === "n" || f.inputs.some((r) => r.kind === "python")) args.push({ value: "n", label: "n of the expressions" });
    const dim = above("Dimension", textField(f, "dim", "Dimension", changed, { inputmode: "numeric" }));
    const arg = select(args, f.arg, { id: "sweep-arg" }, (v) => {
      f.arg = v;
      dim.hidden = v === "n";
      changed();
    });
    dim.hidden = f.arg === "n";
    const sizes = { class: "field mono", placeholder: "512, 1024, 2048" };
    return [
      h(
        "div",
        { class: "grid" },
        above("Input", arg),
        dim,
      ),
      above("Sizes", textField(f, "sizes", "Sizes", changed, sizes)),
    ];
  }
  return [];
}

/** @param {Form} f @param {() => void} changed */
export function filingPart(f, changed) {
  const project = textField(f, "project", "Project", changed);
  const tags = textField(f, "tags", "Tags", changed, { placeholder: "nightly, main" });
  const name = textField(f, "name", "Name", changed, { id: "name" });
  const grid = h("div", { class: "grid" }, above("Project", project), above("Tags", tags));
  return h("fieldset", {}, h("legend", {}, "Filing"), above("Name", name), grid);
}

/**
 * Shows each error below its field; fields without one lose theirs.
 * @param {HTMLElement} form
 * @param {readonly import("../model/workload.js").FieldError[]} errors
 */
export function showErrors(form, errors) {
  for (const old of form.querySelectorAll(".errline.of-field")) old.remove();
  for (const el of form.querySelectorAll("[aria-invalid]")) {
    el.removeAttribute("aria-invalid");
    el.removeAttribute("aria-describedby");
  }
  for (const { field, message } of errors) {
    const el = form.querySelector(`[data-field="${field}"]`);
    if (!el) continue;
    const line = h("p", { class: "errline of-field", id: `error-${field}` }, message);
    const control = el.matches("input, textarea, select") ? el : el.querySelector("input, select");
    control?.setAttribute("aria-invalid", "true");
    control?.setAttribute("aria-describedby", line.id);
    (el.closest("label") ?? el).after(line);
  }
}
