# os.path: names of files; those of the run are there.
import _files

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
    return _files.is_file(path) or _files.is_folder(path)


lexists = exists
isfile = _files.is_file
isdir = _files.is_folder
getsize = _files.size


def islink(path):
    return False


def getmtime(path):
    if not exists(path):
        _files.absent(path)
    return 0.0


getctime = getatime = getmtime


def relpath(path, start="."):
    there, here = [[p for p in abspath(each).split("/") if p] for each in (path, start)]
    same = len([None for n in range(min(len(there), len(here))) if there[: n + 1] == here[: n + 1]])
    return "/".join([".."] * (len(here) - same) + there[same:]) or "."


def commonprefix(m):
    first, last = (min(m), max(m)) if m else ("", "")
    same = 0
    while same < len(first) and first[same] == last[same]:
        same += 1
    return first[:same]
