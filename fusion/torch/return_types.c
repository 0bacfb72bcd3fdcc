/* fusion/torch/return_types.c -- calls that give several tensors, or are a few ops.
 *
 * A tuple is captured as PyTorch does: the op, then a getitem for each part.
 */
#include <string.h>

#include "fusion/torch/convert.h"
#include "fusion/torch/natives.h"

enum { MOST = MAX_ARGS + 1 };

static bool op(const struct decomposer *c, enum op id, const char *name,
	       const struct arguments *values, struct value *out, struct err *err)
{
	return c->run(c->self, &(struct op_call){ id, name, false, values->at, values->n, NULL },
		      out, err);
}

/* "fx:max" of "Tensor.max". */
static const char *fx_name(const char *name, char text[64])
{
	const char *dot = strrchr(name, '.');

	strcpy(text, "fx:");
	strncat(text, dot ? dot + 1 : name, 60);
	return text;
}

static bool pack(struct value first, struct value second, const char *const *fields,
		 const char *type, struct value *out, struct err *err)
{
	*out = value_tuple((struct value[]){ first, second }, 2);
	value_unref(first);
	value_unref(second);
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->list->fields = fields;
	out->list->type_name = type;
	return true;
}

static const char *const values_indices[] = { "values", "indices" };

/* The first of the parts that are unpacked: *whole as getitem. */
static bool first_part(const struct decomposer *c, struct value *whole, struct err *err)
{
	struct value part;
	bool ok = op(c, OP_item_of, "fx:getitem", &(struct arguments){ whole, 1, NULL }, &part,
		     err);

	value_unref(*whole);
	*whole = ok ? part : value_none();
	return ok;
}

/* Two ops on the same arguments, as (values, indices). */
struct two {
	enum op values, indices;
	const char *type; /* of the result */
};

static bool two_ops(const struct decomposer *c, const char *name, const struct two *two,
		    const struct arguments *args, struct value *out, struct err *err)
{
	struct value values, indices;
	char fx[64];

	if (!op(c, two->values, fx_name(name, fx), args, &values, err) ||
	    !first_part(c, &values, err))
		return false;
	if (!op(c, two->indices, "fx:getitem", args, &indices, err)) {
		value_unref(values);
		return false;
	}
	return pack(values, indices, values_indices, two->type, out, err);
}

/* max(x), max(x, y), max(x, dim, keepdim) */
static bool extreme(const struct decomposer *c, enum op id, const char *name,
		    const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "dim", "keepdim", "other" };
	bool is_max = id == OP_max;
	struct value v[4];
	char fx[64];

	if (!decompose_args(name, &(struct parameter_names){ names, 4, 1 }, args, v, err))
		return false;
	if (v[1].kind == VALUE_TENSOR)
		v[3] = v[1];
	if (v[3].kind == VALUE_TENSOR) {
		v[1] = v[3];
		return op(c, is_max ? OP_maximum : OP_minimum, fx_name(name, fx),
			  &(struct arguments){ v, 2, NULL }, out, err);
	}
	if (v[1].kind == VALUE_UNSET)
		return err_set(err, ERR_TYPE, "%s: dim is missing", name);
	if (v[2].kind == VALUE_UNSET)
		v[2] = value_bool(false);
	return two_ops(
	    c, name,
	    &(struct two){ is_max ? OP_max_dim : OP_min_dim, is_max ? OP_argmax : OP_argmin,
			   is_max ? "torch.return_types.max" : "torch.return_types.min" },
	    &(struct arguments){ v, 3, NULL }, out, err);
}

/* k <= x.size(dim) is a guard of a piece for other sizes, too; the op says what is wrong. */
static bool guard_fits(const struct decomposer *c, struct value x, struct value k, struct value dim,
		       struct err *err)
{
	struct value sizes;
	enum dtype dtype;
	bool ok = true, fits;
	int64_t d;

	if (!decompose_sizes(c, x, &sizes, &dtype, err))
		return false;
	if (dim.kind == VALUE_INT && (k.kind == VALUE_INT || k.kind == VALUE_SYMINT)) {
		d = dim.i < 0 ? dim.i + sizes.list->len : dim.i;
		if (d >= 0 && d < sizes.list->len)
			ok = decompose_compare(c, CMP_LE, k, sizes.list->at[d], &fits, err);
	}
	value_unref(sizes);
	return ok;
}

