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
    def __init__(
        self,
        enabled=True,
        *,
        activities=None,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        execution_trace_observer=None,
        acc_events=False,
        custom_trace_id_callback=None,
        use_cuda=False,
        use_device=None,
        use_kineto=False,
        use_cpu=True,
    ):
        pass

    def key_averages(self, *args, **keywords):
        raise RuntimeError("the profiler of the source records nothing: the run's own timeline has what ran")

    def events(self):
        return self.key_averages()

    def export_chrome_trace(self, path):
        return self.key_averages()

    def start(self):
        pass

    def stop(self):
        pass

    def step(self):
        pass


class ProfilerAction:
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    length = wait + warmup + active

    def action(step):
        place = step - skip_first
        if place < 0 or (repeat > 0 and place >= repeat * length):
            return ProfilerAction.NONE
        place = place % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action
