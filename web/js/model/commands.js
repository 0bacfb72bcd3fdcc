// js/model/commands.js -- a workload as a command line.
//
// File names are made from the workload's name and go into a shell line, so
// they hold nothing but letters, digits, dot, dash and underscore.

/** @param {string | null | undefined} name @returns {string} */
export function fileStem(name) {
  const stem = (name ?? "").replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._-]+|[._-]+$/g, "");
  return stem.slice(0, 60) || "workload";
}

/**
 * Whole, so that it runs as it is pasted.  The shell takes nothing in the text for its own, and no line of it can
 * be the closing EOF: what JSON quotes holds no line break.
 * @param {import("../api/types.js").Workload} w @param {string} origin "http://127.0.0.1:8080"
 */
export function curlLine(w, origin) {
  return `curl -X POST ${origin}/api/v1/runs -H 'Content-Type: application/json' --data-binary @- <<'EOF'\n${JSON.stringify(w, null, 2)}\nEOF`;
}

/** Measured at once, on this machine, which has to have the files of weights.
 * @param {Pick<import("../api/report.js").ReportWorkload, "name" | "engines" | "weights"> | undefined} w */
export const runLine = (w) =>
  `breakeven run ${fileStem(w?.name)}.json${w?.engines?.includes("torch") ? " --torch-python python3" : ""}${weightFlags(w?.weights)}`;

/** @param {unknown} weights */
const weightFlags = (weights) =>
  Object.keys(weights ?? {}).map((name) => ` --weights '${name.replaceAll("'", "'\\''")}=PATH'`).join("");

/** Measured and kept by a server. @param {import("../api/types.js").Workload} w @param {string} origin */
export const postLine = (w, origin) => `breakeven run ${fileStem(w.name)}.json --post ${origin}`;
