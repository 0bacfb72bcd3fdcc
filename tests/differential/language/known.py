"""Programs that differed from CPython once, and what is known of messages."""
import re

# Messages that say what the language leaves out.
REFUSALS = [r"64 bits", r"outside the language", r"not in the language", r"cannot derive from", r"makes a class; write",
            r"metaclass", r"is not in the language", r"more than \d+ deep", r"has no function", r"has no attribute __new__"]

# Each is the body of a function.  What they print is CPython's.
PROGRAMS = ["""
print({'a': 1}.keys() == {'a': 2}.keys(), {'a': 1}.items() == {'a': 1}.items(), {'a': 1}.keys() < {'a', 'b'}, {'a': 1}.values() == {'a': 1}.values())
print({'a': [1]}.items() == {'a': [1]}.items(), ('a', 1) in {'a': 1}.items(), {'a': 1}.keys().isdisjoint('bc'))
""", """
class A:
    def __init__(self):
        print('A')
        self.a = 1
class M(nn.Module, A):
    def __init__(self):
        super().__init__()
        print('M', hasattr(self, 'a'))
M()
class N(A, nn.Module):
    pass
print(hasattr(N(), 'a'))
""", """
class M(nn.Module):
    drop = None
    def __init__(self):
        super().__init__()
        self.act = nn.Identity()
        self.drop = nn.Identity()
    def act(self, x):
        return ('method', x)
m = M()
print(m.act(3), type(m.act).__name__, m.drop, [n for n, _ in m.named_children()])
""", """
print([hasattr(functools.partial(len), n) for n in ('__name__', '__call__', 'func', '__dict__', '__len__')])
print([hasattr([], n) for n in ('__len__', '__iter__', '__next__', '__add__', '__call__', '__name__', '__setitem__')])
print([hasattr(1, n) for n in ('__len__', '__add__', '__float__', '__name__')], [hasattr(len, n) for n in ('__name__', '__call__', '__len__')])
""", """
for seed in (0, 'text', 2.5, -7):
    random.seed(seed)
    print(random.random(), random.randint(1, 100), random.gauss(0, 1), random.sample(range(100), 3), random.choices('ab', [1, 3], k=3))
"""]


# Messages that differ from one release of CPython to the next, or that say the same in
# other words here: what stands first is read as what stands second.
MESSAGES = [(re.compile(a), b) for a, b in [
    (r"(?:__main__\.)?(?:\w+\.)*<locals>\.", ""), (r"__main__\.", ""),  # as at the top of a file
    (r"\w+\(\) (argument after |got multiple values for keyword)", r"\1"),  # the function's name
    (r"argument after \* must be an iterable, not (\w+)", r"'\1' object is not iterable"),
    (r"(pop index out of range): index.*", r"\1"),
    (r"float floor division by zero|float divmod\(\)|float modulo|float modulo by zero", "float division"),
]]


def normal(text):
    for pattern, same in MESSAGES:
        text = pattern.sub(same, text)
    return text
