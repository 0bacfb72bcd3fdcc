// js/main.js -- starts the page: frame, then routes.
//
// The table below lists all views; the server answers each of these paths with
// the same index.html, and asks ahead for the view's script (server/http/views.def):
// a path added here has to be known there.

import { startRouter } from "./view/router.js";
import { startFrame } from "./view/frame.js";

startFrame();
startRouter([
  { pattern: /^\/$/, nav: "runs", load: async () => (await import("./view/runs.js")).runsView },
  { pattern: /^\/runs$/, nav: "runs", load: async () => (await import("./view/runs.js")).runsView },
  { pattern: /^\/suites$/, nav: "suites", load: async () => (await import("./view/suites.js")).suitesView },
  { pattern: /^\/suites\/([^/]+)$/, nav: "suites", load: async () => (await import("./view/suite.js")).suiteView },
  { pattern: /^\/compare$/, nav: "compare", load: async () => (await import("./view/compare.js")).compareView },
  { pattern: /^\/history$/, nav: "history", load: async () => (await import("./view/history.js")).historyView },
  { pattern: /^\/digest$/, nav: "runs", load: async () => (await import("./view/digest.js")).digestView },
  { pattern: /^\/webhooks$/, nav: "history", load: async () => (await import("./view/webhooks.js")).webhooksView },
  { pattern: /^\/new$/, nav: "new", load: async () => (await import("./view/new.js")).newView },
  { pattern: /^\/ops$/, nav: "ops", load: async () => (await import("./view/ops.js")).opsView },
  { pattern: /^\/docs(?:\/([^/]+))?$/, nav: "docs", load: async () => (await import("./view/docs.js")).docsView },
  { pattern: /^\/api$/, nav: "api", load: async () => (await import("./view/api.js")).apiView },
  { pattern: /^\/runs\/([^/]+)(?:\/([^/]+))?$/, nav: "runs", load: async () => (await import("./view/run.js")).runView },
  { pattern: /.*/, nav: "", load: async () => (await import("./view/missing.js")).missingView },
]);
