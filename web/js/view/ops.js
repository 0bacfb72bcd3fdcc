// js/view/ops.js -- the ops of this server's engine, filtered; and its backends.

import { h, add, headRow, scroller, section, select, stateWell } from "./dom.js";
import { remember } from "./router.js";
import { getBackends, getOps } from "../api/client.js";
import { filterOps, kindsOf, loweredText, opsVerdict } from "../model/ops.js";

/** @typedef {import("../api/types.js").Op} Op */
/** @typedef {import("../model/ops.js").OpFilter} OpFilter */

const GRADIENTS = [
  { value: "", label: "any gradient" },
  { value: "yes", label: "with a gradient" },
  { value: "none", label: "without" },
];

/** @param {import("./router.js").Context} ctx */
export async function opsView(ctx) {
  ctx.setTitle("Ops");
  const [{ ops }, { backends }] = await Promise.all([getOps(ctx.signal), getBackends(ctx.signal)]);
  if (ctx.signal.aborted) return;
  /** @type {OpFilter} */
  const filter = {
    text: ctx.query.get("q") ?? "",
    kind: ctx.query.get("kind") ?? "",
    gradient: ctx.query.get("gradient") ?? "",
  };
  const names = backends.map((b) => b.name);
  const place = h("div", { id: "ops-list" });
  const count = h("span", { class: "sub small", id: "ops-count", role: "status" });
  const fill = () => {
    const shown = filterOps(ops, filter);
    remember({ q: filter.text || null, kind: filter.kind || null, gradient: filter.gradient || null });
    count.textContent = shown.length === ops.length ? `${ops.length} ops` : `${shown.length} of ${ops.length} ops`;
    place.replaceChildren(shown.length ? scroller("Ops, table", table(shown, names)) : nothing(filter, clear));
  };
  const clear = () => {
    Object.assign(filter, { text: "", kind: "", gradient: "" });
    ctx.main.querySelector(".bar")?.replaceWith(bar(ops, filter, fill, count));
    fill();
  };
  const titles = h("div", { class: "titles" }, h("h1", {}, "Ops"));
  const acts = h("div", { class: "acts" }, h("a", { class: "btn", href: "/api/v1/ops" }, "JSON"));
  const [bold, rest] = opsVerdict(ops, names);
  const how = "A program may use every spelling below. Where a backend does not lower an op, it calls a library function between two kernels.";
  ctx.main.replaceChildren(
    h("div", { class: "head" }, titles, acts),
    h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, h("b", {}, bold), rest), h("p", { class: "how" }, how)),
    h("section", { class: "sec", "aria-label": "Ops" }, bar(ops, filter, fill, count), place),
    backendSection(backends),
  );
  fill();
}

/** @param {readonly Op[]} ops @param {OpFilter} filter @param {() => void} fill @param {HTMLElement} count */
function bar(ops, filter, fill, count) {
  const search = h("input", {
    type: "search",
    class: "field grow",
    id: "ops-search",
    placeholder: "Name, spelling or words, for example F.gelu",
    "aria-label": "Search the ops",
    autocomplete: "off",
  });
  search.value = filter.text;
  search.addEventListener("input", () => {
    filter.text = search.value;
    fill();
  });
  const kinds = [{ value: "", label: "any kind" }, ...kindsOf(ops).map((k) => ({ value: k, label: k }))];
  const kind = select(kinds, filter.kind, { "aria-label": "Kind" }, (v) => {
    filter.kind = v;
    fill();
  });
  const gradient = select(GRADIENTS, filter.gradient, { "aria-label": "Gradient" }, (v) => {
    filter.gradient = v;
    fill();
  });
  return h("div", { class: "bar" }, search, kind, gradient, h("div", { class: "acts" }, count));
}

/** @param {OpFilter} filter @param {() => void} clear */
function nothing(filter, clear) {
  const all = h("button", { type: "button", class: "btn primary" }, "Show all ops");
  all.addEventListener("click", clear);
  const asked = [filter.text && `\u201c${filter.text}\u201d`, filter.kind, filter.gradient && `gradient ${filter.gradient}`];
  const what = asked.filter(Boolean).join(", ");
  const why = h("p", {}, `Nothing matches ${what}. A program that uses a PyTorch function that is missing here is refused, with the line.`);
  return stateWell("No op matches", why, h("div", { class: "acts" }, all));
}

/** @param {readonly Op[]} ops @param {readonly string[]} backends */
function table(ops, backends) {
  const head = headRow(["Op", "Kind", "Spellings", "Gradient", "Autocast", ...backends.map((b) => `Lowered by ${b}`)]);
  return h("table", { class: "optable" }, h("caption", { class: "vh" }, "Ops"), head, h("tbody", {}, ops.map((op) => row(op, backends))));
}

/** @param {Op} op @param {readonly string[]} backends */
function row(op, backends) {
  const spellings = [...op.spellings, ...op.operators.map((o) => `operator ${o}`)];
  const name = h("th", { scope: "row" }, h("code", {}, op.name), h("span", { class: "two-line" }, op.plugin ? `of ${op.plugin}` : ""));
  const spelt = h("td", { class: "wrap" });
  spellings.forEach((s, i) => add(spelt, i ? ", " : "", h("code", {}, s)));
  add(spelt, h("span", { class: "two-line" }, `(${op.signature}) \u2014 ${op.doc}`));
  const lowered = backends.map((b) => {
    const dtypes = op.backends[b] ?? [];
    const host = op.on_host?.[b] ?? [];
    const title = [dtypes.join(", "), host.length ? `on the host, with copies to and from it: ${host.join(", ")}` : ""].filter(Boolean).join("; ") || null;
    return h("td", { class: dtypes.length ? "" : "dim", title, data: { label: b } }, loweredText(dtypes, host));
  });
  const gradient = h("td", { class: op.gradient === "yes" ? "" : "dim", data: { label: "gradient" } }, op.gradient);
  const autocast = h("td", { data: { label: "autocast" } }, op.autocast?.cpu ?? "none");
  return h("tr", {}, name, h("td", { class: "kind" }, op.kind), spelt, gradient, autocast, lowered);
}

/** @param {readonly import("../api/types.js").BackendInfo[]} backends */
function backendSection(backends) {
  const rows = backends.map((b) => {
    const state = b.available ? (b.default ? "works here, the default" : "works here") : `does not work here: ${b.why_not}`;
    const facts = [b.vector_unit && `vector unit ${b.vector_unit}`, b.compiler, b.plugin && `of ${b.plugin}`].filter(Boolean).join(", ");
    return h("tr", {}, h("th", { scope: "row" }, h("code", {}, b.name)), h("td", { class: "wrap" }, [state, ...(b.lacks ?? [])].map((line) => h("div", {}, line))), h("td", { class: "wrap" }, b.purpose), h("td", { class: "wrap" }, facts || "no further details"));
  });
  const head = headRow(["Backend", "Here", "What it is", "With"]);
  const tableEl = h("table", { id: "backends" }, h("caption", { class: "vh" }, "Backends"), head, h("tbody", {}, rows));
  return section("Backends", "they run the compiled graphs", null, scroller("Backends, table", tableEl));
}
