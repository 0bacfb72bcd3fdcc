/* fusion/torch/decomposition.c -- torch.cat, chunk, arange: functions of lists, and
 * those that give tuples.
 */
#include "fusion/torch/decomposition.h"

#include <math.h>
#include <string.h>

#include "fusion/graph/graph.h"
#include "fusion/torch/convert.h"
#include "fusion/vm/placement.h"

/* ---- A call's arguments against the names of its parameters.
 *
 * For functions that are no rows of ops.def: the list of names is all that one takes,
 * and whatever else a call gives is refused by name. */

/* What a function that makes a tensor takes beside its own parameters: where the
 * tensor lies, and requires_grad, which is the host's affair. */
static bool names_placement(const char *name, const char *key, struct value v, struct err *err)
{
	static const char *const makers[] = { "torch.arange",       "torch.rand",
					      "torch.randn",        "torch.randint",
					      "torch._C.rand_like", "torch._C.randn_like" };

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (strcmp(makers[i], name) != 0)
			continue;
		if (strcmp(key, "requires_grad") == 0)
			return true;
		if (placement_is(key) && strcmp(key, "non_blocking") != 0)
			return placement_fits(name, key, v, err);
	}
	if (strcmp(key, "out") == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: out= is not in the language so far; assign the result", name);
	return err_set(err, ERR_TYPE, "%s has no parameter %s", name, key);
}

bool decompose_keywords(const char *name, const char *const *names, int n_names,
			const struct value *values, const struct keywords *kw, struct err *err)
{
	for (int k = 0; kw && k < kw->n; k++) {
		const char *key = kw->names[k].str->text;
		int i = 0;

		while (i < n_names && strcmp(names[i], key) != 0)
			i++;
		if (i == n_names && !names_placement(name, key, values[k], err))
			return false;
	}
	return true;
}

bool decompose_args(const char *name, const struct parameter_names *parameters,
		    const struct arguments *args, struct value *out, struct err *err)
{
	int n_kw = args->kw ? args->kw->n : 0, positional = args->n - n_kw;
	const char *const *names = parameters->at;
	int n_names = parameters->n;

	for (int i = 0; i < n_names; i++)
		out[i] = (struct value){ .kind = VALUE_UNSET };
	if (positional > n_names)
		return err_set(err, ERR_TYPE, "%s takes at most %d arguments, but %d are given",
			       name, n_names, positional);
	for (int i = 0; i < positional; i++)
		out[i] = args->at[i];
	for (int k = 0; k < n_kw; k++) {
		const char *key = args->kw->names[k].str->text;
		int i = 0;

		while (i < n_names && strcmp(names[i], key) != 0 &&
		       !(strcmp(names[i], "dim") == 0 && strcmp(key, "axis") == 0) &&
		       !(strcmp(names[i], "keepdim") == 0 && strcmp(key, "keepdims") == 0))
			i++;
		if (i == n_names) {
			if (!names_placement(name, key, args->at[positional + k], err))
				return false;
			continue;
		}
		if (out[i].kind != VALUE_UNSET)
			return err_set(err, ERR_TYPE, "%s: %s is given twice", name, key);
		out[i] = args->at[positional + k];
	}
	for (int i = 0; i < parameters->required; i++)
		if (out[i].kind == VALUE_UNSET)
			return err_set(err, ERR_TYPE, "%s: %s is missing", name, names[i]);
	return true;
}

bool decompose_sizes(const struct decomposer *c, struct value x, struct value *out,
		     enum dtype *dtype, struct err *err)
{
	struct value sizes[MAX_RANK];
	int rank;

