// web/imports.mjs META -- what each script of the page imports, and what those do in turn.
//
// META is esbuild's metafile.  A line each: the script's URL, then those of its imports.  The server
// asks for them together (server/http/pages.c); found one in the other, each level would cost a round trip.
import { readFileSync } from "node:fs";

const { outputs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const url = (path) => path.slice(path.indexOf("/assets/"));

/** Imports of one output, not those that it opens later. */
function closure(path, found = new Set()) {
  for (const i of outputs[path]?.imports ?? []) {
    if (i.kind !== "import-statement" || found.has(i.path)) continue;
    found.add(i.path);
    closure(i.path, found);
  }
  return found;
}

for (const path of Object.keys(outputs)) console.log([path, ...closure(path)].map(url).join(" "));
