# The module textwrap.


def _margin(text):
    """The blanks that all lines but the blank ones begin with."""
    margin = None
    for line in text.split("\n"):
        if not line.strip():
            continue
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        if margin is None:
            margin = blanks
        while not blanks.startswith(margin):
            margin = margin[:-1]
    return margin or ""


def dedent(text):
    margin = _margin(text)
    return "\n".join([line[len(margin):] if line.strip() else "" for line in text.split("\n")])


def indent(text, prefix, predicate=None):
    chosen = predicate or (lambda line: line.strip())
    return "".join([prefix + line if chosen(line) else line for line in text.splitlines(True)])


def wrap(text, width=70):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        while len(word) > width:
            lines.append(word[:width])
            word = word[width:]
        line = line + " " + word if line else word
    return lines + [line] if line else lines


def fill(text, width=70):
    return "\n".join(wrap(text, width))


def shorten(text, width, placeholder=" [...]"):
    words = text.split()
    if len(" ".join(words)) <= width:
        return " ".join(words)
    while words and len(" ".join(words)) + len(placeholder) > width:
        words.pop()
    return " ".join(words) + placeholder if words else placeholder.strip()
