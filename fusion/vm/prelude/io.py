# The module io: text and bytes in memory, written and read like files.


class UnsupportedOperation(OSError, ValueError):
    pass


class _Memory:
    def __init__(self, content):
        self._content = content
        self._at = 0
        self.closed = False

    def _open(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def write(self, part):
        self._open()
        kept = self._content[:self._at]
        kept += self._gap * (self._at - len(kept))
        self._content = kept + part + self._content[self._at + len(part):]
        self._at += len(part)
        return len(part)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def read(self, size=-1):
        self._open()
        end = len(self._content) if size is None or size < 0 else self._at + size
        part = self._content[self._at:end]
        self._at += len(part)
        return part

    def readline(self, size=-1):
        self._open()
        end = self._content.find(self._newline, self._at) + 1
        end = len(self._content) if end == 0 else end
        return self.read(end - self._at if size < 0 else min(size, end - self._at))

    def readlines(self):
        return list(self)

    def getvalue(self):
        self._open()
        return self._content

    def seek(self, offset, whence=0):
        self._open()
        self._at = offset + (0 if whence == 0 else self._at if whence == 1 else len(self._content))
        return self._at

    def tell(self):
        return self._at

    def truncate(self, size=None):
        self._content = self._content[:self._at if size is None else size]
        return len(self._content)

    def flush(self):
        self._open()

    def close(self):
        self.closed = True

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def isatty(self):
        return False

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if len(line) == 0:
            raise StopIteration
        return line

    def __enter__(self):
        self._open()
        return self

    def __exit__(self, kind, value, trace):
        self.close()


class StringIO(_Memory):
    _gap = "\0"
    _newline = "\n"

    def __init__(self, initial_value="", newline="\n"):
        super().__init__(initial_value)


class BytesIO(_Memory):
    """What torch.save() puts into it has no bytes: torch.load() alone takes it out."""
    _gap = b"\0"
    _newline = b"\n"

    def __init__(self, initial_bytes=b""):
        super().__init__(bytes(initial_bytes))

    def _bytes_alone(self):
        if hasattr(self, "_saved"):
            raise NotImplementedError("what torch.save() wrote has no bytes here; torch.load() reads it")

    def read(self, size=-1):
        self._bytes_alone()
        return super().read(size)

    def getvalue(self):
        self._bytes_alone()
        return super().getvalue()

    def getbuffer(self):
        return self.getvalue()
