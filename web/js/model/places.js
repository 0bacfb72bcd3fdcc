// js/model/places.js -- places in the source: a line, and in a program of several files the file that has it.

/** @typedef {{line: number, file: string}} Place file "": the one text that the program is; line 0: nowhere */
/** @typedef {{files?: Record<string, string>, source?: string} | null | undefined} Program */

/** What tells places apart, one word: "7", with a file that and a colon before it. @param {number} line @param {string | null} [file] */
export const placeKey = (line, file) => (file ? `${encodeURIComponent(file)}:${line}` : String(line));

/** @param {Place} p */
export const keyOf = (p) => placeKey(p.line, p.file);

/** Where something comes from, of what is more than its place. @param {{line?: number | null, file?: string | null} | undefined} of @returns {Place} */
export const placeOf = (of) => ({ line: of?.line ?? 0, file: of?.file ?? "" });

/** Lines with the file of each, as reports have them. @param {readonly number[] | null | undefined} lines @param {readonly (string | null)[] | null} [files] @returns {Place[]} */
export const placesOf = (lines, files) => (lines ?? []).map((line, i) => ({ line, file: files?.[i] ?? "" }));

/** "line 7", or the file, a colon and 7. @param {Place} p */
export const placeText = ({ line, file }) => (file ? `${file}:${line}` : `line ${line}`);

/** The same where there is little room: without the folders. @param {Place} p */
export const placeShort = ({ line, file }) => placeText({ line, file: file?.split("/").pop() ?? "" });

/** The text of a line. @param {Program} of @param {Place} p @param {string} [source] in place of that of the program */
export const textAt = (of, { line, file }, source = of?.source ?? "") => ((file ? (of?.files?.[file] ?? "") : source).split("\n")[line - 1] ?? "").trim();
