# The module tempfile: names in /tmp that nothing has yet.
import _files

_made = []


def gettempdir():
    return "/tmp"


def _name(prefix, suffix, dir):
    _made.append(None)
    return f"{gettempdir() if dir is None else dir}/{'tmp' if prefix is None else prefix}{len(_made):08d}{suffix or ''}"


def mkdtemp(suffix=None, prefix=None, dir=None):
    path = _name(prefix, suffix, dir)
    _files.make_folder(path, True, False)
    return path


def mkstemp(suffix=None, prefix=None, dir=None):
    path = _name(prefix, suffix, dir)
    _files.opened(path, "wb")
    return 3, path


class TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None):
        self.name = mkdtemp(suffix, prefix, dir)

    def cleanup(self):
        if _files.is_folder(self.name):
            _files.remove_folder(self.name, True)

    def __enter__(self):
        return self.name

    def __exit__(self, kind, error, trace):
        self.cleanup()


def NamedTemporaryFile(mode="w+b", suffix=None, prefix=None, dir=None, delete=True):
    """It is gone with the run, not before: no other program could need its name."""
    return _files.opened(_name(prefix, suffix, dir), mode)


TemporaryFile = NamedTemporaryFile
