# Of threading, what a program with one thread asks: locks that nobody else holds, and its own names.
import torch


class local:
    """What each thread has of its own."""


class _Lock:
    def __init__(self):
        self._held = 0

    @torch._C._skip
    def acquire(self, blocking=True, timeout=-1):
        if self._held and not self._again:
            if blocking and timeout < 0:
                raise RuntimeError("a lock that this thread holds is waited for: it would wait without end")
            return False
        self._held += 1
        return True

    @torch._C._skip
    def release(self):
        if not self._held:
            raise RuntimeError("cannot release un-acquired lock" if self._again else "release unlocked lock")
        self._held -= 1

    def __enter__(self):
        return self.acquire()

    def __exit__(self, kind, error, trace):
        self.release()


class Lock(_Lock):
    _again = False

    def locked(self):
        return self._held > 0


class RLock(_Lock):
    _again = True


class _MainThread:
    name = "MainThread"
    daemon = False
    ident = 1

    def is_alive(self):
        return True

    def getName(self):
        return self.name


_main = _MainThread()


def current_thread():
    return _main


def main_thread():
    return _main


def get_ident():
    return _main.ident


def active_count():
    return 1


def enumerate():
    return [_main]
