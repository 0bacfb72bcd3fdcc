import builtins
import os
from collections import deque
import numpy as np
import torch
def six_names():
    import six
    from six.moves import xrange, range, zip, cPickle, urllib
    from six.moves.urllib.parse import urlparse
    class Meta(type):
        def __new__(mcs, name, bases, scope):
            return super().__new__(mcs, name, bases, scope)
    @six.add_metaclass(Meta)
    class A:
        x = 3
    print(six.PY3, list(xrange(3)), list(range(2)), list(six.iteritems({1: 2})), list(six.itervalues({1: 2})))
    print(isinstance("a", six.string_types), isinstance(3, six.integer_types), A().x, type(A).__name__, six.ensure_str(b"ab"), six.b("a"))
    print(cPickle.loads(cPickle.dumps([1, 2])), six.moves.reduce(lambda a, b: a + b, [1, 2, 3]), list(six.moves.zip_longest([1, 2], [3])))
def model():
    print(builtins.abs(-3), builtins.print is print, builtins.len([1]), isinstance(3, builtins.int), hasattr(builtins, "nope"), issubclass(builtins.ValueError, Exception))
    with open("a.txt", "w") as f:
        f.write("hello")
    torch.save(torch.ones(300), "w.pt")
    print(os.path.getsize("a.txt"), os.path.getsize("w.pt") > 1000)
    print(torch.is_anomaly_enabled())
    with torch.autograd.set_detect_anomaly(True):
        print(torch.is_anomaly_enabled())
    with torch.autograd.detect_anomaly():
        print(torch.is_anomaly_enabled())
    torch.autograd.set_detect_anomaly(True)
    print(torch.is_anomaly_enabled())
    torch.autograd.set_detect_anomaly(False)
    print(torch.is_anomaly_enabled())
    recent = deque([1.5, 2, 3.0], maxlen=2)
    print(float(np.mean(recent)), np.array(deque([np.ones(2), np.zeros(2)])).shape, float(np.std(recent)), np.asarray(deque([1, 2])).dtype)
    six_names()
