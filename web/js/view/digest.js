// js/view/digest.js -- what the last week brought: steps, verdicts that changed, runs that failed, suites, what is pinned.

import { h, section, select, stateWell } from "./dom.js";
import { remember } from "./router.js";
import { sinceParts, sinceSaid } from "./since.js";
import { getSince } from "../api/client.js";
import { count } from "../model/format.js";

const WEEK = "168";
const SPANS = [
  { value: "24", label: "The last day" },
  { value: WEEK, label: "The last week" },
  { value: "720", label: "The last 30 days" },
];

/** @param {import("./router.js").Context} ctx */
export async function digestView(ctx) {
  ctx.setTitle("Digest");
  const asked = new URLSearchParams(location.search).get("hours") ?? "";
  const place = h("div", { id: "digest", class: "since" });
  const said = h("p", { class: "sub small", role: "status" });
  /** @param {string} hours */
  const show = async (hours) => {
    const since = await getSince(ctx.signal, Number(hours));
    said.textContent = sinceSaid(since);
    const parts = sinceParts(since).filter(([, , rows]) => rows.length);
    place.replaceChildren(...(parts.length ? parts.map(part) : [stateWell("Nothing to tell", h("p", {}, "No figure stepped, no verdict changed, and nothing failed."))]));
  };
  const hours = SPANS.some((s) => s.value === asked) ? asked : WEEK;
  const spans = select(SPANS, hours, { "aria-label": "How far back" }, (value) => {
    remember({ hours: value === WEEK ? null : value });
    show(value).catch((e) => ctx.signal.aborted || place.replaceChildren(stateWell("It could not be read", h("p", {}, e.message))));
  });
  await show(hours);
  ctx.main.replaceChildren(h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Digest"), said), h("div", { class: "acts" }, spans)), place);
}

/** @param {[string, number, HTMLElement[]]} part */
const part = ([title, n, rows]) => section(title, n > rows.length ? `${count(rows.length)} of ${count(n)}` : null, null, h("ul", {}, rows));
