// js/model/guards.js -- compiled versions of each frame: which guard failed first, what
// that cost, how often each version was used, and which would have fitted: as the findings say.

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/report.js").ReportFindingsVersion} Said */
/** @typedef {{text: string, failed: {call: number, by: string}[]}} Guard */
/** @typedef {{id: string, call: number, compileMs: number, few: boolean, guards: Guard[], said: Said}} Version few: it served one call at most */
/** @typedef {{name: string, line: number, facts: string, notice: string, versions: Version[]}} FrameTree */

/** @param {import("../api/types.js").Entry} e @param {Said} said @returns {Version} */
const versionOf = (e, said) => ({
  id: e.compile ?? "",
  call: e.call ?? 0,
  compileMs: e.compile_ms ?? 0,
  few: (e.uses ?? 0) <= 1,
  guards: (e.guards ?? []).map((text, i) => ({ text, failed: said.failed.filter((f) => f.guard === i) })),
  said,
});

/** @param {ModeReport} m @param {import("../api/report.js").ReportFindingsMode | undefined} said @returns {FrameTree[]} */
export const frameTrees = (m, said) =>
  (said?.frames ?? []).map((of, i) => {
    const f = (m.tree ?? [])[i];
    return { name: f.frame, line: f.line ?? 0, facts: of.facts, notice: of.notice ?? "", versions: of.versions.map((v, k) => versionOf((f.entries ?? [])[k], v)) };
  });

/** Versions that were compiled because no older one fitted. @param {ModeReport} m */
export const recompileCount = (m) => (m.tree ?? []).flatMap((f) => f.entries ?? []).filter((e) => e.reason).length;
