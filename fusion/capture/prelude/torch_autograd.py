# torch.autograd, beside what the host has.


def Variable(data, requires_grad=False, volatile=False):
    return data.requires_grad_() if requires_grad else data


def set_detect_anomaly(mode, check_nan=True):
    pass


class Function:
    """Such a class may be defined; what its backward() says is not known to the tape."""

    @classmethod
    def apply(cls, *args):
        raise NotImplementedError(
            f"torch.autograd.Function is not in the language: call the ops of {cls.__name__}.forward "
            "in a plain function, whose gradient follows from them"
        )
