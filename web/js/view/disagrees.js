// js/view/disagrees.js -- over every view of a run: the modes whose values are not eager's.

import { chip, h, spoken } from "./dom.js";
import { claim, disagreeing, nameOf, torchDisagreeing, valuesOf } from "../model/agreement.js";

const SHOWN = 4;

/** @param {import("../model/agreement.js").Wrong} w */
function item(w) {
  const values = valuesOf(w.m).flatMap(([name, value]) => [h("dt", {}, name), h("dd", { class: "mono" }, value)]);
  return h("li", {}, h("p", {}, h("b", {}, nameOf(w)), `: ${w.m.disagreement ?? "its values are not eager's"}`), values.length ? h("dl", { class: "kv" }, values) : null);
}

/** @param {{mode: string, n: number | null, text: string}} w */
const torchItem = (w) => h("li", {}, h("p", {}, h("b", {}, `PyTorch's ${nameOf(w)}`), `: ${w.text}`));

/**
 * The banner; null where every mode agrees.
 * @param {import("../api/types.js").Run} run
 */
export function disagreements(run) {
  const ours = run.report ? disagreeing(run.report) : [];
  const theirs = run.report ? torchDisagreeing(run.report) : [];
  if (!ours.length && !theirs.length) return null;
  const left = Math.max(0, ours.length - SHOWN) + Math.max(0, theirs.length - SHOWN);
  const head = ours.length ? spoken(claim(ours)) : [h("b", {}, "PyTorch's values are not ours"), "."];
  return h(
    "section",
    { id: "disagreements", class: "wrong", role: "alert", "aria-label": "Values that are not eager's" },
    h("p", { class: "what" }, chip("disagrees", "DISAGREES"), " ", head),
    h("ul", {}, ours.slice(0, SHOWN).map(item), theirs.slice(0, SHOWN).map(torchItem)),
    left ? h("p", { class: "small" }, `And ${left} more: the report has all of them.`) : null,
  );
}
