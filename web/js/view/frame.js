// js/view/frame.js -- what every view shares: theme, keyboard help, jobs.
//
// Keys work only outside fields and while no dialog is open; the views add
// their own through onKeys, so this rule is in one place.

import { h } from "./dom.js";
import { startTerms } from "./term.js";
import { givenBy } from "./dropped.js";
import { go } from "./router.js";
import { ApiError, getSession, listRuns, signIn, signOut } from "../api/client.js";
import { herePath, place } from "../api/place.js";
import { docOf } from "../model/docs.js";
import { GLOSSARY, WORDS } from "../model/glossary.js";

const EVERY_MS = 5000;
const FIRST_MS = 500; // the view in front comes first

export function startFrame() {
  startTheme();
  const help = /** @type {HTMLDialogElement} */ (document.getElementById("help"));
  const open = () => {
    fillTerms();
    document.getElementById("help-page")?.setAttribute("href", place(docOf(herePath())));
    help.showModal();
  };
  for (const a of help.querySelectorAll("a")) a.addEventListener("click", () => help.close());
  for (const b of document.querySelectorAll("[data-help]")) b.addEventListener("click", open);
  onKeys(new AbortController().signal, { "?": open, n: () => go("/new") });
  startTerms();
  watchJobs();
  watchDrops();
  showSession();
}

/** @param {AbortSignal} signal @param {Record<string, (e: KeyboardEvent) => void>} keys */
export function onKeys(signal, keys) {
  addEventListener(
    "keydown",
    (e) => {
      const [t] = e.composedPath(); // in the editor, not about it
      if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
      const field = "input:not([type=checkbox]):not([type=radio]), textarea, select";
      if (t instanceof HTMLElement && (t.isContentEditable || t.matches(field))) return;
      const act = keys[e.key];
      if (act) {
        e.preventDefault();
        act(e);
      }
    },
    { signal },
  );
}

/** Files that are dragged anywhere: what takes them comes then.  An element that takes files itself has said so before. */
function watchDrops() {
  const load = () => import("./drop.js");
  const has = (/** @type {DragEvent} */ e) => !e.defaultPrevented && e.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (e) => {
    if (!has(e)) return;
    e.preventDefault();
    load().then((d) => d.showDropPlace());
  });
  addEventListener("drop", (e) => {
    if (!has(e) || !e.dataTransfer) return;
    e.preventDefault();
    const dropped = givenBy(e.dataTransfer); // what is dropped is gone after this event
    load().then((d) => d.importFiles(dropped));
  });
}

/** The words of the help, when it is first opened. */
function fillTerms() {
  const list = /** @type {HTMLElement} */ (document.getElementById("help-terms"));
  if (list.childElementCount) return;
  const all = Object.entries({ ...WORDS, ...GLOSSARY }).sort(([a], [b]) => a.localeCompare(b));
  for (const [name, text] of all) list.append(h("dt", {}, name), h("dd", {}, text));
}

function startTheme() {
  const b = /** @type {HTMLElement} */ (document.getElementById("theme-toggle"));
  const root = document.documentElement;
  const label = () => {
    b.textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
    b.setAttribute("aria-label", `Switch to the ${b.textContent.toLowerCase()} theme`);
  };
  addEventListener("themechange", label);
  b.addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      /* kept for this page only */
    }
    dispatchEvent(new Event("themechange"));
  });
  label();
}

/** Says that the server is gone for as long as it is; then views that wait for it are asked again. */
function tellOffline() {
  const note = h("p", { id: "offline", class: "toast", role: "status", hidden: true });
  document.body.append(note);
  return (/** @type {boolean} */ gone) => {
    if (note.hidden !== gone) return;
    note.hidden = !gone;
    note.textContent = gone ? `No answer from ${location.host}; trying again every ${EVERY_MS / 1000} s. This page may be out of date.` : "";
    if (!gone) dispatchEvent(new Event("serverback"));
  };
}

/** Says on every page what a server lets anybody do; of one with accounts, who is signed in. */
async function showSession() {
  const session = await getSession().catch(() => null); // that it is gone, watchJobs() says
  if (session?.insecure) {
    const text = "This server was started with --insecure: anyone who can reach it may read and remove every run and execute programs.";
    document.querySelector("header.nav")?.after(h("p", { id: "insecure", class: "open-to-all", role: "alert" }, text));
  }
  if (session?.user) showUser(session);
  else if (session?.accounts && session.scope === "open") {
    addEventListener("signinwanted", askToken);
    askToken();
  }
}

/** @param {import("../api/client.js").Session} session */
function showUser({ user, scope, project, csrf }) {
  const may = `may ${scope === "admin" ? "do everything" : scope}${project ? ` in project ${project}` : ""}`;
  const out = h("button", { class: "btn quiet", type: "button" }, "Sign out");
  out.addEventListener("click", async () => {
    await signOut().catch(() => null);
    // Drafts of the form (new.js) are not for whoever signs in next.
    for (const key of Object.keys(localStorage)) if (key.startsWith("draft ")) localStorage.removeItem(key);
    location.reload();
  });
  const who = h("span", { id: "user", class: "small", title: `${user} ${may}` }, user);
  document.getElementById("theme-toggle")?.before(who, ...(csrf ? [out] : []));
}

/** A dialog for the token; what it gives is a cookie that scripts do not see. */
function askToken() {
  const field = h("input", { id: "token", class: "field", type: "password", autocomplete: "current-password", required: true });
  const wrong = h("p", { class: "errline", role: "alert" });
  const form = h(
    "form",
    { class: "signin" },
    h("p", {}, "This server has accounts. Sign in with a token; ", h("code", {}, "breakeven token add"), " makes one."),
    h("label", { for: "token" }, "Token"),
    field,
    wrong,
    h("div", { class: "acts" }, h("button", { class: "btn primary" }, "Sign in")),
  );
  const d = h("dialog", { id: "sign-in", "aria-labelledby": "sign-in-title", class: "ask" }, h("h2", { id: "sign-in-title" }, "Sign in"), form);
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const token = /** @type {HTMLInputElement} */ (field).value.trim();
    wrong.textContent = "";
    try {
      // No header could carry another.
      if (!/^[!-~]+$/.test(token)) throw "A token consists of letters, digits and _.";
      await signIn(token);
      location.reload();
    } catch (problem) {
      wrong.textContent = problem instanceof ApiError ? problem.message : String(problem);
    }
  });
  d.addEventListener("close", () => d.remove());
  document.body.append(d);
  d.showModal();
}

/** "1 running, 1 queued" in the nav; nothing where nothing waits. */
function watchJobs() {
  const link = /** @type {HTMLAnchorElement} */ (document.getElementById("jobs"));
  const offline = tellOffline();
  const update = async () => {
    if (document.hidden) return;
    try {
      const [running, queued] = await Promise.all(
        ["running", "queued"].map((status) => listRuns({ status, limit: 1 })),
      );
      const [r, q] = [running.total ?? running.runs.length, queued.total ?? queued.runs.length];
      link.replaceChildren([r ? `${r} running` : "", q ? `${q} queued` : ""].filter(Boolean).join(", "));
      link.href = place(`/runs?status=${r ? "running" : "queued"}`);
      link.hidden = r + q === 0;
      offline(false);
    } catch (e) {
      offline(e instanceof ApiError && e.status === 0);
    }
  };
  addEventListener("jobschange", () => update());
  setInterval(update, EVERY_MS);
  setTimeout(update, FIRST_MS);
}

/** Tells the frame that a run was started or stopped. */
export const jobsChanged = () => dispatchEvent(new Event("jobschange"));
