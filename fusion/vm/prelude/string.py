# The module string.
import re

ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdef" + "ABCDEF"
octdigits = "01234567"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
whitespace = " \t\n\r\x0b\x0c"
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join([part.capitalize() for part in s.split(sep)])


class Template:
    def __init__(self, template):
        self.template = template

    def _filled(self, values, safe):
        def one(match):
            name = match.group(2) or match.group(3)
            if match.group(1) is not None:
                return "$"
            return match.group(0) if safe and name not in values else str(values[name])

        return re.sub(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", one, self.template)

    def substitute(self, mapping={}, /, **keywords):
        return self._filled({**mapping, **keywords}, False)

    def safe_substitute(self, mapping={}, /, **keywords):
        return self._filled({**mapping, **keywords}, True)