	if (!c->type(c->self, x, &rank, dtype, err))
		return false;
	for (int d = 0; d < rank; d++)
		if (!c->size(c->self, x, d, &sizes[d], err))
			return false;
	*out = value_tuple(sizes, rank);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

enum { CAT_ARGS = 7, MAX_LIST = 4096 };

static bool is_list(struct value v)
{
	return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}

/* The tensors of torch.cat(tensors, dim). */
static bool check_list(const char *name, struct value list, struct err *err)
{
	if (!is_list(list))
		return err_set(err, ERR_TYPE, "%s takes a list of tensors, not %s", name,
			       value_type_name(list));
	if (list.list->len == 0)
		return err_set(err, ERR_OP, "%s of an empty list; at least one tensor is needed",
			       name);
	if (list.list->len > MAX_LIST)
		return err_set(err, ERR_BOUND, "%s of %d tensors; %d are the most", name,
			       list.list->len, MAX_LIST);
	for (int i = 0; i < list.list->len; i++)
		if (list.list->at[i].kind != VALUE_TENSOR)
			return err_set(err, ERR_TYPE, "%s takes tensors; item %d is %s", name, i,
				       value_type_name(list.list->at[i]));
	return true;
}

static void drop(struct value *values, int n)
{
	for (int i = 0; i < n; i++)
		value_unref(values[i]);
}

/* The items, which it takes out of the list, as one; seven at a time. */
static bool cat_items(const struct decomposer *c, struct list *list, struct value dim,
		      const char *name, struct value *out, struct err *err)
{
	struct value values[1 + CAT_ARGS] = { dim }, *items = list->at;
	int n = list->len;

	list->len = 0;
	while (n > 1 || (n == 1 && name)) {
		int made = 0;
		bool last = n <= CAT_ARGS;

		for (int at = 0; at < n; at += CAT_ARGS) {
			int count = n - at < CAT_ARGS ? n - at : CAT_ARGS;
			struct value joined;

			memcpy(values + 1, items + at, sizeof(*items) * (size_t)count);
			if (!c->run(c->self,
				    &(struct op_call){ OP_cat, last ? name : "fx:", false, values,
						       1 + count, NULL },
				    &joined, err)) {
				drop(items, made);
				drop(items + at, n - at);
				return false;
			}
			drop(items + at, count);
			items[made++] = joined;
		}
		n = made;
		if (last)
			break;
	}
	*out = items[0];
	return true;
}

/* Each item of fewer dims gets one more, `dim`. */
static bool unsqueeze_each(const struct decomposer *c, struct list *list, int below_rank,
			   struct value dim, struct err *err)
{
	struct value *items = list->at;

	for (int i = 0; i < list->len; i++) {
		struct value made;
		enum dtype dtype;
		int rank;

		if (!c->type(c->self, items[i], &rank, &dtype, err))
			return false;
		if (rank >= below_rank)
			continue;
		if (!c->run(c->self,
			    &(struct op_call){ OP_unsqueeze, "fx:", false,
					       (struct value[]){ items[i], dim }, 2, NULL },
			    &made, err))
			return false;
		value_unref(items[i]);
		items[i] = made;
	}
	return true;
}

static bool join(const struct decomposer *c, const struct native *f, const struct arguments *args,
		 struct value *out, struct err *err)
{
	static const char *const names[] = { "tensors", "dim" };
	struct value given[2], list, items;
	bool ok;
	int len, rank;
	enum dtype dtype;
	char name[64] = "fx:";

	if (!decompose_args(f->name, &(struct parameter_names){ names, 2, 1 }, args, given, err) ||
	    !check_list(f->name, given[0], err))
		return false;
	list = given[0];
	len = list.list->len;
	if (given[1].kind == VALUE_UNSET)
		given[1] = value_int(0);
	items = value_list(list.list->at, len);
	if (items.kind == VALUE_UNSET)
		return torch_no_memory(err);
	strncat(name, strrchr(f->name, '.') + 1, sizeof(name) - 4);
	ok = c->type(c->self, list.list->at[0], &rank, &dtype, err);
	if (ok && f->id == NATIVE_STACK)
		ok = unsqueeze_each(c, items.list, MAX_RANK + 1, given[1], err);
	if (ok && f->id == NATIVE_HSTACK) {
		given[1] = value_int(rank <= 1 ? 0 : 1);
		ok = unsqueeze_each(c, items.list, 1, value_int(0), err);
	}
	for (int below = 1; ok && f->id == NATIVE_VSTACK && below <= 2; below++)
		ok = unsqueeze_each(c, items.list, below, value_int(0), err);
	ok = ok && cat_items(c, items.list, given[1], name, out, err);
	value_unref(items);
	return ok;
}

/* Where a dim is cut: bounds[0] = 0 to bounds[n] = its size; INT or SYMINT. */
struct cuts {
	struct value of; /* the tensor */
	int dim;
	struct value bounds[MAX_LIST + 1];
	int n;
};

/* The names of tensor_split's two parameters: PyTorch has three ways to call the first. */
static const char *const *apart_by(const struct arguments *args, const char *const *usual)
{
	static const char *const by_name[][2] = { { "indices", "dim" }, { "sections", "dim" } };

	for (int k = 0; args->kw && k < args->kw->n; k++)
		for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++)
			if (strcmp(args->kw->names[k].str->text, by_name[i][0]) == 0)
				return by_name[i];
	return usual;
}

