// js/model/complete.js -- what is being written at a place of a program: whose names would complete it.

/** @typedef {{module: string, names?: string[], from: number, word: string}} Asked
 *   of `module` ("torch.nn"), or `names` that the text itself tells; `word` begins at `from` */

const TENSOR = "torch.Tensor";

/** What the names of a text's imports stand for: "F" for torch.nn.functional. @param {string} source @returns {Map<string, string>} */
export function imported(source) {
  /** @type {Map<string, string>} */
  const out = new Map();
  for (const [, list] of source.matchAll(/^[ \t]*import[ \t]+([^#\n;]+)/gm))
    for (const part of list.split(",")) {
      const [, module, as] = /^\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? [];
      if (module) out.set(as ?? module.split(".")[0], as ? module : module.split(".")[0]);
    }
  for (const [, module, list] of source.matchAll(/^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^#\n;]+)/gm))
    for (const part of list.replace(/[()]/g, "").split(",")) {
      const [, name, as] = /^\s*(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? [];
      if (name) out.set(as ?? name, `${module}.${name}`);
    }
  return out;
}

/** Attributes that the text gives `self`. @param {string} source */
const ofSelf = (source) => [...new Set([...source.matchAll(/\bself\.(\w+)/g), ...source.matchAll(/^[ \t]+def[ \t]+(\w+)[ \t]*\([ \t]*self\b/gm)].map((m) => m[1]))].sort();

/**
 * Whose names complete what ends at `at`: those of a module after its name and a dot, or after
 * `from module import`, those of `self`, else a tensor's.  Null where the text says nothing.
 * @param {string} source @param {number} at @returns {Asked | null}
 */
export function askedAt(source, at) {
  const line = source.slice(source.lastIndexOf("\n", at - 1) + 1, at);
  const code = line.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, (text) => " ".repeat(text.length));
  if (/[#"']/.test(code)) return null;
  const from = /^\s*from\s+([\w.]+)\s+import\s+(?:[\w\s,]*,\s*|\(?\s*)?(\w*)$/.exec(code);
  if (from) return { module: from[1], from: at - from[2].length, word: from[2] };
  const dotted = /((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*|[)\]])\.(\w*)$/.exec(code);
  if (!dotted) return null;
  const [, owner, word] = dotted;
  const place = { from: at - word.length, word };
  const [first, ...rest] = owner.split(".");
  if (first === "self" && !rest.length) {
    const before = source.slice(0, place.from) + source.slice(at);
    return { module: "", names: ofSelf(before), ...place };
  }
  const module = imported(source).get(first);
  return { module: module ? [module, ...rest].join(".") : TENSOR, ...place };
}
