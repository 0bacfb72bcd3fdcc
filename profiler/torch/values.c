/* profiler/torch/values.c -- see values.h. */
#include "profiler/torch/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/workload/spec.h"

struct compare {
	struct compared *c;
	const unsigned char *bytes;
	size_t n_bytes;
	const char *path; /* "calls[0].output" */
};

static void part(const struct compare *x, double ours, double theirs)
{
	x->c->outside++;
	if (!x->c->first[0])
		snprintf(x->c->first, sizeof(x->c->first), "%s: %.9g, torch has %.9g", x->path,
			 ours, theirs);
}

static void part_shape(const struct compare *x, const char *why)
{
	x->c->outside++;
	if (!x->c->first[0])
		snprintf(x->c->first, sizeof(x->c->first), "%s: %s", x->path, why);
}

static bool within(double ours, double theirs, bool narrow, bool exact)
{
	double most = narrow ? 1e-2 + 1e-2 * fabs(theirs) : 1e-5 + 1e-4 * fabs(theirs);

	if (ours == theirs || (isnan(ours) && isnan(theirs)))
		return true;
	return !exact && isfinite(ours) && isfinite(theirs) && fabs(ours - theirs) <= most;
}

static bool is_float(enum dtype dtype)
{
	return dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_F32 ||
	       dtype == DTYPE_F64;
}

static void compare_numbers(const struct compare *x, const struct tensor *t,
			    const unsigned char *theirs)
{
	bool narrow = t->dtype == DTYPE_F16 || t->dtype == DTYPE_BF16, exact = !is_float(t->dtype);
	int64_t numel = tensor_numel(t);
	double error = 0, largest = 0;

	for (int64_t i = 0; i < numel; i++) {
		double a = tensor_get_double(t, i), b = dtype_get_double(t->dtype, theirs, i);

		if (!within(a, b, narrow, exact))
			part(x, a, b);
		if (!isfinite(a) || !isfinite(b))
			continue;
		error = fmax(error, fabs(a - b));
		largest = fmax(largest, fabs(b));
	}
	x->c->elements += numel;
	x->c->max_abs = fmax(x->c->max_abs, error);
	if (largest > 0)
		x->c->max_rel = fmax(x->c->max_rel, error / largest);
}

static bool same_shape(const struct tensor *t, const json_t *shape)
{
	bool same = (int)json_array_size(shape) == t->rank;

	for (int d = 0; same && d < t->rank; d++)
		same = json_integer_value(json_array_get(shape, (size_t)d)) == t->size[d];
	return same;
}

static void compare_tensor(const struct compare *x, struct value ours, const json_t *inner)
{
	const json_t *at = json_object_get(inner, "at");
	const struct tensor *t = ours.kind == VALUE_TENSOR ? ours.tensor->memory : NULL;
	const char *name = json_string_value(json_object_get(inner, "dtype"));
	enum dtype dtype;

	if (!t)
		part_shape(x, "torch has a tensor there");
	else if (!name || !dtype_from_name(name, &dtype))
		x->c->left_out++;
	else if (dtype != t->dtype)
		part_shape(x, "another dtype than torch's");
	else if (!same_shape(t, json_object_get(inner, "shape")))
		part_shape(x, "another shape than torch's");
	else if (!at ||
		 (size_t)json_integer_value(at) + (size_t)tensor_numel(t) * dtype_bytes(t->dtype) >
		     x->n_bytes)
		x->c->left_out++;
	else
		compare_numbers(x, t, x->bytes + json_integer_value(at));
}

static void compare_scalar(const struct compare *x, struct value ours, const json_t *theirs)
{
	double a = ours.kind == VALUE_FLOAT ? ours.f
		   : ours.kind == VALUE_INT ? (double)ours.i
					    : (double)ours.b;
	double b;

	if (ours.kind == VALUE_NONE || json_is_null(theirs)) {
		if (ours.kind != VALUE_NONE || !json_is_null(theirs))
			part_shape(x, "None on one side alone");
	} else if (ours.kind == VALUE_STR) {
		if (!json_is_string(theirs) ||
		    strcmp(ours.str->text, json_string_value(theirs)) != 0)
			part_shape(x, "another text than torch's");
	} else if (ours.kind != VALUE_FLOAT && ours.kind != VALUE_INT && ours.kind != VALUE_BOOL) {
		part_shape(x, "another kind of value than torch's");
	} else if (spec_number(theirs, &b) ||
		   (json_is_boolean(theirs) && (b = json_is_true(theirs), true))) {
		x->c->elements++;
		if (!within(a, b, false, ours.kind != VALUE_FLOAT))
			part(x, a, b);
		else if (isfinite(a))
			x->c->max_abs = fmax(x->c->max_abs, fabs(a - b));
	} else {
		part_shape(x, "another kind of value than torch's");
	}
}

