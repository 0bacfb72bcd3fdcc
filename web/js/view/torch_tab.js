// js/view/torch_tab.js -- PyTorch's tab of a run: facts, values, breaks by mode, and what its
// logs hold, as plain tables.  Loaded when it is opened.

import { chip, h, ci, headRow, scroller, section } from "./dom.js";
import { modeMark } from "./marks.js";
import { importedSections } from "./imported.js";
import { failedCell, failure, torchSaid } from "./torch.js";
import { duration, number, plain, smallError } from "../model/format.js";
import { intervalOf } from "../model/sentence.js";
import { torchOf, torchRows, valuesSentence } from "../model/torch.js";

/** @typedef {import("../api/types.js").TorchEngine} TorchEngine */
/** @typedef {import("./dom.js").Child} Child */

/** @type {Record<string, string>} */
const AGREE = { exact: "the same", within_dtype: "agree, within what the dtype allows" };

/** @param {Child | readonly Child[]} content */
const right = (content) => h("td", { class: "r" }, content);

/** @param {import("../api/types.js").Run} run @param {TorchEngine} t */
function valuesTable(run, t) {
  const rows = torchRows(t).map(({ mode, n, m }) => {
    const at = right(n === null ? "" : plain(n));
    if (m.error) return h("tr", {}, h("th", { scope: "row" }, modeMark(mode)), at, failedCell(m.error, 8));
    const said = torchSaid(run, n)[mode];
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, modeMark(mode)),
      at,
      right(said?.median?.text ?? ""),
      right(said?.over_ours ? [said.over_ours.text, ...ci(intervalOf(said.over_ours))] : ""),
      right(mode === "eager" ? "none" : (said?.compile ?? "none")),
      right(m.frames ?? ""),
      right(m.values ? number(m.values.elements) : ""),
      right(m.values ? smallError(m.values.max_abs_error) : ""),
      right(m.values ? smallError(m.values.max_rel_error) : ""),
      h("td", { class: "wrap" }, m.values?.agree ? AGREE[m.values.verdict ?? ""] ?? "agree" : [chip("disagrees", "DISAGREES"), " ", m.values?.first ?? ""]),
    );
  });
  const head = headRow(["Mode", ["n", "r"], [`Median, ${run.findings?.time_unit ?? "µs"}`, "r"], ["Over Breakeven", "r"], [`Compile, ${run.findings?.compile_unit ?? "ms"}`, "r"], ["Frames", "r"], ["Compared", "r"], ["Largest error", "r"], ["Of the largest", "r"], "Values"]);
  const note = "its time over Breakeven's in the same mode; its values against Breakeven's eager";
  return section("Modes", note, null, h("p", { class: "sub" }, valuesSentence(t)), scroller("Modes of PyTorch, table", h("table", { id: "torch-table" }, head, h("tbody", {}, rows))));
}

/** @param {TorchEngine} t */
function breaksTable(t) {
  const rows = torchRows(t).flatMap(({ mode, n, m }) =>
    (m.breaks ?? []).map((b) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, modeMark(mode)),
        right(n === null ? "" : plain(n)),
        right(b.line),
        h("td", {}, b.kind),
        h("td", {}, b.gb ?? ""),
        right(b.count),
        h("td", {}, b.message),
      ),
    ),
  );
  if (!rows.length) return t.log ? section("Breaks by mode", "", null, h("p", {}, "Its log has no break.")) : null;
  const head = headRow(["Mode", ["n", "r"], ["Line", "r"], "Kind", "Registry", ["Hits", "r"], "Message"]);
  return section("Breaks by mode", "", null, scroller("Breaks of PyTorch, table", h("table", { id: "torch-breaks" }, head, h("tbody", {}, rows))));
}

/** @param {TorchEngine} t */
function facts(t) {
  const pairs = [
    ["Version", t.version],
    ["Python", t.python && `${t.python}, ${t.executable}`],
    ["Build", t.build?.note],
    ["GPU", t.device_name],
    ["Threads", t.threads],
    ["First compilation", typeof t.first_compile_ms === "number" ? `${duration(t.first_compile_ms * 1e3)}, which loads its compiler; no figure includes it` : null],
    ["Took", `${number(t.seconds)} s`],
  ].filter(([, v]) => v !== null && v !== undefined && v !== "");
  return section("PyTorch", "", null, h("dl", { class: "kv" }, pairs.flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, String(v))])));
}

/**
 * The tab of the engine.
 * @param {import("./router.js").Context} _ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export function torchTab(_ctx, body, run, report) {
  const t = torchOf(report);
  if (!t) return body.append(h("p", { class: "sub" }, "PyTorch did not measure this run: its workload does not name the engine torch."));
  const why = t.log_error ? h("p", { class: "sub" }, `Its log and trace are missing: ${t.log_error.message}`) : null;
  const parts = [failure(t), facts(t), torchRows(t).length ? valuesTable(run, t) : null, breaksTable(t), why, ...(t.log ? importedSections(t.log) : [])];
  return body.append(...parts.filter((p) => p !== null));
}
