// js/view/drop.js -- files that come by being dropped on any page, or by the button of the list of runs: logs of PyTorch,
// traces, an exported run, results of other tools.
//
// Logs that come together are one import, sent as one .tar; each file of results is one of its own.  It ends on the run.

import { h, add, button, say } from "./dom.js";
import { go } from "./router.js";
import { jobsChanged } from "./frame.js";
import { givenOf } from "./dropped.js";
import { ApiError, upload } from "../api/client.js";
import { bytes, count, plural } from "../model/format.js";
import { kindOfFile, tarOf } from "../model/tar.js";

/** @typedef {import("./dropped.js").Given} Given */
/** @typedef {{name: string, path: string, body: Blob, result: boolean}} Post what goes to the server at once */

const MOST_BYTES = 64 << 20; // of a body, as routes.def has it
const START_BYTES = 64 << 10;
const MOST_LISTED = 12;

/** @type {HTMLElement | null} */
let place = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let leaves;

/** While files are over the page; it goes when no more is heard of them. */
export function showDropPlace() {
  if (document.querySelector("dialog[open]")) return;
  if (!place) {
    place = h("div", { class: "dropplace", "aria-hidden": "true" }, h("p", {}, h("b", {}, "Drop to import"), h("br"), "traces, TORCH_TRACE logs or folders, PT_XLA output, an exported run, results of other tools"));
    document.body.append(place);
  }
  clearTimeout(leaves);
  leaves = setTimeout(hideDropPlace, 300);
}

function hideDropPlace() {
  place?.remove();
  place = null;
}

/** The dialog; `parts` is what it shows. @param {string} title @param {(Node | null)[]} parts @param {() => void} closed */
function dialog(title, parts, closed) {
  const body = h("div", {}, parts.filter((p) => p !== null));
  const el = h("dialog", { class: "importing", "aria-labelledby": "importing-title" }, h("h2", { id: "importing-title" }, title), body);
  document.body.append(el);
  el.addEventListener("close", () => {
    el.remove();
    closed();
  });
  el.showModal();
  return { el, body };
}

/** Asks for files or a folder, for those who do not drag. */
export function chooseFiles() {
  const field = (/** @type {string} */ name, /** @type {Record<string, string | boolean>} */ more) => {
    const input = h("input", { type: "file", multiple: true, hidden: true, "aria-label": name, ...more });
    input.addEventListener("change", () => {
      const given = givenOf(input.files);
      el.close();
      if (given.length) importFiles(Promise.resolve(given));
    });
    return input;
  };
  const [files, folder] = [field("Files to import", {}), field("Folder to import", { webkitdirectory: true })];
  const acts = h("div", { class: "acts" }, button("Choose files", () => files.click(), { class: "btn primary" }), button("Choose a folder", () => folder.click()), button("Close", () => el.close()));
  const { el } = dialog("Import", [h("p", {}, "Chrome traces of torch.profiler, TORCH_TRACE logs or folders of them, PT_XLA_DEBUG output, a run that was exported, results of other tools; plain, gzip, .tar or .zip. Logs that come together are one run. You can also drop them on any page."), files, folder, acts], () => {});
}

/** What a file is. @param {Given} g */
async function kindOf(g) {
  const start = await g.file.slice(0, START_BYTES).text();
  return kindOfFile(g.file.name, start);
}

/** @param {readonly Given[]} given @returns {Promise<{posts: Post[], refused: string[]}>} */
async function sorted(given) {
  /** @type {string[]} */
  const refused = [];
  /** @type {Given[]} */
  const logs = [];
  /** @type {Given[]} */
  const results = [];
  for (const g of given) {
    if (g.path.split("/").some((part) => part.startsWith("."))) continue; // what systems keep beside files
    const kind = g.file.size ? await kindOf(g) : "empty";
    if (kind === "program") refused.push(`${g.path} is a program: open it on New run.`);
    else if (kind === "empty") refused.push(`${g.path} is empty.`);
    else (kind === "result" ? results : logs).push(g);
  }
  /** @type {Post[]} */
  const posts = [];
  if (logs.length) {
    const [first] = logs;
    const folder = first.path.includes("/") ? first.path.split("/")[0] : "";
    const name = logs.length === 1 ? first.file.name : folder || `${first.file.name} and ${plural(logs.length - 1, "more file", "more files")}`;
    posts.push({ name, path: `/imports?name=${encodeURIComponent(name.slice(0, 100))}`, body: logs.length === 1 ? first.file : tarOf(logs), result: false });
  }
  for (const g of results) posts.push({ name: g.file.name, path: `/results?file=${encodeURIComponent(g.file.name.slice(0, 100))}`, body: g.file, result: true });
  return { posts, refused };
}