static void compare_value(const struct compare *x, struct value ours, const json_t *theirs);

static void compare_items(const struct compare *x, struct value ours, const json_t *items)
{
	bool list = ours.kind == VALUE_TUPLE || ours.kind == VALUE_LIST;

	if (!list || (size_t)ours.list->len != json_array_size(items)) {
		part_shape(x, "another number of items than torch's");
		return;
	}
	for (int i = 0; i < ours.list->len; i++)
		compare_value(x, ours.list->at[i], json_array_get(items, (size_t)i));
}

static void compare_dict(const struct compare *x, struct value ours, const json_t *entries)
{
	if (ours.kind != VALUE_DICT || (size_t)ours.dict->len != json_object_size(entries)) {
		part_shape(x, "another number of keys than torch's");
		return;
	}
	for (int i = 0; i < ours.dict->len; i++) {
		struct value key = ours.dict->keys[i];
		const json_t *entry = key.kind == VALUE_STR
					  ? json_object_get(entries, key.str->text)
					  : NULL;

		if (entry)
			compare_value(x, ours.dict->values[i], entry);
		else if (key.kind == VALUE_STR)
			part_shape(x, "a key that torch has not");
		else
			x->c->left_out++;
	}
}

static void compare_value(const struct compare *x, struct value ours, const json_t *theirs)
{
	const json_t *inner;

	if ((inner = json_object_get(theirs, "tensor")))
		compare_tensor(x, ours, inner);
	else if ((inner = json_object_get(theirs, "value")))
		compare_scalar(x, ours, inner);
	else if ((inner = json_object_get(theirs, "tuple")) ||
		 (inner = json_object_get(theirs, "list")))
		compare_items(x, ours, inner);
	else if ((inner = json_object_get(theirs, "dict")))
		compare_dict(x, ours, inner);
	else
		x->c->left_out++;
}

/* The gradients of the floating point tensors in v, as torch lists them. */
static void compare_grads(const struct compare *x, struct value v, const json_t *grads, size_t *at)
{
	if (v.kind == VALUE_TENSOR && is_float(v.tensor->memory->dtype)) {
		const json_t *theirs = json_array_get(grads, (*at)++);
		struct value g = fusion_grad(v);

		if (g.kind != VALUE_TENSOR || json_is_null(theirs)) {
			if (g.kind == VALUE_TENSOR || !json_is_null(theirs))
				part_shape(x, "a gradient on one side alone");
		} else {
			compare_value(x, g, theirs);
		}
	}
	if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST)
		for (int i = 0; i < v.list->len; i++)
			compare_grads(x, v.list->at[i], grads, at);
	if (v.kind == VALUE_DICT)
		for (int i = 0; i < v.dict->len; i++)
			compare_grads(x, v.dict->values[i], grads, at);
}

static bool same_text(const struct lane *lane, const char *theirs)
{
	const struct buf *printed = fusion_stdout(lane->session);

	return strcmp(printed->data ? printed->data : "", theirs ? theirs : "") == 0;
}

void compare_call(struct compared *c, const struct lane *lane, int call, const json_t *theirs,
		  const void *bytes, size_t n_bytes)
{
	const json_t *after = json_object_get(theirs, "inputs_after");
	char path[64];
	struct compare x = { .c = c, .bytes = bytes, .n_bytes = n_bytes, .path = path };
	size_t at = 0;

	snprintf(path, sizeof(path), "calls[%d].output", call);
	compare_value(&x, lane->outputs[call], json_object_get(theirs, "output"));
	for (int k = 0; k < lane->originals->n_args[call]; k++) {
		snprintf(path, sizeof(path), "calls[%d].inputs_after[%d]", call, k);
		compare_value(&x, lane->args[call][k], json_array_get(after, (size_t)k));
	}
	for (int k = 0; lane->grad && k < lane->originals->n_args[call]; k++) {
		snprintf(path, sizeof(path), "calls[%d].grads", call);
		compare_grads(&x, lane->args[call][k], json_object_get(theirs, "grads"), &at);
	}
	c->stdout_same = c->stdout_same &&
			 same_text(lane, json_string_value(json_object_get(theirs, "stdout")));
}

json_t *compared_json(const struct compared *c)
{
	return json_pack("{s:b, s:I, s:I, s:I, s:f, s:f, s:b, s:s?}", "agree",
			 c->outside == 0 && c->elements > 0, "elements", (json_int_t)c->elements,
			 "outside", (json_int_t)c->outside, "left_out", (json_int_t)c->left_out,
			 "max_abs_error", c->max_abs, "max_rel_error", c->max_rel, "stdout_same",
			 c->stdout_same, "first", c->first[0] ? c->first : NULL);
}
