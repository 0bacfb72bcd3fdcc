# The module abc.


def abstractmethod(function):
    function.__isabstractmethod__ = True
    return function


def abstractclassmethod(function):
    return classmethod(abstractmethod(function))


def abstractstaticmethod(function):
    return staticmethod(abstractmethod(function))


def abstractproperty(function):
    return property(abstractmethod(function))


def _is_abstract(value):
    for name in ("fget", "__func__"):
        value = getattr(value, name, value)
    return getattr(value, "__isabstractmethod__", False)


class ABCMeta(type):
    def __new__(mcs, name, bases, attributes, **keywords):
        cls = super().__new__(mcs, name, bases, attributes, **keywords)
        left = [name for name, value in attributes.items() if _is_abstract(value)]
        for base in bases:
            for name in getattr(base, "__abstractmethods__", ()):
                if name not in left and _is_abstract(getattr(cls, name, None)):
                    left.append(name)
        cls.__abstractmethods__ = frozenset(sorted(left))
        return cls


class ABC(metaclass=ABCMeta):
    pass
