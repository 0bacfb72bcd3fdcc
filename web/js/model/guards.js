// js/model/guards.js -- compiled versions of each frame: which guard failed first, what
// that cost, how often each version was used, and which would have fitted: as the findings say.

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/report.js").ReportFindingsVersion} Said */
/** @typedef {{text: string, failed: {call: number, by: string}[]}} Guard */
/** @typedef {{id: string, call: number, compileMs: number, few: boolean, guards: Guard[], fits: string[], said: Said}} Version few: it served one call at most; fits: advice that no older entry of the frame has */
/** @typedef {{name: string, line: number, file: string, facts: string, notice: string, versions: Version[]}} FrameTree */

/** @param {import("../api/types.js").Entry} e @param {readonly Said[]} all of the frame @param {number} k @returns {Version} */
const versionOf = (e, all, k, said = all[k]) => ({
  id: e.compile ?? "",
  call: e.call ?? 0,
  compileMs: e.compile_ms ?? 0,
  few: (e.uses ?? 0) <= 1,
  guards: (e.guards ?? []).map((text, i) => ({ text, failed: said.failed.filter((f) => f.guard === i) })),
  fits: said.fits.filter((text) => !all.slice(0, k).some((older) => older.fits.includes(text))),
  said,
});

/** @param {ModeReport} m @param {import("../api/report.js").ReportFindingsMode | undefined} said @returns {FrameTree[]} */
export const frameTrees = (m, said) =>
  (said?.frames ?? []).map((of, i) => {
    const f = (m.tree ?? [])[i];
    return { name: f.frame, line: f.line ?? 0, file: f.file ?? "", facts: of.facts, notice: of.notice ?? "", versions: of.versions.map((_, k) => versionOf((f.entries ?? [])[k], of.versions, k)) };
  });

/** Versions that were compiled because no older one fitted. @param {ModeReport} m */
export const recompileCount = (m) => (m.tree ?? []).flatMap((f) => f.entries ?? []).filter((e) => e.reason).length;
