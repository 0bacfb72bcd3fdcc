// tests/web/glossary.test.mjs -- which heads have a term, and that every term says something.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GLOSSARY, termOf, WORDS } from "../../web/js/model/glossary.js";

test("a head's term is what comes before its unit", () => {
  assert.equal(termOf("Median, µs"), "Median");
  assert.equal(termOf("Allocated in all, static"), "Allocated in all");
  assert.equal(termOf("Repaid after"), "Repaid after");
  assert.deepEqual(["Line", "constructor", ""].map(termOf), ["", "", ""]);
});

test("every term is explained in a sentence, once", () => {
  for (const [name, text] of Object.entries({ ...GLOSSARY, ...WORDS })) assert.match(text, /^[A-Z0-9"d].{20,}[.]$/, name);
  assert.deepEqual(Object.keys(GLOSSARY).filter((k) => k in WORDS), []);
});
