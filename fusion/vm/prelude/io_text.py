# Of the module io: a text that is written and read like a file.


class StringIO:
    def __init__(self, initial_value="", newline="\n"):
        self._text = initial_value
        self._at = 0
        self.closed = False

    def _open(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def write(self, text):
        self._open()
        kept = self._text[:self._at]
        kept += "\0" * (self._at - len(kept))
        self._text = kept + text + self._text[self._at + len(text):]
        self._at += len(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def read(self, size=-1):
        self._open()
        end = len(self._text) if size is None or size < 0 else self._at + size
        text = self._text[self._at:end]
        self._at += len(text)
        return text

    def readline(self, size=-1):
        self._open()
        end = self._text.find("\n", self._at) + 1
        end = len(self._text) if end == 0 else end
        return self.read(end - self._at if size < 0 else min(size, end - self._at))

    def readlines(self):
        return list(self)

    def getvalue(self):
        self._open()
        return self._text

    def seek(self, offset, whence=0):
        self._open()
        self._at = offset if whence == 0 else len(self._text) if whence == 2 else self._at
        return self._at

    def tell(self):
        return self._at

    def truncate(self, size=None):
        self._text = self._text[:self._at if size is None else size]
        return len(self._text)

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
        if line == "":
            raise StopIteration
        return line

    def __enter__(self):
        self._open()
        return self

    def __exit__(self, kind, value, trace):
        self.close()