static bool split(const struct decomposer *c, const struct tensor_call *call, struct value *out,
		  struct err *err);

static bool add_cut(struct cuts *cuts, struct value at, struct err *err)
{
	if (cuts->n == MAX_LIST)
		return err_set(err, ERR_BOUND, "a tensor is split into over %d parts", MAX_LIST);
	cuts->bounds[++cuts->n] = at;
	return true;
}

/* Views between the cuts, as a tuple. */
static bool pieces(const struct decomposer *c, enum op whole_op, const struct cuts *cuts,
		   const char *name, struct value *out, struct err *err)
{
	struct value parts = value_sequence(VALUE_TUPLE, cuts->n), whole;

	if (parts.kind == VALUE_UNSET)
		return torch_no_memory(err);
	if (!c->run(c->self, &(struct op_call){ whole_op, name, false, &cuts->of, 1, NULL }, &whole,
		    err)) {
		value_unref(parts);
		return false;
	}
	for (int i = 0; i < cuts->n; i++) {
		struct value values[] = { whole, value_int(cuts->dim), cuts->bounds[i],
					  cuts->bounds[i + 1], value_int(1) };

		if (values[2].kind == VALUE_INT && values[3].kind == VALUE_INT &&
		    values[3].i < values[2].i) /* tensor_split may go back */
			values[3] = values[2];
		if (!c->run(c->self,
			    &(struct op_call){ OP_slice, "fx:getitem", false, values, 5, NULL },
			    &parts.list->at[i], err)) {
			value_unref(whole);
			value_unref(parts);
			return false;
		}
		parts.list->len++;
	}
	value_unref(whole);
	*out = parts;
	return true;
}

/* The dim of a call, and its size. */
static bool find_dim(const struct decomposer *c, struct value t, struct value v, int *dim,
		     struct value *size, struct err *err)
{
	enum dtype dtype;
	int64_t wanted = 0;
	int rank;

	if (v.kind != VALUE_UNSET && !decompose_number(c, v, "dim", &wanted, err))
		return false;
	return c->type(c->self, t, &rank, &dtype, err) && torch_wrap_dim(wanted, rank, dim, err) &&
	       c->size(c->self, t, *dim, size, err);
}

/* split([2, 3]): parts of these lengths. */
static bool cut_lengths(const struct decomposer *c, const struct list *lengths, struct value size,
			struct cuts *cuts, struct err *err)
{
	bool whole, negative;

	for (int i = 0; i < lengths->len; i++) {
		struct value next;

		if (lengths->at[i].kind != VALUE_INT && lengths->at[i].kind != VALUE_SYMINT)
			return err_set(err, ERR_TYPE, "split: a length must be an int, not %s",
				       value_type_name(lengths->at[i]));
		if (!decompose_compare(c, CMP_LT, lengths->at[i], value_int(0), &negative, err))
			return false;
		if (negative)
			return err_set(err, ERR_OP, "split: a length is negative");
		if (!decompose_add(c, cuts->bounds[i], lengths->at[i], &next, err) ||
		    !add_cut(cuts, next, err))
			return false;
	}
	if (!decompose_compare(c, CMP_EQ, cuts->bounds[cuts->n], size, &whole, err))
		return false;
	return whole ||
	       err_set(err, ERR_OP, "split: the lengths must sum up to the size of the dim");
}

/* (size + n - 1) // n */
static bool divide_up(const struct decomposer *c, struct value size, int64_t n, struct value *out,
		      struct err *err)
{
	if (size.kind == VALUE_INT) {
		*out = value_int(size.i ? (size.i + n - 1) / n : 1);
		return true;
	}
	return decompose_add(c, size, value_int(n - 1), &size, err) &&
	       c->host->binary(c->host->self,
			       &(struct binary){ BIN_FLOORDIV, false, size, value_int(n) }, out,
			       err);
}

