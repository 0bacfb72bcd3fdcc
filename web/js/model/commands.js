// js/model/commands.js -- a workload as a command line.
//
// File names are made from the workload's name and go into a shell line, so
// they hold nothing but letters, digits, dot, dash and underscore.

/** @param {string | undefined} name @returns {string} */
export function fileStem(name) {
  const stem = (name ?? "").replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._-]+|[._-]+$/g, "");
  return stem.slice(0, 60) || "workload";
}

/** @param {import("../api/types.js").Workload} w @param {string} origin "http://127.0.0.1:8080" */
export function curlLine(w, origin) {
  return `curl -X POST ${origin}/api/v1/runs \\\n  -H 'Content-Type: application/json' -d @${fileStem(w.name)}.json`;
}

/** Measured at once, on this machine. @param {import("../api/types.js").Workload} w */
export const runLine = (w) =>
  `breakeven run ${fileStem(w.name)}.json${w.engines?.includes("torch") ? " --torch-python python3" : ""}`;

/** Measured and kept by a server. @param {import("../api/types.js").Workload} w @param {string} origin */
export const postLine = (w, origin) => `breakeven run ${fileStem(w.name)}.json --post ${origin}`;
