/* fusion/torch/data_dependent.c -- functions whose answer depends on a tensor's values.
 *
 * They run on memory, for the eager host.  A mask or a key is read by
 * tensor_get_double() and tensor_get_int(), whatever its strides.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/tensor/tensor.h"
#include "fusion/torch/natives.h"

static bool is_float(const struct tensor *t)
{
	return dtype_category(t->dtype) == CATEGORY_FLOAT;
}

static bool holds(const struct tensor *t, int64_t i)
{
	return is_float(t) ? tensor_get_double(t, i) != 0 : tensor_get_int(t, i) != 0;
}

static struct tensor *ints(const struct torch_memory *m, int rank, const int64_t *size,
			   struct err *err)
{
	return tensor_create(m->allocator, DTYPE_I64, rank, size, err);
}

static bool give(struct tensor *t, struct value *out, struct err *err)
{
	if (!t)
		return false;
	*out = tensor_wrap(t);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

static int64_t count(const struct tensor *mask)
{
	int64_t numel = tensor_numel(mask), n = 0;

	for (int64_t i = 0; i < numel; i++)
		n += holds(mask, i);
	return n;
}

/* Element i of a row-major walk as indices. */
static void unravel(int rank, const int64_t *size, int64_t i, int64_t index[MAX_RANK])
{
	for (int d = rank - 1; d >= 0; d--) {
		/* Each is set. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
		index[d] = i % size[d];
		i /= size[d];
	}
}

/* For a host's composer.places: indices where a mask holds, a tuple of one int64
 * tensor for each dim. */
static bool data_dependent_places(const struct torch_memory *memory, const struct tensor *mask,
				  struct value *out, struct err *err)
{
	int rank = mask->rank ? mask->rank : 1;
	int64_t n = count(mask), numel = tensor_numel(mask), row = 0, index[MAX_RANK] = { 0 };
	struct value parts[MAX_RANK];
	int made = 0;
	bool ok = true;

	for (; ok && made < rank; made += ok)
		ok = give(ints(memory, 1, &n, err), &parts[made], err);
	for (int64_t i = 0; ok && i < numel; i++) {
		if (!holds(mask, i))
			continue;
		unravel(mask->rank, mask->size, i, index);
		for (int d = 0; d < rank; d++)
			((int64_t *)tensor_data(parts[d].tensor->memory))[row] = index[d];
		row++;
	}
	if (ok) {
		*out = value_tuple(parts, made);
		ok = out->kind != VALUE_UNSET || torch_no_memory(err);
	}
	for (int d = 0; d < made; d++)
		value_unref(parts[d]);
	return ok;
}

/* One row of indices for each element that is not 0. */
static bool nonzero(const struct torch_memory *memory, const struct tensor *mask, struct value *out,
		    struct err *err)
{
	int64_t size[2] = { count(mask), mask->rank }, numel = tensor_numel(mask);
	struct tensor *t = ints(memory, 2, size, err);
	int64_t *to = t ? tensor_data(t) : NULL, index[MAX_RANK];

	for (int64_t i = 0; t && i < numel; i++) {
		if (!holds(mask, i))
			continue;
		unravel(mask->rank, mask->size, i, index);
		memcpy(to, index, sizeof(*to) * (size_t)mask->rank);
		to += mask->rank;
	}
	return give(t, out, err);
}

/* The element at row-major position i, whatever the strides. */
static const char *element(const struct tensor *t, int64_t i)
{
	int64_t index[MAX_RANK], at = 0;

	unravel(t->rank, t->size, i, index);
	for (int d = 0; d < t->rank; d++)
		at += index[d] * t->stride[d];
	return (const char *)tensor_data(t) + at * (int64_t)dtype_bytes(t->dtype);
}

/* The size of two shapes together in dim d of `rank`; -1: they do not broadcast. */
static int64_t joint_size(const struct tensor *a, const struct tensor *b, int rank, int d)
{
	int64_t x = d >= rank - a->rank ? a->size[d - (rank - a->rank)] : 1;
	int64_t y = d >= rank - b->rank ? b->size[d - (rank - b->rank)] : 1;

	return x == y || y == 1 ? x : x == 1 ? y : -1;
}

/* In the sizes, row by row in one dim. */
static bool spread(const struct decomposer *c, struct value t, struct value sizes,
		   struct value *out, struct err *err)
{
	struct value wide;
	bool ok;

	if (!c->run(
		c->self,
		&(struct op_call){ OP_expand, "fx:", false, (struct value[]){ t, sizes }, 2, NULL },
		&wide, err))
		return false;
	ok = c->run(c->self,
		    &(struct op_call){ OP_reshape, "fx:", false,
				       (struct value[]){ wide, value_int(-1) }, 2, NULL },
		    out, err);
	value_unref(wide);
	return ok;
}

/* A tensor and a mask of it, both broadcast to these sizes. */
struct masked {
	struct value x, mask, sizes;
};

static bool select_spread(const struct decomposer *c, const char *name, const struct masked *m,
			  struct value *out, struct err *err)
{
	struct value values[3] = { { .kind = VALUE_UNSET }, value_int(0) }, flat, kept;
	bool ok;

	if (!spread(c, m->mask, m->sizes, &flat, err))
		return false;
	ok = c->places(c->self, flat, 1, &values[2], err);
	value_unref(flat);
	if (!ok)
		return false;
	ok = c->run(c->self, &(struct op_call){ OP_kept, "fx:", false, &m->x, 1, NULL }, &kept,
		    err);
	if (ok) {
		ok = spread(c, kept, m->sizes, &values[0], err);
		value_unref(kept);
	}
	ok = ok &&
	     c->run(c->self, &(struct op_call){ OP_index, name, false, values, 3, NULL }, out, err);
	value_unref(values[0]);
	value_unref(values[2]);
	return ok;
}

bool masked_select_call(const struct decomposer *c, const char *name, const struct arguments *args,
			struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "mask" };
	const struct tensor *x, *mask;
	struct value v[2], size[MAX_RANK], sizes;
	int rank;
	bool ok;

	if (!decompose_args(name, &(struct parameter_names){ names, 2, 2 }, args, v, err))
		return false;
	if (v[0].kind != VALUE_TENSOR || v[1].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes two tensors", name);
	if (!tensor_check_memory(v[0], err) || !tensor_check_memory(v[1], err))
		return false;
	x = v[0].tensor->memory;
	mask = v[1].tensor->memory;
	if (mask->dtype != DTYPE_BOOL)
		return err_set(err, ERR_DTYPE, "masked_select: the mask is %s, and must be bool",
			       dtype_name(mask->dtype));
	rank = x->rank > mask->rank ? x->rank : mask->rank;
	for (int d = 0; d < rank; d++) {
		size[d] = value_int(joint_size(x, mask, rank, d));
		if (size[d].i < 0)
			return err_set(err, ERR_SHAPE,
				       "masked_select: the mask does not broadcast to the tensor");
	}
	sizes = value_tuple(size, rank);
	if (sizes.kind == VALUE_UNSET)
		return torch_no_memory(err);
	ok = select_spread(c, name, &(struct masked){ v[0], v[1], sizes }, out, err);
	value_unref(sizes);
	return ok;
}

/* An element of unique(), and where it was. */
struct where_item {
	double f;
	int64_t i, at;
};

static int by_float(const void *a, const void *b)
{
	const struct where_item *x = a, *y = b;

	if (isnan(x->f) || isnan(y->f))
		return isnan(x->f) == isnan(y->f) ? (x->at > y->at) - (x->at < y->at)
						  : isnan(x->f) - isnan(y->f);
	return x->f != y->f ? (x->f > y->f) - (x->f < y->f) : (x->at > y->at) - (x->at < y->at);
}

static int by_int(const void *a, const void *b)
{
	const struct where_item *x = a, *y = b;

	return x->i != y->i ? (x->i > y->i) - (x->i < y->i) : (x->at > y->at) - (x->at < y->at);
}

/* Of elements, or along a dim: of slices, which have `outer` times `inner` elements each. */
struct unique {
	const struct tensor *x;
	struct where_item *items; /* along a dim their `i` is the group */
	int64_t n, n_groups, outer, inner;
	int dim; /* -1: of elements */
	struct tensor *values, *inverse, *counts;
};

static bool unique(const struct torch_memory *memory, const char *name, bool runs,
		   const struct arguments *args, struct value *out, struct err *err);

static int64_t place(const struct unique *u, int64_t outer, int64_t slice, int64_t inner)
{
	return (outer * u->n + slice) * u->inner + inner;
}

static int compare_slices(const struct unique *u, int64_t a, int64_t b)
{
	for (int64_t o = 0; o < u->outer; o++)
		for (int64_t k = 0; k < u->inner; k++) {
			struct where_item x = { .at = 0 }, y = x;
			int64_t i = place(u, o, a, k), j = place(u, o, b, k);
			int order;

			if (is_float(u->x)) {
				x.f = tensor_get_double(u->x, i);
				y.f = tensor_get_double(u->x, j);
			} else {
				x.i = tensor_get_int(u->x, i);
				y.i = tensor_get_int(u->x, j);
			}
			order = is_float(u->x) ? by_float(&x, &y) : by_int(&x, &y);
			if (order != 0)
				return order;
		}
	return 0;
}

static int by_slice(const void *a, const void *b, void *context)
{
	const struct where_item *x = a, *y = b;
	int order = compare_slices(context, x->at, y->at);

	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* The slices along a dim as items, sorted unless they are taken as they come. */
static void order_slices(struct unique *u, bool runs)
{
	for (int64_t i = 0; i < u->n; i++)
		u->items[i] = (struct where_item){ .at = i };
	if (!runs)
		qsort_r(u->items, (size_t)u->n, sizeof(*u->items), by_slice, u);
	for (int64_t i = 1; i < u->n; i++)
		u->items[i].i = u->items[i - 1].i +
				(compare_slices(u, u->items[i - 1].at, u->items[i].at) != 0);
}

static void order_elements(struct unique *u, bool runs)
{
	bool floats = is_float(u->x);

	for (int64_t i = 0; i < u->n; i++)
		u->items[i] = (struct where_item){ floats ? tensor_get_double(u->x, i) : 0,
						   floats ? 0 : tensor_get_int(u->x, i), i };
	if (!runs)
		qsort(u->items, (size_t)u->n, sizeof(*u->items), floats ? by_float : by_int);
}

static bool along(struct unique *u, const char *name, struct value dim, struct err *err)
{
	u->dim = -1;
	u->n = tensor_numel(u->x);
	u->outer = u->inner = 1;
	if (dim.kind != VALUE_INT)
		return true;
	if (dim.i < -u->x->rank || dim.i >= u->x->rank)
		return err_set(err, ERR_SHAPE, "%s: the tensor has no dim %lld", name,
			       (long long)dim.i);
	u->dim = (int)(dim.i < 0 ? dim.i + u->x->rank : dim.i);
	u->n = u->x->size[u->dim];
	for (int d = 0; d < u->x->rank; d++)
		*(d < u->dim ? &u->outer : &u->inner) *= d == u->dim ? 1 : u->x->size[d];
	return true;
}

static bool same(const struct unique *u, int64_t a, int64_t b)
{
	return u->dim < 0 && is_float(u->x) ? u->items[a].f == u->items[b].f
					    : u->items[a].i == u->items[b].i;
}

static void copy_slice(const struct unique *u, int64_t from, int64_t group)
{
	size_t bytes = dtype_bytes(u->x->dtype);

	for (int64_t o = 0; o < u->outer; o++)
		for (int64_t k = 0; k < u->inner; k++) {
			int64_t at = (o * u->n_groups + group) * u->inner + k;

			memcpy((char *)tensor_data(u->values) + (size_t)at * bytes,
			       element(u->x, place(u, o, from, k)), bytes);
		}
}

static bool fill_unique(const struct torch_memory *memory, struct unique *u, struct err *err)
{
	int64_t group = -1, *counts, *inverse, size[MAX_RANK];
	bool whole = u->dim < 0;

	u->n_groups = 0;
	for (int64_t k = 0; k < u->n; k++)
		u->n_groups += k == 0 || !same(u, k - 1, k);
	memcpy(size, u->x->size, sizeof(*size) * (size_t)u->x->rank);
	size[whole ? 0 : u->dim] = u->n_groups;
	u->values = tensor_create(memory->allocator, u->x->dtype, whole ? 1 : u->x->rank, size,
				  err);
	u->counts = u->values ? ints(memory, 1, &u->n_groups, err) : NULL;
	u->inverse = u->counts
			 ? ints(memory, whole ? u->x->rank : 1, whole ? u->x->size : &u->n, err)
			 : NULL;
	if (!u->inverse)
		return false;
	counts = tensor_data(u->counts);
	inverse = tensor_data(u->inverse);
	for (int64_t k = 0; k < u->n; k++) {
		if (k == 0 || !same(u, k - 1, k)) {
			counts[++group] = 0;
			copy_slice(u, u->items[k].at, group);
		}
		counts[group]++;
		inverse[u->items[k].at] = group;
	}
	return true;
}

/* unique(x, sorted, return_inverse, return_counts); of runs: without the sort. */
static bool unique(const struct torch_memory *memory, const char *name, bool runs,
		   const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "sorted", "return_inverse", "return_counts",
					     "dim" };
	static const char *const of_runs[] = { "input", "return_inverse", "return_counts", "dim" };
	struct value v[5], parts[3];
	struct unique u = { 0 };
	bool ok, inverse, counts;
	int made = 0;

	if (!decompose_args(name,
			    &(struct parameter_names){ runs ? of_runs : names, runs ? 4 : 5, 1 },
			    args, v, err))
		return false;
	inverse = v[runs ? 1 : 2].kind == VALUE_BOOL && v[runs ? 1 : 2].b;
	counts = v[runs ? 2 : 3].kind == VALUE_BOOL && v[runs ? 2 : 3].b;
	u.x = v[0].tensor->memory;
	if (!along(&u, name, v[runs ? 3 : 4], err))
		return false;
	u.items = malloc(sizeof(*u.items) * (size_t)(u.n + 1));
	if (!u.items)
		return torch_no_memory(err);
	(u.dim < 0 ? order_elements : order_slices)(&u, runs);
	ok = fill_unique(memory, &u, err);
	free(u.items);
	if (!ok || !inverse) {
		tensor_unref(u.inverse);
		u.inverse = NULL;
	}
	if (!ok || !counts) {
		tensor_unref(u.counts);
		u.counts = NULL;
	}
	if (!ok) {
		tensor_unref(u.values);
		return false;
	}
	if (!u.inverse && !u.counts)
		return give(u.values, out, err);
	for (int i = 0; i < 3; i++) {
		struct tensor *t = i == 0 ? u.values : i == 1 ? u.inverse : u.counts;

		if (t && ok)
			made += ok = give(t, &parts[made], err);
		else
			tensor_unref(t);
	}
	if (ok) {
		*out = value_tuple(parts, made);
		ok = out->kind != VALUE_UNSET || torch_no_memory(err);
	}
	for (int i = 0; i < made; i++)
		value_unref(parts[i]);
	return ok;
}

static void add_to(struct tensor *t, int64_t at, double v)
{
	if (t->dtype == DTYPE_F32)
		((float *)tensor_data(t))[at] += (float)v;
	else
		((double *)tensor_data(t))[at] += v;
}

static bool bincount(const struct torch_memory *memory, const char *name,
		     const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "weights", "minlength" };
	enum { MOST_BINS = 1 << 24 };
	const struct tensor *x, *weights = NULL;
	struct tensor *t;
	struct value v[3];
	int64_t size, numel;
	enum dtype dtype;

	if (!decompose_args(name, &(struct parameter_names){ names, 3, 1 }, args, v, err))
		return false;
	x = v[0].tensor->memory;
	if (v[1].kind == VALUE_TENSOR)
		weights = v[1].tensor->memory;
	numel = tensor_numel(x);
	size = v[2].kind == VALUE_INT && v[2].i > 0 ? v[2].i : 0;
	if (is_float(x) || x->rank != 1 || (weights && tensor_numel(weights) != numel))
		return err_set(err, ERR_TYPE,
			       "bincount takes one dim of ints, and as many weights if any");
	for (int64_t i = 0; i < numel; i++) {
		int64_t bin = tensor_get_int(x, i);

		if (bin < 0 || bin >= MOST_BINS)
			return err_set(err, ERR_OP,
				       "bincount takes ints that are not negative, to %d, and "
				       "%lld is one of these",
				       MOST_BINS - 1, (long long)bin);
		size = bin >= size ? bin + 1 : size;
	}
	dtype = !weights ? DTYPE_I64 : weights->dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64;
	t = tensor_create(memory->allocator, dtype, 1, &size, err);
	if (!t)
		return false;
	memset(tensor_data(t), 0, (size_t)size * dtype_bytes(dtype));
	for (int64_t i = 0; i < numel; i++)
		if (weights)
			add_to(t, tensor_get_int(x, i), tensor_get_double(weights, i));
		else
			((int64_t *)tensor_data(t))[tensor_get_int(x, i)]++;
	return give(t, out, err);
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank &&
	       memcmp(a->size, b->size, sizeof(a->size[0]) * (size_t)a->rank) == 0;
}

static bool is_equal(const struct tensor *a, const struct tensor *b)
{
	int64_t numel = tensor_numel(a);

	if (!same_shape(a, b))
		return false;
	for (int64_t i = 0; i < numel; i++)
		if (is_float(a) || is_float(b) ? tensor_get_double(a, i) != tensor_get_double(b, i)
					       : tensor_get_int(a, i) != tensor_get_int(b, i))
			return false;
	return true;
}

static double option(struct value v, double otherwise)
{
	return v.kind == VALUE_FLOAT ? v.f : v.kind == VALUE_INT ? (double)v.i : otherwise;
}

static bool allclose(const char *name, const struct arguments *args, struct value *out,
		     struct err *err)
{
	static const char *const names[] = { "input", "other", "rtol", "atol", "equal_nan" };
	const struct tensor *a, *b;
	struct value v[5];
	double rtol, atol;
	bool nan_too, close = true;

	if (!decompose_args(name, &(struct parameter_names){ names, 5, 2 }, args, v, err))
		return false;
	if (v[1].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes two tensors", name);
	a = v[0].tensor->memory;
	b = v[1].tensor->memory;
	rtol = option(v[2], 1e-5);
	atol = option(v[3], 1e-8);
	nan_too = v[4].kind == VALUE_BOOL && v[4].b;
	if (a->dtype != b->dtype)
		return err_set(err, ERR_DTYPE,
			       "%s: the tensors are %s and %s, and must have one dtype", name,
			       dtype_name(a->dtype), dtype_name(b->dtype));
	if (!same_shape(a, b) && tensor_numel(a) != 1 && tensor_numel(b) != 1)
		return err_set(err, ERR_SHAPE, "%s: the shapes differ; expand one first", name);
	int64_t na = tensor_numel(a), nb = tensor_numel(b), numel = na > nb ? na : nb;

	for (int64_t i = 0; close && i < numel; i++) {
		double x = tensor_get_double(a, na == 1 ? 0 : i);
		double y = tensor_get_double(b, nb == 1 ? 0 : i);

		close = x == y || fabs(x - y) <= atol + rtol * fabs(y) ||
			(nan_too && isnan(x) && isnan(y));
		if (isinf(y) && x != y)
			close = false;
	}
	*out = value_bool(close);
	return true;
}

/* Nested lists of numbers. */
static bool to_list(const struct tensor *t, int dim, int64_t first, struct value *out,
		    struct err *err)
{
	struct value list, item;
	int64_t inner = 1;

	if (dim == t->rank) {
		*out = is_float(t) ? value_float(tensor_get_double(t, first))
		       : dtype_category(t->dtype) == CATEGORY_INT
			   ? value_int(tensor_get_int(t, first))
			   : value_bool(tensor_get_int(t, first) != 0);
		return true;
	}
	for (int d = dim + 1; d < t->rank; d++)
		inner *= t->size[d];
	list = value_list(NULL, 0);
	if (list.kind == VALUE_UNSET)
		return torch_no_memory(err);
	for (int64_t i = 0; i < t->size[dim]; i++) {
		bool ok = to_list(t, dim + 1, first + i * inner, &item, err);

		if (ok) {
			ok = value_list_push(list.list, item) || torch_no_memory(err);
			value_unref(item);
		}
		if (!ok) {
			value_unref(list);
			return false;
		}
	}
	*out = list;
	return true;
}

static bool wants_tuple(const struct arguments *args)
{
	int positional = args->n - (args->kw ? args->kw->n : 0);

	for (int i = 0; args->kw && i < args->kw->n; i++)
		if (strcmp(args->kw->names[i].str->text, "as_tuple") == 0)
			return args->at[positional + i].kind == VALUE_BOOL &&
			       args->at[positional + i].b;
	return positional > 1 && args->at[1].kind == VALUE_BOOL && args->at[1].b;
}

bool data_dependent_call(const struct torch_memory *memory, int id, const char *name,
			 const struct arguments *args, struct value *out, struct err *err)
{
	const struct tensor *x;

	if (args->n < 1 || args->at[0].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes a tensor", name);
	for (int i = 0; i < args->n; i++)
		if (!tensor_check_memory(args->at[i], err))
			return false;
	x = args->at[0].tensor->memory;
	switch (id) {
	case OP_where:
		return data_dependent_places(memory, x, out, err);
	case MORE_NONZERO:
		return wants_tuple(args) ? data_dependent_places(memory, x, out, err)
					 : nonzero(memory, x, out, err);
	case MORE_ARGWHERE:
		return nonzero(memory, x, out, err);
	case MORE_UNIQUE:
	case MORE_UNIQUE_RUNS:
		return unique(memory, name, id == MORE_UNIQUE_RUNS, args, out, err);
	case MORE_BINCOUNT:
		return bincount(memory, name, args, out, err);
	case MORE_ALLCLOSE:
		return allclose(name, args, out, err);
	case MORE_TOLIST:
		return to_list(x, 0, 0, out, err);
	default:
		break;
	}
	if (args->n < 2 || args->at[1].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes two tensors", name);
	*out = value_bool(is_equal(x, args->at[1].tensor->memory));
	return true;
}
