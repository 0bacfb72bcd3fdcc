// js/main.js -- starts the page: frame, then routes.
//
// The table below lists all views; the server answers each of these paths with
// the same index.html, so a path added here has to be known there.

import { startRouter } from "./view/router.js";
import { startFrame } from "./view/frame.js";
import { runsView } from "./view/runs.js";
import { newView } from "./view/new.js";
import { runView } from "./view/run.js";
import { apiView } from "./view/api.js";
import { missingView } from "./view/missing.js";

startFrame();
startRouter([
  { pattern: /^\/$/, nav: "runs", view: runsView },
  { pattern: /^\/runs$/, nav: "runs", view: runsView },
  { pattern: /^\/suites$/, nav: "suites", view: async (ctx) => (await import("./view/suites.js")).suitesView(ctx) },
  { pattern: /^\/suites\/([^/]+)$/, nav: "suites", view: async (ctx) => (await import("./view/suite.js")).suiteView(ctx) },
  { pattern: /^\/compare$/, nav: "compare", view: async (ctx) => (await import("./view/compare.js")).compareView(ctx) },
  { pattern: /^\/history$/, nav: "history", view: async (ctx) => (await import("./view/history.js")).historyView(ctx) },
  { pattern: /^\/new$/, nav: "new", view: newView },
  { pattern: /^\/ops$/, nav: "ops", view: async (ctx) => (await import("./view/ops.js")).opsView(ctx) },
  { pattern: /^\/api$/, nav: "api", view: apiView },
  { pattern: /^\/runs\/([^/]+)(?:\/([^/]+))?$/, nav: "runs", view: runView },
  { pattern: /.*/, nav: "", view: missingView },
]);
