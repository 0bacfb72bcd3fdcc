# The module gc: what nothing refers to is freed as a run has it, and what was freed is not counted.


def collect(generation=2):
    return 0


def enable():
    pass


def disable():
    pass


def freeze():
    pass
