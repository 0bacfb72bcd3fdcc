/* fusion/torch/bind_literal.c -- torch.tensor(numbers): nested lists to elements.
 *
 * The dtype is PyTorch's choice: bool where all are bools, int64 where all are
 * ints (or bools), else the default float32.
 */
#include <string.h>

#include "fusion/vm/placement.h"
#include "fusion/torch/bind.h"
#include "fusion/torch/convert.h"

enum { MAX_LITERAL = 1 << 20 }; /* elements; a literal is typed in, or comes with a request */

static bool is_sequence(struct value v)
{
	return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}

/* The shape that the first items give; fill() checks that all others agree. */
static bool literal_shape(struct value v, int *rank, int64_t size[MAX_RANK], struct err *err)
{
	int64_t numel = 1;

	*rank = 0;
	while (is_sequence(v)) {
		if (*rank == MAX_RANK)
			return err_set(err, ERR_BOUND,
				       "torch.tensor: the lists are nested deeper than %d",
				       MAX_RANK);
		size[*rank] = v.list->len;
		numel *= v.list->len;
		if (numel > MAX_LITERAL)
			return err_set(err, ERR_BOUND,
				       "torch.tensor: over %d elements; pass them as an argument",
				       MAX_LITERAL);
		(*rank)++;
		if (v.list->len == 0)
			return true;
		v = v.list->at[0];
	}
	return true;
}

static bool widen(struct value v, int depth, int rank, enum dtype *dtype, struct err *err)
{
	enum dtype own;

	if (is_sequence(v) && depth < rank) {
		for (int i = 0; i < v.list->len; i++)
			if (!widen(v.list->at[i], depth + 1, rank, dtype, err))
				return false;
		return true;
	}
	switch (v.kind) {
	case VALUE_BOOL:
		own = DTYPE_BOOL;
		break;
	case VALUE_INT:
		own = DTYPE_I64;
		break;
	case VALUE_FLOAT:
		own = DTYPE_F32;
		break;
	default:
		return err_set(err, ERR_TYPE,
			       "torch.tensor takes numbers and (nested) lists of numbers of equal "
			       "length, not %s",
			       value_type_name(v));
	}
	if (own > *dtype)
		*dtype = own;
	return true;
}

static bool fill(struct value v, int depth, int rank, const int64_t *size, enum dtype dtype,
		 char **at, struct err *err)
{
	double f;
	int64_t i;

	if (depth < rank) {
		if (!is_sequence(v) || v.list->len != size[depth])
			return err_set(err, ERR_VALUE,
				       "torch.tensor: the lists at depth %d differ in length; "
				       "give every one the same count",
				       depth + 1);
		for (int k = 0; k < v.list->len; k++)
			if (!fill(v.list->at[k], depth + 1, rank, size, dtype, at, err))
				return false;
		return true;
	}
	f = v.kind == VALUE_FLOAT ? v.f : v.kind == VALUE_INT ? (double)v.i : (double)v.b;
	if (v.kind == VALUE_FLOAT)
		i = v.f >= -0x1p63 && v.f < 0x1p63 ? (int64_t)v.f : INT64_MIN;
	else
		i = v.kind == VALUE_INT ? v.i : v.b;
	if (dtype_category(dtype) == CATEGORY_FLOAT && v.kind == VALUE_FLOAT)
		dtype_put_double(dtype, *at, 0, f);
	else if (dtype == DTYPE_BOOL)
		dtype_put_double(dtype, *at, 0, f);
	else
		dtype_put_int(dtype, *at, 0, i);
	*at += dtype_bytes(dtype);
	return true;
}

bool bind_literal(struct arena *arena, struct value data, enum dtype *dtype, int *rank,
		  int64_t size[MAX_RANK], void **elements, struct err *err)
{
	enum dtype found = DTYPE_BOOL;
	int64_t numel = 1;
	char *at;

	if (!literal_shape(data, rank, size, err) || !widen(data, 0, *rank, &found, err))
		return false;
	for (int d = 0; d < *rank; d++)
		numel *= size[d];
	if (*dtype == DTYPE_COUNT)
		*dtype = numel == 0 ? DTYPE_F32 : found;
	at = arena_alloc(arena, (size_t)numel * dtype_bytes(*dtype) + 1);
	if (!at)
		return err_set(err, ERR_MEMORY, "out of memory for torch.tensor");
	*elements = at;
	return fill(data, 0, *rank, size, *dtype, &at, err);
}

bool bind_tensor_call(const struct value *values, int n, const struct keywords *kw,
		      struct value *data, enum dtype *dtype, struct err *err)
{
	int n_kw = kw ? kw->n : 0;
	struct value type = value_none();
	bool have = n - n_kw > 0;

	if (n - n_kw > 1)
		return err_set(err, ERR_TYPE,
			       "torch.tensor takes (data, *, dtype): %d positional arguments do "
			       "not fit",
			       n - n_kw);
	if (have)
		*data = values[0];
	for (int k = 0; k < n_kw; k++) {
		const char *key = kw->names[k].str->text;

		if (strcmp(key, "dtype") == 0) {
			type = values[n - n_kw + k];
		} else if (strcmp(key, "data") == 0 && !have) {
			*data = values[n - n_kw + k];
			have = true;
		} else if (strcmp(key, "device") == 0 || strcmp(key, "pin_memory") == 0) {
			if (!placement_fits("torch.tensor", key, values[n - n_kw + k], err))
				return false;
		} else if (strcmp(key, "requires_grad") != 0) { /* the host's affair */
			return err_set(
			    err, ERR_TYPE,
			    "torch.tensor has no parameter %s; it takes data, dtype, device "
			    "and requires_grad",
			    key);
		}
	}
	if (!have)
		return err_set(err, ERR_TYPE,
			       "torch.tensor takes (data, *, dtype): data is missing");
	*dtype = DTYPE_COUNT;
	return convert_dtype("torch.tensor", type, dtype, err);
}
