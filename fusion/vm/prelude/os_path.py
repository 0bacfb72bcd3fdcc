# os.path: names of files; those of the run are there.
import _weights

sep = "/"


def join(first, *parts):
    path = first
    for part in parts:
        if part.startswith("/"):
            path = part
        elif not path or path.endswith("/"):
            path += part
        else:
            path += "/" + part
    return path


def split(path):
    at = path.rfind("/") + 1
    head = path[:at]
    if head and head != "/" * len(head):
        head = head.rstrip("/")
    return head, path[at:]


def basename(path):
    return split(path)[1]


def dirname(path):
    return split(path)[0]


def splitext(path):
    name = basename(path)
    stem = name.lstrip(".")
    if "." not in stem:
        return path, ""
    tail = stem[stem.rfind("."):]
    return path[: len(path) - len(tail)], tail


def isabs(path):
    return path.startswith("/")


def normpath(path):
    kept = []
    for part in path.split("/"):
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part not in ("", ".") and not (part == ".." and path.startswith("/")):
            kept.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(kept) or "."


def abspath(path):
    return normpath(join("/", path))


realpath = abspath


def expanduser(path):
    return path


def expandvars(path):
    return path


def exists(path):
    return _weights.exists(_weights.path_of(path))


isfile = exists


def isdir(path):
    return False
