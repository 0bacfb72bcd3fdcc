"""tests/oracle/constructs.py -- one construct a program: how torch.compile captures it.

Each program is a header line `# name | group | inputs of call 1 | inputs of call 2 ...`
and its source.  Inputs are separated by ";": "f 4,3" float32 [4, 3] (p: positive, n:
negative, d: float64, i: int64, b: bool), k=3 any Python value, l= a list and d= a
dict of vectors.  record_constructs.py runs them on PyTorch and writes
construct_cases.json.
"""
import ast
import random

TEXT = '''
# list_append | python | f 4
def model(x):
    out = []
    for i in range(3):
        out.append(x + i)
    return out

# list_methods | python | f 4
def model(x):
    a = [3, 1, 2]
    a.sort()
    a.insert(0, 9)
    a.extend([4, 5])
    a.remove(4)
    b = a.pop()
    a.reverse()
    return x * a[0] + b, a, a.index(9), a.count(1)

# dict_methods | python | f 4
def model(x):
    d = {"a": x, "b": x * 2}
    d["c"] = d["a"] + d["b"]
    d.update(e=x - 1)
    y = d.pop("a")
    z = d.get("missing", 3)
    total = y
    for k, v in d.items():
        total = total + v
    return total * z, list(d.keys()), "b" in d

# dict_setdefault | python | f 4
def model(x):
    d = {}
    for i in range(4):
        d.setdefault(i % 2, []).append(x * i)
    return d

# set_ops | python | f 4
def model(x):
    s = {1, 2, 3}
    s.add(5)
    t = s & {2, 3, 9}
    return x * len(s | t), sorted(t), 2 in s

# tuple_unpack | python | f 4;f 4
def model(x, y):
    (a, b), c = (x, y), 3
    a, b = b, a
    return a - b * c

# star_unpack | python | f 4
def model(x):
    first, *mid, last = [x, x + 1, x + 2, x + 3]
    return first + last, mid

# star_call | python | f 4;f 4
def f(a, b, *rest, scale=1, **kw):
    return (a + b) * scale + len(rest) + kw.get("bias", 0)
def model(x, y):
    args = (x, y, 1, 2)
    kw = {"scale": 2, "bias": 3}
    return f(*args, **kw)

# comprehension_dict | python | f 4
def model(x):
    d = {k: x * i for i, k in enumerate("abc")}
    return d["a"] + d["c"]

# comprehension_nested | python | f 4
def model(x):
    return sum([x * i * j for i in range(3) for j in range(i) if (i + j) % 2])

# comprehension_set | python | f 4
def model(x):
    return x * len({i % 3 for i in range(10)})

# generator_sum | python | f 4
def model(x):
    return sum(x * i for i in range(4))

# generator_function | python | f 4
def parts(x):
    for i in range(3):
        yield x + i
def model(x):
    total = x
    for p in parts(x):
        total = total * p
    return total

# generator_any | python | f 4
def model(x):
    if any(i > 2 for i in range(5)):
        return x + 1
    return x - 1

# lambda_default | python | f 4
def model(x):
    fs = [lambda y, k=k: y * k for k in range(3)]
    return fs[0](x) + fs[2](x)

# closure_write | python | f 4
def model(x):
    n = 0
    def step(y):
        nonlocal n
        n += 1
        return y * n
    x = step(x)
    x = step(x)
    return x, n

# closure_late_binding | python | f 4
def model(x):
    fs = []
    for k in range(3):
        fs.append(lambda y: y * k)
    return fs[0](x)

# global_read | python | f 4
K = 4
def model(x):
    return x * K

# global_list_read | python | f 4
KS = [1, 2, 3]
def model(x):
    for k in KS:
        x = x * k
    return x

# global_dict_read | python | f 4
CFG = {"scale": 2.0, "act": "relu"}
def model(x):
    if CFG["act"] == "relu":
        x = torch.relu(x)
    return x * CFG["scale"]

# global_tensor | python | f 4
W = torch.ones(4) * 3
def model(x):
    return x * W

# kwargs_defaults | python | f 4
def f(x, *, scale=2, shift=None):
    if shift is None:
        shift = 1
    return x * scale + shift
def model(x):
    return f(x) + f(x, shift=3, scale=4)

# ternary_python | python | f 4;k=3 | f 4;k=-3
def model(x, k):
    return x + 1 if k > 0 else x - 1

# chained_compare_one | python | f 4;k=3 | f 4;k=30
def model(x, k):
    if 0 < k < 10:
        return x * k
    return x

# while_else | python | f 4
def model(x):
    i = 0
    while i < 3:
        x = x + i
        i += 1
    else:
        x = x * 2
    return x

# for_else_break | python | f 4
def model(x):
    for i in range(5):
        if i == 3:
            break
        if i == 1:
            continue
        x = x + i
    else:
        x = x * 100
    return x

# nested_loops | python | f 4
def model(x):
    for i in range(2):
        for j in range(3):
            x = torch.sin(x) + i * j
    return x

# zip_enumerate_one | python | f 4;f 4
def model(x, y):
    out = 0
    for i, (a, b) in enumerate(zip([x, y], [y, x])):
        out = out + a * i - b
    return out

# sorted_key | python | f 4
def model(x):
    names = sorted(["bb", "a", "ccc"], key=len, reverse=True)
    return x * len(names[0])

# map_filter | python | f 4
def model(x):
    ks = list(filter(lambda k: k % 2, map(lambda k: k + 1, range(5))))
    for k in ks:
        x = x * k
    return x

# fstring_plain | python | f 4
def model(x):
    name = f"layer_{3:02d}_{1.5:.2f}"
    return x * len(name), name

# fstring_shape | python | f 4
def model(x):
    name = f"{x.shape[0]}x"
    return x * len(name)

# string_methods | python | f 4
def model(x):
    s = "Hello World".lower().replace("o", "0").split()
    return x * len(s), "-".join(s), s[0].startswith("h")

# str_format | python | f 4
def model(x):
    return x + len("{}-{:>4}".format(1, "a")) + len("%s %d" % ("q", 3))

# try_except_caught | python | f 4
def model(x):
    try:
        raise ValueError("no")
    except ValueError as e:
        x = x + len(str(e))
    finally:
        x = x * 2
    return x

# try_index_error | python | f 4
def model(x):
    xs = [1, 2]
    try:
        k = xs[5]
    except IndexError:
        k = 7
    return x * k

# try_key_error | python | f 4
def model(x):
    d = {"a": 1}
    try:
        k = d["b"]
    except (KeyError, IndexError):
        k = 5
    else:
        k = 0
    return x * k

# try_in_callee | python | f 4
def check(k):
    if k > 2:
        raise RuntimeError("large")
    return k
def model(x):
    try:
        k = check(5)
    except RuntimeError:
        k = 1
    return x + k

# try_finally_return | python | f 4
def f(x, log):
    try:
        return x + 1
    finally:
        log.append(1)
def model(x):
    log = []
    y = f(x, log)
    return y * len(log)

# assert_python | python | f 4
def model(x):
    assert x.shape[0] == 4, "four"
    return x + 1

# assert_tensor | break | f 4
def model(x):
    y = x * x
    assert (y >= 0).all(), "negative"
    return y + 1

# with_no_grad | python | f 4
def model(x):
    y = x + 1
    with torch.no_grad():
        z = y * 2
    return z + y

# with_own_manager | python | f 4
class Ctx:
    def __enter__(self):
        return 3
    def __exit__(self, a, b, c):
        return False
def model(x):
    with Ctx() as k:
        y = x * k
    return y + 1

# user_class | python | f 4
class Box:
    def __init__(self, v):
        self.v = v
    def scaled(self, k):
        return self.v * k
def model(x):
    b = Box(x + 1)
    b.k = 3
    return b.scaled(b.k)

# user_class_call | python | f 4
class Scale:
    def __init__(self, k):
        self.k = k
    def __call__(self, x):
        return x * self.k
S = Scale(3)
def model(x):
    return S(x) + 1

# class_inherit_super | python | f 4
class A:
    def f(self, x):
        return x + 1
class B(A):
    def f(self, x):
        return super().f(x) * 2
def model(x):
    return B().f(x)

# class_dunder_add | python | f 4
class V:
    def __init__(self, t):
        self.t = t
    def __add__(self, o):
        return V(self.t + o.t)
    def __len__(self):
        return 7
def model(x):
    v = V(x) + V(x * 2)
    return v.t * len(v)

# class_property | python | f 4
class P:
    def __init__(self, k):
        self._k = k
    @property
    def k(self):
        return self._k + 1
    @staticmethod
    def s(a):
        return a * 2
    @classmethod
    def make(cls):
        return cls(5)
def model(x):
    p = P.make()
    return x * p.k + P.s(3)

# isinstance_checks_one | python | f 4;k=3
def model(x, k):
    y = x
    if isinstance(x, torch.Tensor):
        y = y + 1
    if isinstance(k, (int, float)) and not isinstance(k, bool):
        y = y * k
    return y

# getattr_hasattr | python | f 4
class O:
    a = 2
def model(x):
    o = O()
    if hasattr(o, "b"):
        return x
    return x * getattr(o, "a") + getattr(o, "zz", 5)

# math_functions | python | f 4
import math
def model(x):
    return x * math.sqrt(2.0) + math.pi - math.floor(2.7) + math.exp(0.0)

# builtin_numbers | python | f 4
def model(x):
    return x * abs(-3) + max([1, 5, 2]) - min(4, 2) + round(2.6) + divmod(7, 2)[1] + pow(2, 3)

# int_float_of_number | python | f 4;k=3.7
def model(x, k):
    return x * int(k)

# walrus | python | f 4
def model(x):
    if (n := x.dim()) > 0:
        return x * n
    return x

# slices_python | python | f 4
def model(x):
    a = list(range(10))[2:8:2]
    b = "abcdef"[::-1]
    return x * a[-1] + len(b[1:3]), a

# del_names | python | f 4
def model(x):
    y = x + 1
    z = y * 2
    del y
    d = {"a": 1, "b": 2}
    del d["a"]
    return z * len(d)

# any_all_python | python | f 4
def model(x):
    if all([True, 1, "a"]) and not any([0, "", None]):
        return x + 1
    return x

# recursion_python | python | f 4;k=4
def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)
def model(x, k):
    return x * fact(k)

# recursion_tensor | python | f 4
def down(x, n):
    if n == 0:
        return x
    return down(torch.sin(x), n - 1) + 1
def model(x):
    return down(x, 3)

# decorator_plain | python | f 4
def twice(f):
    def g(*a):
        return f(*a) * 2
    return g
@twice
def h(x):
    return x + 1
def model(x):
    return h(x)

# decorator_no_grad | python | f 4
@torch.no_grad()
def h(x):
    return x + 1
def model(x):
    return h(x) * 2

# nested_function_two | python | f 4
def model(x):
    def a(y):
        def b(z):
            return z + y
        return b(y) * 2
    return a(x)

# none_args | python | f 4;k=None | f 4;k=3
def model(x, b):
    if b is not None:
        x = x + b
    return x * 2

# string_arg | recompile | f 4;k="relu" | f 4;k="sin" | f 4;k="relu"
def model(x, act):
    if act == "relu":
        return torch.relu(x)
    return torch.sin(x)

# bool_arg | recompile | f 4;k=True | f 4;k=False | f 4;k=True
def model(x, flag):
    return x + 1 if flag else x - 1

# int_arg_arith | recompile | f 4;k=3 | f 4;k=5 | f 4;k=7 | f 4;k=1 | f 4;k=0
def model(x, k):
    return x * (k + 1)

# int_arg_range | recompile | f 4;k=2 | f 4;k=3 | f 4;k=4
def model(x, k):
    for i in range(k):
        x = x + i
    return x

# int_arg_branch | recompile | f 4;k=3 | f 4;k=9 | f 4;k=4 | f 4;k=12
def model(x, k):
    if k > 5:
        return x * k
    return x + k

# float_arg | recompile | f 4;k=0.5 | f 4;k=1.5 | f 4;k=2.5
def model(x, k):
    return x * k + k

# float_arg_branch | recompile | f 4;k=0.5 | f 4;k=1.5 | f 4;k=2.5
def model(x, k):
    if k > 1.0:
        return x * k
    return x - k

# list_arg | recompile | l=f 4,f 4 | l=f 4,f 4,f 4 | l=f 4,f 4
def model(xs):
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total

# dict_arg | recompile | d=a:f 4,b:f 4 | d=a:f 4,b:f 4
def model(d):
    return d["a"] * d["b"]

# two_dims_change | recompile | f 4,5 | f 6,5 | f 6,7 | f 8,9
def model(x):
    return (x + 1).sum(0)

# same_size_dims | recompile | f 4,4 | f 5,5 | f 5,6 | f 6,6
def model(x):
    return x * 2

# size_zero_one | recompile | f 4 | f 1 | f 5 | f 0 | f 6
def model(x):
    return x + 1

# loop_over_size | recompile | f 3,4 | f 4,4 | f 5,4
def model(x):
    s = 0
    for i in range(x.shape[0]):
        s = s + x[i] * i
    return s

# size_compare | recompile | f 4 | f 5 | f 6 | f 7 | f 3
def model(x):
    if x.shape[0] > 5:
        return x + 1
    return x - 1

# size_in_arith | recompile | f 4,3 | f 5,3 | f 6,3
def model(x):
    n = x.shape[0] * 2 + 1
    return x * n / x.numel()

# size_view | recompile | f 4,6 | f 6,6 | f 8,6
def model(x):
    return x.view(-1, 3).sum(0), x.reshape(x.shape[0] * 2, 3)

# size_return | recompile | f 4 | f 5 | f 6
def model(x):
    return x + 1, x.shape[0], x.size(0) * 2

# size_of_two | recompile | f 4;f 4 | f 5;f 5 | f 6;f 7
def model(x, y):
    return x.sum() + y.sum()

# many_dtypes | recompile | f 4 | i 4 | d 4 | b 4 | f 4
def model(x):
    return x * 2

# rank_and_size | recompile | f 4 | f 4,5 | f 6 | f 6,7
def model(x):
    return x.sum()

# global_counter | recompile | f 4 | f 4 | f 4
COUNT = 0
def model(x):
    global COUNT
    COUNT += 1
    return x * COUNT

# recompile_limit | recompile | f 2 | f 3 | f 4 | f 5 | f 6 | f 7 | f 8 | f 9 | f 10 | f 11 | f 2
def model(x):
    for i in range(x.shape[0]):
        x = x + i
    return x

# resume_recompiles | recompile | f 4 | f 5 | f 6
def model(x):
    y = x + 1
    print("mid")
    return y * 2

# item_value_changes | recompile | f 4 | f 4 | f 4
def model(x):
    s = x.sum().item()
    return x * s

# item_int_changes | recompile | i 4 | i 4 | i 4
def model(x):
    s = x.sum().item()
    return x * s

# tensor_if_both | break | f 4 | n 4 | f 4
def model(x):
    y = x * 2
    if y.sum() > 0:
        y = y + 1
    else:
        y = y - 1
    return y * 3

# tensor_if_return | break | p 4 | n 4
def model(x):
    if x.sum() > 0:
        return x + 1
    return x - 1

# tensor_ternary | break | p 4
def model(x):
    y = x + 1
    z = y * 2 if y.sum() > 0 else y
    return z + 1

# tensor_and | break | p 4
def model(x):
    a = x.sum()
    if a > 0 and a < 100:
        return x + 1
    return x

# tensor_not | break | p 4
def model(x):
    if not x.sum() > 0:
        return x + 1
    return x * 2

# tensor_not_value | break | p 4
def model(x):
    y = x + 1
    z = not y.sum()
    return y * 2, z

# tensor_chain_compare | break | p 4
def model(x):
    t = x.mean()
    if 0 < t < 100:
        return x + 1
    return x

# tensor_while | break | p 4
def model(x):
    x = x + 1
    while x.sum() < 50:
        x = x * 2
    return x + 1

# tensor_if_in_loop | break | p 4
def model(x):
    x = x + 1
    for i in range(3):
        x = x * 2
        if x.sum() > 100:
            x = x - 1
    return x

# tensor_if_after_loop | break | p 4
def model(x):
    for i in range(3):
        x = x * 2
    if x.sum() > 0:
        x = x - 1
    return x

# tensor_if_before_loop | break | p 4
def model(x):
    x = x + 1
    if x.sum() > 0:
        x = x - 1
    for i in range(3):
        x = x * 2
    return x

# tensor_bool_call | break | p 4
def model(x):
    y = x + 1
    b = bool(y.sum() > 0)
    if b:
        return y * 2
    return y

# any_tensor_list | break | p 4
def model(x):
    y = x * 2
    if any([y.sum() > 0]):
        return y + 1
    return y

# item_then_branch | break | p 4
def model(x):
    v = (x * 2).sum().item()
    if v > 3:
        return x + 1
    return x

# item_then_range | break | i 2
def model(x):
    n = int((x * 0 + 2).sum())
    y = x + 1
    for i in range(n):
        y = y * 2
    return y

# item_twice | break | p 4
def model(x):
    a = x.sum().item()
    b = (x * a).mean().item()
    return x * a + b

# item_in_expression | break | p 4
def model(x):
    return x * x.sum().item() + x.mean().item()

# int_cast | break | p 4
def model(x):
    n = int(x.sum())
    return x + n

# tolist_float | break | p 4
def model(x):
    v = (x + 1).tolist()
    return x * v[0]

# tolist_int | break | i 4
def model(x):
    v = (x + 1).tolist()
    return x * len(v)

# item_as_index | break | f 4
def model(x):
    k = (x * 0 + 2).sum().int().item() % 4
    return x[k] + 1

# zeros_of_item | break | i 2
def model(x):
    n = int((x * 0 + 3)[0])
    return torch.zeros(n) + 1

# list_index_tensor | break | f 4
def model(x):
    xs = [x, x + 1, x + 2]
    t = torch.tensor(1)
    return xs[t] * 2

# print_const | break | f 4
def model(x):
    y = x + 1
    print("hello", 3)
    return y * 2

# print_first | break | f 4
def model(x):
    print("start")
    return x * 2

# print_last | break | f 4
def model(x):
    y = x * 2
    print("end")
    return y

# print_tensor | break | p 2
def model(x):
    y = x * 0 + 1
    print(y.sum() > 0)
    return y * 2

# print_fstring_value | break | p 2
def model(x):
    y = x * 0 + 1
    print(f"sum {y.sum().item():.1f}")
    return y * 2

# print_in_if | break | f 4;k=1
def model(x, k):
    y = x + 1
    if k > 0:
        print("yes")
        y = y * 2
    return y - 1

# print_in_helper | break | f 4
def log(m):
    print(m)
def model(x):
    y = x + 1
    log("a")
    return y * 2

# print_two_deep | break | f 4
def inner(x):
    y = torch.sin(x)
    print("in")
    return torch.cos(y)
def outer(x):
    y = x + 1
    y = inner(y)
    return y + 2
def model(x):
    x = x * 2
    x = outer(x)
    return x * 3

# print_in_comprehension | break | f 4
def show(i):
    print(i)
    return i
def model(x):
    x = x + 1
    ks = [show(i) for i in range(2)]
    return x * len(ks)

# print_in_try | break | f 4
def model(x):
    x = x + 1
    x = x * 2
    try:
        x = x - 3
        print("try")
        x = x * 5
    except ValueError:
        x = x + 100
    return x + 1

# print_in_try_one_op | break | f 4
def model(x):
    x = x + 1
    try:
        print("try")
        x = x * 5
    except ValueError:
        x = x + 100
    return x + 1

# print_in_with_no_grad | break | f 4
def model(x):
    x = x + 1
    with torch.no_grad():
        x = x * 2
        print("with")
        x = x * 3
    return x + 1

# print_in_own_with | break | f 4
class Ctx:
    def __enter__(self):
        return 3
    def __exit__(self, a, b, c):
        return False
def model(x):
    x = x + 1
    x = x * 2
    with Ctx():
        x = x - 3
        print("with")
        x = x * 5
    return x + 1

# print_in_while | break | f 4
def model(x):
    i = 0
    while i < 2:
        x = x + i
        print(i)
        i += 1
    return x

# print_after_loop | break | f 4
def model(x):
    for i in range(3):
        x = x + i
    print("done")
    return x * 2

# print_in_method | break | f 4
class M:
    def run(self, x):
        y = x + 1
        print("m")
        return y * 2
def model(x):
    return M().run(x) + 1

# print_in_lambda | break | f 4
def model(x):
    f = lambda y: (print("l"), y * 2)[1]
    return f(x + 1) + 1

# print_loop_in_helper | break | f 4
def helper(x):
    for i in range(2):
        x = x + i
        print(i)
    return x
def model(x):
    x = x * 2
    x = helper(x)
    return x * 3

# graph_break_helper | break | f 4
import torch._dynamo
def helper(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2
def model(x):
    return helper(x) + helper(x)

# graph_break_alone | break | f 4
import torch._dynamo
def model(x):
    torch._dynamo.graph_break()
    return x + 1

# disable_decorated | break | f 4
import torch._dynamo
@torch._dynamo.disable
def f(x):
    return g(x) + 1
def g(x):
    return x * 2
def model(x):
    return f(x + 1) * 3

# time_call | break | f 4
import time
def model(x):
    x = x + 1
    t = time.time()
    return x * 2

# nonzero_method | break | p 4
def model(x):
    y = x * 2
    n = (y > 0).nonzero()
    return n.float().sum() + y

# where_cond_only | break | p 4
def model(x):
    i = torch.where(x > 0)[0]
    return x.sum() + i.float().sum()

# unique_values | break | i 6
def model(x):
    u = torch.unique(x * 2)
    return u.sum() + x

# masked_select | break | f 6
def model(x):
    y = torch.masked_select(x * 2, x > 0)
    return y.sum() + 1

# mask_assign | mutation | f 6
def model(x):
    y = x * 2
    y[y > 0] = 0
    return y + 1

# mask_assign_input | mutation | f 6
def model(x):
    x[x > 0] = 1.5
    return x * 2

# setitem_slice | mutation | f 6
def model(x):
    y = x.clone()
    y[1:3] = 7
    y[-1] = y[0] + 1
    return y

# setitem_row | mutation | f 3,4
def model(x):
    x[1] = x[0] * 2
    x[:, 2] = 0
    return x.sum()

# view_write | mutation | f 4
def model(x):
    y = x.view(2, 2)
    y.add_(1)
    return x * 2

# transpose_write | mutation | f 2,3
def model(x):
    y = x.t()
    y.mul_(2)
    return x + 1, y

# inplace_chain | mutation | f 4
def model(x):
    y = x + 1
    y.add_(2).mul_(3).relu_()
    return y

# inplace_return_input | mutation | f 4
def model(x):
    x.mul_(2)
    return x

# inplace_then_break | mutation | f 4
def model(x):
    x.add_(1)
    print("written")
    x.mul_(2)
    return x.sum()

# view_over_break | mutation | f 4
def model(x):
    y = x[1:]
    z = x * 2
    print("cut")
    y.add_(10)
    return x + z

# list_input_append | mutation | l=f 4,f 4
def model(xs):
    xs.append(xs[0] + xs[1])
    return xs[-1] * 2

# dict_input_write | mutation | d=a:f 4
def model(d):
    d["b"] = d["a"] * 2
    return d["b"] + 1

# global_list_append | mutation | f 4 | f 4
LOG = []
def model(x):
    LOG.append(1)
    return x + 1

# global_tensor_write | mutation | f 4 | f 4
ACC = torch.zeros(4)
def model(x):
    ACC.add_(x)
    return ACC * 2

# attr_write | mutation | f 4 | f 4
class S:
    pass
s = S()
s.last = None
def model(x):
    s.last = x + 1
    return s.last * 2

# attr_counter | mutation | f 4 | f 4 | f 4
class S:
    pass
s = S()
s.n = 0
def model(x):
    s.n += 1
    return x * 2

# swap_args | mutation | f 4;f 4
def model(x, y):
    x.copy_(y * 2)
    y.zero_()
    return x + y

# out_alias_input | mutation | f 4
def model(x):
    return x, x.view(2, 2), x + 1

# aug_on_view | mutation | f 3,4
def model(x):
    x[0] += 1
    x[:, 1:] *= 2
    return x

# write_after_read | mutation | f 4
def model(x):
    a = x * 2
    x += 5
    b = x * 2
    return a, b

# effects_before_error_caught | mutation | f 4
def model(x):
    log = []
    try:
        log.append("a")
        raise KeyError("k")
    except KeyError:
        log.append("b")
    x.add_(len(log))
    return x + 1

# zero_op_frame_print | break | f 4
def model(x):
    print("only")
    return x

# no_ops_list | python | f 4
def model(x):
    return [x, (x, 3)], {"a": x}

# constant_only | python | f 4
def model(x):
    return 3, "a", None, 2.5

# constant_tensor_only | python | f 4
def model(x):
    return torch.ones(3) * 2

# module_linear | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
model = nn.Linear(4, 5)

# module_own_params | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4))
        self.register_buffer("shift", torch.ones(4))
        self.k = 3
    def forward(self, x):
        return x * self.w + self.shift * self.k
model = M()

# module_list | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x
model = M()

# module_residual | module | f 3,4 | f 5,4
import torch.nn as nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc = nn.Linear(d, d)
        self.act = nn.GELU()
    def forward(self, x):
        return x + self.act(self.fc(self.norm(x)))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.head = nn.Linear(4, 2, bias=False)
    def forward(self, x):
        return self.head(self.blocks(x))
model = M()

# module_train_dropout | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        x = self.fc(x)
        if self.training:
            x = x + 1
        return self.drop(x)
model = M().eval()

# module_print | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 2)
    def forward(self, x):
        x = self.a(x)
        print("forward")
        return self.b(x)
model = M()

# module_child_break | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        x = self.fc(x)
        print("inner")
        return torch.relu(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.out = nn.Linear(4, 2)
    def forward(self, x):
        x = x + 1
        x = self.inner(x)
        return self.out(x)
model = M()

# module_counter | module | f 3,4 | f 3,4 | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.n = 0
    def forward(self, x):
        self.n += 1
        return self.fc(x) * self.n
model = M()

# module_branch_item | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        h = self.fc(x)
        if h.abs().max() > 100:
            h = h / 10
        return h.softmax(-1)
model = M()

# module_sequential_list | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
layers = []
for i in range(2):
    layers += [nn.Linear(4, 4), nn.ReLU()]
model = nn.Sequential(*layers)

# module_dict | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.ModuleDict({"up": nn.Linear(4, 6), "down": nn.Linear(6, 4)})
    def forward(self, x):
        return self.d["down"](torch.tanh(self.d["up"](x)))
model = M()

# module_embedding | module | i 3
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(20, 4)
    def forward(self, i):
        return self.e(i.abs() % 20).sum(0)
model = M()

# module_shared | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        for _ in range(3):
            x = torch.sin(self.fc(x))
        return x
model = M()

# module_kwargs_forward | module | f 3,4
import torch.nn as nn
torch.manual_seed(0)
class Inner(nn.Module):
    def forward(self, x, scale=1.0, *, shift=0):
        return x * scale + shift
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.i = Inner()
    def forward(self, x):
        return self.i(x, scale=2.0, shift=3)
model = M()

# attention_block | module | f 2,5,8
import math
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(b, n, self.h, d // self.h).transpose(1, 2)
        k = k.view(b, n, self.h, d // self.h).transpose(1, 2)
        v = v.view(b, n, self.h, d // self.h).transpose(1, 2)
        a = (q @ k.transpose(-2, -1)) / math.sqrt(d // self.h)
        a = F.softmax(a, dim=-1)
        y = (a @ v).transpose(1, 2).reshape(b, n, d)
        return self.out(y)
model = Attention(8, 2)
'''


