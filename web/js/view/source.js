// js/view/source.js -- the program as it was posted, or as it stood at a point.

import { h, add, copyButton, download, select } from "./dom.js";
import { codeWell } from "./code.js";
import { plain } from "../model/format.js";
import { fileStem } from "../model/commands.js";

/**
 * `?line=4` picks a line, `?n=10` the source of that point.
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 */
export function sourceTab(ctx, body, run) {
  const posted = run.workload?.source ?? run.report?.workload?.source ?? "";
  const points = (run.report?.points ?? []).filter((p) => p.source && p.source !== posted);
  let text = posted;
  const place = h("div");
  const fill = (/** @type {string} */ v) => {
    text = v === "" ? posted : (points[Number(v)].source ?? "");
    place.replaceChildren(codeWell(text, "Source", { error: v === "" ? run.error : null }));
    const picked = place.querySelector(`#L${Number(ctx.query.get("line")) || 0}`);
    picked?.classList.add("on");
    picked?.scrollIntoView({ block: "center" });
  };
  const at = points.findIndex((p) => p.n === Number(ctx.query.get("n") ?? NaN));
  const first = at < 0 ? "" : String(at);
  const choose = points.length
    ? [
        h("label", { class: "small sub", for: "source-point" }, "As it ran at"),
        select(
          [
            { value: "", label: "as posted" },
            ...points.map((p, i) => ({ value: String(i), label: `n = ${plain(p.n ?? 0)}` })).reverse(),
          ],
          first,
          { id: "source-point" },
          fill,
        ),
      ]
    : null;
  add(
    body,
    h(
      "div",
      { class: "bar gap" },
      h("h2", {}, `${fileStem(run.name)}.py`),
      h(
        "div",
        { class: "acts" },
        choose,
        copyButton(() => text),
        download("Download", `${fileStem(run.name)}.py`, "text/x-python", () => text),
      ),
    ),
    place,
  );
  fill(first);
  const sweep = run.workload?.sweep?.statements;
  if (sweep) {
    add(
      body,
      h(
        "section",
        { class: "sec gap", "aria-label": "What the sweep puts in" },
        h(
          "header",
          {},
          h("h2", {}, "Pool of statements"),
          h("p", {}, `the first n, cycling, stand where the source has ...; n = ${sweep.counts.join(", ")}`),
        ),
        codeWell(sweep.pool.join("\n"), "Pool of statements"),
      ),
    );
  }
}
