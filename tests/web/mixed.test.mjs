// tests/web/mixed.test.mjs -- what the page says of autocast.
import test from "node:test";
import assert from "node:assert/strict";
import { mixedSentence } from "../../web/js/model/mixed.js";

const side = { peak_bytes: 1, activation_bytes: 1 };
const mode = (verdict, ratio) => ({ with: side, without: side, max_abs_error: 0, activation_ratio: ratio, verdict });
const told = (modes) => mixedSentence({ dtype: "bfloat16", batch: 8, error: null, modes }, Object.keys(modes));

test("slower is said as plainly as faster", () => {
  assert.equal(
    told({ eager: mode("SLOWER", 2), static: mode("FASTER", 0.5), dynamic: mode("AMBIGUOUS", 0.5) }),
    "Autocast is faster in static and slower in eager. In dynamic no difference can be told. " +
      "It takes less memory in static and dynamic and more in eager: the copies that it casts outweigh the smaller results.",
  );
  assert.equal(
    told({ eager: mode("SLOWER", 2) }),
    "Autocast is slower in eager. It takes more memory in eager: the copies that it casts outweigh the smaller results.",
  );
});

test("what was not timed has bytes alone, and no difference is not mentioned", () => {
  assert.equal(told({ eager: mode(undefined, 0.5) }), "It takes less memory in eager.");
  assert.equal(told({ eager: mode("SAME", 1) }), "In eager no difference can be told.");
  assert.equal(told({ eager: mode("SAME", null) }), "In eager no difference can be told.");
});
