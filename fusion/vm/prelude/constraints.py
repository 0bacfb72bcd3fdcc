# torch.distributions.constraints: which values a parameter or a result may have.
import torch


class Constraint:
    is_discrete = False
    event_dim = 0

    def check(self, value):
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    def __init__(self, *, is_discrete=False, event_dim=0):
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, *, is_discrete=False, event_dim=0):
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    return isinstance(constraint, _Dependent)


def dependent_property(fn=None, *, is_discrete=False, event_dim=0):
    """The property; what it says beforehand of its values is that of what it gives."""
    if fn is not None:
        return property(fn)
    return lambda fn: property(fn)


class _IndependentConstraint(Constraint):
    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if result.dim() < n:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape(result.shape[: result.dim() - n] + (-1,)).all(-1)


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Bounded(Constraint):
    """What lies above `lower`, or from it on, and below `upper`, or up to it."""

    _with_lower = _with_upper = True

    def __init__(self, lower_bound=None, upper_bound=None):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        found = value == value
        if self.is_discrete:
            found = value % 1 == 0
        if self.lower_bound is not None:
            found = found & (value >= self.lower_bound if self._with_lower else value > self.lower_bound)
        if self.upper_bound is not None:
            found = found & (value <= self.upper_bound if self._with_upper else value < self.upper_bound)
        return found

    def __repr__(self):
        bounds = [("lower_bound", self.lower_bound), ("upper_bound", self.upper_bound)]
        return type(self).__name__[1:] + "(" + ", ".join([f"{n}={v}" for n, v in bounds if v is not None]) + ")"


class _IntegerInterval(_Bounded):
    is_discrete = True


class _IntegerGreaterThan(_Bounded):
    is_discrete = True


class _Interval(_Bounded):
    pass


class _HalfOpenInterval(_Bounded):
    _with_upper = False


class _GreaterThan(_Bounded):
    _with_lower = False


class _GreaterThanEq(_Bounded):
    pass


class _LessThan(_Bounded):
    _with_upper = False

    def __init__(self, upper_bound):
        super().__init__(None, upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value):
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        return torch.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool)


class _Symmetric(_Square):
    def check(self, value):
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return torch.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value):
        right = super().check(value)
        if not right.all():
            return right
        return torch.linalg.cholesky_ex(value).info.eq(0)


dependent = _Dependent()
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
square = _Square()
symmetric = _Symmetric()
positive_definite = _PositiveDefinite()
