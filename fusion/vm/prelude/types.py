# The module types.


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
