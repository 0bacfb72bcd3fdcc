// js/view/suite_changes.js -- suites are removed with their runs, one or many; for a while they can be had back.

import { removeAll } from "./run_changes.js";
import { deleteSuite, restoreSuite } from "../api/suites.js";

/** @typedef {{id: number | string, name: string}} Named */

/** @param {readonly Named[]} suites @param {() => unknown} again what shows them is to be read again */
export const removeSuites = (suites, again) => removeAll(suites, again, { noun: "suite", remove: (s) => deleteSuite(s.id), restore: (s) => restoreSuite(s.id) });
