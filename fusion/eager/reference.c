/* fusion/eager/reference.c -- an op once more, on the shadows of its operands.
 *
 * A program that runs as a reference goes the way that its own dtypes lead it: what it
 * branches on, prints, indexes with and draws is what eager has.  Beside that, each op on
 * floating point elements is computed in float64 too, from what float64 gave so far, in
 * each shadow (tensor/shadow.h).  Of ints and bools that come from floating point elements
 * (a comparison, an argmax) a shadow says what float64 would have chosen; ops go on with
 * what the program chose.
 */
#include "fusion/eager/reference.h"

#include "fusion/base/generators.h"
#include "fusion/eager/eager.h"
#include "fusion/tensor/shadow.h"

static bool is_float(struct value v)
{
	return v.kind == VALUE_TENSOR && dtype_category(v.tensor->memory->dtype) == CATEGORY_FLOAT;
}

/* Whether float64 would give other elements. */
static bool concerns(const struct eager_call *c)
{
	bool any = false;

	if (c->n > REFERENCE_MAX_ARGS)
		return false;
	for (int i = 0; i < c->n; i++)
		any = any || is_float(c->values[i]);
	return any && (!c->inplace || is_float(c->values[0]));
}

static bool widen(struct value v, int which, struct value *out, struct err *err)
{
	struct tensor *wide = shadow_view(v.tensor->memory, which, err);

	*out = wide ? tensor_wrap(wide) : (struct value){ .kind = VALUE_UNSET };
	return out->kind != VALUE_UNSET || (wide && torch_no_memory(err));
}

static int first_of(const struct eager_call *c, int i)
{
	int first = 0;

	while (c->values[first].kind != VALUE_TENSOR ||
	       c->values[first].tensor != c->values[i].tensor)
		first++;
	return first;
}

/* The operands in one shadow; the same tensor twice stays one. */
static bool widen_all(const struct eager_call *c, int which, struct value *wide, struct err *err)
{
	for (int i = 0; i < c->n; i++) {
		struct value v = c->values[i];

		if (v.kind == VALUE_DTYPE && dtype_category(v.dtype) == CATEGORY_FLOAT)
			v.dtype = DTYPE_F64;
		if (!is_float(v))
			wide[i] = value_ref(v);
		else if (first_of(c, i) < i)
			wide[i] = value_ref(wide[first_of(c, i)]);
		else if (!widen(v, which, &wide[i], err))
			return false;
	}
	return true;
}

bool reference_begin(struct eager *e, const struct eager_call *c, struct reference_call *k,
		     struct err *err)
{
	*k = (struct reference_call){ .n = concerns(c) ? e->shadows : 0 };
	if (k->n == 0)
		return true;
	if (e->env->backend_env.random)
		k->random = *e->env->backend_env.random;
	for (int s = 0; s < k->n; s++) /* before an in-place op overwrites what they are made of */
		if (!widen_all(c, s, k->values[s], err))
			return false;
	return true;
}

static bool to_float64(struct eager *e, struct value *v, struct err *err)
{
	struct value args[2] = { *v, { .kind = VALUE_DTYPE, .dtype = DTYPE_F64 } }, cast;
	struct eager_call c = { .op = OP_to, .name = "Tensor.to", .values = args, .n = 2 };

	if (v->tensor->memory->dtype == DTYPE_F64)
		return true;
	if (!eager_run_op(e, &c, &cast, err))
		return false;
	value_unref(*v);
	*v = cast;
	return true;
}

static bool lies_in_an_operand(struct value v, const struct value *values, int n)
{
	for (int i = 0; i < n; i++)
		if (values[i].kind == VALUE_TENSOR &&
		    values[i].tensor->memory->storage == v.tensor->memory->storage)
			return true;
	return false;
}

/* Two tensors of the program are two in the shadow. */
static bool apart(struct eager *e, struct value *v, const struct value *values, int n,
		  struct err *err)
{
	struct eager_call c = { .op = OP_clone, .name = "clone", .values = v, .n = 1 };
	struct value copy;

	if (!lies_in_an_operand(*v, values, n))
		return true;
	if (!eager_run_op(e, &c, &copy, err))
		return false;
	value_unref(*v);
	*v = copy;
	return true;
}

static bool run_shadow(struct eager *e, const struct eager_call *c, struct reference_call *k,
		       int which, struct tensor *result, struct err *err)
{
	struct generators *random = e->env->backend_env.random;
	struct eager_call wide = *c;
	struct value out;
	bool ok;

	wide.values = k->values[which];
	if (random) {
		*random = k->random;
		if (c->n > 0 && c->values[0].kind == VALUE_TENSOR)
			random->gpu.element_bytes = (int)dtype_bytes(
			    c->values[0].tensor->memory->dtype);
	}
	ok = eager_run_op(e, &wide, &out, err);
	if (random)
		random->gpu.element_bytes = 0;
	if (!ok)
		return false;
	ok = to_float64(e, &out, err) &&
	     (c->inplace || apart(e, &out, k->values[which], c->n, err));
	if (ok && which > 0 && dtype_category(result->dtype) == CATEGORY_FLOAT)
		shadow_disturb(out.tensor->memory, result->dtype,
			       e->disturbances += UINT64_C(1) << 32);
	ok = ok && shadow_set(result, which, out.tensor->memory, err);
	value_unref(out);
	return ok;
}

bool reference_end(struct eager *e, const struct eager_call *c, struct reference_call *k,
		   struct value out, struct err *err)
{
	struct generators *random = e->env->backend_env.random, after = { 0 };
	int n = e->shadows;
	bool ok = true;

	if (k->n == 0 || out.kind != VALUE_TENSOR ||
	    (!c->inplace && lies_in_an_operand(out, c->values, c->n)))
		return true;
	if (random)
		after = *random;
	e->shadows = 0; /* what is run here has none of its own */
	for (int s = 0; ok && s < n; s++)
		ok = run_shadow(e, c, k, s, out.tensor->memory, err);
	e->shadows = n;
	if (random)
		*random = after;
	return ok;
}

void reference_drop(struct reference_call *k)
{
	for (int s = 0; s < k->n; s++)
		for (int i = 0; i < REFERENCE_MAX_ARGS; i++)
			value_unref(k->values[s][i]);
}
