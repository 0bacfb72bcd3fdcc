"""tests/prelude/record.py [NAME...] -- writes NAME.want: what model() of NAME.py prints where PyTorch,
numpy, einops and torchvision are (recorded with 2.6, 2.2, 0.8.1 and 0.21)."""
import contextlib
import glob
import io
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.remove(HERE)  # einops.py is a program there
names = sys.argv[1:] or [os.path.basename(p)[:-3] for p in sorted(glob.glob(HERE + "/*.py"))]
for name in names:
    if name == "record":
        continue
    sys.modules["__main__"] = types.ModuleType("__main__")  # where typing looks a class's names up
    scope = vars(sys.modules["__main__"])
    printed = io.StringIO()
    with open(f"{HERE}/{name}.py") as source:
        exec(compile(source.read(), name, "exec"), scope)
    with contextlib.redirect_stdout(printed):
        scope["model"]()
    with open(f"{HERE}/{name}.want", "w") as want:
        want.write(printed.getvalue())
