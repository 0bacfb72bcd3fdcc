// js/view/states.js -- a run that waits, runs, failed or was stopped.
//
// Each says what happens, what is kept and what to do next.  Progress is a
// share with what is being done; it is spoken at most once in five seconds.

import { h, chip, prose, say, stateWell } from "./dom.js";
import { progressBar } from "./marks.js";
import { codeWell } from "./code.js";
import { about, date, partly } from "../model/format.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Progress} Progress */

const SPEAK_MS = 5000;
const LINES_ABOUT = 4;

/** @param {Progress} p */
function doing(p) {
  if (p.status === "queued") return "Waiting for its turn";
  return p.what ? `Measuring ${p.what}` : "Starting";
}

/** @param {Progress} p @returns {string} "" where it is not known */
const timeLeft = (p) => (typeof p.left_s === "number" && p.left_s >= 0 ? about(p.left_s) : "");

/**
 * @param {Run} run
 * @returns {{el: HTMLElement, update: (p: Progress) => void}}
 */
export function progressState(run) {
  const [title, bar] = [h("h2"), h("div")];
  const [done, left] = [h("dd", { id: "progress-share" }), h("dd", { id: "progress-left" })];
  const facts = h("dl", { class: "kv" }, h("dt", {}, "Done"), done, h("dt", {}, "Left"), left);
  const hint = h("p", { class: "small sub" }, "This page updates by itself. Closing it does not stop the run.");
  const el = h("div", { class: "well gap" }, h("div", { class: "state progress" }, title, bar, facts, hint));
  let spoken = 0;
  const update = (/** @type {Progress} */ p) => {
    const share = p.progress ?? 0;
    title.textContent = doing(p);
    bar.replaceChildren(progressBar(share));
    done.textContent = `${Math.round(100 * share)} %`;
    left.textContent = p.status === "queued" ? "runs are ahead of this one" : timeLeft(p) || "not known yet";
    if (Date.now() - spoken < SPEAK_MS) return;
    spoken = Date.now();
    say(doing(p) + (timeLeft(p) ? `, ${timeLeft(p)} left` : ""));
  };
  update(run);
  return { el, update };
}

/** @param {Run} run @param {string} label @param {string} [more] */
function editLink(run, label, more = "") {
  const href = `/new?from=${encodeURIComponent(run.id)}${more}`;
  return h("div", { class: "acts" }, h("a", { class: "btn primary", href }, label));
}

/** @param {Run} run */
export function failedState(run) {
  const e = run.error ?? { message: "No reason was kept." };
  const source = run.workload?.source ?? "";
  const line = e.line && e.line <= source.split("\n").length ? e.line : 0;
  const column = e.column ? `, column ${e.column}` : "";
  const title = [chip("failed", "FAILED"), line ? `Stopped at line ${line}${column}` : "Stopped"];
  const message = h("p", { id: "failure" }, prose(e.message));
  const next = h(
    "p",
    { class: "small sub" },
    line ? "Edit the line and run it again; the settings are kept." : nextStep(e.code),
  );
  if (!line) return stateWell(title, message, next, editLink(run, "Edit and run again"));
  const code = codeWell(source, "Source about the error", { error: e, around: LINES_ABOUT });
  const place = `&line=${line}${e.column ? `&column=${e.column}` : ""}`;
  return stateWell(title, message, code, next, editLink(run, `Edit line ${line}`, place));
}

/** @param {string | undefined} code of fusion/base/errors.def */
function nextStep(code) {
  switch (code) {
    case "worker":
      return "The worker process crashed; the server and other runs continue. Smaller inputs may work.";
    case "memory":
      return "Smaller inputs need less memory. The limit is the server's.";
    case "no-device":
      return "This server has no such device: omit the device, or choose cpu.";
    case "device":
      return "The worker process ended and released the device; the server and other runs continue.";
    case "compiler":
      return "The interpreter backend needs no compiler: choose it in the form.";
    default:
      return "The settings are kept: change what the message names, then run it again.";
  }
}

/** @param {Run} run */
export function stoppedState(run) {
  const kept = "The program and its settings are kept; its figures are not.";
  const title = [chip("cancelled", "cancelled"), "Cancelled before it ended"];
  return stateWell(title, h("p", {}, kept), editLink(run, "Edit and run again"));
}

/** What retention took from a run. @param {number} thinned_ns when */
export const thinnedState = (thinned_ns) =>
  h("p", { id: "thinned", class: "lost" }, h("b", {}, `Thinned out on ${date(thinned_ns / 1e6)}`), ": figures, verdicts and breaks are as they were measured; samples, timeline, values, memory, guards, nodes and code of graphs are gone. ", h("a", { href: "/docs/archive" }, "Why"));

/** Above the points of a sweep that ended early. @param {Run} run @param {{measured: number, of: number}} part */
export function partialState(run, part) {
  const failed = run.status === "failed";
  const why = failed ? h("span", {}, " It failed: ", prose(run.error?.message ?? "no reason was kept")) : " It was cancelled.";
  const word = chip(run.status, failed ? "FAILED" : "cancelled");
  return h("p", { id: "partial", class: "lost" }, word, " ", h("b", {}, partly(part)), `; the figures below cover only ${part.measured === 1 ? "that one" : "those"}.`, why);
}
