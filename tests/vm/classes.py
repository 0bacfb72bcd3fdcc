class Base:
    kind = "base"
    made = 0

    def __init__(self, n):
        self.n = n
        Base.made += 1

    def twice(self):
        return self.n * 2

    def name(self):
        return "Base" + str(self.n)

    @property
    def half(self):
        return self.n / 2

    @staticmethod
    def add(a, b):
        return a + b

    @classmethod
    def of(cls, n):
        return cls(n + 1)


class Child(Base):
    kind = "child"

    def __init__(self, n, extra=1):
        super().__init__(n)
        self.extra = extra

    def name(self):
        return super().name() + "/" + self.kind

    def __call__(self, x):
        return x + self.n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.n + i

    def __eq__(self, other):
        return self.n == other.n

    def __add__(self, other):
        return Child(self.n + other.n)


class Counter:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        if self.i == self.n:
            raise StopIteration
        self.i += 1
        return self.i


class Each:
    def __iter__(self):
        yield "a"
        yield "b"


def local(k):
    class Local:
        value = k

        def get(self):
            return self.value + k

    return Local().get()


def model():
    c = Child(3, extra=5)
    d = Child.of(9)
    c.added = [1]
    c.added.append(2)
    f = c.twice
    del c.extra
    return (
        c.twice(),
        c.name(),
        c.half,
        Base.add(1, 2),
        d.n,
        type(d).__name__,
        c(10),
        len(c),
        c[4],
        c == Child(3),
        (c + d).n,
        c.added,
        f(),
        hasattr(c, "extra"),
        isinstance(c, Base),
        issubclass(Child, Base),
        Base.made,
        list(Counter(3)),
        sum(Counter(4)),
        list(Each()),
        [x for x in Each()],
        local(4),
        getattr(c, "missing", "default"),
    )
