// js/model/source.js -- reads just enough of a program to draw it and its form.
//
// The server's parser decides what is valid; this one only finds the entry's
// parameters and the words to set in bold, and must never throw on half-typed text.

/** @param {string} text */
const words = (text) => new Set(text.split(/\s+/));

const KEYWORDS = words(`False None True and as assert break class continue def del elif else except finally for from
  global if import in is lambda nonlocal not or pass raise return try while with yield`);
const C_KEYWORDS = words(`break case char const continue do double else extern float for if int long register restrict
  return short signed sizeof static struct typedef union unsigned void volatile while`);

/** @typedef {{t: string, k?: "k" | "cm" | "st"}} Token */

const COMMENT = { python: "#[^\\n]*", c: "\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)" };
const STRING = `"""[\\s\\S]*?(?:"""|$)|"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`;

/**
 * A text as lines of tokens; a comment or string may span lines.
 * @param {string} text
 * @param {"python" | "c"} [language]
 * @returns {Token[][]}
 */
export function tokenLines(text, language = "python") {
  const keywords = language === "python" ? KEYWORDS : C_KEYWORDS;
  const re = new RegExp(`(${COMMENT[language]})|(${STRING})|([A-Za-z_][A-Za-z_0-9]*)`, "g");
  /** @type {Token[][]} */
  const lines = [[]];
  const put = (/** @type {string} */ part, /** @type {Token["k"]} */ k) =>
    part.split("\n").forEach((t, i) => {
      if (i) lines.push([]);
      const line = lines[lines.length - 1];
      const last = line[line.length - 1];
      if (!t) return;
      if (last && last.k === k && !k) last.t += t;
      else line.push(k ? { t, k } : { t });
    });
  let at = 0;
  for (const m of text.matchAll(re)) {
    put(text.slice(at, m.index), undefined);
    put(m[0], m[1] ? "cm" : m[2] ? "st" : keywords.has(m[3]) ? "k" : undefined);
    at = (m.index ?? 0) + m[0].length;
  }
  put(text.slice(at), undefined);
  return lines;
}

/** `net = Net(8)` at the left margin: what it is an object of. @param {string} source @returns {Map<string, string>} */
function objects(source) {
  const classes = new Set([...source.matchAll(/^class\s+([A-Za-z_]\w*)/gm)].map((m) => m[1]));
  return new Map([...source.matchAll(/^([A-Za-z_]\w*)\s*=\s*([A-Za-z_]\w*)\s*\(/gm)].filter((m) => classes.has(m[2])).map((m) => [m[1], m[2]]));
}

/** Names of the functions and classes at the left margin, then of the objects of these classes.
 * @param {string} source @returns {string[]} */
export function entries(source) {
  return [...new Set([...[...source.matchAll(/^(?:def|class)\s+([A-Za-z_]\w*)/gm)].map((m) => m[1]), ...objects(source).keys()])];
}

/** What is to run, of what a program defines: `model`, else the last. @param {readonly string[]} names */
export const likelyEntry = (names) => (names.includes("model") ? "model" : (names[names.length - 1] ?? "model"));

/**
 * The entry of a text that was changed: the same while it is defined, the one in its place where it was
 * renamed, else what is likely.
 * @param {string} entry @param {readonly string[]} before what was defined @param {readonly string[]} now
 */
export function entryAfter(entry, before, now) {
  const name = /^\w*/.exec(entry)?.[0] ?? "";
  if (!now.length || now.includes(name)) return entry;
  const at = before.indexOf(name);
  return at >= 0 && before.length === now.length ? now[at] : likelyEntry(now);
}

/** Whether a text that was changed is another program: of its lines, imports apart, most were not there.
 * @param {string} before @param {string} now */
export function isAnother(before, now) {
  const lines = (/** @type {string} */ text) => text.split("\n").map((l) => l.trim()).filter((l) => l && !/^(import|from)\s/.test(l));
  const known = new Set(lines(before));
  const all = lines(now);
  return all.length > 1 && 2 * all.filter((l) => known.has(l)).length < all.length;
}

/** Where the parameters of `entry` begin: of a class, or an object of it, those of its forward; -1: it is
 * not defined (yet).
 * @param {string} source @param {string} entry */
function parametersAt(source, entry) {
  const written = /^\w*/.exec(entry)?.[0] ?? "";
  const name = objects(source).get(written) ?? written;
  const def = new RegExp(`^def\\s+${name}\\s*\\(`, "m").exec(source);
  if (def) return def.index + def[0].length;
  const at = new RegExp(`^class\\s+${name}\\b`, "m").exec(source);
  if (!at) return -1;
  const end = /\n[^\s#)]/g;
  end.lastIndex = at.index;
  const text = source.slice(0, end.exec(source)?.index ?? source.length);
  const forward = /^[ \t]+def\s+forward\s*\(\s*self\s*,?/gm;
  forward.lastIndex = at.index;
  return forward.exec(text) ? forward.lastIndex : -1;
}

/** @typedef {{name: string, named: boolean, optional: boolean}} Parameter named: given by keyword alone */

/** The parameters of `entry`, without *args and **kwargs; null where it is not defined (yet).
 * @param {string} source @param {string} entry @returns {Parameter[] | null} */
export function signature(source, entry) {
  const start = parametersAt(source, entry);
  if (start < 0) return null;
  let depth = 0;
  let end = start;
  while (end < source.length && !(depth === 0 && source[end] === ")")) {
    if ("([{".includes(source[end])) depth++;
    if (")]}".includes(source[end])) depth--;
    end++;
  }
  if (end >= source.length) return null;
  let named = false;
  /** @type {Parameter[]} */
  const out = [];
  for (const p of splitTop(source.slice(start, end)).map((x) => x.trim())) {
    named ||= /^\*(?!\*)/.test(p);
    if (p && !p.startsWith("*") && p !== "/") out.push({ name: p.replace(/\s*[:=].*$/s, ""), named, optional: p.includes("=") });
  }
  return out;
}

/** The parameters that a call of `entry` has to give; null where it is not defined (yet).
 * @param {string} source @param {string} entry @returns {string[] | null} */
export const parameters = (source, entry) => signature(source, entry)?.filter((p) => !p.optional).map((p) => p.name) ?? null;

/** Splits at commas outside brackets. @param {string} text @returns {string[]} */
function splitTop(text) {
  const out = [""];
  let depth = 0;
  for (const c of text) {
    if ("([{".includes(c)) depth++;
    if (")]}".includes(c)) depth--;
    if (c === "," && depth === 0) out.push("");
    else out[out.length - 1] += c;
  }
  return out;
}

/** Whether the sweep's line of three dots is somewhere. @param {string} source */
export const hasDots = (source) => /^[ \t]*\.\.\.[ \t]*$/m.test(source);
