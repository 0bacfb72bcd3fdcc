// js/view/weights.js -- the form's files of weights: attached from the disk, sent in pieces, named as the program
// opens them.  What was sent before is not sent again; after a break the next try goes on.

import { h, button } from "./dom.js";
import { ApiError, postFile } from "../api/client.js";
import { bytes } from "../model/format.js";
import { weightsOf } from "../model/workload.js";

/** @typedef {import("../model/workload.js").Form} Form */

/** Where uploads that broke off are to go on: by name, size and date. @type {Map<string, string>} */
const begun = new Map();

/**
 * @param {Form} form
 * @param {() => void} changed
 */
export function weightsPart(form, changed) {
  const rows = h("ul", { class: "weights", "aria-label": "Attached files" });
  const said = h("p", { class: "small sub", role: "status" });
  const file = h("input", { type: "file", hidden: true, id: "weights-file", tabindex: -1, "aria-label": "Attach a file of weights" });
  const attach = button("Attach weights", () => file.click(), { id: "attach-weights" });
  const hint = h("p", { class: "hint" }, "Files that torch.load or safetensors opens: .pt, .pth, .safetensors. The program can read these files and no others.");

  const show = () => {
    rows.replaceChildren(...Object.entries(weightsOf(form)).map(([name, id]) => {
      const field = h("input", { class: "field", type: "text", "aria-label": `The name of ${name} in the program`, autocomplete: "off" });
      field.value = name;
      field.addEventListener("change", () => put(rename(weightsOf(form), name, field.value.trim() || name)));
      const remove = button("Remove", () => put(without(weightsOf(form), name)), { class: "btn link", "aria-label": `Remove ${name}` });
      return h("li", {}, field, h("code", { title: id }, id.slice(0, 19)), remove);
    }));
  };
  const put = (/** @type {Record<string, string>} */ weights) => {
    if (Object.keys(weights).length) form.rest.weights = weights;
    else delete form.rest.weights;
    show();
    changed();
  };

  file.addEventListener("change", async () => {
    const chosen = file.files?.[0];
    file.value = "";
    if (!chosen) return;
    const key = `${chosen.name} ${chosen.size} ${chosen.lastModified}`;
    attach.setAttribute("disabled", "");
    try {
      const { id } = await postFile(chosen, begun.get(key), (received, upload) => {
        begun.set(key, upload);
        said.textContent = `${chosen.name}: ${bytes(received)} of ${bytes(chosen.size)} sent`;
      });
      begun.delete(key);
      said.textContent = `${chosen.name} is there: ${bytes(chosen.size)}`;
      put({ ...weightsOf(form), [chosen.name]: id });
    } catch (e) {
      if (e instanceof ApiError && e.status === 404) begun.delete(key);
      said.textContent = `${chosen.name} was not sent: ${e instanceof Error ? e.message : e}${begun.has(key) ? " Attach it again: it resumes where it stopped." : ""}`;
    } finally {
      attach.removeAttribute("disabled");
    }
  });

  show();
  return h("fieldset", { data: { field: "weights" } }, h("legend", {}, "Weights"), rows, file, attach, said, hint);
}

/** In its place. @param {Record<string, string>} weights @param {string} from @param {string} to */
const rename = (weights, from, to) =>
  Object.fromEntries(Object.entries(weights).map(([name, id]) => [name === from ? to : name, id]));

/** @param {Record<string, string>} weights @param {string} name */
const without = (weights, name) => Object.fromEntries(Object.entries(weights).filter(([other]) => other !== name));
