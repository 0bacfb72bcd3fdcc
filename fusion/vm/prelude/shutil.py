# The module shutil, for files of the run.
import os

import _files

copyfile = copy = copy2 = _files.copy
move = _files.move


def rmtree(path, ignore_errors=False, onerror=None):
    if not ignore_errors or _files.is_folder(path):
        _files.remove_folder(path, True)


def copytree(src, dst, dirs_exist_ok=False):
    start = _files.normal(src)
    _files.make_folder(dst, True, dirs_exist_ok)
    files, folders = _files.below(start)
    for each in folders:
        _files.make_folder(os.path.join(dst, each[len(start) + 1:]), True, True)
    for each in files:
        _files.copy(each, os.path.join(dst, each[len(start) + 1:]))
    return dst


def which(cmd):
    return None
