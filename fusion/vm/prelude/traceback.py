# The module traceback: an exception's last line; where it came from is not kept.


def _handled():
    """The exception whose except block runs, which a bare raise finds."""
    try:
        raise
    except BaseException as error:
        return None if str(error) == "No active exception to reraise" else error


def _of(exc, value):
    return value if isinstance(value, BaseException) else exc


def format_exception_only(exc, value=None):
    error = _of(exc, value)
    if error is None:
        return ["NoneType: None\n"]
    text = str(error)
    return [type(error).__name__ + (": " + text if text else "") + "\n"]


def format_exception(exc, value=None, tb=None, limit=None, chain=True):
    return ["Traceback (most recent call last):\n"] + format_exception_only(exc, value)


def format_exc(limit=None, chain=True):
    error = _handled()
    return "NoneType: None\n" if error is None else "".join(format_exception(error))


def print_exc(limit=None, file=None, chain=True):
    _write(format_exc(), file)


def print_exception(exc, value=None, tb=None, limit=None, file=None, chain=True):
    _write("".join(format_exception(exc, value)), file)


def _write(text, file):
    """What goes to sys.stderr is no output of the run."""
    if file is not None:
        file.write(text)


def format_tb(tb, limit=None):
    return []


def extract_stack(f=None, limit=None):
    return []


def format_stack(f=None, limit=None):
    return []


def print_stack(f=None, limit=None, file=None):
    pass
