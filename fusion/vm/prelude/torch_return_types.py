# torch.return_types: what calls that give several tensors return; each is made of one sequence.
import collections


def _kind(name, fields):
    class Kind(collections.namedtuple(name, fields)):
        def __new__(cls, sequence):
            if not hasattr(sequence, "__iter__"):
                raise TypeError("constructor requires a sequence")
            parts, wanted = list(sequence), len(cls._fields)
            if len(parts) != wanted:
                raise TypeError(f"torch.return_types.{name}() takes a {wanted}-sequence ({len(parts)}-sequence given)")
            return super().__new__(cls, *parts)

        def __repr__(self):
            parts = ",\n".join([f"{field}={part!r}" for field, part in zip(fields.split(), self)])
            return f"torch.return_types.{name}(\n{parts})"

    Kind.__name__ = name
    Kind._of_one_sequence = True
    return Kind


aminmax = _kind("aminmax", "min max")
cummax = _kind("cummax", "values indices")
cummin = _kind("cummin", "values indices")
frexp = _kind("frexp", "mantissa exponent")
geqrf = _kind("geqrf", "a tau")
histogram = _kind("histogram", "hist bin_edges")
kthvalue = _kind("kthvalue", "values indices")
linalg_cholesky_ex = _kind("linalg_cholesky_ex", "L info")
linalg_eig = _kind("linalg_eig", "eigenvalues eigenvectors")
linalg_eigh = _kind("linalg_eigh", "eigenvalues eigenvectors")
linalg_inv_ex = _kind("linalg_inv_ex", "inverse info")
linalg_lu = _kind("linalg_lu", "P L U")
linalg_lu_factor = _kind("linalg_lu_factor", "LU pivots")
linalg_qr = _kind("linalg_qr", "Q R")
linalg_slogdet = _kind("linalg_slogdet", "sign logabsdet")
linalg_solve_ex = _kind("linalg_solve_ex", "result info")
linalg_svd = _kind("linalg_svd", "U S Vh")
lu_unpack = _kind("lu_unpack", "P L U")
max = _kind("max", "values indices")
median = _kind("median", "values indices")
min = _kind("min", "values indices")
mode = _kind("mode", "values indices")
nanmedian = _kind("nanmedian", "values indices")
qr = _kind("qr", "Q R")
slogdet = _kind("slogdet", "sign logabsdet")
sort = _kind("sort", "values indices")
svd = _kind("svd", "U S V")
topk = _kind("topk", "values indices")
triangular_solve = _kind("triangular_solve", "solution cloned_coefficient")
