/* fusion/torch/index_ops.c -- index_add, diag, rot90 and others: few ops each.
 *
 * The last op of a call bears its name.  A name that ends in _ writes the result
 * into the tensor.
 */
#include "fusion/torch/decomposition.h"

#include <string.h>

#include "fusion/graph/graph.h"

struct index_call {
	const struct decomposer *c;
	const char *name; /* "fx:index_add" */
	struct value t;   /* borrowed */
	int rank;
	bool inplace;
	struct err *err;
};

static bool run(const struct index_call *k, enum op op, const struct value *values, int n,
		struct value *out)
{
	return k->c->run(k->c->self, &(struct op_call){ op, "fx:", false, values, n, NULL }, out,
			 k->err);
}

static bool run_last(const struct index_call *k, enum op op, const struct value *values, int n,
		     struct value *out)
{
	return k->c->run(k->c->self, &(struct op_call){ op, k->name, false, values, n, NULL }, out,
			 k->err);
}

/* *at through one more op; the old value goes. */
static bool step(const struct index_call *k, enum op op, struct value *at, const struct value *more,
		 int n_more)
{
	struct value values[4] = { *at }, made;
	bool ok;

	memcpy(values + 1, more, sizeof(*more) * (size_t)n_more);
	ok = run(k, op, values, 1 + n_more, &made);
	value_unref(*at);
	*at = ok ? made : value_none();
	return ok;
}

static bool dim_of(const struct index_call *k, struct value v, int otherwise, int *dim)
{
	int64_t wanted = otherwise;

	if (v.kind != VALUE_UNSET && !decompose_number(k->c, v, "dim", &wanted, k->err))
		return false;
	return torch_wrap_dim(wanted, k->rank, dim, k->err);
}

/* A vector of indices along `dim`, in the shape of `like`. */
static bool spread_index(const struct index_call *k, struct value index, int dim, struct value like,
			 struct value *out)
{
	int rank;
	enum dtype dtype;

	if (!k->c->type(k->c->self, index, &rank, &dtype, k->err))
		return false;
	*out = value_ref(index);
	for (int d = 0; d < k->rank; d++) /* an index without a dim is one of one item */
		if ((d != dim || rank == 0) &&
		    !step(k, OP_unsqueeze, out, (struct value[]){ value_int(d) }, 1))
			return false;
	return step(k, OP_expand_as, out, &like, 1);
}

/* What an in-place spelling does with its result. */
static bool deliver(const struct index_call *k, struct value made, struct value *out)
{
	bool ok;

	if (!k->inplace) {
		*out = made;
		return true;
	}
	ok = k->c->run(
	    k->c->self,
	    &(struct op_call){ OP_fill, k->name, true, (struct value[]){ k->t, made }, 2, NULL },
	    out, k->err);
	value_unref(made);
	return ok;
}

static bool equal_sizes(const struct index_call *k, struct value a, int dim_a, struct value b,
			int dim_b, bool *out)
{
	struct value x, y;

	return k->c->size(k->c->self, a, dim_a, &x, k->err) &&
	       k->c->size(k->c->self, b, dim_b, &y, k->err) &&
	       decompose_compare(k->c, CMP_EQ, x, y, out, k->err);
}

/* The source has one slice for each index, each as large as the tensor's. */
static bool check_slices(const struct index_call *k, bool add, int dim, struct value index,
			 struct value source)
{
	const char *name = k->name + strlen("fx:");
	int rank, index_rank;
	enum dtype dtype;
	struct value n;
	bool same;

	if (!k->c->type(k->c->self, source, &rank, &dtype, k->err) ||
	    !k->c->type(k->c->self, index, &index_rank, &dtype, k->err))
		return false;
	if (index_rank > 1)
		return err_set(k->err, ERR_INDEX, "%s: the index has %d dims; it takes 1 or none",
			       name, index_rank);
	if (rank != k->rank)
		return err_set(k->err, add || rank == 0 ? ERR_SHAPE : ERR_INDEX,
			       "%s: the source has %d dims and the tensor %d; both must have as "
			       "many",
			       name, rank, k->rank);
	for (int d = 0; d < rank; d++) {
		if (d == dim)
			continue;
		if (!equal_sizes(k, k->t, d, source, d, &same))
			return false;
		if (!same)
			return err_set(k->err, ERR_SHAPE,
				       "%s: dim %d of the source and of the tensor differ in size; "
				       "all but dim %d must be equal",
				       name, d, dim);
	}
	if (index_rank == 1 ? !equal_sizes(k, index, 0, source, dim, &same)
			    : !k->c->size(k->c->self, source, dim, &n, k->err) ||
				  !decompose_compare(k->c, CMP_EQ, n, value_int(1), &same, k->err))
		return false;
	return same || err_set(k->err, add ? ERR_SHAPE : ERR_INDEX,
			       "%s: the source must have as many slices in dim %d as there are "
			       "indices",
			       name, dim);
}

