// js/view/webhooks.js -- webhooks: who is told of changes and verdicts, a test, and what came of each delivery.

import { h, button, chip, copyButton, focusKept, headRow, loadStyle, say, scroller, section, stateWell } from "./dom.js";
import { cards } from "./cards.js";
import { pause } from "./router.js";
import { ApiError } from "../api/client.js";
import { deleteHook, listDeliveries, listHooks, postHook, testHook } from "../api/hooks.js";
import { age, count, plural, stamp } from "../model/format.js";

/** @typedef {import("../api/hooks.js").Hook} Hook */
/** @typedef {import("../api/hooks.js").Delivery} Delivery */

const LIVE_MS = 1000;
const IDLE_MS = 15000;
/** What can be told, with what it is. */
const EVENTS = { change: "a figure that stepped to another level", verdict: "a verdict that became another" };

/** @param {import("./router.js").Context} ctx */
export async function webhooksView(ctx) {
  const styled = loadStyle("suites");
  ctx.setTitle("Webhooks");
  const about = "Addresses that this server tells of changes of histories and of verdicts, signed, again until they are taken.";
  const titles = h("div", { class: "titles" }, h("h1", {}, "Webhooks"), h("p", { class: "sub small" }, about));
  const acts = h("div", { class: "acts" }, h("a", { class: "btn", href: "/docs/webhooks" }, "How to receive them"), h("a", { class: "btn", href: "/history" }, "History"));
  const page = new Webhooks(ctx.signal);
  const problem = await page.load().then(() => null, (e) => e);
  await styled;
  if (ctx.signal.aborted) return;
  if (problem && !(problem instanceof ApiError && problem.status === 403)) throw problem;
  const body = problem ? [stateWell("Not for this token", h("p", {}, "Webhooks are managed with a token of scope admin: they send news out of the server."), h("pre", { tabindex: 0, role: "region", "aria-label": "The command" }, "breakeven token add NAME --scope admin"))] : page.elements();
  ctx.main.replaceChildren(h("div", { class: "head" }, titles, acts), ...body);
  while (!problem && (await pause(page.live ? LIVE_MS : IDLE_MS, ctx.signal))) if (!document.hidden) await page.load().catch(() => null); // asked again soon; the rows stay
}