/* Parts of one length, and what is left as the last one. */
static bool cut_by(const struct decomposer *c, struct value each, struct value size,
		   struct cuts *cuts, struct err *err)
{
	struct value next;
	bool more;

	do {
		if (!decompose_add(c, cuts->bounds[cuts->n], each, &next, err) ||
		    !decompose_compare(c, CMP_LT, next, size, &more, err) ||
		    !add_cut(cuts, more ? next : size, err))
			return false;
	} while (more);
	return true;
}

/* Of split() and chunk(). */
static bool cut_equal(const struct decomposer *c, struct value how, bool chunks, struct value size,
		      struct cuts *cuts, struct err *err)
{
	struct value each;
	int64_t n;
	bool more;

	if (!chunks && how.kind == VALUE_SYMINT) /* how many parts there are is guarded */
		return decompose_compare(c, CMP_LT, how, value_int(1), &more, err) &&
		       (more ? err_set(err, ERR_OP, "the split size must be positive")
			     : cut_by(c, how, size, cuts, err));
	if (!decompose_number(c, how, chunks ? "the number of chunks" : "the split size", &n, err))
		return false;
	if (n < 1)
		return err_set(err, ERR_OP, "%s must be positive, not %lld",
			       chunks ? "the number of chunks" : "the split size", (long long)n);
	each = value_int(n);
	if (chunks && !divide_up(c, size, n, &each, err))
		return false;
	return cut_by(c, each, size, cuts, err);
}

/* tensor_split: a number of parts that differ by one at most, or where to cut. */
static bool cut_apart(const struct decomposer *c, struct value how, struct value size,
		      struct cuts *cuts, struct err *err)
{
	int64_t n, parts, at = 0, next;

	if (!decompose_number(c, size, "size", &n, err))
		return false;
	if (!is_list(how)) {
		if (!decompose_number(c, how, "the number of parts", &parts, err))
			return false;
		if (parts < 1 || parts > MAX_LIST)
			return err_set(err, ERR_OP,
				       "tensor_split: %lld parts; 1 to %d are possible",
				       (long long)parts, MAX_LIST);
		for (int64_t i = 0; i < parts; i++) {
			at += n / parts + (i < n % parts);
			if (!add_cut(cuts, value_int(at), err))
				return false;
		}
		return true;
	}
	for (int i = 0; i < how.list->len; i++) {
		if (!decompose_number(c, how.list->at[i], "an index", &next, err))
			return false;
		next = next < 0 ? next + n : next;
		at = next < 0 ? 0 : next > n ? n : next;
		if (!add_cut(cuts, value_int(at), err))
			return false;
	}
	return add_cut(cuts, value_int(n), err);
}

static bool split(const struct decomposer *c, const struct tensor_call *call, struct value *out,
		  struct err *err)
{
	const struct native *f = call->f;
	static const char *const chunk[] = { "chunks", "dim" },
				 *const parts[] = { "split_size", "dim" },
				 *const listed[] = { "split_sizes", "dim" },
				 *const apart[] = { "indices_or_sections", "dim" };
	bool chunks = f->id == NATIVE_CHUNK, any = f->id == NATIVE_TENSOR_SPLIT;
	const char *const *names = chunks                     ? chunk
				   : any                      ? apart
				   : strstr(f->name, "sizes") ? listed
							      : parts;
	struct value given[2], size;
	struct cuts cuts;
	bool ok;

	cuts.of = call->t;
	cuts.n = 0;
	cuts.bounds[0] = value_int(0);
	if (any)
		names = apart_by(call->args, apart);
	if (!decompose_args(f->name, &(struct parameter_names){ names, 2, 1 }, call->args, given,
			    err) ||
	    !find_dim(c, call->t, given[1], &cuts.dim, &size, err))
		return false;
	if (any)
		ok = cut_apart(c, given[0], size, &cuts, err);
	else if (is_list(given[0]) && !chunks)
		ok = cut_lengths(c, given[0].list, size, &cuts, err);
	else
		ok = cut_equal(c, given[0], chunks, size, &cuts, err);
	/* tensor_split is several slices in PyTorch, too */
	return ok && pieces(c, any ? OP_alias : OP_parts, &cuts, call->name, out, err);
}

