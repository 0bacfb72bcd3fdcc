# torch._dynamo.utils: the counters that programs read and clear; captures here are counted elsewhere.
import collections

counters = collections.defaultdict(collections.Counter)


def clear_compilation_metrics():
    return None


def get_compilation_metrics():
    return []


def is_compile_supported(device_type):
    return True


def ifdynstaticdefault(when_dynamic, when_static):
    return when_static
