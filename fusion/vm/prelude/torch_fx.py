# torch.fx: what files say to its tracer, which nothing here is.


def wrap(fn_or_name):
    return fn_or_name