/** As it may be sent: packed where it is too long. @param {Post} post @param {(text: string) => void} tell */
async function fitted(post, tell) {
  if (post.body.size <= MOST_BYTES) return post.body;
  tell(`Packing ${post.name}, ${bytes(post.body.size)}`);
  const packed = await new Response(post.body.stream().pipeThrough(new CompressionStream("gzip"))).blob();
  if (packed.size <= MOST_BYTES) return packed;
  throw new Error(`${post.name} has ${bytes(packed.size)} packed; the page sends ${bytes(MOST_BYTES)} at most. \`breakeven import --post\` reads it where it lies.`);
}

/**
 * Sends one; a file of JSON that is no result may be a log.
 * @param {Post} post @param {{signal: AbortSignal, sent: (bytes: number, of: number) => void}} how @param {(text: string) => void} tell
 * @returns {Promise<string>} where it is shown
 */
async function send(post, how, tell) {
  const body = await fitted(post, tell);
  tell(`Sending ${post.name}, ${bytes(body.size)}`);
  try {
    const done = await upload(post.path, body, how);
    return post.result ? (done.suite ? `/suites/${done.suite}` : `/runs/${done.runs[0]}`) : `/runs/${done.id}`;
  } catch (e) {
    if (!post.result || !(e instanceof ApiError) || e.status < 400 || e.status >= 500) throw e;
    const as = await upload(`/imports?name=${encodeURIComponent(post.name.slice(0, 100))}`, body, how).catch((why) => why);
    if (as.id) return `/runs/${as.id}`;
    throw e;
  }
}

/** @param {Promise<Given[]>} dropped */
export async function importFiles(dropped) {
  hideDropPlace();
  if (document.querySelector("dialog.importing progress")) return say("Another import is under way.");
  document.querySelectorAll("dialog.importing").forEach((d) => /** @type {HTMLDialogElement} */ (d).close()); // the one that asks for files
  const ends = new AbortController();
  let refusals = 0;
  const [line, bar, list] = [h("p", { role: "status" }, "Reading what was dropped"), h("progress", { max: 1, "aria-label": "How much is sent" }), h("ul", { class: "refusals" })];
  const cancel = button("Cancel", () => el.close(), { class: "btn" });
  const { el } = dialog("Import", [line, bar, list, h("div", { class: "acts" }, cancel)], () => ends.abort());
  const tell = (/** @type {string} */ text) => {
    line.textContent = text;
    bar.removeAttribute("value");
  };
  const sent = (/** @type {number} */ n, /** @type {number} */ of) => {
    if (n < of) bar.value = n / of;
    else tell("The server reads it");
  };
  const refuse = (/** @type {string[]} */ all) => {
    refusals += all.length;
    add(list, all.slice(0, MOST_LISTED).map((text) => h("li", {}, text)), all.length > MOST_LISTED ? h("li", {}, `and ${count(all.length - MOST_LISTED)} more`) : null);
  };
  try {
    const { posts, refused } = await sorted(await dropped);
    refuse(refused);
    /** @type {string[]} */
    const where = [];
    if (!posts.length && !refused.length) refuse(["No file was found in it; names that begin with a dot are left out."]);
    for (const post of posts) {
      if (ends.signal.aborted) return;
      try {
        where.push(await send(post, { signal: ends.signal, sent }, tell));
        jobsChanged();
      } catch (e) {
        if (ends.signal.aborted) return;
        const why = e instanceof Error ? e.message : String(e);
        refuse([why.startsWith(post.name) ? why : `${post.name}: ${why}`]);
      }
    }
    finish(where);
  } catch (e) {
    if (!ends.signal.aborted) finish([], `It cannot be read: ${e instanceof Error ? e.message : e}`);
  }

  /** @param {string[]} where @param {string} [why] */
  function finish(where, why) {
    if (ends.signal.aborted) return;
    if (where.length && !refusals) {
      el.close();
      say("Imported.");
      return go(where[0]);
    }
    bar.remove();
    line.textContent = why ?? (where.length ? `Imported, but for ${plural(refusals, "file")}:` : "Nothing was imported:");
    cancel.textContent = "Close";
    if (where.length) cancel.before(button(where.length > 1 ? `Open the first of ${count(where.length)} that were imported` : "Open what was imported", () => {
      el.close();
      go(where[0]);
    }, { class: "btn primary" }));
  }
}
