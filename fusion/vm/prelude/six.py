# six and six.moves: what both Pythons have, by the names of either.  Modules of six.moves that are not
# here are found when they are used.
import builtins as _builtins
import functools as _functools
import io as _io
import itertools as _itertools
import operator as _operator
import pickle as _pickle
import queue as _queue

__version__ = "1.16.0"
cPickle = _pickle
queue = _queue
PY2 = False
PY3 = True
PY34 = True
MAXSIZE = 0x7FFFFFFFFFFFFFFF
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
unichr = chr
StringIO = cStringIO = _io.StringIO
BytesIO = _io.BytesIO
xrange = range = _builtins.range
zip = izip = _builtins.zip
map = imap = _builtins.map
filter = ifilter = _builtins.filter
input = None
reduce = _functools.reduce
zip_longest = _itertools.zip_longest
filterfalse = _itertools.filterfalse
callable = _builtins.callable
next = advance_iterator = _builtins.next
wraps = _functools.wraps
int2byte = _operator.methodcaller("to_bytes", 1, "big")


def iterkeys(d, **kw):
    return iter(d.keys(**kw))


def itervalues(d, **kw):
    return iter(d.values(**kw))


def iteritems(d, **kw):
    return iter(d.items(**kw))


def viewkeys(d):
    return d.keys()


def viewvalues(d):
    return d.values()


def viewitems(d):
    return d.items()


def b(s):
    return s.encode("latin-1")


def u(s):
    return s


def byte2int(bs):
    return bs[0]


def indexbytes(buf, i):
    return buf[i]


def iterbytes(buf):
    return iter(buf)


def ensure_str(s, encoding="utf-8", errors="strict"):
    if isinstance(s, bytes):
        return s.decode(encoding, errors)
    if not isinstance(s, str):
        raise TypeError(f"not expecting type '{type(s)}'")
    return s


ensure_text = ensure_str


def ensure_binary(s, encoding="utf-8", errors="strict"):
    if isinstance(s, str):
        return s.encode(encoding, errors)
    if not isinstance(s, bytes):
        raise TypeError(f"not expecting type '{type(s)}'")
    return s


def with_metaclass(meta, *bases):
    """A base that has the metaclass, and the bases."""
    return meta("temporary_class", bases or (object,), {})


def add_metaclass(metaclass):
    def of(cls):
        return metaclass(cls.__name__, cls.__bases__, {k: v for k, v in cls.__dict__.items() if k not in ("__dict__", "__weakref__")})

    return of


def python_2_unicode_compatible(klass):
    return klass


def raise_from(value, from_value):
    raise value from from_value


def reraise(tp, value, tb=None):
    raise value if value is not None else tp()


def get_function_code(f):
    return f.__code__


def get_method_self(m):
    return m.__self__


def get_method_function(m):
    return m.__func__


def print_(*args, **kwargs):
    print(*args, **kwargs)
