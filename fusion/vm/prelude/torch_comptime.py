# torch._dynamo.comptime: what a program says to torch's compiler while it compiles.  Here it says
# nothing, as where PyTorch runs a program without compiling; a break of the graph is one.
import torch


class _Comptime:
    def __call__(self, fn, fallback_fn=None):
        return None

    def graph_break(self):
        return torch._dynamo.graph_break()

    def __getattr__(self, name):
        if name not in _SAID:
            raise AttributeError(f"'_Comptime' object has no attribute '{name}'")
        return _nothing


_SAID = (
    "assert_static",
    "breakpoint",
    "force_static",
    "print",
    "print_bt",
    "print_disas",
    "print_graph",
    "print_guards",
    "print_locals",
    "print_value_stack",
    "print_value_stack_and_return",
    "sleep",
)


def _nothing(*args, **kwargs):
    return None


comptime = _Comptime()
