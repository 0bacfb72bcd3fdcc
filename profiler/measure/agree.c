/* profiler/measure/agree.c -- see agree.h. */
#include "profiler/measure/agree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/workload/value_json.h"

struct bounds {
	double absolute, relative;
};

static struct bounds bounds_of(enum dtype dtype)
{
	if (dtype_category(dtype) != CATEGORY_FLOAT)
		return (struct bounds){ 0, 0 };
	if (dtype == DTYPE_F16 || dtype == DTYPE_BF16)
		return (struct bounds){ 1e-2, 1e-2 };
	return (struct bounds){ 1e-5, 1e-4 };
}

static double excess(double a, double b, struct bounds bounds)
{
	if (a == b || (isnan(a) && isnan(b)))
		return 0;
	if (!isfinite(a) || !isfinite(b) || bounds.absolute == 0)
		return INFINITY;
	return fabs(a - b) / (bounds.absolute + bounds.relative * fabs(b));
}

static double tensor_excess(const struct tensor *a, const struct tensor *b)
{
	struct bounds bounds = bounds_of(b->dtype);
	int64_t numel = tensor_numel(a);
	double most = 0;

	for (int64_t i = 0; i < numel; i++)
		most = fmax(most, excess(tensor_get_double(a, i), tensor_get_double(b, i), bounds));
	return most;
}

static double list_excess(const struct value *a, const struct value *b, int n)
{
	double most = 0;

	for (int i = 0; i < n; i++)
		most = fmax(most, agree_values(a[i], b[i]));
	return most;
}

double agree_values(struct value a, struct value b)
{
	if (a.kind != b.kind)
		return INFINITY;
	switch (a.kind) {
	case VALUE_TENSOR:
		return value_alike(a, b) ? tensor_excess(a.tensor->memory, b.tensor->memory)
					 : INFINITY;
	case VALUE_BOOL:
		return a.b == b.b ? 0 : INFINITY;
	case VALUE_INT:
		return a.i == b.i ? 0 : INFINITY;
	case VALUE_FLOAT:
		return excess(a.f, b.f, bounds_of(DTYPE_F32));
	case VALUE_STR:
		return value_equal(a, b) ? 0 : INFINITY;
	case VALUE_TUPLE:
	case VALUE_LIST:
		return a.list->len == b.list->len ? list_excess(a.list->at, b.list->at, a.list->len)
						  : INFINITY;
	case VALUE_DICT:
		return a.dict->len == b.dict->len
			   ? fmax(list_excess(a.dict->keys, b.dict->keys, a.dict->len),
				  list_excess(a.dict->values, b.dict->values, a.dict->len))
			   : INFINITY;
	default:
		return 0;
	}
}

static const char *printed(const json_t *m, int call)
{
	const json_t *calls = json_object_get(m, "calls");
	const char *text = json_string_value(
	    json_object_get(json_array_get(calls, (size_t)call), "stdout"));

	return text ? text : "";
}

/* What is found of a difference. */
struct difference {
	const char *whose; /* the other lane's, in words */
	char what[200];    /* a sentence; empty: none */
};

/* False with d->what where something is further apart than its bound. */
static bool within(double apart, struct difference *d, const char *name, int call, int arg)
{
	char place[80];

	if (apart <= 1)
		return true;
	if (arg < 0)
		snprintf(place, sizeof(place), "%s of calls[%d]", name, call);
	else
		snprintf(place, sizeof(place), "%s %d of calls[%d]", name, arg, call);
	if (isinf(apart))
		snprintf(d->what, sizeof(d->what),
			 "%s differs from %s in kind, shape, dtype or value", place, d->whose);
	else
		snprintf(d->what, sizeof(d->what),
			 "%s is %.3g times its accuracy bound away from %s", place, apart,
			 d->whose);
	return false;
}

static struct value grad_of(struct value v)
{
	return v.kind == VALUE_TENSOR ? fusion_grad(v) : (struct value){ .kind = VALUE_NONE };
}

static bool call_agrees(const struct lane *lane, const struct lane *other, int call,
			struct difference *d)
{
	bool ok = within(agree_values(lane->outputs[call], other->outputs[call]), d, "the output",
			 call, -1);

	for (int k = 0; ok && k < lane->originals->n_args[call]; k++) {
		struct value a = lane->args[call][k], b = other->args[call][k];

		ok = within(agree_values(a, b), d, "argument", call, k) &&
		     (!lane->grad || within(agree_values(grad_of(a), grad_of(b)), d,
					    "the gradient of argument", call, k));
	}
	return ok;
}

void agree_report(const struct lane *lane, const struct lane *other, const char *whose, json_t *m,
		  const json_t *other_m)
{
	struct difference d = { .whose = whose };
	bool ok = true;

	for (int i = 0; ok && i < lane->originals->n_calls; i++) {
		ok = call_agrees(lane, other, i, &d);
		if (ok && strcmp(printed(m, i), printed(other_m, i)) != 0) {
			snprintf(d.what, sizeof(d.what), "what calls[%d] printed differs from %s",
				 i, whose);
			ok = false;
		}
	}
	json_object_set_new(m, "agrees", json_boolean(ok));
	if (!ok)
		json_object_set_new(m, "disagreement", json_string(d.what));
}
