// tests/web/place.test.mjs -- where the page finds the server's paths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset, pathOf, place, placesOf } from "../../web/js/api/place.js";

test("the address of a script tells where the server's paths begin, and where the files of its version are", () => {
  for (const [url, base, assets] of [
    ["http://127.0.0.1:8080/assets/js/main.js", "", "/assets"],
    ["http://127.0.0.1:8080/assets/0123456789ab/js/main.js", "", "/assets/0123456789ab"],
    ["https://perf.example.org/breakeven/assets/0123456789ab/js/view/dom.js", "/breakeven", "/assets/0123456789ab"],
    ["https://perf.example.org/a/assets/js/b/assets/js/main.js", "/a/assets/js/b", "/assets"],
    ["https://perf.example.org/assets/0123456789abc/js/main.js", "", "/assets"],
    ["file:///home/u/assets/js/api/place.js", "", "/assets"],
  ]) assert.deepEqual(placesOf(url), { base, assets }, url);
});

test("without one, paths are as they are", () => {
  assert.equal(place("/runs/7"), "/runs/7");
  assert.equal(asset("css/docs.css"), "/assets/css/docs.css");
  assert.equal(place("#head"), "#head");
  assert.equal(place("https://example.org/x"), "https://example.org/x");
  assert.equal(pathOf("/runs"), "/runs");
});