static bool topk(const struct decomposer *c, const char *name, const struct arguments *args,
		 struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "k", "dim", "largest", "sorted" };
	struct value v[5];

	if (!decompose_args(name, &(struct parameter_names){ names, 5, 2 }, args, v, err))
		return false;
	v[2] = v[2].kind == VALUE_UNSET ? value_int(-1) : v[2];
	v[3] = v[3].kind == VALUE_UNSET ? value_bool(true) : v[3];
	v[4] = v[4].kind == VALUE_UNSET ? value_bool(true) : v[4];
	if (!guard_fits(c, v[0], v[1], v[2], err))
		return false;
	return two_ops(c, name,
		       &(struct two){ OP_topk_values, OP_topk_indices, "torch.return_types.topk" },
		       &(struct arguments){ v, 5, NULL }, out, err);
}

static bool sort(const struct decomposer *c, const char *name, const struct arguments *args,
		 struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "dim", "descending", "stable" };
	struct value v[4];

	if (!decompose_args(name, &(struct parameter_names){ names, 4, 1 }, args, v, err))
		return false;
	v[1] = v[1].kind == VALUE_UNSET ? value_int(-1) : v[1];
	v[2] = v[2].kind == VALUE_UNSET ? value_bool(false) : v[2];
	v[3] = v[3].kind == VALUE_BOOL ? v[3] : value_bool(false);
	return two_ops(c, name,
		       &(struct two){ OP_sort_values, OP_argsort, "torch.return_types.sort" },
		       &(struct arguments){ v, 4, NULL }, out, err);
}

static bool running_extreme(const struct decomposer *c, bool is_max, const char *name,
			    const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "dim" };
	struct value v[2];

	if (!decompose_args(name, &(struct parameter_names){ names, 2, 2 }, args, v, err))
		return false;
	return two_ops(
	    c, name,
	    &(struct two){ is_max ? OP_cummax_values : OP_cummin_values,
			   is_max ? OP_cummax_indices : OP_cummin_indices,
			   is_max ? "torch.return_types.cummax" : "torch.return_types.cummin" },
	    &(struct arguments){ v, 2, NULL }, out, err);
}

static const char *const min_max[] = { "min", "max" };

/* aminmax() without a dim: of all elements, in as many dims of 1 where they are kept. */
static bool extremes_of_all(const struct decomposer *c, const char *fx, struct value x,
			    struct value keepdim, struct value *out, struct err *err)
{
	bool kept = keepdim.kind == VALUE_BOOL && keepdim.b, ok;
	struct value dims = value_tuple(NULL, 0), args[3] = { x, dims, keepdim }, a, b;
	int n = kept ? 3 : 1;

	if (dims.kind == VALUE_UNSET)
		return torch_no_memory(err);
	ok = op(c, kept ? OP_amin : OP_min, fx, &(struct arguments){ args, n, NULL }, &a, err) &&
	     first_part(c, &a, err);
	if (ok && !op(c, kept ? OP_amax : OP_max, "fx:getitem",
		      &(struct arguments){ args, n, NULL }, &b, err)) {
		value_unref(a);
		ok = false;
	}
	value_unref(dims);
	return ok && pack(a, b, min_max, "torch.return_types.aminmax", out, err);
}

/* amin and amax, var and mean: two reductions of the same arguments. */
static bool two_reductions(const struct decomposer *c, const enum op ops[2], const char *name,
			   const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "dim", "unbiased", "keepdim", "correction" };
	struct value v[5], a, b, values[5];
	bool statistic = ops[0] != OP_amin;
	int count = 0;
	char fx[64];

	if (!decompose_args(name, &(struct parameter_names){ names, 5, 1 }, args, v, err))
		return false;
	for (int i = 0; i < 5; i++)
		if (v[i].kind == VALUE_UNSET)
			v[i] = i == 3 ? value_bool(false) : value_none();
	if (!statistic && v[1].kind == VALUE_NONE)
		return extremes_of_all(c, fx_name(name, fx), v[0], v[3], out, err);
	values[count++] = v[0];
	values[count++] = v[1];
	if (statistic)
		values[count++] = v[2];
	values[count++] = v[3];
	if (statistic)
		values[count++] = v[4];
	if (!op(c, ops[0], fx_name(name, fx), &(struct arguments){ values, count, NULL }, &a,
		err) ||
	    !first_part(c, &a, err))
		return false;
	if (!op(c, ops[1], "fx:getitem",
		&(struct arguments){ (struct value[]){ v[0], v[1], v[3] }, 3, NULL }, &b, err)) {
		value_unref(a);
		return false;
	}
	return pack(a, b, statistic ? NULL : min_max,
		    statistic ? NULL : "torch.return_types.aminmax", out, err);
}

/* (kind, values, indices) as torch.return_types.kind; our prelude calls it. */
static bool pair_of(const char *name, const struct value *args, int n, struct value *out,
		    struct err *err)
{
	static const char *const types[] = {
		"torch.return_types.median", "torch.return_types.nanmedian",
		"torch.return_types.kthvalue", "torch.return_types.mode", "torch.return_types.frexp"
	};
	static const char *const parts[] = { "mantissa", "exponent" };

