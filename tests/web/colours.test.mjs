// tests/web/colours.test.mjs -- the colours of a timeline, as those see them who lack a cone.
//
// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
// Deficiency" (2009), severity 1; distances in Oklab times 100.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const SIGHTS = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const APART = 8;
const SEEN = 3; // contrast to the ground, WCAG 1.4.11
const WHAT = ["c-fused", "k-library", "k-eager", "k-collective", "k-copy", "k-guards", "k-launch", "k-alloc", "k-compile", "c-break"];

const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const times = (m, v) => m.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));
const seen = (hex, sight) => times(SIGHTS[sight], linear(hex)).map((x) => Math.min(1, Math.max(0, x)));
function oklab(rgb) {
  const lms = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], rgb).map(Math.cbrt);
  return times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]], lms);
}
const distance = (a, b, sight) => 100 * Math.hypot(...oklab(seen(a, sight)).map((x, i) => x - oklab(seen(b, sight))[i]));
const light = (hex) => linear(hex).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);

const css = readFileSync(new URL("../../web/css/tokens.css", import.meta.url), "utf8");
const dark = css.indexOf('[data-theme="dark"]');
for (const [theme, text] of [["light", css.slice(0, dark)], ["dark", css.slice(dark)]])
  test(`what a timeline draws is told apart by its colour, ${theme}`, () => {
    const of = (name) => text.match(new RegExp(`--${name}: (#[\\da-f]{6})`))[1];
    const close = [];
    for (const sight of Object.keys(SIGHTS))
      for (const [i, a] of WHAT.entries())
        for (const b of WHAT.slice(i + 1)) if (distance(of(a), of(b), sight) < APART) close.push(`${sight}: ${a}, ${b}`);
    assert.deepEqual(close, []);
    for (const name of WHAT) assert.ok(contrast(of(name), of("well")) >= SEEN, name);
  });
