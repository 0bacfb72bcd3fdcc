# The module datetime.  A run knows no date: its clock begins at
# 1970-01-01 and moves on by a microsecond with each reading.
import time as _time

_DAY = 86400
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _lengths(year):
    return (31, 29 if _leap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _days_before(year):
    """From 1970-01-01 to the year's first day."""
    past = year - 1
    return past * 365 + past // 4 - past // 100 + past // 400 - 719162


def _days(year, month, day):
    return _days_before(year) + sum(_lengths(year)[: month - 1]) + day - 1


def _date_of(days):
    year = 1970 + days // 366
    while _days_before(year + 1) <= days:
        year += 1
    rest = days - _days_before(year)
    for month, length in enumerate(_lengths(year)):
        if rest < length:
            return year, month + 1, rest + 1
        rest -= length


def _format(form, year, month, day, hour, minute, second, micro):
    days = _days(year, month, day)
    weekday = (days + 3) % 7
    texts = {
        "Y": f"{year:04d}", "m": f"{month:02d}", "d": f"{day:02d}", "H": f"{hour:02d}",
        "M": f"{minute:02d}", "S": f"{second:02d}", "f": f"{micro:06d}", "y": f"{year % 100:02d}",
        "b": _MONTHS[month - 1][:3], "B": _MONTHS[month - 1], "a": _DAYS[weekday][:3],
        "A": _DAYS[weekday], "j": f"{days - _days_before(year) + 1:03d}", "I": f"{(hour + 11) % 12 + 1:02d}",
        "p": "AM" if hour < 12 else "PM", "w": str((weekday + 1) % 7), "Z": "", "z": "", "%": "%",
        "D": f"{month:02d}/{day:02d}/{year % 100:02d}", "F": f"{year:04d}-{month:02d}-{day:02d}",
        "T": f"{hour:02d}:{minute:02d}:{second:02d}", "X": f"{hour:02d}:{minute:02d}:{second:02d}",
        "x": f"{month:02d}/{day:02d}/{year % 100:02d}",
        "c": f"{_DAYS[weekday][:3]} {_MONTHS[month - 1][:3]} {day:2d} {hour:02d}:{minute:02d}:{second:02d} {year}",
    }
    made, at = "", 0
    while at < len(form):
        if form[at] == "%" and at + 1 < len(form):
            at += 1
            made += texts.get(form[at], "%" + form[at])
        else:
            made += form[at]
        at += 1
    return made


class _Ordered:
    """By microseconds."""

    def __lt__(self, other):
        return self._micro() < other._micro()

    def __le__(self, other):
        return self._micro() <= other._micro()

    def __gt__(self, other):
        return self._micro() > other._micro()

    def __ge__(self, other):
        return self._micro() >= other._micro()


class timedelta(_Ordered):
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        whole = (days + weeks * 7) * _DAY + hours * 3600 + minutes * 60 + seconds
        micro = round(whole * 1000000 + milliseconds * 1000 + microseconds)
        self.days, rest = divmod(micro, _DAY * 1000000)
        self.seconds, self.microseconds = divmod(rest, 1000000)

    def _micro(self):
        return (self.days * _DAY + self.seconds) * 1000000 + self.microseconds

    def total_seconds(self):
        return self._micro() / 1000000

    def __add__(self, other):
        return timedelta(microseconds=self._micro() + other._micro()) if isinstance(other, timedelta) else NotImplemented

    def __sub__(self, other):
        return timedelta(microseconds=self._micro() - other._micro())

    def __neg__(self):
        return timedelta(microseconds=-self._micro())

    def __mul__(self, n):
        return timedelta(microseconds=self._micro() * n)

    __rmul__ = __mul__

    def __truediv__(self, by):
        if isinstance(by, timedelta):
            return self._micro() / by._micro()
        return timedelta(microseconds=self._micro() / by)

    def __eq__(self, other):
        return isinstance(other, timedelta) and self._micro() == other._micro()

    def __hash__(self):
        return hash(self._micro())

    def __bool__(self):
        return self._micro() != 0

    def __str__(self):
        hours, rest = divmod(self.seconds, 3600)
        text = f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
        if self.microseconds:
            text += f".{self.microseconds:06d}"
        return f"{self.days} day{'' if abs(self.days) == 1 else 's'}, {text}" if self.days else text

    def __repr__(self):
        parts = [(n, getattr(self, n)) for n in ("days", "seconds", "microseconds")]
        shown = ", ".join([f"{n}={v}" for n, v in parts if v])
        return f"datetime.timedelta({shown or 0})"


class date(_Ordered):
    def __init__(self, year, month, day):
        self.year, self.month, self.day = year, month, day

    @classmethod
    def today(cls):
        return date(*_date_of(int(_time.time()) // _DAY))

    def _parts(self):
        return self.year, self.month, self.day, 0, 0, 0, 0

    def _micro(self):
        year, month, day, hour, minute, second, micro = self._parts()
        return ((_days(year, month, day) * 24 + hour) * 60 + minute) * 60000000 + second * 1000000 + micro

    @classmethod
    def _of(cls, micro):
        days, rest = divmod(micro, _DAY * 1000000)
        if cls is date:
            return date(*_date_of(days))
        seconds, micro = divmod(rest, 1000000)
        return cls(*_date_of(days), seconds // 3600, seconds // 60 % 60, seconds % 60, micro)

    def strftime(self, form):
        return _format(form, *self._parts())

    __format__ = strftime

    def isoformat(self):
        return self.strftime("%Y-%m-%d")

    def weekday(self):
        return (_days(self.year, self.month, self.day) + 3) % 7

    def __add__(self, delta):
        return type(self)._of(self._micro() + delta._micro())

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return type(self)._of(self._micro() - other._micro())
        return timedelta(microseconds=self._micro() - other._micro())

    def __eq__(self, other):
        return type(other) is type(self) and self._parts() == other._parts()

    def __hash__(self):
        return hash(self._parts())

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return f"datetime.date({self.year}, {self.month}, {self.day})"


class datetime(date):
    def __init__(self, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None):
        super().__init__(year, month, day)
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.tzinfo = tzinfo

    @classmethod
    def fromtimestamp(cls, timestamp, tz=None):
        made = datetime._of(round(timestamp * 1000000))
        made.tzinfo = tz
        return made

    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(_time.time(), tz)

    @classmethod
    def today(cls):
        return datetime.now()

    @classmethod
    def utcnow(cls):
        return datetime.now()

    def _parts(self):
        return self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond

    def timestamp(self):
        return self._micro() / 1000000

    def date(self):
        return date(self.year, self.month, self.day)

    def replace(self, **changes):
        names = ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo")
        return datetime(**{n: changes.get(n, getattr(self, n)) for n in names})

    def isoformat(self, sep="T"):
        text = self.strftime("%Y-%m-%d" + sep + "%H:%M:%S")
        return text + f".{self.microsecond:06d}" if self.microsecond else text

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        parts = list(self._parts())
        while len(parts) > 5 and parts[-1] == 0:
            parts.pop()
        return f"datetime.datetime({', '.join([str(p) for p in parts])})"


class timezone:
    def __init__(self, offset, name=None):
        self._offset, self._name = offset, name

    def __repr__(self):
        return self._name or f"datetime.timezone({self._offset!r})"


timezone.utc = timezone(timedelta(0), "UTC")
