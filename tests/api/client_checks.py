"""tests/api/client_checks.py CLIENT URL -- the Python client against a server: assertions, and nothing printed where all hold.

Where this Python has no PyTorch an empty module has its name, so that functions can name it; tensors are of the
class below.  Where it has, client_torch.py goes on.
"""
import importlib.util
import os
import sys
import tempfile
import types

spec = importlib.util.spec_from_file_location("breakeven", sys.argv[1])
breakeven = sys.modules["breakeven"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(breakeven)
torch = sys.modules.setdefault("torch", types.ModuleType("torch"))
SCALE, NAMES = 2.5, {"a": [1, 2], "b": (3, None)}
QUICK = {"modes": ["eager", "static"], "backend": "interp", "seconds": 0.02, "progress": False}


class Tensor:
    """As much of a tensor as the client looks at."""

    def __init__(self, shape, dtype, data, strides=None):
        self.shape, self.dtype, self.data, self.strides = shape, "torch." + dtype, data, strides

    def stride(self):
        return self.strides or tuple(self.shape[i + 1] if i + 2 == len(self.shape) else 1 for i in range(len(self.shape)))

    def tolist(self):
        rows = self.data
        for n in reversed(self.shape[1:]):
            rows = [rows[i:i + n] for i in range(0, len(rows), n)]
        return rows

    def min(self):
        return min(self.data)

    def max(self):
        return max(self.data)


def helper(x):
    return torch.relu(x) * SCALE


def model(x, shift=0.0, twice=False):
    """Reads a helper, a constant and a dict of this file."""
    y = helper(x) + NAMES["a"][1] + shift
    return y * 2 if twice else y


def maker():
    inside = 3

    def made(x):
        return torch.sin(x) * inside + SCALE
    return made


def refused(words, call):
    try:
        call()
    except breakeven.BreakevenError as error:
        assert all(w in str(error) for w in words), f"{error} has not {words}"
        return error
    raise AssertionError(f"not refused: {words}")


def output(result):
    return result.report["modes"]["eager"]["calls"][0]["output"]["tensor"]["data"]


def check_runs():
    x = Tensor((2, 3), "float32", [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    seen = []
    found = breakeven.run(model, x, kwargs={"shift": 1.0, "twice": True}, **{**QUICK, "progress": lambda *said: seen.append(said)})
    assert found.status == "done" and found.name == "model" and seen and seen[-1][0] == "done", seen
    assert output(found) == [6.0, 6.0, 11.0, 16.0, 21.0, 26.0], output(found)
    assert found["eager"]["median_us"] > 0 and found["static"]["speedup"] > 0
    text, drawn = repr(found), found._repr_html_()
    assert found.findings["points"][0]["modes"]["static"]["median"]["text"] in text and found.sentence in text, text
    assert "<svg" in drawn and drawn.count("<tr>") == 3 and "prefers" not in drawn and "color-scheme:light dark" in drawn
    assert breakeven.result(found.id).answer == found.answer
    assert output(breakeven.run(maker(), x, **QUICK))[1] == 2.5
    assert output(breakeven.run(lambda t: t * SCALE, x, **QUICK))[2] == 2.5
    picks = breakeven.run(lambda t, i: t[i], x, Tensor((3,), "int64", [1, 0, 1]), **QUICK)
    assert output(picks)[:3] == [2.0, 3.0, 4.0]
    large = breakeven.run(lambda t: t.sum(), Tensor((40, 50), "float32", [0.5 + i % 7 for i in range(2000)]), **QUICK)
    assert large.answer["workload"]["calls"][0][0]["random"]["kind"] == "randn"
    swept = breakeven.run("import torch\n\ndef model(x):\n    return torch.exp(x)\n", sweep={"input": {"arg": 0, "dim": 0, "sizes": [4, 8]}},
                          name="swept", *[breakeven.random(4, 4)], **QUICK)
    assert [n for n, _ in swept.points] == [4, 8] and swept.rows()[0][0] == "n" and len(swept.rows()[1]) == 4
    queued = breakeven.run(model, x, kwargs={"shift": 1.0, "twice": True}, wait=False, **QUICK)
    assert queued.wait(progress=False).status == "done"
    return found, queued


def check_together(a, b):
    beside = breakeven.compare(a, b)
    assert beside.verdict in repr(beside) and "latency" in repr(beside) and "<table" in beside._repr_html_()
    passed = breakeven.gate(b, baseline=a, fails_on=["values", "graphs", "breaks"], progress=False)
    assert passed and passed.verdict == "PASSED" and "PASSED" in repr(passed)
    other = breakeven.run("def model(x):\n    return x * 4.0\n", breakeven.random(2, 3), name="model", **QUICK)
    assert not breakeven.gate(other, baseline=a, fails_on="values,graphs,launches", progress=False)
    queued = breakeven.gate({"name": "model", "source": "def model(x):\n    return x\n", "calls": [[dict(breakeven.random(4))]], "modes": ["eager"]},
                            baseline=a, fails_on=["values"], progress=False)
    assert queued.answer["rows"][0]["workload"] == "model"
    kept = breakeven.record("sorting", [0.101, 0.099, 0.103, 0.1, 0.102, 0.1], commit="c" * 40)
    assert kept.name == "sorting" and "100 ms" in repr(kept) or "101 ms" in repr(kept), kept
    assert kept.answer["commit"] == "c" * 40


def check_files():
    """A function of a package is sent with the files that it imports."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "things"))
        for path, text in (("things/__init__.py", "from .parts import double\n"), ("beside.py", "FACTOR = 2\n"),
                           ("things/parts.py", "import beside\n\n\ndef double(x):\n    return x * beside.FACTOR\n")):
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(text)
        sys.path.insert(0, folder)
        import things
        found = breakeven.run(things.double, Tensor((2,), "float32", [1.0, 2.0]), **QUICK)
        assert output(found) == [2.0, 4.0]
        assert sorted(found.answer["workload"]["files"]) == ["beside.py", "breakeven_entry.py", "things/__init__.py", "things/parts.py"]
        trace = os.path.join(folder, "trace.json")
        with open(trace, "w", encoding="utf-8") as file:
            file.write('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}')
        logs = breakeven.upload(trace, name="one", progress=False)
        assert logs.status == "done" and logs.rows()[1] == [["0", "0", "0", "0"]], logs


def check_refusals():
    x = Tensor((2,), "float32", [1.0, 2.0])
    opened = open(os.devnull)
    here = Tensor((2,), "float32", [1.0, 2.0])
    refused(["reads the tensor here", "pass it"], lambda: breakeven.run(lambda t: t * here, x, **QUICK))
    refused(["reads opened", "cannot be sent"], lambda: breakeven.run(lambda t: t * opened.read(), x, **QUICK))
    opened.close()
    namespace = {}
    exec("def gone(x):\n    return x", namespace)
    refused(["the source of gone cannot be had"], lambda: breakeven.run(namespace["gone"], x))
    refused(["measures a function"], lambda: breakeven.run(len, x))
    refused(["input 0", "a set cannot be sent"], lambda: breakeven.run(model, {1}))
    refused(["complex64", "the dtypes are"], lambda: breakeven.run(model, Tensor((1,), "complex64", [0])))
    refused(["sped", "unknown"], lambda: breakeven.run(model, x, sped=1))
    error = refused(["is missing after the parameters", "line 1"], lambda: breakeven.run("def model(x)\n    return x\n", 3))
    assert (error.code, error.line) == ("syntax", 1) and error.status >= 400
    refused(["no run 99999"], lambda: breakeven.result(99999))
    refused(["samples"], lambda: breakeven.record("nothing", []))
    refused(["unit is"], lambda: breakeven.record("hours", [1], unit="h"))
    refused(["not str"], lambda: breakeven.compare("1", 2))
    refused(["there is no file"], lambda: breakeven.upload("/there/is/none"))
    refused(["no server answers at http://127.0.0.1:1"], lambda: breakeven.Client("http://127.0.0.1:1").result(1))
    refused(["write http://"], lambda: breakeven.Client("127.0.0.1"))
    failing = refused(["run "], lambda: breakeven.run("def model(x):\n    return x.reshape(7)\n", x, **QUICK))
    assert failing.result.status == "failed"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        os.environ["BREAKEVEN_CONFIG"] = file.name
        file.write('{"url": "http://127.0.0.1:1", "token": "secret"}')
        file.flush()
        kept = os.environ.pop("BREAKEVEN_URL")
        made = breakeven.Client()
        assert (made.url, made.token) == ("http://127.0.0.1:1", "secret")
        os.environ["BREAKEVEN_URL"] = kept
        assert breakeven.Client().url == kept and breakeven.Client("http://a").url == "http://a"
        file.seek(0)
        file.write('{"user":')
        file.flush()
        refused(["user", "of url, token and project"], breakeven.Client)
        file.truncate(5)
        refused(["cannot be read"], breakeven.Client)
    del os.environ["BREAKEVEN_CONFIG"]


def main():
    os.environ["BREAKEVEN_URL"] = sys.argv[2]
    check_refusals()
    check_together(*check_runs())
    check_files()
    if not hasattr(torch, "__version__"):
        refused(["wants PyTorch"], lambda: breakeven.trace("none", torch_trace=False).__enter__())


if __name__ == "__main__":
    main()
