// js/view/dropped.js -- files and folders that are dropped on the page, each with where it lay.

/** @typedef {{path: string, file: File}} Given a file and where it lay in what was given */

const MOST_ENTRIES = 20000;

/** @param {FileList | null} files @returns {Given[]} */
export const givenOf = (files) => [...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/** All files below an entry of what was dropped. @param {FileSystemEntry} entry @param {Given[]} out @returns {Promise<void>} */
async function walk(entry, out) {
  if (out.length >= MOST_ENTRIES) throw new Error(`it has over ${MOST_ENTRIES} files`);
  if (entry.isFile) {
    const file = await new Promise((done, fail) => /** @type {FileSystemFileEntry} */ (entry).file(done, fail));
    out.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} a hundred at a time */
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return;
    for (const e of some) await walk(e, out);
  }
}

/** @param {DataTransfer} dropped @returns {Promise<Given[]>} */
export async function givenBy(dropped) {
  const given = givenOf(dropped.files);
  const roots = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter((e) => e !== null);
  if (!roots.some((e) => e.isDirectory)) return given;
  /** @type {Given[]} */
  const out = [];
  for (const e of roots) await walk(e, out);
  return out;
}
