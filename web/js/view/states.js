// js/view/states.js -- a run that waits, runs, failed or was stopped.
//
// Each says what happens, what is kept and what to do next.  Progress is a
// share with what is being done; it is spoken at most once in five seconds.

import { h, chip, prose, say } from "./dom.js";
import { progressBar } from "./marks.js";
import { codeWell } from "./code.js";
import { about } from "../model/format.js";

const SPEAK_MS = 5000;

/** @typedef {import("../api/types.js").Run} Run */

/** @param {Run} run @returns {{el: HTMLElement, update: (e: {status: string, progress: number, what?: string | null, left_s?: number | null}) => void}} */
export function progressState(run) {
  const title = h("h2", {});
  const bar = h("div");
  const done = h("dd", { id: "progress-share" });
  const left = h("dd", { id: "progress-left" });
  const el = h("div", { class: "well gap" }, h("div", { class: "state progress" }, title, bar,
    h("dl", { class: "kv" }, h("dt", {}, "Done"), done, h("dt", {}, "Left"), left),
    h("p", { class: "small sub" }, "The page fills in by itself. Closing it stops nothing.")));
  let spoken = 0;
  const update = (/** @type {{status: string, progress: number, what?: string | null, left_s?: number | null}} */ e) => {
    const queued = e.status === "queued";
    const what = queued ? "Waiting for its turn" : e.what ? `Measuring ${e.what}` : "Starting";
    const knows = typeof e.left_s === "number" && e.left_s >= 0;
    title.textContent = what;
    bar.replaceChildren(progressBar(e.progress ?? 0));
    done.textContent = `${Math.round(100 * (e.progress ?? 0))} %`;
    left.textContent = queued ? "runs before this one go first" : knows ? about(Number(e.left_s)) : "not known yet";
    const now = Date.now();
    if (now - spoken < SPEAK_MS) return;
    spoken = now;
    say(`${what}${knows ? `, ${about(Number(e.left_s))} left` : ""}`);
  };
  update(run);
  return { el, update };
}

/** @param {Run} run */
export function failedState(run) {
  const e = run.error ?? { message: "No reason was kept." };
  const line = e.line ?? undefined;
  const source = run.workload?.source ?? "";
  const inSource = line !== undefined && line <= source.split("\n").length;
  const place = line === undefined ? "" : ` at line ${line}${e.column ? `, column ${e.column}` : ""}`;
  const from = `/new?from=${encodeURIComponent(run.id)}`;
  return h("div", { class: "well gap" }, h("div", { class: "state" },
    h("h2", {}, chip("failed", "FAILED"), `Stopped${place}`),
    h("p", { id: "failure" }, prose(e.message)),
    inSource ? codeWell(source, "Source about the error", { error: e, around: 4 }) : null,
    h("p", { class: "small sub" }, line === undefined ? nextStep(e.code) : "Nothing of this run was measured. Change the line and run it again; the settings are kept."),
    h("div", { class: "acts" }, h("a", { class: "btn primary", href: line === undefined ? from : `${from}&line=${line}${e.column ? `&column=${e.column}` : ""}` }, line === undefined ? "Edit and run again" : `Edit line ${line}`))));
}

/** @param {string | undefined} code */
function nextStep(code) {
  switch (code) {
    case "worker": return "The worker process ended; the server and all other runs are untouched. A smaller input or fewer points may get through.";
    case "memory": return "Smaller inputs need less memory. The limit is the server's.";
    case "compiler": return "The interpreter backend needs no compiler: choose it in the form.";
    default: return "The settings are kept: change what the message names and run it again.";
  }
}

/** @param {Run} run */
export function stoppedState(run) {
  return h("div", { class: "well gap" }, h("div", { class: "state" },
    h("h2", {}, chip("plain", "cancelled"), "Stopped before it was done"),
    h("p", {}, `${Math.round(100 * (run.progress ?? 0))} % were done. ${run.report ? "What was measured is below." : "Its figures are not kept; the program and its settings are."}`),
    h("div", { class: "acts" }, h("a", { class: "btn primary", href: `/new?from=${encodeURIComponent(run.id)}` }, "Edit and run again"))));
}
