/* profiler/allclose/elements.c -- elements of a tensor as doubles, a run of them at a time. */
#include "profiler/allclose/elements.h"

#include "fusion/base/narrow.h"
#include "profiler/workload/bulk.h"

/* n elements from `from` on, `step` apart. */
static void read_row(enum dtype dtype, const void *from, int64_t at, int64_t step, int64_t n,
		     double *out)
{
	if (dtype == DTYPE_F32)
		for (int64_t i = 0; i < n; i++)
			out[i] = (double)((const float *)from)[at + i * step];
	else if (dtype == DTYPE_F64)
		for (int64_t i = 0; i < n; i++)
			out[i] = ((const double *)from)[at + i * step];
	else if (dtype == DTYPE_BF16)
		for (int64_t i = 0; i < n; i++)
			out[i] = (double)bfloat_to_float(((const uint16_t *)from)[at + i * step]);
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = dtype_get_double(dtype, from, at + i * step);
}

void elements_read(const struct tensor *t, int64_t first, int64_t n, double *out)
{
	const void *from = fusion_tensor_read(t);
	int64_t width = t->rank ? t->size[t->rank - 1] : 1;
	int64_t step = t->rank ? t->stride[t->rank - 1] : 1;

	if (tensor_contiguous(t)) {
		read_row(t->dtype, from, first, 1, n, out);
		return;
	}
	while (n > 0) {
		int64_t column = first % width, rest = first / width, at = column * step;
		int64_t part = width - column < n ? width - column : n;

		for (int d = t->rank - 2; d >= 0; d--) {
			at += rest % t->size[d] * t->stride[d];
			rest /= t->size[d];
		}
		read_row(t->dtype, from, at, step, part, out);
		out += part;
		first += part;
		n -= part;
	}
}

bool elements_same_bits(const struct tensor *a, const struct tensor *b, int threads)
{
	int64_t bytes = tensor_numel(a) * (int64_t)dtype_bytes(a->dtype);

	if (bytes == 0 || tensor_same_on_device(b, a))
		return true;
	return tensor_contiguous(a) && tensor_contiguous(b) &&
	       bulk_same(fusion_tensor_read(a), fusion_tensor_read(b), bytes, threads);
}
