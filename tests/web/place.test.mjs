// tests/web/place.test.mjs -- where the page finds the server's paths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf, pathOf, place } from "../../web/js/api/place.js";

test("the address of a script tells where the server's paths begin", () => {
  for (const [url, base] of [
    ["http://127.0.0.1:8080/assets/js/main.js", ""],
    ["https://perf.example.org/breakeven/assets/js/view/dom.js", "/breakeven"],
    ["https://perf.example.org/a/assets/js/b/assets/js/main.js", "/a/assets/js/b"],
    ["file:///home/u/assets/js/api/place.js", ""],
  ]) assert.equal(baseOf(url), base, url);
});

test("without one, paths are as they are", () => {
  assert.equal(place("/runs/7"), "/runs/7");
  assert.equal(place("#head"), "#head");
  assert.equal(place("https://example.org/x"), "https://example.org/x");
  assert.equal(pathOf("/runs"), "/runs");
});
