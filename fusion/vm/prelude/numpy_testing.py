# numpy.testing: comparisons of arrays and numbers that raise.
import math

import numpy


def _array(x):
    return numpy.asarray(x)


def _fail(what, actual, desired, err_msg):
    raise AssertionError(f"\n{what}\n{err_msg}\n ACTUAL: {actual!r}\n DESIRED: {desired!r}")


def assert_(val, msg=""):
    if not val:
        raise AssertionError(msg)


def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True, *, strict=False):
    a, b = _array(actual), _array(desired)
    if strict and (a.shape != b.shape or a.dtype != b.dtype):
        _fail("Arrays are not equal: shapes or dtypes mismatch", actual, desired, err_msg)
    if not numpy.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan):
        _fail(f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}", actual, desired, err_msg)


def assert_array_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    a, b = _array(actual), _array(desired)
    if strict and (a.shape != b.shape or a.dtype != b.dtype):
        _fail("Arrays are not equal: shapes or dtypes mismatch", actual, desired, err_msg)
    if a.shape != b.shape and a.shape != () and b.shape != ():
        _fail(f"Arrays are not equal: shapes {a.shape}, {b.shape} mismatch", actual, desired, err_msg)
    same = (a == b) | ((a != a) & (b != b))
    if not numpy.all(same):
        _fail("Arrays are not equal", actual, desired, err_msg)


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    if isinstance(desired, dict):
        if not isinstance(actual, dict) or set(actual) != set(desired):
            _fail("Items are not equal", actual, desired, err_msg)
        for key in desired:
            assert_equal(actual[key], desired[key], err_msg)
    elif isinstance(desired, (list, tuple)) and isinstance(actual, (list, tuple)):
        if len(actual) != len(desired):
            _fail("Items are not equal", actual, desired, err_msg)
        for a, b in zip(actual, desired):
            assert_equal(a, b, err_msg)
    elif isinstance(actual, numpy.ndarray) or isinstance(desired, numpy.ndarray):
        assert_array_equal(actual, desired, err_msg, strict=strict)
    elif not (actual == desired or (actual != actual and desired != desired)):
        _fail("Items are not equal", actual, desired, err_msg)


def assert_array_almost_equal(actual, desired, decimal=6, err_msg="", verbose=True):
    assert_allclose(actual, desired, 0, 1.5 * 10.0 ** (-decimal), True, err_msg)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    assert_allclose(actual, desired, 0, 1.5 * 10.0 ** (-decimal), True, err_msg)


def assert_approx_equal(actual, desired, significant=7, err_msg="", verbose=True):
    scale = 0.0 if desired == 0 else 10.0 ** math.floor(math.log10(0.5 * (abs(desired) + abs(actual))))
    apart = abs(actual - desired) if scale == 0 else abs(actual / scale - desired / scale)
    if not apart < 10.0 ** -(significant - 1):
        _fail(f"Items are not equal to {significant} significant digits", actual, desired, err_msg)


def assert_array_less(x, y, err_msg="", verbose=True, *, strict=False):
    if not numpy.all(_array(x) < _array(y)):
        _fail("Arrays are not strictly ordered `x < y`", x, y, err_msg)


class _Raises:
    def __init__(self, kinds):
        self.kinds = kinds

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            raise AssertionError(f"{self.kinds} not raised")
        return issubclass(kind, self.kinds)


def assert_raises(exception_class, callable=None, *args, **kwargs):
    if callable is None:
        return _Raises(exception_class)
    with _Raises(exception_class):
        callable(*args, **kwargs)