/* index_add and index_copy: scatter with the index in the shape of the source. */
static bool index_scatter(const struct index_call *k, bool add, const struct value *given,
			  struct value *out)
{
	struct value index, source, made, values[4];
	const char *name = k->name;
	int dim;
	bool ok;

	if (!dim_of(k, given[0], 0, &dim) || !check_slices(k, add, dim, given[1], given[2]) ||
	    !spread_index(k, given[1], dim, given[2], &index))
		return false;
	if (!run(k, OP_kept, &given[2], 1, &source)) {
		value_unref(index);
		return false;
	}
	if (add && given[3].kind != VALUE_UNSET && !step(k, OP_mul, &source, &given[3], 1)) {
		value_unref(index);
		return false;
	}
	memcpy(values, (struct value[]){ k->t, value_int(dim), index, source }, sizeof(values));
	ok = k->c->run(k->c->self,
		       &(struct op_call){ add ? OP_scatter_add : OP_scatter,
					  k->inplace ? "fx:" : name, false, values, 4, NULL },
		       &made, k->err);
	value_unref(index);
	value_unref(source);
	return ok && deliver(k, made, out);
}

static bool index_fill(const struct index_call *k, const struct value *given, struct value *out)
{
	struct value part, made, values[4];
	int dim;
	bool ok;

	if (!dim_of(k, given[0], 0, &dim) ||
	    !run(k, OP_index, (struct value[]){ k->t, value_int(dim), given[1] }, 3, &part) ||
	    !step(k, OP_fill, &part, &given[2], 1))
		return false;
	memcpy(values, (struct value[]){ k->t, value_int(dim), part, given[1] }, sizeof(values));
	ok = k->c->run(
	    k->c->self,
	    &(struct op_call){ OP_index_put, k->inplace ? "fx:" : k->name, false, values, 4, NULL },
	    &made, k->err);
	value_unref(part);
	return ok && deliver(k, made, out);
}

/* A vector on the diagonal of zeros. */
static bool make_diagonal(const struct index_call *k, int64_t offset, struct value *out)
{
	struct value n, sizes[2], shape, matrix, line, done;
	int64_t more = offset < 0 ? -offset : offset;
	bool ok;

	if (!k->c->size(k->c->self, k->t, 0, &n, k->err) ||
	    !decompose_add(k->c, n, value_int(more), &n, k->err))
		return false;
	sizes[0] = sizes[1] = n;
	shape = value_tuple(sizes, 2);
	if (shape.kind == VALUE_UNSET)
		return torch_no_memory(k->err);
	ok = run(k, OP_new_zeros, (struct value[]){ k->t, shape }, 2, &matrix);
	value_unref(shape);
	if (!ok)
		return false;
	ok = run(k, OP_diagonal, (struct value[]){ matrix, value_int(offset) }, 2, &line);
	if (ok) {
		ok = k->c->run(k->c->self,
			       &(struct op_call){ OP_fill, k->name, true,
						  (struct value[]){ line, k->t }, 2, NULL },
			       &done, k->err);
		value_unref(line);
		if (ok)
			value_unref(done);
	}
	if (ok)
		*out = matrix;
	else
		value_unref(matrix);
	return ok;
}

static bool diag(const struct index_call *k, const struct value *given, struct value *out)
{
	int64_t offset = 0;
	struct value line;
	bool ok;

	if (given[0].kind != VALUE_UNSET &&
	    !decompose_number(k->c, given[0], "diagonal", &offset, k->err))
		return false;
	if (k->rank == 1)
		return make_diagonal(k, offset, out);
	if (k->rank != 2)
		return err_set(k->err, ERR_SHAPE, "diag: a tensor of %d dims; it takes 1 or 2",
			       k->rank);
	if (!run(k, OP_diagonal, (struct value[]){ k->t, value_int(offset) }, 2, &line))
		return false;
	ok = run_last(k, OP_clone, &line, 1, out);
	value_unref(line);
	return ok;
}

