// js/layout_worker.js -- lays out one graph and ends with its page: whoever asked may end it before.

import { layOut } from "./model/layout.js";

addEventListener("message", (e) => postMessage(layOut(e.data.boxes, e.data.edges, e.data.parents)));
