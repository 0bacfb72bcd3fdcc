# torch.profiler and torch.autograd.profiler: this program profiles what runs, so that the profiler
# of the source records nothing of its own.


class ProfilerActivity:
    CPU = "CPU"
    CUDA = "CUDA"


class _Section:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return None

    def __call__(self, function):
        def run(*args, **keywords):
            with self:
                return function(*args, **keywords)

        return run


class record_function(_Section):
    def __init__(self, name, args=None):
        self.name = name


class profile(_Section):
    def __init__(self, *args, **keywords):
        pass

    def start(self):
        pass

    def stop(self):
        pass

    def step(self):
        pass


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    return lambda step: step
