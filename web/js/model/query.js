// js/model/query.js -- the search box's words to the list's parameters.
//
// "device:cpu tag:nightly softmax" filters by field and searches the rest; a
// word with a colon that names no field is searched as it stands.

const FIELDS = ["project", "tag", "device"];

/** @typedef {{q: string, project?: string, tag?: string, device?: string}} Query */

/** @param {string} text @returns {Query} */
export function parseQuery(text) {
  /** @type {Record<string, string>} */
  const out = {};
  const words = text.split(/\s+/).filter((w) => {
    const m = /^([a-z]+):(.+)$/.exec(w);
    if (!m || !FIELDS.includes(m[1])) return w !== "";
    out[m[1]] = m[2];
    return false;
  });
  return { q: words.join(" "), ...out };
}

/** Each part of a search that can be dropped, with what is left without it.
 * @param {string} text @param {string} status @returns {{label: string, text: string, status: string}[]} */
export function drops(text, status) {
  const words = text.split(/\s+/).filter(Boolean);
  const isField = (/** @type {string} */ w) => FIELDS.includes(w.split(":")[0]) && w.includes(":");
  const fields = words.filter(isField);
  const free = words.filter((w) => !isField(w));
  const out = fields.map((f) => ({ label: f, text: words.filter((w) => w !== f).join(" "), status }));
  if (free.length) out.push({ label: free.join(" "), text: fields.join(" "), status });
  if (status) out.push({ label: `status:${status}`, text, status: "" });
  return out;
}
