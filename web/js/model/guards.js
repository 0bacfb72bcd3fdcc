// js/model/guards.js -- compiled versions of each frame: which guard failed first, what
// that cost, how often each version was used, and which would have fitted.

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {{by: string, call: number, text: string}} Failed a guard that failed: for which version, in which call */
/** @typedef {{text: string, failed: Failed[]}} Guard */
/** @typedef {{version: string, text: string, fit: string}} Cause of a version: the guard of an older one */
/**
 * @typedef {object} Version
 * @property {string} id "1/2"
 * @property {number} call that made it
 * @property {Cause[]} causes none: it is the first
 * @property {number} compileMs
 * @property {number} uses
 * @property {number} bailOuts
 * @property {Guard[]} guards
 * @property {string[]} symbols
 *
 * @typedef {object} FrameTree
 * @property {string} name
 * @property {number} line
 * @property {string} state
 * @property {Version[]} versions
 * @property {number} compileMs
 * @property {number} uses
 *
 * @typedef {object} GuardTree
 * @property {FrameTree[]} frames
 */

/** "1/1: x is 3, was 2; 1/0: x is 3, was 1", or without the versions' names where there is one.
 * @param {string} reason @param {string} previous @returns {{version: string, text: string}[]} */
export function reasonParts(reason, previous) {
  const parts = reason.split(/;\s+(?=\d+\/\d+: )/);
  return parts.map((p) => {
    const m = /^(\d+\/\d+): (.*)$/s.exec(p);
    return m ? { version: m[1], text: m[2] } : { version: previous, text: p };
  });
}

/** What a reason speaks of: "x.size(0)" of "x.size(0) is 32, was 64". @param {string} text */
export function subjectOf(text) {
  const held = text.indexOf(" no longer holds");
  if (held >= 0) return text.slice(0, held);
  if (/ is not contiguous/.test(text)) return `${text.slice(0, text.indexOf(" is not contiguous"))}.is_contiguous()`;
  const is = text.indexOf(" is ");
  return is >= 0 ? text.slice(0, is) : text;
}

/** @param {string} guard @param {string} subject */
const speaksOf = (guard, subject) => guard === subject || guard.startsWith(`${subject} `) || guard.endsWith(` ${subject}`);

/** Remedies by what failed; the first that fits. @type {readonly [RegExp, (m: RegExpExecArray, mode: string) => string][]} */
const FITS = [
  [/\.size\(\d+\) is [01], was 2 or more/, () => "Sizes 0 and 1 have a version of their own, as in torch.compile: one more version serves them all."],
  [/\.size\(\d+\) is \d+, was equal to/, () => "Two sizes that were equal in the first call are taken for one. Where they may differ, let them differ in the first call."],
  [/\.size\((\d+)\) is \d+, was \d+/, (m, mode) => (mode === "graphs" ? "A recording has one size: pad to a few sizes that come again." : mode === "static" ? "Mode auto makes a size that changes a symbol, dynamic every size from the first call: one version then serves all." : `Say "dynamic_dims": [${m[1]}] of that input, so that its size is a symbol from the first call.`)],
  [/\.dim\(\) is/, () => "Another number of dimensions is another program: reshape before the call."],
  [/\.dtype is/, () => "Cast to one dtype before the call; else a version for each dtype serves them all."],
  [/\.stride\(\d+\) is|is not contiguous/, () => "Call .contiguous() before, so that every call has one layout."],
  [/requires_grad is|is_grad_enabled|autocast/, () => "Calls with and without it need a version each: two serve them all."],
  [/^len\(/, () => "The length is a constant of the graph. Stack the list into one tensor: its size can be a symbol."],
  [/^list\(/, () => "The keys are constants of the graph: give the dict the same keys, in the same order, in every call."],
  [/ is -?\d+, was -?\d+$/, (_, mode) => (mode === "static" || mode === "graphs" ? "The int is a constant of the graph. Mode auto makes one that changes a symbol; as a tensor its value is no guard." : "The int is a constant of the graph. As a tensor its value is no guard.")],
  [/ is -?[\d.e+-]+, was -?[\d.e+-]+$/, () => "The number is a constant of the graph, so each new one compiles again. Keep it a tensor (no .item(), no float()): its value is then no guard."],
  [/ is (an?|the) [^,]*, was |is another /, () => "It is another object than before: keep one, and give what differs as an argument."],
];

/** @param {string} text @param {string} mode @param {readonly string[]} symbols of the version that came of it */
export function fitOf(text, mode, symbols) {
  const symbol = symbols.find((s) => s.includes(` = ${subjectOf(text)}`));
  if (symbol) return `It is a symbol from this version on (${symbol}): such calls do not compile again.`;
  for (const [pattern, say] of FITS) {
    const m = pattern.exec(text);
    if (m) return say(m, mode);
  }
  return "";
}

/** @param {import("../api/types.js").Entry} e @param {string} previous @param {string} mode @returns {Version} */
function versionOf(e, previous, mode) {
  const symbols = (e.symbols ?? []).map((s) => `${s.name} = ${s.source}${s.range ? `, ${s.range}` : ""}`);
  const causes = e.reason ? reasonParts(e.reason, previous).map((p) => ({ ...p, fit: fitOf(p.text, mode, symbols) })) : [];
  return {
    id: e.compile ?? "",
    call: e.call ?? 0,
    causes,
    compileMs: e.compile_ms ?? 0,
    uses: e.uses ?? 0,
    bailOuts: e.bail_outs ?? 0,
    guards: (e.guards ?? []).map((text) => ({ text, failed: [] })),
    symbols,
  };
}

/** Marks the guards that other versions failed at. @param {Version[]} versions */
function markFailed(versions) {
  for (const v of versions)
    for (const c of v.causes) {
      const subject = subjectOf(c.text);
      const guard = versions.find((o) => o.id === c.version)?.guards.find((g) => speaksOf(g.text, subject));
      guard?.failed.push({ by: v.id, call: v.call, text: c.text });
    }
}

/** @param {import("../api/types.js").Frame} f */
const stateOf = (f) => (f.skipped ? "runs in eager" : f.run_only ? "has all the versions it may: nothing more is compiled, what fits none runs in eager" : "");

/** @param {ModeReport} m @param {string} mode @returns {GuardTree} */
export function guardTree(m, mode) {
  const frames = (m.tree ?? []).map((f) => {
    /** @type {Version[]} */
    const versions = [];
    for (const e of f.entries ?? []) versions.push(versionOf(e, versions.at(-1)?.id ?? "", mode));
    markFailed(versions);
    const sum = (/** @type {"compileMs" | "uses"} */ key) => versions.reduce((all, v) => all + v[key], 0);
    return { name: f.frame, line: f.line ?? 0, state: stateOf(f), versions, compileMs: sum("compileMs"), uses: sum("uses") };
  });
  return { frames };
}

/** Versions that were compiled because no older one fitted. @param {ModeReport} m */
export const recompileCount = (m) => (m.tree ?? []).flatMap((f) => f.entries ?? []).filter((e) => e.reason).length;
