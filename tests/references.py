"""tests/references.py -- every file that a comment or a document names is there.

Read are the comments of C, JavaScript, Python and shell files, and documents but for changes that they show.  A name
resolves to a tracked file that ends with it, or (one that begins with a dot) to one beside its reader.
A file that begins with its own path has that path.
"""
import collections
import os
import re
import subprocess
import sys

NAME = re.compile(r"(?<![\w./$*<{-])((?:[\w.-]+/)*[\w-]+\.(?:c|h|def|js|mjs|cu|md|css|py|sh))(?![\w(/])")
PARTS = {
    (".c", ".h", ".def", ".css", ".js", ".mjs", ".cu"): r"/\*.*?\*/|(?<!:)//[^\n]*",
    (".py", ".sh"): r'(?m:(?<!\S)#[^\n]*)|""".*?"""',
    (".md",): r".+",
}
# What examples call the user's own files, and what the text says "for example" of.
EXAMPLES = {"model.py", "breakeven.py", "train.py", "gate.py", "experiment.py", "dir/chain.py", "mine.c", "folder/kernel.c", "NAME.py", "scope_N.py", "control_N.py",
            "self.h", "key.c", "cube.py", "absorb.py", "torch/_dynamo/x.py", "../api/types.js", "fusion/vm/x.c", "fusion/capture/trace/x.c", "server/api/x.c"}
# Files of other projects: what is described, or is read on the user's machine.
OTHERS = {"Chart.js", "cmocka.h", "cudnn.h", "cudnn_graph_v9.h", "cudnn_ops_v9.h", "cudnn_cnn_v9.h", "DistributionTemplates.h", "native/cuda/Dropout.cu",
          "aten/src/ATen/autocast_mode.h", "torch/_dynamo/convert_frame.py"}


OWN = re.compile(r'^(?:/\*|//|#|""")\s*((?:[\w-]+/)+[\w.-]+\.[a-z]+) --')


def main():
    tracked = [p for p in subprocess.check_output(["git", "ls-files"], text=True).split("\n") if p and os.path.exists(p)]
    ends = collections.defaultdict(int)
    for path in tracked:
        parts = path.split("/")
        for i in range(len(parts)):
            ends["/".join(parts[i:])] += 1
            if path.endswith(".d.ts"):  # its types are imported as those of a .js
                ends["/".join(parts[i:])[: -len(".d.ts")] + ".js"] += 1
    wrong = []
    for path in tracked:
        pattern = next((p for ends_with, p in PARTS.items() if path.endswith(ends_with)), None)
        if not pattern:
            continue
        text = open(path, errors="replace").read()
        # The lines of a change that is shown are held by tests/walks.py.
        text = re.sub(r"(?ms)^```diff$.*?^```$", lambda m: "\n" * m[0].count("\n"), text) if path.endswith(".md") else text
        own = OWN.match(text[text.find("\n") + 1:] if text.startswith("#!") else text)
        if own and not path.endswith(own.group(1)):
            wrong.append(f"{path}:1: calls itself {own.group(1)}")
        for part in re.finditer(pattern, text, re.S):
            for m in NAME.finditer(part.group(0)):
                name = m.group(1)
                beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if name not in ends and beside not in ends and name not in EXAMPLES | OTHERS:
                    line = text.count("\n", 0, part.start() + m.start()) + 1
                    wrong.append(f"{path}:{line}: names {name}, which is not there")
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
