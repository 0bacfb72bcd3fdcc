// js/view/checker.js -- asks the server what is wrong in a program while it is
// written, and where its graphs will break.
//
// It waits for a pause in typing; an answer to a text that has changed since is
// dropped.  A server that is busy or gone is no finding: the same is asked again
// after a while, and the page says why it waits.

import { ApiError, postCheck } from "../api/client.js";
import { problemsOf } from "../model/breaks.js";

const PAUSE_MS = 500;
const RETRY_MS = 1500;
const AGAIN = [0, 429, 503]; // the server does not answer, or is busy

/** @typedef {{workload: import("../api/types.js").Workload, errors: readonly unknown[], free: readonly string[]}} Asked
 *   free: parameters whose inputs nobody has typed */

export class Checker {
  #show;
  #wait;
  #timer = 0;
  #asking = new AbortController();

  /**
   * @param {(found: import("../api/types.js").Problem[], proposals: import("../api/types.js").Proposal[], called: boolean) => void} show
   *   what was found, inputs that the text tells, and whether its calls were made
   * @param {(why: string) => void} wait why no answer came; it is asked again
   */
  constructor(show, wait) {
    this.#show = show;
    this.#wait = wait;
  }

  /**
   * @param {() => Asked} read
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

  /** @param {Asked} form */
  async #ask({ workload, errors, free }) {
    if (!workload.files && !workload.source?.trim()) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { source, files, entry } = workload;
    try {
      const check = await (errors.length ? postCheck({ source, files, entry }, signal) : postCheck(workload, signal, free));
      if (!signal.aborted) this.#show(problemsOf(check), check.proposals ?? [], !errors.length);
    } catch (e) {
      if (signal.aborted) return;
      if (!(e instanceof ApiError)) throw e;
      if (!AGAIN.includes(e.status)) return this.#show([e.problem], [], !errors.length);
      this.#wait(e.message);
      this.#timer = setTimeout(() => this.#ask({ workload, errors, free }), RETRY_MS);
    }
  }
}