	for (size_t i = 0; n == 3 && i < sizeof(types) / sizeof(types[0]); i++)
		if (args[0].kind == VALUE_STR &&
		    strcmp(strrchr(types[i], '.') + 1, args[0].str->text) == 0)
			return pack(value_ref(args[1]), value_ref(args[2]),
				    i == 4 ? parts : values_indices, types[i], out, err);
	return err_set(err, ERR_TYPE, "%s takes a kind and two tensors", name);
}

/* running = running + momentum * (value - running), in place; in the value's dtype where the
 * statistics are as narrow as the input, whose dtype `narrow` is. */
static bool move_towards(const struct decomposer *c, struct value running, struct value value,
			 struct value momentum, enum dtype narrow, struct err *err)
{
	struct value to[2] = { running, { .kind = VALUE_DTYPE, .dtype = dtype_wide(narrow) } };
	struct value same = value_none(), moved = value_none(), wide = value_none();
	enum dtype dtype;
	bool ok;
	int rank;

	if (!c->type(c->self, running, &rank, &dtype, err))
		return false;
	if (dtype != narrow || dtype_wide(narrow) == narrow) {
		ok = c->run(c->self,
			    &(struct op_call){ OP_lerp, "fx:", true,
					       (struct value[]){ running, value, momentum }, 3,
					       NULL },
			    &same, err);
	} else {
		ok = op(c, OP_to, "fx:", &(struct arguments){ to, 2, NULL }, &wide, err) &&
		     op(c, OP_lerp, "fx:",
			&(struct arguments){ (struct value[]){ wide, value, momentum }, 3, NULL },
			&moved, err) &&
		     c->run(c->self,
			    &(struct op_call){ OP_fill, "fx:", true,
					       (struct value[]){ running, moved }, 2, NULL },
			    &same, err);
	}
	value_unref(wide);
	value_unref(moved);
	value_unref(same);
	return ok;
}

/* What running statistics are taken of: float32, however narrow the input is. */
static bool detached_wide(const struct decomposer *c, struct value v, enum dtype dtype,
			  struct value *out, struct err *err)
{
	struct value to[2] = { v, { .kind = VALUE_DTYPE, .dtype = dtype_wide(dtype) } };
	bool ok;

	if (!op(c, OP_detach, "fx:", &(struct arguments){ &v, 1, NULL }, out, err) ||
	    dtype_wide(dtype) == dtype)
		return out->kind == VALUE_TENSOR;
	to[0] = *out;
	*out = value_none();
	ok = op(c, OP_to, "fx:", &(struct arguments){ to, 2, NULL }, out, err);
	value_unref(to[0]);
	return ok;
}

/* Fails where running statistics require a gradient. */
static bool check_statistics(const struct decomposer *c, struct value *statistics, struct err *err)
{
	struct value same;

	if (statistics[0].kind != VALUE_TENSOR || statistics[1].kind != VALUE_TENSOR)
		return true;
	if (!op(c, OP_native_batch_norm, "fx:", &(struct arguments){ statistics, 2, NULL }, &same,
		err))
		return false;
	value_unref(same);
	return true;
}

/* With training=True the running statistics are written. */
static bool batch_norm(const struct decomposer *c, const char *name, const struct arguments *args,
		       struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "running_mean", "running_var", "weight",
					     "bias",  "training",     "momentum",    "eps" };
	struct value v[8], used[8], dims[MAX_RANK], over, statistic, x;
	int rank, n_dims = 0;
	enum dtype dtype;
	char fx[64];
	bool ok, training;

	if (!decompose_args(name, &(struct parameter_names){ names, 8, 3 }, args, v, err))
		return false;
	for (int i = 1; i < 8; i++)
		if (v[i].kind == VALUE_UNSET)
			v[i] = i == 5   ? value_bool(false)
			       : i == 6 ? value_float(0.1)
			       : i == 7 ? value_float(1e-5)
					: value_none();
	training = v[5].kind == VALUE_BOOL && v[5].b;
	memcpy(used, v, sizeof(used));
	if (training) /* the batch's own: a gradient must not keep what is written below */
		used[1] = used[2] = value_none();
	if (!check_statistics(c, v + 1, err) || !op(c, OP_batch_norm, fx_name(name, fx),
						    &(struct arguments){ used, 8, NULL }, out, err))
		return false;
	if (!training || v[1].kind != VALUE_TENSOR || v[2].kind != VALUE_TENSOR)
		return true;
	ok = c->type(c->self, v[0], &rank, &dtype, err);
	for (int d = 0; ok && d < rank; d++)
		if (d != 1)
			dims[n_dims++] = value_int(d);
	over = value_tuple(dims, n_dims);
	x = value_none();
	ok = ok && detached_wide(c, v[0], dtype, &x, err);
	for (int i = 0; ok && i < 2; i++) {
		ok = op(c, i ? OP_var : OP_mean,
			"fx:", &(struct arguments){ (struct value[]){ x, over }, 2, NULL },
			&statistic, err);
		if (!ok)
			break;
		ok = move_towards(c, v[1 + i], statistic, v[6], dtype, err);
		value_unref(statistic);
	}
	value_unref(x);
	value_unref(over);
	if (!ok)
		value_unref(*out);
	return ok;
}

