// js/view/run_changes.js -- what people change of runs, one or many: tags, pins, the baseline, removal; each can be undone.

import { toast } from "./dom.js";
import { offerUndo } from "./undo.js";
import { deleteRun, patchRun, restoreRun } from "../api/client.js";
import { plural } from "../model/format.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */
/** @typedef {Parameters<typeof patchRun>[1]} Change */

const AT_ONCE = 4;

/** Tags as they are typed, each once: "nightly, h200". @param {string} text @returns {string[]} */
export const tagsOf = (text) => [...new Set(text.split(",").map((t) => t.trim()).filter(Boolean))];

/** Does it for each, a few at once; what did not work is said. @template T
 * @param {readonly T[]} all @param {(one: T) => Promise<unknown>} act @param {string} what was not done
 * @param {string} noun what each is
 * @returns {Promise<T[]>} those of which it was */
async function each(all, act, what, noun = "run") {
  /** @type {T[]} */
  const done = [];
  /** @type {unknown[]} */
  const wrong = [];
  const rest = [...all];
  const work = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift())
      await act(one).then(() => done.push(/** @type {T} */ (one)), (e) => wrong.push(e));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (wrong.length) toast(`${wrong.length === all.length ? "" : `${plural(wrong.length, noun)} of ${all.length}: `}${what}: ${wrong[0] instanceof Error ? wrong[0].message : wrong[0]}`);
  return all.filter((one) => done.includes(one));
}

/** @typedef {{id: number | string, name: string}} Named */

/** @param {readonly Named[]} all @param {string} [noun] what each is */
const named = (all, noun = "run") => (all.length === 1 ? `${all[0].name} #${all[0].id}` : plural(all.length, noun));

/**
 * Removes some; for a while they can be had back.
 * @template {Named} T
 * @param {readonly T[]} all @param {() => unknown} again what shows them is to be read again
 * @param {{noun: string, remove: (one: T) => Promise<unknown>, restore: (one: T) => Promise<unknown>}} how
 */
export async function removeAll(all, again, { noun, remove, restore }) {
  const done = await each(all, remove, "not deleted", noun);
  if (!done.length) return;
  if (done.length === all.length)
    offerUndo(`${named(done, noun)} deleted.`, async () => {
      const back = await each(done, restore, "not restored", noun);
      if (back.length === done.length) toast(`${named(back, noun)} restored.`);
      again();
    });
  again();
}

/** @param {readonly RunRow[]} runs @param {() => unknown} again what shows them is to be read again */
export const removeRuns = (runs, again) => removeAll(runs, again, { noun: "run", remove: (r) => deleteRun(String(r.id)), restore: (r) => restoreRun(r.id) });

/**
 * Changes runs, each in its own way.
 * @param {readonly RunRow[]} runs @param {(run: RunRow) => Change} changeOf @param {string} what was done: "tagged nightly"
 * @param {() => unknown} again
 */
export async function changeRuns(runs, changeOf, what, again) {
  const before = new Map(runs.map((r) => [r, undoOf(r, changeOf(r))]));
  const done = await each(runs, (r) => patchRun(r.id, changeOf(r)), "not changed");
  if (!done.length) return;
  if (done.length === runs.length)
    offerUndo(`${named(done)} ${what}.`, async () => {
      await each(done, (r) => patchRun(r.id, /** @type {Change} */ (before.get(r))), "not changed back");
      again();
    });
  again();
}

/** What sets a run back. @param {RunRow} r @param {Change} change @returns {Change} */
function undoOf(r, change) {
  const was = { name: r.name, tags: r.tags ?? [], pinned: !!r.pinned, baseline: !!r.baseline, note: r.note ?? "" };
  return Object.fromEntries(Object.entries(was).filter(([key]) => key in change || (key === "baseline" && was.baseline && "name" in change)));
}
