# packaging.version: versions of numbers, with what comes before a release.


class Version:
    def __init__(self, version):
        self._text = str(version)
        public = self._text.split("+")[0].lstrip("v")
        numbers = []
        rest = ""
        for part in public.split("."):
            digits = part
            for i in range(len(part)):
                if not part[i].isdigit():
                    digits = part[:i]
                    rest += part[i:]
                    break
            if digits:
                numbers.append(int(digits))
            if rest:
                break
        self.release = tuple(numbers)
        self.is_prerelease = rest != "" and not rest.startswith("post")
        self.is_devrelease = rest.startswith("dev")
        trimmed = list(numbers)
        while trimmed and trimmed[-1] == 0:
            trimmed.pop()
        self._key = (trimmed, not self.is_prerelease, rest)

    @property
    def major(self):
        return self._at(0)

    @property
    def minor(self):
        return self._at(1)

    @property
    def micro(self):
        return self._at(2)

    @property
    def base_version(self):
        return ".".join(str(n) for n in self.release)

    @property
    def public(self):
        return self._text.split("+")[0]

    def _at(self, i):
        return self.release[i] if i < len(self.release) else 0

    def __lt__(self, other):
        return self._key < other._key

    def __le__(self, other):
        return self._key <= other._key

    def __gt__(self, other):
        return self._key > other._key

    def __ge__(self, other):
        return self._key >= other._key

    def __eq__(self, other):
        return isinstance(other, Version) and self._key == other._key

    def __hash__(self):
        return hash(self._text)

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<Version('{self._text}')>"


def parse(version):
    return Version(version)


LooseVersion = Version
