# The module statistics.
import math


class StatisticsError(ValueError):
    pass


def _items(data, least, what):
    items = list(data)
    if len(items) < least:
        wanted = "at least one data point" if least == 1 else "at least two data points"
        raise StatisticsError(f"{what} requires {wanted}")
    return items


def _plain(x, items):
    """A whole number where all of the data are."""
    return int(x) if x == int(x) and all([isinstance(item, int) for item in items]) else x


def mean(data):
    items = _items(data, 1, "mean")
    return _plain(math.fsum(items) / len(items), items)


def fmean(data):
    items = _items(data, 1, "fmean")
    return math.fsum(items) / len(items)


def median(data):
    items = sorted(_items(data, 1, "median"))
    half = len(items) // 2
    return items[half] if len(items) % 2 else (items[half - 1] + items[half]) / 2


def mode(data):
    items = _items(data, 1, "mode")
    return max(items, key=items.count)


def _squares(items, center):
    center = math.fsum(items) / len(items) if center is None else center
    return math.fsum([(x - center) ** 2 for x in items])


def variance(data, xbar=None):
    items = _items(data, 2, "variance")
    return _plain(_squares(items, xbar) / (len(items) - 1), items)


def pvariance(data, mu=None):
    items = _items(data, 1, "pvariance")
    return _plain(_squares(items, mu) / len(items), items)


def stdev(data, xbar=None):
    return math.sqrt(variance(data, xbar))


def pstdev(data, mu=None):
    return math.sqrt(pvariance(data, mu))