static bool rot90(const struct index_call *k, const struct value *given, struct value *out)
{
	int64_t times = 1, dims[2] = { 0, 1 };
	struct value at = value_ref(k->t), turned;
	bool ok = true;

	if (given[0].kind != VALUE_UNSET && !decompose_number(k->c, given[0], "k", &times, k->err))
		ok = false;
	for (int i = 0; ok && given[1].kind != VALUE_UNSET && i < 2; i++)
		ok = (given[1].kind == VALUE_LIST || given[1].kind == VALUE_TUPLE) &&
		     given[1].list->len == 2 &&
		     decompose_number(k->c, given[1].list->at[i], "a dim", &dims[i], k->err);
	times = ((times % 4) + 4) % 4;
	if (ok && times == 3)
		ok = step(k, OP_flip, &at, (struct value[]){ value_int(dims[0]) }, 1);
	if (ok && times % 2)
		ok = step(k, OP_transpose, &at,
			  (struct value[]){ value_int(dims[0]), value_int(dims[1]) }, 2);
	if (ok && times == 2)
		ok = step(k, OP_flip, &at, (struct value[]){ value_int(dims[1]) }, 1);
	if (ok && (times == 1 || times == 2))
		ok = step(k, OP_flip, &at, (struct value[]){ value_int(dims[0]) }, 1);
	if (ok) {
		ok = run_last(k, OP_clone, &at, 1, &turned);
		if (ok)
			*out = turned;
	}
	value_unref(at);
	return ok || (k->err && k->err->code) ||
	       err_set(k->err, ERR_TYPE, "rot90: dims must be two ints");
}

static const struct {
	int id;
	const char *const names[4];
	int n, required;
} rows[] = {
	{ NATIVE_INDEX_ADD, { "dim", "index", "source", "alpha" }, 4, 3 },
	{ NATIVE_INDEX_COPY, { "dim", "index", "source" }, 3, 3 },
	{ NATIVE_INDEX_FILL, { "dim", "index", "value" }, 3, 3 },
	{ NATIVE_DIAG, { "diagonal" }, 1, 0 },
	{ NATIVE_ROT90, { "k", "dims" }, 2, 0 },
};

static bool dispatch(const struct index_call *k, int id, const struct value *given,
		     struct value *out)
{
	switch (id) {
	case NATIVE_INDEX_ADD:
	case NATIVE_INDEX_COPY:
		return index_scatter(k, id == NATIVE_INDEX_ADD, given, out);
	case NATIVE_INDEX_FILL:
		return index_fill(k, given, out);
	case NATIVE_DIAG:
		return diag(k, given, out);
	default:
		return rot90(k, given, out);
	}
}

/* Tensors where the names of parameters say so. */
static bool check_tensors(const struct index_call *k, const char *const *names, int n,
			  const struct value *given)
{
	for (int i = 0; i < n; i++)
		if ((strcmp(names[i], "index") == 0 || strcmp(names[i], "indices") == 0 ||
		     strcmp(names[i], "source") == 0) &&
		    given[i].kind != VALUE_TENSOR)
			return err_set(k->err, ERR_TYPE, "%s: %s must be a tensor, not %s",
				       k->name + strlen("fx:"), names[i],
				       value_type_name(given[i]));
	return true;
}

bool decompose_index_op(const struct decomposer *c, const struct tensor_call *call,
			struct value *out, struct err *err)
{
	struct index_call k = { .c = c, .name = call->name, .t = call->t, .err = err };
	struct value given[4];
	enum dtype dtype;
	size_t i = 0;

	while (rows[i].id != call->f->id)
		i++;
	k.inplace = call->name[strlen(call->name) - 1] == '_';
	return decompose_args(
		   call->f->name,
		   &(struct parameter_names){ rows[i].names, rows[i].n, rows[i].required },
		   call->args, given, err) &&
	       c->type(c->self, call->t, &k.rank, &dtype, err) &&
	       check_tensors(&k, rows[i].names, rows[i].n, given) &&
	       dispatch(&k, call->f->id, given, out);
}
