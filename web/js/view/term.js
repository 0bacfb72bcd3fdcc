// js/view/term.js -- words that explain themselves where they are, by pointer or by keys.
//
// One popover for all, which index.html has: it covers the page and moves nothing.  The
// same press, Escape, a press elsewhere or scrolling closes it.

const [GAP, EDGE] = [6, 12];

/** @type {HTMLElement | null} whose words are shown */
let open = null;

const place = () => /** @type {HTMLElement} */ (document.getElementById("term"));

function close() {
  if (!open) return;
  open.setAttribute("aria-expanded", "false");
  open = null;
  place().hidePopover();
}

/** Below the word, or above it where there is no room. @param {HTMLElement} el @param {HTMLElement} word */
function put(el, word) {
  const at = word.getBoundingClientRect();
  const box = el.getBoundingClientRect();
  const below = at.bottom + GAP + box.height <= innerHeight;
  el.style.left = `${Math.max(EDGE, Math.min(at.left, innerWidth - box.width - EDGE))}px`;
  el.style.top = `${below ? at.bottom + GAP : Math.max(EDGE, at.top - GAP - box.height)}px`;
}

/** What a press of the word shows, or closes. @param {HTMLElement} word @param {string} text */
export function toggleTerm(word, text) {
  const same = open === word;
  close();
  if (same) return;
  const el = place();
  el.textContent = text;
  el.showPopover();
  put(el, word);
  open = word;
  word.setAttribute("aria-expanded", "true");
}

export function startTerms() {
  const elsewhere = (/** @type {Event} */ e) => {
    if (e.target instanceof Node && !open?.contains(e.target) && !place().contains(e.target)) close();
  };
  addEventListener("pointerdown", elsewhere);
  addEventListener("focusin", elsewhere);
  addEventListener("scroll", close, { passive: true, capture: true });
  addEventListener("popstate", close);
  addEventListener("keydown", (e) => e.key === "Escape" && close());
}