class Webhooks {
  /** @type {readonly Hook[]} */
  #hooks = [];
  /** Logs that are open, by webhook. @type {Map<number, readonly Delivery[]>} */
  #logs = new Map();
  /** The one that is asked about before it is removed. */
  #leaving = 0;
  #place = h("div", { id: "webhooks" });
  #told = h("div", { role: "status" });
  #why = h("p", { class: "errline", role: "alert" });
  #signal;

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.#signal = signal;
  }

  /** Something is about to be told. */
  get live() {
    return this.#hooks.some((k) => k.waiting) || [...this.#logs.values()].flat().some((d) => d.state === "waiting");
  }

  elements() {
    return [section("Add one", "up to 50 in a store", null, this.#form(), this.#why, this.#told), this.#place];
  }

  async load() {
    const { hooks } = await listHooks(this.#signal);
    for (const id of this.#logs.keys()) {
      if (hooks.some((k) => k.id === id)) this.#logs.set(id, (await listDeliveries(id, this.#signal)).deliveries);
      else this.#logs.delete(id);
    }
    this.#hooks = hooks;
    this.#draw();
  }

  #draw() {
    const back = focusKept(this.#place);
    this.#place.replaceChildren(this.#hooks.length ? this.#list() : empty());
    back();
  }

  /** Does it, says what was wrong, and reads the list again. @param {() => Promise<unknown>} act */
  async #do(act) {
    this.#why.textContent = "";
    try {
      await act();
      await this.load();
    } catch (e) {
      this.#why.textContent = e instanceof Error ? e.message : String(e);
    }
  }

  #form() {
    const url = h("input", { class: "field", type: "url", required: true, placeholder: "https://ci.example.org/breakeven", autocomplete: "off" });
    const project = h("input", { class: "field", type: "text", placeholder: "all projects", maxlength: 100, autocomplete: "off" });
    const boxes = Object.keys(EVENTS).map((name) => h("input", { type: "checkbox", value: name, checked: name === "change" }));
    const form = h("form", { class: "hookform" },
      h("label", { class: "up grow" }, "Address", url),
      h("label", { class: "up" }, "Project", project),
      h("fieldset", {}, h("legend", {}, "Tell it of"), Object.entries(EVENTS).map(([name, what], i) => h("label", {}, boxes[i], ` ${name}`, h("span", { class: "sub small" }, `, ${what}`)))),
      h("button", { type: "submit", class: "btn primary" }, "Add"));
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const events = boxes.filter((b) => b.checked).map((b) => b.value).join();
      if (!events) this.#why.textContent = "Choose what it is told of: change, verdict or both.";
      else this.#do(async () => this.#added(url, await postHook({ url: url.value, events, ...(project.value ? { project: project.value } : {}) })));
    });
    return form;
  }

  /** @param {HTMLInputElement} url @param {{id: number, secret: string}} made */
  #added(url, { id, secret }) {
    url.value = "";
    const text = `Webhook #${id} is there. Its secret signs what is sent; it is shown only now:`;
    this.#told.replaceChildren(h("div", { class: "well gap secret" }, h("p", {}, text), h("p", {}, h("code", {}, secret), " ", copyButton(() => secret, "Copy the secret"))));
  }

  #list() {
    const head = headRow(["Webhook", "Project", "Told of", "Newest delivery", ["Waiting", "r"], "Made by", [null, "", "What can be done"]]);
    const rows = this.#hooks.flatMap((k) => [this.#row(k), ...(this.#logs.has(k.id) ? [this.#log(k)] : [])]);
    const table = h("table", { class: "hooks" }, h("caption", { class: "vh" }, "Webhooks"), head, h("tbody", {}, rows));
    return section("Webhooks of this server", plural(this.#hooks.length, "address", "addresses"), null, scroller("Webhooks, table", cards(table)));
  }

  /** @param {Hook} k */
  #row(k) {
    const open = this.#logs.has(k.id);
    const log = button("Log", () => this.#do(async () => (open ? this.#logs.delete(k.id) : this.#logs.set(k.id, []))), { "aria-expanded": String(open), "aria-label": `Log of webhook ${k.id}` });
    const send = () => this.#do(async () => {
      await testHook(k.id);
      this.#logs.set(k.id, []);
      say(`A test is on its way to ${k.url}.`);
    });
    const test = button("Test", send, { "aria-label": `Test webhook ${k.id}` });
    return h("tr", { data: { hook: k.id } },
      h("th", { scope: "row" }, h("span", { class: "mono dim" }, `#${k.id} `), k.url),
      h("td", {}, k.project || h("span", { class: "dim" }, "all")),
      h("td", {}, k.events.join(", ")),
      h("td", {}, k.last ? [chip(stateClass(k.last.state), k.last.state), " ", when(k.last.at_ns)] : h("span", { class: "dim" }, "none yet")),
      h("td", { class: "r" }, count(k.waiting)),
      h("td", {}, k.author || h("span", { class: "dim" }, "unknown")),
      h("td", { data: { label: "" } }, h("div", { class: "acts" }, ...(this.#leaving === k.id ? this.#asked(k) : [test, log, this.#remover(k)]))));
  }

  /** @param {Hook} k */
  #remover(k) {
    const ask = () => {
      this.#leaving = k.id;
      this.#draw();
      /** @type {HTMLElement | null} */ (this.#place.querySelector(`[aria-label="Keep webhook ${k.id}"]`))?.focus();
    };
    return button("Remove", ask, { "aria-label": `Remove webhook ${k.id}` });
  }

  /** It cannot be had back: its secret is nowhere else. @param {Hook} k */
  #asked(k) {
    const end = (/** @type {() => Promise<unknown>} */ act) => () => this.#do(async () => {
      this.#leaving = 0;
      await act();
    });
    const remove = async () => {
      await deleteHook(k.id);
      say(`Webhook ${k.id} is removed.`);
    };
    const lost = k.waiting ? `${plural(k.waiting, "delivery", "deliveries")} and its secret are lost.` : "Its secret is lost.";
    return [h("span", { class: "small" }, lost), button("Remove it", end(remove), { "aria-label": `Remove webhook ${k.id} with its secret` }), button("Keep", end(async () => null), { "aria-label": `Keep webhook ${k.id}` })];
  }

  /** @param {Hook} k */
  #log(k) {
    const all = this.#logs.get(k.id) ?? [];
    const rows = all.map((d) => h("tr", {},
      h("th", { scope: "row" }, d.event, " ", subject(d)),
      h("td", {}, chip(stateClass(d.state), d.state)),
      h("td", { class: "r" }, count(d.tries)),
      h("td", { class: "r" }, d.status ? String(d.status) : h("span", { class: "dim" }, "none")),
      h("td", { class: "wrap" }, d.said || h("span", { class: "dim" }, d.state === "delivered" ? "taken" : "not tried yet")),
      h("td", { class: "r sub" }, when(d.tried_ns || d.created_ns))));
    const head = headRow(["Event", "State", ["Tries", "r"], ["Status", "r"], "What came of it", ["Age", "r"]]);
    const table = h("table", {}, h("caption", { class: "vh" }, `What was sent to webhook ${k.id}, newest first`), head, h("tbody", {}, rows));
    const content = all.length ? scroller(`Log of webhook ${k.id}, table`, cards(table)) : h("p", { class: "small sub" }, "Nothing was sent to it yet.");
    return h("tr", { class: "logrow" }, h("td", { colspan: 7, data: { label: "" } }, content));
  }
}

/** @param {string} state */
const stateClass = (state) => ({ delivered: "done", failed: "failed", waiting: "queued" })[state] ?? "plain";

/** What it is about. @param {Delivery} d */
const subject = (d) => (d.event === "verdict" && d.subject ? h("a", { href: `/runs/${encodeURIComponent(d.subject)}` }, `run #${d.subject}`) : d.event === "change" && d.subject ? `#${d.subject}` : "");

/** @param {number} ns */
function when(ns) {
  const ms = ns / 1e6;
  return h("time", { datetime: new Date(ms).toISOString(), title: stamp(ms) }, age(ms, Date.now()));
}

function empty() {
  const text = "No address is told yet. A change is told after its workload ran once more and the change was still there; a verdict when it is another than that of the run before.";
  return stateWell("No webhooks yet", h("p", {}, text), h("pre", { tabindex: 0, role: "region", "aria-label": "The command" }, "breakeven hook add https://ci.example.org/breakeven --events change,verdict"));
}
