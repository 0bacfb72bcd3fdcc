/* fusion/torch/keyword.c -- calls whose keyword makes them other ops.
 *
 * round(x, decimals=2) and scatter(x, dim, index, src, reduce="add"), and their forms
 * in place.
 */
#include <math.h>
#include <string.h>

#include "fusion/torch/torch_more.h"

static bool is_inplace(int id)
{
	return id >= NATIVE_INPLACE;
}

static int plain_id(int id)
{
	return is_inplace(id) ? id - NATIVE_INPLACE : id;
}

bool keyword_wants(const struct native *f, const struct keywords *kw)
{
	int id = plain_id(f->id);

	for (int i = 0; kw && i < kw->n; i++)
		if ((id == OP_round && strcmp(kw->names[i].str->text, "decimals") == 0) ||
		    (id == OP_scatter && strcmp(kw->names[i].str->text, "reduce") == 0))
			return true;
	return false;
}

/* op(*at, operand) in the place of *at. */
static bool apply(const struct composer *c, enum op op, const char *name, struct value operand,
		  struct value *at, struct err *err)
{
	struct value next;
	bool ok = c->run(c->self, op, name, false, (struct value[]){ *at, operand },
			 operand.kind == VALUE_UNSET ? 1 : 2, &next, err);

	value_unref(*at);
	*at = ok ? next : value_none();
	return ok;
}

/* As torch: nearbyint(x * 10^d) / 10^d, and the other way round below 0, each step in
 * the dtype of x. */
static bool round_decimals(const struct composer *c, const char *name, const struct value *v,
			   struct value *out, struct err *err)
{
	enum dtype dtype;
	int64_t decimals;
	struct value power;
	int rank;

	if (v[0].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "round takes a tensor, not %s",
			       value_type_name(v[0]));
	if (!compose_number(c, v[1], "decimals", &decimals, err) ||
	    !c->type(c->self, v[0], &rank, &dtype, err))
		return false;
	if (decimals == 0)
		return c->run(c->self, OP_round, name, false, v, 1, out, err);
	if (dtype_category(dtype) != CATEGORY_FLOAT)
		return err_set(err, ERR_UNSUPPORTED,
			       "round: decimals takes a tensor of floats, not %s",
			       dtype_name(dtype));
	power = value_float(pow(10, fabs((double)decimals)));
	*out = value_ref(v[0]);
	return apply(c, decimals > 0 ? OP_mul : OP_truediv, "fx:", power, out, err) &&
	       apply(c, OP_round, "fx:", (struct value){ .kind = VALUE_UNSET }, out, err) &&
	       apply(c, decimals > 0 ? OP_truediv : OP_mul, name, power, out, err);
}

/* A number in the sizes of the index: scatter_add takes tensors. */
static bool source(const struct composer *c, struct value index, struct value src, enum dtype dtype,
		   struct value *out, struct err *err)
{
	struct value to = { .kind = VALUE_DTYPE, .dtype = dtype };

	if (src.kind == VALUE_TENSOR) {
		*out = value_ref(src);
		return true;
	}
	*out = value_ref(index);
	return apply(c, OP_to, "fx:", to, out, err) && apply(c, OP_fill, "fx:", src, out, err);
}

/* v: x, dim, index, src, value, reduce */
static bool scatter_reduce(const struct composer *c, const char *name, const struct value *v,
			   struct value *out, struct err *err)
{
	struct value src;
	enum dtype dtype;
	int rank;
	bool ok;

	if (v[5].kind != VALUE_STR ||
	    (strcmp(v[5].str->text, "add") != 0 && strcmp(v[5].str->text, "multiply") != 0))
		return err_set(err, ERR_OP, "scatter: reduce is 'add' or 'multiply'");
	if (strcmp(v[5].str->text, "multiply") == 0)
		return err_set(err, ERR_OP,
			       "scatter: reduce='multiply' is not in the language; write "
			       "x.scatter_reduce(dim, index, src, 'prod')");
	if (v[0].kind != VALUE_TENSOR || v[2].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "scatter takes a tensor and one of indices");
	if (!c->type(c->self, v[0], &rank, &dtype, err) ||
	    !source(c, v[2], v[3].kind == VALUE_UNSET ? v[4] : v[3], dtype, &src, err))
		return false;
	ok = c->run(c->self, OP_scatter_add, name, false, (struct value[]){ v[0], v[1], v[2], src },
		    4, out, err);
	value_unref(src);
	return ok;
}

bool keyword_call(const struct composer *c, int id, const char *name, const struct value *args,
		  int n, const struct keywords *kw, struct value *out, struct err *err)
{
	static const char *const round_names[] = { "input", "decimals" };
	static const char *const scatter_names[] = { "input", "dim",   "index",
						     "src",   "value", "reduce" };
	const char *dot = strrchr(name, '.');
	bool rounds = plain_id(id) == OP_round, ok;
	struct value v[6], made;
	char fx[64] = "fx:";

	strncat(fx, dot ? dot + 1 : name, 60);
	ok = rounds ? compose_args(name, round_names, 2, 2, args, n, kw, v, err)
		    : compose_args(name, scatter_names, 6, 3, args, n, kw, v, err);
	if (!ok)
		return false;
	if (!is_inplace(id))
		return rounds ? round_decimals(c, fx, v, out, err)
			      : scatter_reduce(c, fx, v, out, err);
	ok = rounds ? round_decimals(c, "fx:", v, &made, err)
		    : scatter_reduce(c, "fx:", v, &made, err);
	if (!ok)
		return false;
	ok = c->run(c->self, OP_fill, fx, true, (struct value[]){ v[0], made }, 2, out, err);
	value_unref(made);
	return ok;
}
