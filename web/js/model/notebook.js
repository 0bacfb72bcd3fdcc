// js/model/notebook.js -- the Python of a notebook, as nbformat 4 has it: its code cells in order.
//
// What IPython alone reads becomes a comment, so that each line of a cell stays where it was: lines of
// magics (%), of a shell (!) and of help (?), and cells in another language (%%bash).

const MOST_CELLS = 10000;
/** Cell magics whose cell is Python. */
const AROUND_PYTHON = new Set(["capture", "prun", "python", "python3", "time", "timeit"]);

const TEXT_OR_COMMENT = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|#.*/g;

/** @param {string} line */
const comment = (line) => `# ${line}`;

/** Whether a line is IPython's; a % that goes on with an expression of the line before is not. @param {string} line */
const isIPython = (line) => /^\s*(%[A-Za-z_]|!|\?)/.test(line) || /^\s*[\w.]+\?{1,2}\s*$/.test(line);

/** @param {string} text one cell */
function pythonOf(text) {
  const lines = text.split("\n");
  const magic = /^%%\s*(\w+)/.exec(lines[0])?.[1];
  if (magic && !AROUND_PYTHON.has(magic)) return lines.map(comment).join("\n");
  let open = 0; // brackets: a line within them is no statement of its own
  return lines
    .map((line, i) => {
      if ((magic && i === 0) || (open === 0 && isIPython(line))) return comment(line);
      const bare = line.replace(TEXT_OR_COMMENT, "");
      open = Math.max(0, open + (bare.match(/[([{]/g)?.length ?? 0) - (bare.match(/[)\]}]/g)?.length ?? 0));
      return line;
    })
    .join("\n");
}

/**
 * @param {string} text the file
 * @returns {string} throws with what is wrong
 */
export function notebookSource(text) {
  let book;
  try {
    book = JSON.parse(text);
  } catch {
    throw new Error("it is not a notebook: it is not JSON");
  }
  if (!Array.isArray(book?.cells)) throw new Error("it is not a notebook of format 4: it has no list `cells`. Open it in Jupyter and save it again");
  const language = book.metadata?.kernelspec?.language ?? book.metadata?.language_info?.name ?? "python";
  if (language !== "python") throw new Error(`its language is ${language}; a program is in Python`);
  if (book.cells.length > MOST_CELLS) throw new Error(`it has ${book.cells.length} cells; the limit is ${MOST_CELLS}`);
  const cells = book.cells.flatMap((/** @type {{cell_type?: string, source?: string | string[]}} */ c) => {
    const source = Array.isArray(c.source) ? c.source.join("") : (c.source ?? "");
    return c.cell_type === "code" && source.trim() ? [pythonOf(source.trimEnd())] : [];
  });
  if (!cells.length) throw new Error("it has no code cell");
  return `${cells.join("\n\n")}\n`;
}