def programs():
    """(name, group, calls, source); a call is a list of input texts."""
    for block in TEXT.split("\n# ")[1:]:
        head, source = block.split("\n", 1)
        name, group, *calls = (part.strip() for part in head.split(" | "))
        yield name, group, [[text.strip() for text in call.split(";")] for call in calls], "import torch\n" + source.strip("\n") + "\n"


def tensor(text, rng):
    letter, _, sizes = text.partition(" ")
    shape = [int(n) for n in sizes.split(",") if n]
    count = 1
    for n in shape:
        count *= n
    if letter == "i":
        data = [rng.randint(-5, 9) for _ in range(count)]
    elif letter == "b":
        data = [rng.random() < 0.5 for _ in range(count)]
    else:
        data = [round(rng.gauss(0, 1), 4) for _ in range(count)]
        if letter in "pn":
            data = [(abs(v) + 0.5) * (1 if letter == "p" else -1) for v in data]
    dtype = {"d": "float64", "i": "int64", "b": "bool"}.get(letter, "float32")
    return {"tensor": {"shape": shape, "dtype": dtype, "data": data}}


def value(text, rng):
    kind, _, rest = text.partition("=")
    if kind == "k":
        return {"value": ast.literal_eval(rest)}
    if kind == "l":
        return {"list": [tensor(t, rng) for t in rest.split(",")]}
    if kind == "d":
        pairs = (t.split(":") for t in rest.split(","))
        return {"dict": {key: tensor(t, rng) for key, t in pairs}}
    return tensor(text, rng)


def cases():
    for name, group, calls, source in programs():
        rng = random.Random(name)
        yield {"name": name, "group": group, "source": source, "inputs": [[value(v, rng) for v in call] for call in calls]}
