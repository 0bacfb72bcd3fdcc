// js/view/disagrees.js -- over every view of a run: the modes whose values are not eager's.

import { chip, h, spoken } from "./dom.js";
import { unbroken } from "../model/sentence.js";

/** @param {import("../api/report.js").ReportWrongMode} w */
function item(w) {
  const values = w.values.flatMap(({ name, value }) => [h("dt", {}, name), h("dd", { class: "mono" }, value)]);
  return h("li", {}, h("p", {}, h("b", {}, unbroken(w.place)), `: ${w.text}`), values.length ? h("dl", { class: "kv" }, values) : null);
}

/**
 * The banner; null where every mode agrees.
 * @param {import("../api/types.js").Run} run
 */
export function disagreements(run) {
  const said = run.findings;
  if (!said || (!said.wrong.length && !said.wrong_torch.length)) return null;
  const head = said.wrong.length ? spoken(said.wrong) : [h("b", {}, "PyTorch's values differ from Breakeven's"), "."];
  return h(
    "section",
    { id: "disagreements", class: "wrong", role: "alert", "aria-label": "Values that differ from eager's" },
    h("p", { class: "what" }, chip("disagrees", "DISAGREES"), " ", head),
    h("ul", {}, said.wrong_modes.map(item), said.wrong_torch.map(item)),
  );
}
