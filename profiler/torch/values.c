/* profiler/torch/values.c -- what another engine gave, against what Breakeven gives. */
#include "profiler/torch/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/allclose/elements.h"
#include "profiler/allclose/difference.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/value_json.h"

struct compare {
	struct compared *c;
	const unsigned char *bytes;
	size_t n_bytes;
	int threads;
	const struct reference *reference; /* NULL: nothing is judged by it */
	const char *path;                  /* "calls[0].output" */
};

/* A value of our engine, and what float64 has there; UNSET: it has none. */
struct mine {
	struct value v, reference;
};

static const struct value unset = { .kind = VALUE_UNSET };

/* Adds what was found of one value, torch's (`ours` in the difference) against ours. */
static void take(const struct compare *x, const struct difference *found, enum dtype dtype)
{
	struct compared *c = x->c;
	const struct difference_place *at = &found->worst;
	char verdict[80] = "";

	c->elements += found->elements;
	c->differing += found->differing;
	c->outside += found->outside;
	if (found->rule == DIFFERENCE_FLOAT64)
		c->by_float64 = true;
	if (isfinite(found->error))
		c->max_abs = fmax(c->max_abs, found->error);
	if (found->differing && isfinite(found->excess))
		c->over_allowed = fmax(c->over_allowed, found->excess);
	if (found->outside == 0 || c->first[0])
		return;
	if (found->rule == DIFFERENCE_FLOAT64)
		snprintf(verdict, sizeof(verdict),
			 "; float64 gives %.9g, %.3g times what %s allows", at->reference,
			 found->excess, dtype_name(dtype));
	snprintf(c->first, sizeof(c->first), "%s: %.9g, torch has %.9g%s", x->path, at->theirs,
		 at->ours, verdict);
}

static void part_shape(const struct compare *x, const char *why)
{
	x->c->outside++;
	x->c->differing++;
	if (!x->c->first[0])
		snprintf(x->c->first, sizeof(x->c->first), "%s: %s", x->path, why);
}

static bool is_float(enum dtype dtype)
{
	return dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_F32 ||
	       dtype == DTYPE_F64;
}

static void add_references(const struct compare *x, struct value reference,
			   struct difference_pair *pair,
			   struct tensor *made[DIFFERENCE_MAX_REFERENCES])
{
	struct err ignored = { 0 };

	if (!x->reference || reference.kind != VALUE_TENSOR || !is_float(pair->theirs->dtype) ||
	    !elements_same_bits(fusion_tensor(reference), pair->theirs, x->threads))
		return;
	for (int k = 0; k < x->reference->n; k++) {
		made[k] = fusion_reference(fusion_tensor(reference), k, &ignored);
		if (!made[k]) {
			pair->n_references = 0;
			return;
		}
		pair->reference[k] = made[k];
		pair->n_references++;
	}
}

/* `bytes` as a tensor, row by row, of the sizes of t. */
static void compare_numbers(const struct compare *x, const struct tensor *t, struct value reference,
			    const unsigned char *bytes)
{
	struct tensor *theirs = fusion_tensor_over(bytes, t->dtype, t->rank, t->size);
	struct difference_pair pair = { .ours = theirs, .theirs = t, .threads = x->threads };
	struct tensor *made[DIFFERENCE_MAX_REFERENCES] = { NULL };
	struct difference found;

	if (!theirs) { /* out of memory */
		x->c->left_out++;
		return;
	}
	add_references(x, reference, &pair, made);
	found = difference_of_tensors(&pair);
	take(x, &found, t->dtype);
	if (found.differing && found.far.theirs != 0 && isfinite(found.error))
		x->c->max_rel = fmax(x->c->max_rel, found.error / fabs(found.far.theirs));
	for (int k = 0; k < DIFFERENCE_MAX_REFERENCES; k++)
		tensor_unref(made[k]);
	fusion_tensor_end(theirs);
}

static bool same_shape(const struct tensor *t, const json_t *shape)
{
	bool same = (int)json_array_size(shape) == t->rank;

	for (int d = 0; same && d < t->rank; d++)
		same = json_integer_value(json_array_get(shape, (size_t)d)) == t->size[d];
	return same;
}

static void compare_tensor(const struct compare *x, struct mine mine, const json_t *inner)
{
	const json_t *at = json_object_get(inner, "at");
	const struct tensor *t = fusion_tensor(mine.v);
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
		compare_numbers(x, t, mine.reference, x->bytes + json_integer_value(at));
}