static bool unbind(const struct decomposer *c, const struct native *f, struct value t,
		   const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const names[] = { "dim" };
	struct value given[1], parts, whole, length;
	int64_t size;
	int dim;

	if (!decompose_args(f->name, &(struct parameter_names){ names, 1, 0 }, args, given, err) ||
	    !find_dim(c, t, given[0], &dim, &length, err) ||
	    !decompose_number(c, length, "size", &size, err))
		return false;
	if (size > MAX_LIST)
		return err_set(err, ERR_BOUND, "unbind: over %d parts", MAX_LIST);
	parts = value_sequence(VALUE_TUPLE, (int)size);
	if (parts.kind == VALUE_UNSET)
		return torch_no_memory(err);
	if (!c->run(c->self, &(struct op_call){ OP_parts, "fx:unbind", false, &t, 1, NULL }, &whole,
		    err)) {
		value_unref(parts);
		return false;
	}
	for (int i = 0; i < size; i++) {
		struct value values[] = { whole, value_int(dim), value_int(i) };

		if (!c->run(c->self,
			    &(struct op_call){ OP_select, "fx:getitem", false, values, 3, NULL },
			    &parts.list->at[i], err)) {
			value_unref(whole);
			value_unref(parts);
			return false;
		}
		parts.list->len++;
	}
	value_unref(whole);
	*out = parts;
	return true;
}

bool decompose_row(const struct decomposer *c, struct value t, struct value index,
		   struct value *out, struct err *err)
{
	struct value values[] = { t, value_int(0), index };
	bool ok;

	if (!c->run(c->self, &(struct op_call){ OP_parts, "fx:", false, &t, 1, NULL }, &values[0],
		    err))
		return false;
	ok = c->run(c->self, &(struct op_call){ OP_select, "fx:getitem", false, values, 3, NULL },
		    out, err);
	value_unref(values[0]);
	return ok;
}

static bool arange(const struct decomposer *c, const struct native *f, const struct arguments *args,
		   struct value *out, struct err *err);

/* The same where bounds are symbols: -((start - end) // step), none below 0. */
static bool count_symbols(const struct decomposer *c, struct value start, struct value end,
			  int64_t step, struct value *out, struct err *err)
{
	struct vm_host *host = c->host;
	struct value n;
	bool after;

	if (!decompose_compare(c, CMP_LT, step > 0 ? end : start, step > 0 ? start : end, &after,
			       err))
		return false;
	if (after)
		return err_set(err, ERR_OP,
			       "arange: the end lies on the other side of the start than the step "
			       "goes");
	return host->binary(host->self, &(struct binary){ BIN_SUB, false, start, end }, &n, err) &&
	       host->binary(host->self, &(struct binary){ BIN_FLOORDIV, false, n, value_int(step) },
			    &n, err) &&
	       host->binary(host->self, &(struct binary){ BIN_MUL, false, n, value_int(-1) }, out,
			    err);
}

/* How many steps lead from start to just before end. */
static bool count_steps(const struct decomposer *c, struct value start, struct value end,
			struct value step, struct value *out, struct err *err)
{
	double a = start.kind == VALUE_FLOAT ? start.f : 0, b = end.kind == VALUE_FLOAT ? end.f : 0;
	double by = step.kind == VALUE_FLOAT ? step.f : 0;
	int64_t i = 0, j = 0, k = 0, n;

