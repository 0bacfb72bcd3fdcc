# The modules glob and fnmatch, for files of the run.
import re

import _files


def translate(pat):
    """As a regular expression; * and ? stop at no slash."""
    made, at = "", 0
    while at < len(pat):
        letter, at = pat[at], at + 1
        end = pat.find("]", at + 1) if letter == "[" else -1
        if letter == "*":
            made += ".*"
        elif letter == "?":
            made += "."
        elif end > 0:
            inside = pat[at:end]
            made += "[" + ("^" + inside[1:] if inside[0] == "!" else inside) + "]"
            at = end + 1
        else:
            made += re.escape(letter)
    return f"(?s:{made})\\Z"


def fnmatchcase(name, pat):
    return re.match(translate(pat), name) is not None


fnmatch = fnmatchcase


def filter(names, pat):
    return [name for name in names if fnmatchcase(name, pat)]


def escape(pathname):
    return "".join([f"[{c}]" if c in "*?[" else c for c in pathname])


def _is_magic(text):
    return "*" in text or "?" in text or "[" in text


def _below(folder, parts, recursive):
    """The paths under a folder, written as the pattern is."""
    if not parts:
        return [folder]
    part, rest = parts[0], parts[1:]
    place = folder or "."
    start = folder if not folder or folder.endswith("/") else folder + "/"
    if not _is_magic(part):
        path = start + part
        there = _files.is_folder(path) if rest else _files.is_folder(path) or _files.is_file(path)
        return _below(path, rest, recursive) if there else []
    if not _files.is_folder(place):
        return []
    found = []
    if part == "**" and recursive:
        found += _below(folder, rest, recursive) if rest else []
    for name in _files.names_in(place):
        if part == "**" and recursive:
            if _files.is_folder(start + name):
                found += _below(start + name, parts, recursive)
            if not rest:
                found.append(start + name)
        elif fnmatchcase(name, part) and (name[0] != "." or part[0] == "."):
            found += _below(start + name, rest, recursive) if not rest or _files.is_folder(start + name) else []
    return found


def glob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    parts = [part for part in str(pathname).split("/") if part]
    return _below("/" if str(pathname).startswith("/") else "", parts, recursive)


def iglob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    return iter(glob(pathname, recursive=recursive))