/* Zero bytes are part of a text. */
static bool same_text(const char *ours, size_t len, const json_t *theirs)
{
	return json_string_length(theirs) == len &&
	       (len == 0 || memcmp(ours, json_string_value(theirs), len) == 0);
}

static bool same_string(struct value ours, const json_t *theirs)
{
	size_t len;
	const char *text = value_text(ours, &len);

	return json_is_string(theirs) && same_text(text, len, theirs);
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
		if (!same_string(ours, theirs))
			part_shape(x, "another text than torch's");
	} else if (ours.kind != VALUE_FLOAT && ours.kind != VALUE_INT && ours.kind != VALUE_BOOL) {
		part_shape(x, "another kind of value than torch's");
	} else if (spec_number(theirs, &b) ||
		   (json_is_boolean(theirs) && (b = json_is_true(theirs), true))) {
		struct difference found = difference_of_numbers(b, a);

		if (found.differing && ours.kind != VALUE_FLOAT)
			found.outside = 1;
		take(x, &found, DTYPE_F64);
	} else {
		part_shape(x, "another kind of value than torch's");
	}
}

static void compare_value(const struct compare *x, struct mine mine, const json_t *theirs);

static bool is_list(struct value v)
{
	return v.kind == VALUE_TUPLE || v.kind == VALUE_LIST;
}

/* Item i of both. */
static struct mine item_of(struct mine m, int i)
{
	struct mine item = { unset, unset };

	if (is_list(m.v))
		item.v = value_item(m.v, i);
	else if (m.v.kind == VALUE_DICT)
		item.v = value_item(m.v, i);
	if (is_list(m.reference) && i < value_length(m.reference))
		item.reference = value_item(m.reference, i);
	else if (m.reference.kind == VALUE_DICT && i < value_length(m.reference))
		item.reference = value_item(m.reference, i);
	return item;
}

static void compare_items(const struct compare *x, struct mine mine, const json_t *items)
{
	if (!is_list(mine.v) || (size_t)value_length(mine.v) != json_array_size(items)) {
		part_shape(x, "another number of items than torch's");
		return;
	}
	for (int i = 0; i < value_length(mine.v); i++)
		compare_value(x, item_of(mine, i), json_array_get(items, (size_t)i));
}

static void compare_dict(const struct compare *x, struct mine mine, const json_t *entries)
{
	if (mine.v.kind != VALUE_DICT ||
	    (size_t)value_length(mine.v) != json_object_size(entries)) {
		part_shape(x, "another number of keys than torch's");
		return;
	}
	for (int i = 0; i < value_length(mine.v); i++) {
		struct value key = value_key(mine.v, i);
		const json_t *entry = key.kind == VALUE_STR
					  ? json_object_get(entries, value_text(key, NULL))
					  : NULL;

		if (entry)
			compare_value(x, item_of(mine, i), entry);
		else if (key.kind == VALUE_STR)
			part_shape(x, "a key that torch has not");
		else
			x->c->left_out++;
	}
}

static void compare_value(const struct compare *x, struct mine mine, const json_t *theirs)
{
	const json_t *inner;

	if ((inner = json_object_get(theirs, "tensor")))
		compare_tensor(x, mine, inner);
	else if ((inner = json_object_get(theirs, "value")))
		compare_scalar(x, mine.v, inner);
	else if ((inner = json_object_get(theirs, "tuple")) ||
		 (inner = json_object_get(theirs, "list")))
		compare_items(x, mine, inner);
	else if ((inner = json_object_get(theirs, "dict")))
		compare_dict(x, mine, inner);
	else
		x->c->left_out++;
}

static struct value grad_of(struct value v)
{
	return v.kind == VALUE_TENSOR ? fusion_grad(v) : unset;
}

/* The gradients of the floating point tensors in an argument, as torch lists them. */
static void compare_grads(const struct compare *x, struct mine mine, const json_t *grads,
			  size_t *at)
{
	int n = value_length(mine.v);

	if (mine.v.kind == VALUE_TENSOR && is_float(fusion_tensor(mine.v)->dtype)) {
		const json_t *theirs = json_array_get(grads, (*at)++);
		struct mine g = { grad_of(mine.v), grad_of(mine.reference) };

		if (g.v.kind != VALUE_TENSOR || json_is_null(theirs)) {
			if (g.v.kind == VALUE_TENSOR || !json_is_null(theirs))
				part_shape(x, "a gradient on one side alone");
		} else {
			compare_value(x, g, theirs);
		}
	}
	for (int i = 0; i < n; i++)
		compare_grads(x, item_of(mine, i), grads, at);
}

