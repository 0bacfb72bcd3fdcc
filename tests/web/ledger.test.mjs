// tests/web/ledger.test.mjs -- rows and sums of an import's ledger.
import test from "node:test";
import assert from "node:assert/strict";
import { ledgerOf, ledgerRows, ledgerSums } from "../../web/js/model/ledger.js";

const ledger = {
  dropped: { cut_off: 1, broken_json: 0 },
  repaired: { commas: 2 },
  kept: { windows: 3, string_pids: 4 },
  what: { cut_off: "files that end too soon", commas: "events with a comma too many" },
};

test("rows are those of something, by fate, with their words; windows are no loss", () => {
  assert.deepEqual(ledgerRows(ledger), [
    { what: "files that end too soon", fate: "dropped", n: 1 },
    { what: "events with a comma too many", fate: "repaired", n: 2 },
    { what: "string_pids", fate: "kept", n: 4 },
  ]);
  assert.deepEqual(ledgerSums(ledger), { dropped: 1, repaired: 2, kept: 4 });
  assert.deepEqual(ledgerRows({}), []);
});

test("a run has the ledger of its log, of its export, or none", () => {
  assert.equal(ledgerOf({ report: { import: { ledger } } }), ledger);
  assert.equal(ledgerOf({ report: { imported: { ledger } } }), ledger);
  assert.equal(ledgerOf({ report: null, imported: { ledger } }), ledger);
  assert.equal(ledgerOf({ report: { modes: {} }, imported: null }), null);
});
