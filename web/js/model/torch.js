// js/model/torch.js -- what PyTorch itself made of the same workload: `engines.torch`.
//
// Its report has the shape of Breakeven's, so its curves are made by the same functions
// and laid over Breakeven's as series of another engine.

import { latencySeries, meeting, speedupSeries } from "./curves.js";
import { count, smallError } from "./format.js";

/** @typedef {import("../api/types.js").TorchEngine} TorchEngine */
/** @typedef {import("../api/types.js").TorchPoint} TorchPoint */
/** @typedef {import("../api/types.js").TorchMode} TorchMode */

/** @param {import("../api/types.js").Report | null | undefined} report @returns {TorchEngine | null} */
export const torchOf = (report) => report?.engines?.torch ?? null;

/** Its points, as pointsOf() has Breakeven's. @param {TorchEngine} t @returns {TorchPoint[]} */
export const torchPoints = (t) => (t.points.length ? t.points : [{ n: null, modes: t.modes, break_even: t.break_even }]);

/** Its modes at a point of Breakeven's. @param {TorchEngine | null} t @param {number | null | undefined} n
 * @returns {TorchPoint | null} */
export const torchAt = (t, n) => (t ? (torchPoints(t).find((p) => (p.n ?? null) === (n ?? null)) ?? null) : null);

/** @param {import("./curves.js").Series[]} series @returns {import("./curves.js").Series[]} */
const asTorch = (series) =>
  series.map((s) => ({ ...s, key: `${s.key}-torch`, label: `${s.label}, torch`, imported: true }));

/** Its curves, to lay over Breakeven's; null where it measured no sweep.
 * @param {TorchEngine | null} t @returns {import("./published.js").Overlay | null} */
export function torchOverlay(t) {
  const report = /** @type {import("../api/types.js").Report} */ (/** @type {unknown} */ ({ points: t?.points ?? [] }));
  const latency = asTorch(latencySeries(report));
  if (!t || !latency.length) return null;
  const of = (/** @type {string} */ mode) => latency.find((s) => s.mode === mode)?.dots ?? [];
  const x = meeting(of("eager"), of("static"));
  return {
    key: "torch",
    title: `PyTorch ${t.version} here`,
    short: "torch",
    here: true,
    source: `PyTorch ${t.version}, measured in the same run, on the same machine, by the same rules`,
    latency,
    speedup: asTorch(speedupSeries(report)),
    crossings: x === null ? [] : [{ x, lo: x, hi: x, text: "", sub: "static meets eager, torch" }],
  };
}

/** @param {TorchEngine} t @returns {{mode: string, n: number | null, m: TorchMode}[]} */
export const torchRows = (t) =>
  torchPoints(t).flatMap((p) => Object.entries(p.modes).map(([mode, m]) => ({ mode, n: p.n ?? null, m })));

/** Do its values equal Breakeven's? One sentence. @param {TorchEngine} t */
export function valuesSentence(t) {
  const rows = torchRows(t).filter(({ m }) => m.values);
  if (!rows.length) return "Its values could not be compared with Breakeven's.";
  const apart = rows.filter(({ m }) => !m.values?.agree);
  const compared = rows.reduce((sum, { m }) => sum + (m.values?.elements ?? 0), 0);
  const left = rows.reduce((sum, { m }) => sum + (m.values?.left_out ?? 0), 0);
  const prints = rows.some(({ m }) => m.values?.stdout_same === false) ? " What it prints differs." : "";
  const rest = left ? ` ${count(left)} values were too large, or of a kind that is not compared.` : "";
  if (apart.length) {
    const { mode, n, m } = apart[0];
    const where = n === null ? mode : `${mode} at n = ${n}`;
    const drawn = m.draws ? " The program draws random numbers, of which each engine has its own." : "";
    return `Values differ in ${apart.length} of ${rows.length}: ${where}, ${m.values?.first ?? "nothing could be compared"}.${drawn}${prints}${rest}`;
  }
  const most = Math.max(...rows.map(({ m }) => m.values?.max_abs_error ?? 0));
  const how = most > 0 ? `agree with Breakeven's within ${smallError(most)}` : "equal Breakeven's";
  return `Its values ${how}, over ${count(compared)} numbers.${prints}${rest}`;
}
