// js/model/docs.js -- which part of the documentation is about a view.

/** Views of a run whose part has another name than their path. @type {Record<string, string>} */
const RENAMED = { guards: "recompiles", torch: "pytorch" };

/** "/docs/pages#timeline" of "/runs/7/timeline". @param {string} path */
export function docOf(path) {
  const [, first = "", second = "", third = ""] = path.split("/");
  if (first === "docs") return "/docs";
  if (first === "api") return "/docs/rest";
  if (first === "webhooks") return "/docs/webhooks";
  if (first === "runs" && second) return `/docs/pages#${third ? (RENAMED[third] ?? third) : "overview"}`;
  if (first === "suites" && second) return "/docs/pages#one-suite";
  return `/docs/pages#${first === "new" ? "new-run" : first || "runs"}`;
}
