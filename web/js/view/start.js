// js/view/start.js -- the first minute: what this is, a function to run, and the first run's curve beside it.
//
// The list of runs shows it while it has one run or none; it stays for as long as the page is open, so that
// what is written there is not lost.

import { h, button, prose, say, section, spoken } from "./dom.js";
import { go } from "./router.js";
import { jobsChanged } from "./frame.js";
import { follow } from "./follow.js";
import { origin } from "../api/place.js";
import { getExamples, getRun, postRun } from "../api/client.js";

/** @typedef {import("../api/types.js").Run} Run */

/** @type {readonly (string | [string])[]} what counts in brackets */
const WHAT = ["Breakeven runs your PyTorch function in eager and compiled modes, and shows ", ["when compiling pays off"], ", ", ["where the graph breaks"], ", and ", ["what each break costs"], "."];

/**
 * @param {AbortSignal} signal
 * @param {Run["id"] | null} first the run that is there, if one is
 */
export function startSection(signal, first) {
  const [form, beside] = [h("div", { class: "start-form", "aria-busy": "true" }), h("div")];
  import("./new.js")
    .then(({ startForm }) => startForm(signal))
    .catch(() => [h("a", { class: "btn primary", href: "/new" }, "Write a function")])
    .then((parts) => {
      form.replaceChildren(...parts);
      form.removeAttribute("aria-busy");
    });
  if (first === null) showStarter(beside);
  else showFirst(beside, first, signal).catch(() => beside.replaceChildren()); // the list has the run
  const what = h("section", { class: "verdict", "aria-label": "What this is" }, h(first === null ? "h1" : "p", { id: "what" }, WHAT.map((w) => (typeof w === "string" ? w : h("b", {}, w[0])))));
  return h("div", { id: "start" }, what, h("div", { class: "two" }, form, beside));
}

/**
 * The run as it is measured, then its answer and its curve.
 * @param {HTMLElement} place @param {Run["id"]} id @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
async function showFirst(place, id, signal) {
  const run = await getRun(String(id), signal);
  const link = h("a", { href: `/runs/${encodeURIComponent(run.id)}` }, `${run.name} #${run.id}`);
  const body = h("div");
  place.replaceChildren(section("The first run", null, link, body));
  if (run.status === "queued" || run.status === "running") {
    return follow(run, body, signal, () => showFirst(place, id, signal).catch(() => place.replaceChildren()), { speedupOnly: true });
  }
  const { report, findings } = run;
  if (!report || !findings) return body.replaceChildren(h("p", { class: "sub" }, `It is ${run.status}.`));
  body.replaceChildren(h("p", {}, spoken(findings.answer)));
  if ((report.points?.length ?? 0) < 2) return undefined;
  const { growingCurves } = await import("./curves.js");
  const curves = growingCurves(run, signal, { speedupOnly: true, mode: findings.mode });
  body.append(curves.el);
  return curves.update(report.points ?? []);
}

/** The first example is one press away. @param {HTMLElement} place */
function showStarter(place) {
  const why = h("p", { class: "errline" });
  const acts = h("div", { class: "acts" });
  getExamples().then(({ examples }) => examples?.length && acts.append(starter(examples[0], why)), () => {});
  const text = h("p", {}, "Run the function in the editor, or start with the chain sweep: 1 to 30 statements in eager, static and dynamic, measured on this machine within seconds.");
  const command = h("pre", { class: "curl", tabindex: 0, role: "region", "aria-label": "The same as a command" }, `breakeven run model.py --input 'x=float32[64,64]' --post ${origin()}`);
  const terminal = [h("p", {}, prose("Or run a file with a function `model` from a terminal:")), h("div", { class: "well" }, command)];
  place.replaceChildren(section("No runs yet", null, null, text, acts, why, ...terminal));
}

/**
 * A button that runs an example.
 * @param {import("../api/types.js").Example} example
 * @param {HTMLElement} why where a refusal is shown
 */
function starter(example, why) {
  const start = button(
    `Run ${example.name.replace(/_/g, " ")}`,
    async () => {
      start.setAttribute("disabled", "");
      try {
        const { id } = await postRun(example.workload);
        jobsChanged();
        go(`/runs/${encodeURIComponent(id)}`);
      } catch (e) {
        start.removeAttribute("disabled");
        why.textContent = e instanceof Error ? e.message : String(e);
        say(why.textContent);
      }
    },
    { class: "btn" },
  );
  return start;
}
