// tests/web/grouping.mjs -- groups of drawn graphs, from a server: the page asks it, too.
import { startServer } from "../api/harness.mjs";
import { groupsBody, groupsFrom } from "../../web/js/model/groups.js";

/** `of(drawn, "kernels" | "modules")` answers groups, `stop()` ends the server. */
export async function startGrouping() {
  const server = await startServer();
  const of = async (drawn, by) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(groupsBody(drawn)) };
    return groupsFrom(drawn, await (await fetch(`${server.url}/api/v1/groups`, init)).json(), by);
  };
  return { of, stop: () => server.stop() };
}
