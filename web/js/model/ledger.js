// js/model/ledger.js -- what an import lost, repaired or kept although it is doubtful.

/** @typedef {import("../api/types.js").Ledger} Ledger */

const FATES = /** @type {const} */ (["dropped", "repaired", "kept"]);

/**
 * Its rows, but those of nothing and the count of windows, which is no loss.
 * @param {Ledger} ledger
 * @returns {{what: string, fate: string, n: number}[]}
 */
export function ledgerRows(ledger) {
  return FATES.flatMap((fate) =>
    Object.entries(ledger[fate] ?? {})
      .filter(([name, n]) => n > 0 && name !== "windows")
      .map(([name, n]) => ({ what: ledger.what?.[name] ?? name, fate, n })),
  );
}

/** How many of each fate there are: {dropped, repaired, kept}. @param {Ledger} ledger */
export function ledgerSums(ledger) {
  const sums = { dropped: 0, repaired: 0, kept: 0 };
  for (const { fate, n } of ledgerRows(ledger)) sums[/** @type {keyof typeof sums} */ (fate)] += n;
  return sums;
}

/**
 * The ledger of a run that came from a file; null of one that ran here.
 * @param {import("../api/types.js").Run} run
 */
export function ledgerOf(run) {
  return run.report?.import?.ledger ?? run.report?.imported?.ledger ?? run.imported?.ledger ?? null;
}