	if (start.kind == VALUE_INT && start.i == 0 && step.kind == VALUE_INT && step.i == 1 &&
	    end.kind == VALUE_SYMINT) {
		*out = end;
		return true;
	}
	if (start.kind != VALUE_FLOAT && end.kind != VALUE_FLOAT && step.kind == VALUE_INT &&
	    step.i != 0 && (start.kind == VALUE_SYMINT || end.kind == VALUE_SYMINT))
		return count_symbols(c, start, end, step.i, out, err);
	if ((start.kind != VALUE_FLOAT && !decompose_number(c, start, "start", &i, err)) ||
	    (end.kind != VALUE_FLOAT && !decompose_number(c, end, "end", &j, err)) ||
	    (step.kind != VALUE_FLOAT && !decompose_number(c, step, "step", &k, err)))
		return false;
	if (start.kind != VALUE_FLOAT && end.kind != VALUE_FLOAT && step.kind != VALUE_FLOAT) {
		if (k == 0)
			return err_set(err, ERR_OP, "arange: the step is 0");
		n = k > 0 ? (j - i + k - 1) / k : (j - i + k + 1) / k;
		if (k > 0 ? j < i : j > i)
			n = -1;
	} else {
		a = start.kind == VALUE_FLOAT ? a : (double)i;
		b = end.kind == VALUE_FLOAT ? b : (double)j;
		by = step.kind == VALUE_FLOAT ? by : (double)k;
		if (by == 0)
			return err_set(err, ERR_OP, "arange: the step is 0");
		if (!(fabs((b - a) / by) < 0x1p40))
			return err_set(err, ERR_OP,
				       "arange: from %g to %g by %g are more than 2^31 elements", a,
				       b, by);
		n = by > 0 ? b < a : b > a ? -1 : 0;
		n = n ? -1 : (int64_t)ceil((b - a) / by);
	}
	if (n < 0)
		return err_set(err, ERR_OP,
			       "arange: the end lies on the other side of the start than the step "
			       "goes");
	*out = value_int(n);
	return true;
}

static bool arange(const struct decomposer *c, const struct native *f, const struct arguments *args,
		   struct value *out, struct err *err)
{
	static const char *const names[] = { "start", "end", "step", "dtype" };
	struct value given[4], length, dtype = { .kind = VALUE_DTYPE };
	bool floats = false;

	if (!decompose_args(f->name, &(struct parameter_names){ names, 4, 0 }, args, given, err))
		return false;
	if (given[1].kind == VALUE_UNSET) { /* arange(end) */
		given[1] = given[0];
		given[0] = value_int(0);
	}
	if (given[0].kind == VALUE_UNSET)
		given[0] = value_int(0);
	if (given[2].kind == VALUE_UNSET)
		given[2] = value_int(1);
	for (int i = 0; i < 3; i++) {
		if (given[i].kind == VALUE_BOOL)
			given[i] = value_int(given[i].b);
		floats |= given[i].kind == VALUE_FLOAT;
		if (given[i].kind != VALUE_FLOAT && given[i].kind != VALUE_INT &&
		    given[i].kind != VALUE_SYMINT)
			return err_set(err, ERR_TYPE, "torch.arange takes numbers, not %s",
				       value_type_name(given[i]));
	}
	if (!count_steps(c, given[0], given[1], given[2], &length, err))
		return false;
	dtype.dtype = floats ? *c->real : DTYPE_I64;
	if (given[3].kind != VALUE_UNSET && !convert_dtype(f->name, given[3], &dtype.dtype, err))
		return false;
	return c->run(c->self,
		      &(struct op_call){ OP_arange, "fx:arange", false,
					 (struct value[]){ given[0], given[2], length, dtype }, 4,
					 NULL },
		      out, err);
}

bool decompose_call(const struct decomposer *c, const struct native *f,
		    const struct arguments *args, struct value *out, struct err *err)
{
	struct value t = f->self;
	struct arguments rest;
	char name[64] = "fx:";

	if (f->id == NATIVE_ARANGE)
		return arange(c, f, args, out, err);
	if (f->id <= NATIVE_VSTACK)
		return join(c, f, args, out, err);
	if (t.kind != VALUE_TENSOR) { /* torch.split(x, ...) */
		if (args->n - (args->kw ? args->kw->n : 0) < 1 || args->at[0].kind != VALUE_TENSOR)
			return err_set(err, ERR_TYPE, "%s takes a tensor as its first argument",
				       f->name);
		t = args->at[0];
		rest = (struct arguments){ args->at + 1, args->n - 1, args->kw };
		args = &rest;
	}
	if (f->id == NATIVE_UNBIND)
		return unbind(c, f, t, args, out, err);
	strncat(name, strrchr(f->name, '.') + 1, sizeof(name) - 4);
	if (f->id >= NATIVE_INDEX_ADD)
		return decompose_index_op(c, &(struct tensor_call){ f, name, t, args }, out, err);
	return split(c, &(struct tensor_call){ f, name, t, args }, out, err);
}

