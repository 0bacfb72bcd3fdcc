// tests/web/notebook.test.mjs -- a notebook is the Python of its cells.
import test from "node:test";
import assert from "node:assert/strict";
import { notebookSource } from "../../web/js/model/notebook.js";

const code = (source) => ({ cell_type: "code", source, outputs: [] });
const book = (cells, metadata = {}) => JSON.stringify({ nbformat: 4, metadata, cells });

test("code cells come in order, texts do not", () => {
  const made = notebookSource(book([code(["import torch\n", "\n"]), { cell_type: "markdown", source: "# Title" }, code("def model(x):\n    return x + 1"), code("")]));
  assert.equal(made, "import torch\n\ndef model(x):\n    return x + 1\n");
});

test("what IPython alone reads is a comment, and lines keep their places", () => {
  const made = notebookSource(book([
    code("%matplotlib inline\n!pip install torch\ntorch.nn.Linear?\nx = 1\n  %time y = 2"),
    code("%%time\nz = 3"),
    code("%%bash\nls\necho $(pwd)"),
    code("print('(') # [\n%who\na = (7\n     % b)\nc = 7 % b"),
  ]));
  assert.equal(made, "# %matplotlib inline\n# !pip install torch\n# torch.nn.Linear?\nx = 1\n#   %time y = 2\n\n# %%time\nz = 3\n\n# %%bash\n# ls\n# echo $(pwd)\n\nprint('(') # [\n# %who\na = (7\n     % b)\nc = 7 % b\n");
});

test("what is none says why", () => {
  assert.throws(() => notebookSource("nope"), /is not JSON/);
  assert.throws(() => notebookSource('{"worksheets": []}'), /no list `cells`/);
  assert.throws(() => notebookSource(book([code("x")], { kernelspec: { language: "R" } })), /its language is R/);
  assert.throws(() => notebookSource(book([])), /no code cell/);
});
