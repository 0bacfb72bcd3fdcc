# The files that a program writes: in memory, gone with the run.  Nothing reaches the disk.
import io

import _prelude
import _weights

_kept = {}  # path to its bytes, or its text
_folders = {"/", "/tmp"}


def normal(path):
    """The path from the root, which is the current folder, too."""
    text = _weights.path_of(path)
    if text is None:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(path).__name__}")
    kept = []
    for part in text.split("/"):
        if part == "..":
            kept = kept[:-1]
        elif part not in ("", "."):
            kept.append(part)
    return "/" + "/".join(kept)


def parent(place):
    return place[: place.rfind("/")] or "/"


def is_folder(path):
    _prelude.acts()
    return normal(path) in _folders


def is_file(path):
    _prelude.acts()
    return normal(path) in _kept or _weights.exists(_weights.path_of(path))


def make_folder(path, parents, exist_ok):
    _prelude.acts()
    place = normal(path)
    if place in _folders or place in _kept:
        if exist_ok and place in _folders:
            return
        raise FileExistsError(f"[Errno 17] File exists: {str(path)!r}")
    if parent(place) not in _folders:
        if not parents:
            absent(path)
        make_folder(parent(place), True, True)
    _folders.add(place)


def absent(path):
    raise FileNotFoundError(f"[Errno 2] No such file or directory: {str(path)!r}")


def below(folder):
    """What lies in a folder, at any depth: places of files, and of folders."""
    start = folder.rstrip("/") + "/"
    files = sorted([p for p in list(_kept) + saved() if p.startswith(start)])
    return files, sorted([p for p in _folders if p.startswith(start) and p != folder])


def saved():
    """What torch.save() keeps, by place."""
    return [normal(path) for path in _weights.paths()]


def names_in(path):
    _prelude.acts()
    place = normal(path)
    if place not in _folders:
        absent(path)
    files, folders = below(place)
    start = len(place.rstrip("/")) + 1
    return [p[start:] for p in folders + files if "/" not in p[start:]]


def remove(path):
    _prelude.acts()
    place = normal(path)
    if place in _kept:
        del _kept[place]
    elif not _weights.forget(_weights.path_of(path)):
        absent(path)


def remove_folder(path, whole):
    _prelude.acts()
    place = normal(path)
    if place not in _folders:
        absent(path)
    files, folders = below(place)
    if not whole and (files or folders):
        raise OSError(f"[Errno 39] Directory not empty: {str(path)!r}")
    for each in files:
        remove(each)
    for each in folders + [place]:
        _folders.discard(each)


def copy(source, target):
    """A file, into the folder where the target is one."""
    _prelude.acts()
    if is_folder(target):
        target = normal(target).rstrip("/") + "/" + normal(source).rpartition("/")[2]
    place = normal(source)
    if place in _kept:
        _within(normal(target), target)
        _kept[normal(target)] = _kept[place]
    elif not _weights.copy_of(_weights.path_of(source), _weights.path_of(target)):
        absent(source)
    return target


def move(source, target):
    _prelude.acts()
    if not is_folder(source):
        made = copy(source, target)
        remove(source)
        return made
    start = normal(source)
    files, folders = below(start)
    make_folder(target, True, True)
    for each in folders:
        make_folder(normal(target) + each[len(start):], True, True)
    for each in files:
        copy(each, normal(target) + each[len(start):])
    remove_folder(source, True)
    return target


def size(path):
    _prelude.acts()
    place = normal(path)
    if place not in _kept:
        found = _weights.size_of(_weights.path_of(path))
        return absent(path) if found is None else found
    content = _kept[place]
    return len(content.encode() if isinstance(content, str) else content)


def _within(place, path):
    if parent(place) not in _folders:
        absent(path)


class _File:
    """What io.StringIO and io.BytesIO are, under a name; what is written is kept at once."""

    def _begin(self, name, mode, place, at):
        self.name, self.mode, self._place, self._at = name, mode, place, at
        return self

    def readable(self):
        return "r" in self.mode or "+" in self.mode

    def writable(self):
        return "r" not in self.mode or "+" in self.mode

    def read(self, size=-1):
        if not self.readable():
            raise io.UnsupportedOperation("not readable")
        return super().read(size)

    def write(self, part):
        _prelude.acts()
        if not self.writable():
            raise io.UnsupportedOperation("not writable")
        if not isinstance(part, type(self._newline)):
            wanted = "a bytes-like object is required" if self._newline == b"\n" else "write() argument must be str"
            raise TypeError(f"{wanted}, not {type(part).__name__}")
        if "a" in self.mode:
            self._at = len(self._content)
        written = super().write(part)
        _kept[self._place] = self._content
        return written

    def truncate(self, size=None):
        _prelude.acts()
        super().truncate(size)
        _kept[self._place] = self._content

    def fileno(self):
        return 3


class _Text(_File, io.StringIO):
    pass


class _Bytes(_File, io.BytesIO):
    pass


class _Weights(io.BytesIO):
    """A file of weights, or what torch.save() keeps: torch.load() takes it."""

    def __init__(self, path):
        super().__init__()
        self.name = self._weights_path = path

    def _bytes_alone(self):
        raise NotImplementedError("the bytes of a file of weights are not read; torch.load() reads it")


def opened(path, mode):
    _prelude.acts()
    letters = set(mode)
    if not letters <= set("rwxabt+") or len(letters & set("rwxa")) != 1:
        raise ValueError(f"invalid mode: {mode!r}")
    place = normal(path)
    if place in _folders:
        raise IsADirectoryError(f"[Errno 21] Is a directory: {str(path)!r}")
    if "x" in mode and place in _kept:
        raise FileExistsError(f"[Errno 17] File exists: {str(path)!r}")
    if place not in _kept:
        if "r" in mode:
            if not is_file(path):
                absent(path)
            return _Weights(_weights.path_of(path))
        _within(place, path)
    if "w" in mode or place not in _kept:
        _kept[place] = b"" if "b" in mode else ""
    content = _kept[place]
    if "b" in mode:
        file = _Bytes(content.encode() if isinstance(content, str) else content)
    else:
        file = _Text(content if isinstance(content, str) else content.decode())
    return file._begin(str(path), mode, place, len(content) if "a" in mode else 0)