/* The same of parts that are views: nothing is copied. */
static bool first_view(const struct decomposer *c, struct value *whole, struct err *err)
{
	struct value part;
	bool ok = op(c, OP_alias, "fx:getitem", &(struct arguments){ whole, 1, NULL }, &part, err);

	value_unref(*whole);
	*whole = ok ? part : value_none();
	return ok;
}

/* broadcast_tensors(x, y, ...): each expanded to what all broadcast to. */
static bool broadcast(const struct decomposer *c, const struct value *args, int n,
		      struct value *out, struct err *err)
{
	struct value all[MOST], sizes = value_none(), sum;
	enum dtype dtype;
	bool ok = n > 0;
	int made = 0;

	if (!ok)
		return err_set(err, ERR_TYPE, "torch.broadcast_tensors takes tensors");
	sum = value_ref(args[0]);
	for (int i = 1; ok && i < n; i++) {
		struct value next;

		ok = op(c, OP_add,
			"fx:", &(struct arguments){ (struct value[]){ sum, args[i] }, 2, NULL },
			&next, err);
		if (ok) {
			value_unref(sum);
			sum = next;
		}
	}
	ok = ok && decompose_sizes(c, sum, &sizes, &dtype, err);
	for (; ok && made < n; made += ok)
		ok = op(c, OP_expand, made ? "fx:getitem" : "fx:broadcast_tensors",
			&(struct arguments){ (struct value[]){ args[made], sizes }, 2, NULL },
			&all[made], err) &&
		     (made > 0 || first_view(c, &all[0], err));
	if (ok) {
		*out = value_tuple(all, made);
		ok = out->kind != VALUE_UNSET || torch_no_memory(err);
	}
	for (int i = 0; i < made; i++)
		value_unref(all[i]);
	value_unref(sum);
	value_unref(sizes);
	return ok;
}

bool return_types_call(const struct decomposer *c, int id, const char *name,
		       const struct arguments *args, struct value *out, struct err *err)
{
	char fx[64];

	if (convert_knows(id))
		return convert_call(c, id, name, args, out, err);
	switch (id) {
	case OP_max:
	case OP_min:
		return extreme(c, (enum op)id, name, args, out, err);
	case OP_topk_values:
		return topk(c, name, args, out, err);
	case OP_sort_values:
		return sort(c, name, args, out, err);
	case OP_cummax_values:
		return running_extreme(c, true, name, args, out, err);
	case OP_cummin_values:
		return running_extreme(c, false, name, args, out, err);
	case OP_batch_norm:
		return batch_norm(c, name, args, out, err);
	case MORE_PAIR:
		return pair_of(name, args->at, args->n, out, err);
	case MORE_AMINMAX:
		return two_reductions(c, (const enum op[]){ OP_amin, OP_amax }, name, args, out,
				      err);
	case MORE_VAR_MEAN:
		return two_reductions(c, (const enum op[]){ OP_var, OP_mean }, name, args, out,
				      err);
	case MORE_STD_MEAN:
		return two_reductions(c, (const enum op[]){ OP_std, OP_mean }, name, args, out,
				      err);
	case MORE_RAND:
	case MORE_RANDN:
	case MORE_RANDINT:
		return random_call(c, id, name, args, out, err);
	case MORE_RAND_LIKE:
	case MORE_RANDN_LIKE:
		return random_call(c, id, name, args, out, err);
	case MORE_BROADCAST:
		return decompose_keywords(name, NULL, 0,
					  args->at + args->n - (args->kw ? args->kw->n : 0),
					  args->kw, err) &&
		       broadcast(c, args->at, args->n, out, err);
	case MORE_PAD:
	case MORE_INTERPOLATE:
	case MORE_PIXEL_SHUFFLE:
	case MORE_PIXEL_UNSHUFFLE:
		return interpolate_call(c, id, fx_name(name, fx), args, out, err);
	default:
		return err_set(err, ERR_UNSUPPORTED, "%s is not in the language so far", name);
	}
}
