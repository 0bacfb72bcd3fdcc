// js/view/chart_library.js -- Chart.js, when the first chart is drawn: pages without one, and what
// is above it on those with one, do not wait for it.

import { asset } from "../api/place.js";
import { h } from "./dom.js";

/** @type {Promise<any> | undefined} */
let coming;

/** The class Chart; null where the file does not come. */
export function chartLibrary() {
  coming ??= new Promise((done) => {
    const script = h("script", { src: asset("vendor/chart.umd.min.js") });
    script.addEventListener("load", () => done(/** @type {any} */ (globalThis).Chart ?? null), { once: true });
    script.addEventListener("error", () => done(null), { once: true });
    document.head.append(script);
  });
  return coming;
}
