# tqdm: what is gone through, without the bar.


class tqdm:
    def __init__(self, iterable=None, *args, total=None, **keywords):
        self.iterable = iterable
        self.total = total
        self.n = 0

    def __iter__(self):
        for item in self.iterable:
            yield item

    def __len__(self):
        return self.total if self.iterable is None else len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return False

    def update(self, n=1):
        self.n += n

    def set_description(self, desc=None, refresh=True):
        pass

    def set_postfix(self, *args, **keywords):
        pass

    def set_postfix_str(self, s="", refresh=True):
        pass

    def close(self):
        pass

    def write(text, *args, **keywords):
        print(text)


def trange(*args, **keywords):
    return tqdm(range(*args))