/* x.is_sparse and its like: kinds of tensors that none is of; retains_grad where nothing is
 * recorded. */
static bool names_a_kind(const char *name)
{
	static const char *const names[] = { "is_sparse",   "is_sparse_csr", "is_quantized",
					     "is_mkldnn",   "is_meta",       "is_mps",
					     "is_xla",      "is_nested",     "is_xpu",
					     "retains_grad" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* As torch.device("cpu") is. */
static bool device_of(const char *name, struct value *out, struct err *err)
{
	*out = value_str(name, strlen(name));
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->str->is_device = true;
	return true;
}

/* x.itemsize, and x.nbytes, which is a symbol where a size is one. */
static bool bytes_of(const struct decomposer *c, struct value t, bool all, struct value *out,
		     struct err *err)
{
	struct vm_host *host = c->host;
	struct value size;
	enum dtype dtype;
	int rank;

	if (!c->type(c->self, t, &rank, &dtype, err))
		return false;
	*out = value_int((int64_t)dtype_bytes(dtype));
	for (int d = 0; all && d < rank; d++) {
		if (!c->size(c->self, t, d, &size, err))
			return false;
		if (size.kind == VALUE_INT && out->kind == VALUE_INT)
			*out = value_int(out->i * size.i);
		else if (!host->binary(host->self, &(struct binary){ BIN_MUL, false, size, *out },
				       out, err))
			return false;
	}
	return true;
}

bool decompose_attr(const struct decomposer *c, struct value t, const char *name, bool *known,
		    struct value *out, struct err *err)
{
	struct value dims[MAX_RANK], values[3] = { t };
	enum dtype dtype;
	int rank;
	bool ok;

	*known = true;
	if (strcmp(name, "requires_grad") == 0 || strcmp(name, "is_leaf") == 0 ||
	    names_a_kind(name)) {
		*out = value_bool(strcmp(name, "is_leaf") == 0);
		return true;
	}
	if (strcmp(name, "layout") == 0) {
		*out = value_str("torch.strided", strlen("torch.strided"));
		return out->kind != VALUE_UNSET || torch_no_memory(err);
	}
	if (strcmp(name, "is_cuda") == 0 || strcmp(name, "is_cpu") == 0) {
		*out = value_bool(random_on_gpu(c, t) == (strcmp(name, "is_cuda") == 0));
		return true;
	}
	if (strcmp(name, "grad") == 0 || strcmp(name, "grad_fn") == 0) {
		*out = value_none();
		return true;
	}
	if (strcmp(name, "itemsize") == 0 || strcmp(name, "nbytes") == 0)
		return bytes_of(c, t, *name == 'n', out, err);
	if (strcmp(name, "device") == 0)
		return device_of(random_on_gpu(c, t) ? "cuda:0" : "cpu", out, err);
	if (strcmp(name, "real") == 0) { /* no tensor is complex */
		*out = value_ref(t);
		return true;
	}
	if (strcmp(name, "data") == 0)
		return c->run(c->self,
			      &(struct op_call){ OP_detach, "fx:data", false, &t, 1, NULL }, out,
			      err);
	if (strcmp(name, "T") != 0 && strcmp(name, "mT") != 0 && strcmp(name, "H") != 0) {
		*known = false;
		return false;
	}
	if (!c->type(c->self, t, &rank, &dtype, err))
		return false;
	if (name[0] == 'm') {
		values[1] = value_int(-2);
		values[2] = value_int(-1);
		return c->run(
		    c->self,
		    &(struct op_call){ OP_transpose, "fx:getattr", false, values, 3, NULL }, out,
		    err);
	}
	for (int d = 0; d < rank; d++)
		dims[d] = value_int(rank - 1 - d);
	values[1] = value_tuple(dims, rank);
	if (values[1].kind == VALUE_UNSET)
		return torch_no_memory(err);
	ok = c->run(c->self, &(struct op_call){ OP_permute, "fx:getattr", false, values, 2, NULL },
		    out, err);
	value_unref(values[1]);
	return ok;
}
