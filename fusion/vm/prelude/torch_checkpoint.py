# torch.utils.checkpoint: values are the same with and without it.
import contextlib
import enum

from torch._higher_order_ops.wrap import wrap


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=None,
    determinism_check="default",
    debug=False,
    preserve_rng_state=True,
    **keywords,
):
    return wrap(function, *args, **keywords)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, preserve_rng_state=True):
    for function in functions:
        input = function(input)
    return input


class CheckpointPolicy(enum.Enum):
    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    return noop_context_fn()
