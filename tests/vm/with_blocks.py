log = []


class Scope:
    def __init__(self, name, swallow=False):
        self.name = name
        self.swallow = swallow

    def __enter__(self):
        log.append("enter " + self.name)
        return self.name

    def __exit__(self, kind, value, trace):
        log.append(("exit", self.name, kind is None, str(value)))
        return self.swallow


def plain():
    with Scope("a") as a, Scope("b") as b:
        log.append(a + b)
    return "end"


def early():
    for i in range(3):
        with Scope("loop"):
            if i == 0:
                continue
            if i == 1:
                break
    with Scope("return"):
        return "returned"


def swallowed():
    with Scope("s", True):
        raise ValueError("gone")
    return "after"


def passed():
    try:
        with Scope("outer"):
            with Scope("inner"):
                raise KeyError("k")
    except KeyError:
        return "caught"


class Bad:
    pass


def none():
    try:
        with Bad():
            return 1
    except (TypeError, AttributeError):
        return "no context"


def model():
    return plain(), early(), swallowed(), passed(), none(), log
