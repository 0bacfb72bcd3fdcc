// js/view/checker.js -- asks the server what is wrong in a program while it is
// written, and where its graphs will break.
//
// It waits for a pause in typing; an answer to a text that has changed since is
// dropped.  A server that is busy or gone is no finding: the next pause asks anew.

import { postCheck } from "../api/client.js";
import { problemsOf } from "../model/breaks.js";

const PAUSE_MS = 500;

export class Checker {
  #show;
  #timer = 0;
  #asking = new AbortController();

  /** @param {(found: import("../api/types.js").Problem[]) => void} show */
  constructor(show) {
    this.#show = show;
  }

  /**
   * @param {() => {workload: import("../api/types.js").Workload, errors: readonly unknown[]}} read
   *   called after the pause; with errors in other fields the source alone is checked
   * @param {number} [pauseMs]
   */
  later(read, pauseMs = PAUSE_MS) {
    this.stop();
    this.#timer = setTimeout(() => this.#ask(read()), pauseMs);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#asking.abort();
  }

  /** @param {{workload: import("../api/types.js").Workload, errors: readonly unknown[]}} form */
  async #ask({ workload, errors }) {
    if (!workload.source.trim()) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { source, entry } = workload;
    try {
      const check = await postCheck(errors.length ? { source, entry } : workload, signal);
      if (!signal.aborted) this.#show(problemsOf(check));
    } catch {
      /* asked again at the next pause */
    }
  }
}
