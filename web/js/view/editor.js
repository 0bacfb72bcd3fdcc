// js/view/editor.js -- the editor of a program: CodeMirror, in the colours of the page.
//
// It is a file of its own, which new.js loads and which imports no other module of the page (web.mk).  The Content-Security-Policy refuses style elements;
// in a shadow root CodeMirror adopts style sheets, which it allows.  Variables of css/tokens.css
// reach into the root; form.css sets --editor-height.

import { autocompletion, completeFromList, completionKeymap, ifNotIn } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { localCompletionSource, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { EditorView, gutterLineClass, GutterMarker, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** @typedef {import("../api/types.js").Problem} Problem */
/** @typedef {"e" | "w" | "b"} Kind of a problem: error, warning, graph break */

const INDENT = "    ";
const UNTIL_ANOTHER_KEY_MS = 1e9;
const KEYS = "What completes a name is listed as you type: arrows choose, Enter takes, Escape closes. Tab indents. Escape, then Tab, leaves the editor. F8 goes to the next problem, Control F searches, Control Enter runs.";

/** Keywords and builtins of Python; the package's own list has templates of statements with it. */
const WORDS =
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield " +
  "ArithmeticError AssertionError AttributeError Exception IndexError KeyError NotImplementedError RuntimeError StopIteration TypeError ValueError __name__ abs all any bool bytes callable chr complex dict dir divmod enumerate filter float format frozenset getattr hasattr hash id int isinstance issubclass iter len list map max min next object open ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip";
const general = ifNotIn(["String", "FormatString", "Comment", "PropertyName"], completeFromList(WORDS.split(" ")));

const look = EditorView.theme({
  "&": { height: "var(--editor-height)", color: "var(--ink)", background: "transparent" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": { content: "''", position: "absolute", inset: "0", border: "2px solid var(--focus)", zIndex: "400", pointerEvents: "none" },
  ".cm-scroller": { font: "400 var(--t-code)/20px var(--font-code)", fontVariantLigatures: "none" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px" },
  ".cm-gutters": { minWidth: "44px", background: "var(--well)", color: "var(--ink3)", border: "0", borderRight: "1px solid var(--line)" },
  ".cm-lineNumbers": { flex: "1" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 7px 0 8px", borderRight: "3px solid transparent" },
  ".cm-activeLineGutter": { background: "transparent", color: "var(--ink)" },
  ".cm-lineNumbers .cm-gutterElement.e": { color: "var(--bad)", fontWeight: "700" },
  ".cm-lineNumbers .cm-gutterElement.w": { color: "var(--warn)", fontWeight: "700" },
  ".cm-lineNumbers .cm-gutterElement.b": { color: "var(--ink)", fontWeight: "600", borderRightColor: "var(--c-break)" },
  ".cm-lintRange": { backgroundImage: "none !important", paddingBottom: "0", textDecorationSkipInk: "none", textUnderlineOffset: "4px" },
  ".sq.w": { textDecoration: "underline wavy 1px var(--warn)" },
  ".sq.e": { textDecoration: "underline wavy 1px var(--bad)" },
  ".sq.b": { textDecoration: "underline dashed 1px var(--c-break)" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--pick)", outline: "1px solid var(--edge)" },
  "&.cm-focused .cm-nonmatchingBracket": { background: "transparent", color: "var(--bad)" },
  ".cm-selectionMatch": { background: "var(--sunk)" },
  ".cm-searchMatch": { background: "var(--warn-bg)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch.cm-searchMatch-selected": { background: "var(--pick)" },
  ".cm-panels": { background: "var(--sunk)", color: "var(--ink)", borderColor: "var(--line) !important" },
  ".cm-panel.cm-search": { padding: "6px 28px 6px 12px", font: "400 var(--t-small)/20px var(--font-ui)" },
  ".cm-panel .cm-textfield, .cm-panel .cm-button": { font: "inherit", color: "inherit", background: "var(--well)", border: "1px solid var(--edge)", borderRadius: "var(--radius)", minHeight: "24px" },
  ".cm-panel .cm-button": { borderColor: "var(--line2)" },
  ".cm-panel button[name=close]": { color: "inherit", top: "6px", right: "8px", width: "20px" },
  ".cm-panel.cm-search label": { fontSize: "inherit" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { background: "var(--pick)" },
  ".cm-panel :focus-visible": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "400 var(--t-code)/20px var(--font-code)", maxHeight: "220px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0 8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--pick)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-tooltip": { maxWidth: "480px", background: "var(--well)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "var(--radius)", font: "400 var(--t-small)/16px var(--font-ui)" },
  ".cm-diagnostic": { borderLeftWidth: "3px", borderLeftColor: "var(--c-break)", marginLeft: "0", padding: "4px 8px" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], fontWeight: "600" },
  { tag: [tags.comment, tags.lineComment], color: "var(--ink3)" },
  { tag: [tags.string, tags.special(tags.string), tags.docString], color: "var(--c-fused)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--c-library)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className), tags.meta], color: "var(--c-compile)" },
]);

/** The text was put there, not typed. */
const loaded = Annotation.define();

class LineMark extends GutterMarker {
  /** @param {Kind} cls */
  constructor(cls) {
    super();
    this.elementClass = cls;
  }
}
/** @typedef {(text: string, at: number) => Promise<{from: number, names: readonly string[]} | null>} Names */

/** @param {import("@codemirror/autocomplete").CompletionContext} at @param {Names} names */
async function complete(at, names) {
  const found = await names(at.state.doc.toString(), at.pos);
  if (found) return { from: found.from, options: found.names.map((label) => ({ label })), validFor: /^\w*$/ };
  const word = at.matchBefore(/[A-Za-z_]\w*/);
  if (at.matchBefore(/\.\w*/) || (!word && !at.explicit)) return null;
  const own = await localCompletionSource(at);
  const options = [...(own?.options ?? []), ...((await general(at))?.options ?? [])].filter((o) => o.label !== word?.text || at.explicit);
  return { from: word?.from ?? at.pos, options, validFor: /^\w*$/ };
}

const MARKS = { e: new LineMark("e"), w: new LineMark("w"), b: new LineMark("b") };

/** @type {import("@codemirror/state").StateEffectType<RangeSet<GutterMarker>>} */
const setMarks = StateEffect.define();

/** Marks at the numbers of lines. */
const marks = StateField.define({
  create: () => /** @type {RangeSet<GutterMarker>} */ (RangeSet.empty),
  update: (now, tr) => tr.effects.reduce((set, e) => (e.is(setMarks) ? e.value : set), now.map(tr.changes)),
  provide: (field) => gutterLineClass.from(field),
});

export class Editor {
  #view;

  /**
   * @param {{onInput: () => void, onRun: () => void, names: Names}} how names: what may follow in the text, up
   *   to a place; null where the text's own words and Python's may
   */
  constructor({ onInput, onRun, names }) {
    this.el = document.createElement("div");
    this.el.className = "editor";
    const root = this.el.attachShadow({ mode: "open" });
    const keys = document.createElement("p");
    Object.assign(keys, { id: "keys", hidden: true, textContent: KEYS });
    root.append(keys);
    const run = () => {
      onRun();
      return true;
    };
    const extensions = [
      lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), highlightSelectionMatches(), history(), marks,
      pythonLanguage, indentUnit.of(INDENT), indentOnInput(), bracketMatching(), search(), syntaxHighlighting(colours), look,
      EditorState.tabSize.of(INDENT.length),
      autocompletion({ override: [(at) => complete(at, names)], icons: false, filterStrict: true, maxRenderedOptions: 60 }), keymap.of(completionKeymap),
      EditorView.contentAttributes.of({ id: "source", "aria-label": "Source", "aria-describedby": "keys", autocapitalize: "off", tabindex: "0" }),
      keymap.of([{ key: "Mod-Enter", run }, { key: "Tab", run: indent, shift: indentLess }, ...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.domEventObservers({
        keyup: (e, view) => void (e.key === "Escape" && view.setTabFocusMode(UNTIL_ANOTHER_KEY_MS)),
        blur: (_, view) => view.setTabFocusMode(false),
      }),
      // The form reads a dropped file (files.js).
      EditorView.domEventHandlers({ drop: (e) => (e.dataTransfer?.files.length ?? 0) > 0 }),
      EditorView.updateListener.of((u) => u.docChanged && !u.transactions.some((tr) => tr.annotation(loaded)) && onInput()),
    ];
    this.#view = new EditorView({ state: EditorState.create({ extensions }), parent: root, root });
  }

  get value() {
    return this.#view.state.doc.toString();
  }

  set value(text) {
    const { doc } = this.#view.state;
    this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, annotations: loaded.of(true) });
    this.mark([]);
  }

  /** @param {Problem[]} problems at lines of the text; all are shown, also several of a line */
  mark(problems) {
    const { state } = this.#view;
    const at = problems.filter((p) => (p.line ?? 0) > 0 && (p.line ?? 0) <= state.doc.lines);
    /** @type {Map<number, Kind>} */
    const lines = new Map();
    for (const p of at) {
      const line = state.doc.line(Number(p.line)).from;
      if (lines.get(line) !== "e") lines.set(line, kindOf(p));
    }
    const set = RangeSet.of([...lines].map(([from, cls]) => MARKS[cls].range(from)), true);
    this.#view.dispatch(setDiagnostics(state, at.map((p) => this.#diagnostic(p))), { effects: setMarks.of(set) });
  }

  /** @param {Problem} p @returns {import("@codemirror/lint").Diagnostic} */
  #diagnostic(p) {
    const line = this.#view.state.doc.line(Number(p.line));
    const [from, to] = marked(line.text, p.column ?? 1, p.end_column ?? 0);
    return {
      from: line.from + from,
      to: line.from + to,
      severity: /** @type {const} */ ({ e: "error", w: "warning", b: "info" })[kindOf(p)],
      markClass: `sq ${kindOf(p)}`,
      message: `${p.allowed ? "Will break: " : ""}${p.message}`,
    };
  }

  /**
   * Puts the caret at a place and shows it.
   * @param {number} number of the line
   * @param {number} [column]
   */
  goTo(number, column = 1) {
    const { doc } = this.#view.state;
    const line = doc.line(Math.min(Math.max(1, number), doc.lines));
    const at = line.from + Math.min(column - 1, line.length);
    this.#view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.#view.focus();
  }
}

/** @param {Problem} p @returns {Kind} */
const kindOf = (p) => (p.allowed ? "b" : p.severity === "warning" ? "w" : "e");

/** Lines that are selected move in, else four blanks come. @param {EditorView} view */
function indent(view) {
  const { state } = view;
  if (state.selection.ranges.some((r) => !r.empty)) return indentMore(view);
  view.dispatch(state.update(state.replaceSelection(INDENT), { scrollIntoView: true, userEvent: "input" }));
  return true;
}

/**
 * From a column to its end, or the word there, so that a mark has a width.
 * @param {string} line
 * @param {number} column
 * @param {number} end one past the last column; 0: unknown
 * @returns {[number, number]}
 */
function marked(line, column, end) {
  const from = Math.min(Math.max(0, column - 1), Math.max(0, line.length - 1));
  if (end > column) return [from, Math.min(end - 1, line.length)];
  const word = /^[\w.]+|^\S+|^\s+/.exec(line.slice(from));
  return [from, Math.min(line.length, from + (word ? word[0].length : 1))];
}
