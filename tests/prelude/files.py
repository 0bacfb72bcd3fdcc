# Files that a program writes and reads, where print() writes, what a program sets in modules, and
# numbers that are drawn in the order of memory.  Run in an empty folder of its own.
import contextlib
import csv
import glob
import io
import json
import os
import pickle
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.bool = bool


def texts():
    with open("x.txt", "w") as f:
        f.write("hello\nworld\n")
        print("and more", file=f)
    with open("x.txt", "a", encoding="utf-8") as f:
        f.writelines(["a\n", "é\n"])
    for number, line in enumerate(open("x.txt")):
        print(number, line.rstrip())
    print(open("x.txt").read().split(), os.path.getsize("x.txt"), open("x.txt", "rb").read()[-4:])
    with open("x.txt", "r+") as f:
        print(f.readline(), f.tell(), f.name, f.mode)
    for path, mode in (("nope.txt", "r"), ("no/where.txt", "w"), ("x.txt", "x"), ("x.txt", "rw")):
        try:
            open(path, mode)
        except (OSError, ValueError) as error:
            print(type(error).__name__)
    with open("x.txt") as f:
        try:
            f.write("no")
        except io.UnsupportedOperation as error:
            print(error)


def folders():
    os.makedirs("d/e/f", exist_ok=True)
    for name in ("d/a.py", "d/e/b.py", "d/e/f/c.txt"):
        Path(name).write_text(name)
    print(sorted(os.listdir("d")), os.path.isdir("d/e"), os.path.isfile("d/a.py"), os.path.exists("d/q"))
    print(sorted(glob.glob("d/*.py")), sorted(glob.glob("d/**/*.py", recursive=True)), glob.glob("d/e/[!x].py"))
    print([(top, sorted(inside), sorted(files)) for top, inside, files in os.walk("d")])
    try:
        os.makedirs("d/e")
    except FileExistsError as error:
        print(type(error).__name__)
    shutil.copy("d/a.py", "d/e")
    shutil.move("d/e/b.py", "d/b2.py")
    os.rename("d/e/f/c.txt", "d/c.txt")
    shutil.copytree("d", "g")
    print(sorted(str(p) for p in Path("g").rglob("*")), Path("g/a.py").read_text())
    os.remove("d/a.py")
    shutil.rmtree("d")
    print(os.path.exists("d/c.txt"), os.path.exists("d"), os.path.relpath("/a/b/c", "/a/d"))
    (Path("g") / "n").mkdir(parents=True, exist_ok=True)
    (Path("g") / "n" / "t.txt").write_text("x")
    print(sorted(p.name for p in Path("g").iterdir()), Path("g/n/t.txt").exists())


def formats():
    with open("c.json", "w") as f:
        json.dump({"a": [1, 2, {"b": None}], "x": 1.5}, f, indent=2)
    print(json.load(open("c.json")), open("c.json").read())
    with open("p.pkl", "wb") as f:
        pickle.dump({"a": (1, 2), "t": torch.ones(2)}, f)
        pickle.dump([3], f)
    with open("p.pkl", "rb") as f:
        print(pickle.load(f), pickle.load(f))
    print(pickle.loads(pickle.dumps([1, (2, "x")])))
    with open("a.csv", "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["a", "b", 'q"uote'])
        writer.writerows([[1, 2.5, "x,y"], [None, "", "two\nlines"]])
    print(list(csv.reader(open("a.csv"))), [dict(row) for row in csv.DictReader(open("a.csv"))])
    with open("d.csv", "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=["x", "y"])
        writer.writeheader()
        writer.writerow({"x": 1})
    print(open("d.csv", newline="").read().split("\r\n"))


def temporary():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.pt")
        torch.save({"w": [0, 1, 2]}, path)
        print(os.listdir(folder), torch.load(path)["w"], os.path.isfile(path))
        with open(path, "rb") as f:
            print(torch.load(f)["w"])
        os.remove(path)
        print(os.path.exists(path))
    print(os.path.exists(folder))
    with tempfile.NamedTemporaryFile("w+", suffix=".txt") as f:
        f.write("abc")
        f.seek(0)
        print(f.read(), f.name.endswith(".txt"))


class Twice:
    def __init__(self):
        self.terminal = sys.stdout
        self.kept = []

    def write(self, text):
        self.terminal.write(text)
        self.kept.append(text)

    def flush(self):
        self.terminal.flush()


def output():
    kept = io.StringIO()
    with contextlib.redirect_stdout(kept):
        print("inside", 1)
        sys.stdout.write("too\n")
    print(repr(kept.getvalue()))
    before, sys.stdout = sys.stdout, Twice()
    print("both", "ways")
    made, sys.stdout = sys.stdout, before
    print("".join(made.kept).split())
    print(np.bool(3), isinstance(True, np.bool))


def states():
    m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    state = m.state_dict()
    print(type(state).__name__, list(state), dict(state._metadata))
    state.move_to_end("0.weight")
    print(m.load_state_dict(state), list(state)[-1])

    class Prefixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(1, 1)

        def state_dict(self, *args, **keywords):
            made = super().state_dict(*args, **keywords)
            return {k.replace("inner", "outer"): v for k, v in made.items()} if not args and not keywords else made

    print(list(Prefixed().state_dict()), list(nn.ModuleList([Prefixed()]).state_dict()))


def draws():
    torch.manual_seed(0)
    x = torch.randn(4, 3).t()
    for drawn in (F.dropout(torch.ones(2, 3, 4).transpose(1, 2), 0.5), torch.rand_like(x), torch.randn_like(x)):
        print(drawn)
    print(torch.bernoulli(x.sigmoid()), torch.rand_like(x, dtype=torch.float64).stride())
    y = torch.ones(3, 4).t().requires_grad_()
    F.dropout(y, 0.3).sum().backward()
    z = torch.ones(3, 4).t()
    print(y.grad)
    print(F.dropout(z, 0.3, inplace=True) is z)
    print(z)


def model():
    texts()
    folders()
    formats()
    temporary()
    output()
    states()
    draws()
