# The module types.
import math


class SimpleNamespace:
    def __init__(self, **keywords):
        for name, value in keywords.items():
            setattr(self, name, value)

    def __repr__(self):
        return "namespace(" + ", ".join([f"{k}={v!r}" for k, v in vars(self).items()]) + ")"

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and vars(self) == vars(other)


def _function():
    pass


FunctionType = type(_function)
LambdaType = FunctionType
GeneratorType = type((n for n in ()))
BuiltinFunctionType = type(len)
NoneType = type(None)
ModuleType = type(math)
BuiltinMethodType = BuiltinFunctionType
NotImplementedType = type(NotImplemented)
EllipsisType = type(...)


class _Bound:
    def method(self):
        pass


MethodType = type(_Bound().method)


class UnionType:  # of int | None
    pass


class MappingProxyType:
    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def get(self, key, default=None):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()