static bool same_printed(const struct candidate *candidate, const json_t *theirs)
{
	const struct buf *printed = fusion_stdout(candidate->session);

	return same_text(printed->data, printed->len, theirs);
}

static int64_t numbers_in(struct value v)
{
	int n = value_length(v);
	int64_t all = v.kind == VALUE_TENSOR ? tensor_numel(fusion_tensor(v)) : 0;

	for (int i = 0; i < n; i++)
		all += numbers_in(item_of((struct mine){ v, unset }, i).v);
	return all;
}

/* Torch has not written to an argument. */
static void compare_unchanged(const struct compare *x, struct value was, struct value now)
{
	if (value_same(was, now))
		x->c->elements += numbers_in(was);
	else
		part_shape(x, "torch has left it as it was");
}

/* `reference` NULL: nothing is judged by float64. */
static void compare_with(const struct compared_call *call, struct compared *c,
			 const struct candidate *reference)
{
	const struct candidate *candidate = call->candidate;
	const struct report_torch_sent_call *theirs = call->theirs;
	char path[64];
	struct compare x = { .c = c,
			     .bytes = call->bytes,
			     .n_bytes = call->n_bytes,
			     .threads = fusion_facts(candidate->engine).threads,
			     .reference = reference ? call->reference : NULL,
			     .path = path };
	int i = call->index;
	size_t at = 0;

	snprintf(path, sizeof(path), "calls[%d].output", i);
	compare_value(
	    &x, (struct mine){ candidate->outputs[i], reference ? reference->outputs[i] : unset },
	    theirs->output);
	for (int k = 0; k < candidate->originals->n_args[i]; k++) {
		struct mine arg = { candidate->args[i][k],
				    reference ? reference->args[i][k] : unset };
		const json_t *left = json_array_get(theirs->inputs_after, (size_t)k);

		snprintf(path, sizeof(path), "calls[%d].inputs_after[%d]", i, k);
		if (!json_object_get(left, "unchanged"))
			compare_value(&x, arg, left);
		else
			compare_unchanged(&x, candidate->originals->args[i][k], arg.v);
	}
	for (int k = 0; candidate->grad && k < candidate->originals->n_args[i]; k++) {
		struct mine arg = { candidate->args[i][k],
				    reference ? reference->args[i][k] : unset };

		snprintf(path, sizeof(path), "calls[%d].grads", i);
		compare_grads(&x, arg, theirs->grads, &at);
	}
	if (candidate->param_grads[i].kind == VALUE_DICT && theirs->param_grads) {
		snprintf(path, sizeof(path), "calls[%d].param_grads", i);
		compare_value(&x,
			      (struct mine){ candidate->param_grads[i],
					     reference ? reference->param_grads[i] : unset },
			      theirs->param_grads);
	}
	c->stdout_same = c->stdout_same && same_printed(candidate, theirs->stdout);
}

void compare_call(struct compared *c, const struct compared_call *call)
{
	struct compared before = *c;
	const struct candidate *reference;

	compare_with(call, c, NULL);
	if (c->differing == before.differing)
		return;
	reference = reference_at(call->reference, STAGE_IN_ORDER);
	if (!reference)
		return;
	*c = before;
	compare_with(call, c, reference);
}

void compared_report(const struct compared *c, struct report_torch_values *to,
		     struct report_draft *draft)
{
	bool agree = c->outside == 0 && c->elements > 0;

	REPORT_SET(to, agree, agree);
	REPORT_SET(to, elements, c->elements);
	REPORT_SET(to, outside, c->outside);
	REPORT_SET(to, left_out, c->left_out);
	REPORT_SET(to, max_abs_error, c->max_abs);
	REPORT_SET(to, max_rel_error, c->max_rel);
	REPORT_SET(to, stdout_same, c->stdout_same);
	REPORT_SET_OR_NULL(to, first, c->first[0], report_draft_text(draft, c->first));
	REPORT_SET(to, verdict, !agree ? "disagrees" : !c->differing ? "exact" : "within_dtype");
	REPORT_SET(to, judge, c->by_float64 ? "float64" : c->differing ? "bound" : "bits");
	REPORT_SET(to, differing, c->differing);
	REPORT_SET(to, over_allowed, c->over_allowed);
}
