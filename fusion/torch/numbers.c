/* fusion/torch/numbers.c -- tensors where a function takes numbers.
 *
 * As PyTorch reads them: a size is a tensor of ints with one element, by its __index__;
 * any other number is a tensor without dims, an int one of ints.
 */
#include "fusion/torch/numbers.h"

#include <string.h>

#include "fusion/torch/bind.h"
#include "fusion/torch/natives.h"

/* No function that takes numbers has more arguments, but for sizes one by one. */
enum { MOST = MAX_ARGS + MAX_RANK };

/* Functions that are no rows of ops.def; most read their ints by decompose_number(). */
static enum param_kind of_native(const struct native *f, int position)
{
	switch (f->id) {
	case NATIVE_SIZE:
	case NATIVE_STRIDE:
		return position == 0 ? PARAM_TENSOR : PARAM_INT;
	case NATIVE_ARANGE:
		return PARAM_SCALAR;
	case MORE_RAND:
	case MORE_RANDN:
	case MORE_RANDINT:
		return PARAM_INTS;
	case NATIVE_CAT:
	case NATIVE_STACK:
		return position == 1 ? PARAM_INT : PARAM_TENSOR;
	case NATIVE_SPLIT:
	case MORE_PAD:
		return position == 1 ? PARAM_INTS : PARAM_TENSOR;
	default:
		return PARAM_TENSOR;
	}
}

/* The parameter of an argument: by `key`, else by its position, self counted. */
static enum param_kind kind_of(const struct native *f, int position, const char *key)
{
	enum op op = (enum op)(f->id >= NATIVE_INPLACE ? f->id - NATIVE_INPLACE : f->id);
	const struct op_info *info;

	if (key && strcmp(key, "out") == 0)
		return PARAM_TENSOR;
	if (op >= OP_COUNT)
		return of_native(f, key ? 1 : position);
	if (op == OP_custom || op == OP_tensor)
		return PARAM_TENSOR;
	info = op_info(op);
	if (key)
		position = bind_parameter(info, key);
	if (position < 0 || info->n_params == 0)
		return PARAM_TENSOR;
	if (position < info->n_params && !info->params[position].keyword_only)
		return info->params[position].kind;
	if (key)
		return info->params[position].kind;
	while (position > 0 && (position >= info->n_params || info->params[position].keyword_only))
		position--; /* sizes one by one */
	return info->params[position].kind == PARAM_INTS ? PARAM_INTS : PARAM_TENSOR;
}

static enum param_kind kind_at(const struct native *f, int i, int n, const struct keywords *kw)
{
	int n_kw = kw ? kw->n : 0;

	if (i >= n - n_kw)
		return kind_of(f, 0, kw->names[i - (n - n_kw)].str->text);
	return kind_of(f, i + (f->self.kind == VALUE_TENSOR), NULL);
}

static bool is_list(struct value v)
{
	return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}

static bool holds_tensor(struct value v)
{
	for (int i = 0; i < v.list->len; i++)
		if (v.list->at[i].kind == VALUE_TENSOR)
			return true;
	return false;
}

static bool is_tensor_for_number(struct value v, enum param_kind kind)
{
	if (v.kind == VALUE_TENSOR)
		return kind == PARAM_INT || kind == PARAM_INTS || kind == PARAM_SCALAR ||
		       kind == PARAM_FLOAT;
	return kind == PARAM_INTS && is_list(v) && holds_tensor(v);
}

bool numbers_among(const struct native *f, const struct arguments *args)
{
	for (int i = 0; i < args->n && args->n <= MOST; i++)
		if ((args->at[i].kind == VALUE_TENSOR || is_list(args->at[i])) &&
		    is_tensor_for_number(args->at[i], kind_at(f, i, args->n, args->kw)))
			return true;
	return false;
}

/* v becomes a number, where it is a tensor. */
static bool read_number(const struct decomposer *c, const char *name, enum param_kind kind,
			struct value *v, struct err *err)
{
	enum value_kind as = VALUE_INT;
	struct value needs_grad;
	int64_t number;
	enum dtype dtype;
	int rank;

	if (!c->type(c->self, *v, &rank, &dtype, err))
		return false;
	if (kind == PARAM_INTS && dtype_category(dtype) == CATEGORY_BOOL)
		return err_set(err, ERR_OP, "%s: a size must be an int, not a bool tensor", name);
	if (kind == PARAM_INTS)
		return decompose_index(c, *v, v, err);
	if (kind == PARAM_INT) {
		if (rank != 0 || dtype_category(dtype) != CATEGORY_INT)
			return err_set(err, ERR_TYPE, "%s takes an int there, not a tensor of %s%s",
				       name, dtype_name(dtype), rank ? " with dims" : "");
		if (!decompose_number(c, *v, name, &number, err))
			return false;
		*v = value_int(number);
		return true;
	}
	if (dtype_category(dtype) == CATEGORY_FLOAT) {
		as = VALUE_FLOAT;
		if (!c->host->tensor_attr(c->host->self, *v, "requires_grad", &needs_grad, err))
			return false;
		if (needs_grad.b)
			rank = -1;
	} else if (dtype_category(dtype) == CATEGORY_BOOL) {
		as = VALUE_BOOL;
	}
	if (kind == PARAM_FLOAT)
		as = VALUE_FLOAT;
	if (rank != 0)
		return err_set(err, ERR_TYPE,
			       "%s takes a number there; a tensor is one where it has no dims and "
			       "requires no gradient: write .item()",
			       name);
	return c->host->to_number(c->host->self, as, *v, v, err);
}

/* A list of ints of one that has tensors. */
static bool read_list(const struct decomposer *c, const char *name, struct value *v,
		      struct err *err)
{
	struct value list = v->kind == VALUE_LIST ? value_list(v->list->at, v->list->len)
						  : value_tuple(v->list->at, v->list->len);

	if (list.kind == VALUE_UNSET)
		return torch_no_memory(err);
	for (int i = 0; i < list.list->len; i++) {
		struct value *at = &list.list->at[i], old = *at;

		if (old.kind != VALUE_TENSOR)
			continue;
		if (!read_number(c, name, PARAM_INTS, at, err)) {
			value_unref(list);
			return false;
		}
		value_unref(old);
	}
	*v = list;
	return true;
}

bool numbers_call(const struct decomposer *c, const struct native *f, const struct arguments *args,
		  struct value *out, struct err *err)
{
	struct value plain[MOST];
	bool own[MOST] = { false }, ok = true;

	memcpy(plain, args->at, sizeof(*args->at) * (size_t)args->n);
	for (int i = 0; i < args->n && ok; i++) {
		enum param_kind kind = kind_at(f, i, args->n, args->kw);

		if (!is_tensor_for_number(plain[i], kind))
			continue;
		own[i] = ok = is_list(plain[i]) ? read_list(c, f->name, &plain[i], err)
						: read_number(c, f->name, kind, &plain[i], err);
	}
	ok = ok && c->host->call(c->host->self, f, &(struct arguments){ plain, args->n, args->kw },
				 out, err);
	for (int i = 0; i < args->n; i++)
		if (own[i])
			value_unref(plain[i]);
	return ok;
}
