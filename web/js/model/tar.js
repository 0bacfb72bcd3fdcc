// js/model/tar.js -- several files as one .tar, for a server that takes one body.
//
// A file is named by where it lay; its bytes stay where they are until they are sent.

const BLOCK = 512;

/** @param {string} name at most 100 bytes of it are kept @param {number} size @param {string} type */
function head(name, size, type) {
  const out = new Uint8Array(BLOCK);
  const put = (/** @type {number} */ at, /** @type {string} */ text) => out.set(new TextEncoder().encode(text).subarray(0, 100), at);
  put(0, name);
  put(100, "0000644\0");
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`);
  put(136, "00000000000\0");
  put(148, "        ");
  put(156, type);
  put(257, "ustar  \0");
  put(148, `${out.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `);
  return out;
}

/** @param {number} size */
const padding = (size) => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

/** @param {readonly {path: string, file: Blob}[]} files @returns {Blob} */
export function tarOf(files) {
  /** @type {BlobPart[]} */
  const parts = [];
  for (const { path, file } of files) {
    const name = new TextEncoder().encode(`${path}\0`);
    if (name.length > 100) parts.push(head("././@LongLink", name.length, "L"), name, padding(name.length)); // as GNU tar has it
    parts.push(head(path, file.size, "0"), file, padding(file.size));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  return new Blob(parts, { type: "application/x-tar" });
}

/**
 * What a file is, by its name and how it begins: a program is no log; results of tools are imported apart from logs.
 * @param {string} name @param {string} start its first characters
 * @returns {"program" | "result" | "log"}
 */
export function kindOfFile(name, start) {
  if (/\.(py|ipynb)$/i.test(name)) return "program";
  if (/\.(csv|pkl|pickle|pt|pth)$/i.test(name)) return "result";
  if (/^[\s[{]*$/.test(start) || !/^\s*[[{]/.test(start)) return "log"; // no JSON
  return /"(traceEvents|schemaVersion|ph)"\s*:/.test(start) ? "log" : "result";
}
