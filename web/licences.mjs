// web/licences.mjs META -- the licences of the packages that esbuild joined into a file, by its metafile.
import { readFileSync } from "node:fs";

const { inputs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const folders = new Set(Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
for (const folder of [...folders].sort()) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  console.log(`${name} ${version}, ${license}\n\n${readFileSync(`${folder}/LICENSE`, "utf8")}`);
}
