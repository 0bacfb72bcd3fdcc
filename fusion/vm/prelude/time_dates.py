# What the module time has of dates: see the module datetime.
import datetime as _datetime
import time as _time


class struct_time:
    def __init__(self, parts):
        self._parts = tuple(parts)
        self.tm_year, self.tm_mon, self.tm_mday, self.tm_hour, self.tm_min, self.tm_sec = self._parts

    def __iter__(self):
        return iter(self._parts)

    def __getitem__(self, index):
        return self._parts[index]


def localtime(secs=None):
    at = _datetime.datetime.fromtimestamp(int(_time.time() if secs is None else secs))
    return struct_time(at._parts()[:6])


gmtime = localtime


def strftime(format, t=None):
    parts = list(localtime() if t is None else t)[:6]
    return _datetime.datetime(*parts).strftime(format)


def ctime(secs=None):
    return strftime("%c", localtime(secs))


def asctime(t=None):
    return strftime("%c", t)
