// js/view/disagrees.js -- over every view of a run: the modes whose values are not eager's.

import { chip, h, spoken } from "./dom.js";
import { byMode, claim, disagreeing, nameOf, torchDisagreeing, valuesOf } from "../model/agreement.js";

/** @param {{first: import("../model/agreement.js").Wrong, also: string}} of a mode */
function item({ first: w, also }) {
  const values = valuesOf(w.m).flatMap(([name, value]) => [h("dt", {}, name), h("dd", { class: "mono" }, value)]);
  return h("li", {}, h("p", {}, h("b", {}, nameOf(w)), `: ${w.m.disagreement ?? "its values are not eager's"}.${also}`), values.length ? h("dl", { class: "kv" }, values) : null);
}

/** @param {{first: {mode: string, n: number | null, text: string}, also: string}} of a mode */
const torchItem = ({ first, also }) => h("li", {}, h("p", {}, h("b", {}, `PyTorch's ${nameOf(first)}`), `: ${first.text}.${also}`));

/**
 * The banner; null where every mode agrees.
 * @param {import("../api/types.js").Run} run
 */
export function disagreements(run) {
  const ours = run.report ? disagreeing(run.report) : [];
  const theirs = run.report ? torchDisagreeing(run.report) : [];
  if (!ours.length && !theirs.length) return null;
  const head = ours.length ? spoken(claim(ours)) : [h("b", {}, "PyTorch's values are not Breakeven's"), "."];
  return h(
    "section",
    { id: "disagreements", class: "wrong", role: "alert", "aria-label": "Values that are not eager's" },
    h("p", { class: "what" }, chip("disagrees", "DISAGREES"), " ", head),
    h("ul", {}, byMode(ours).map(item), byMode(theirs).map(torchItem)),
  );
}
