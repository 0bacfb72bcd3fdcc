/* profiler/allclose/reference.c -- the program in float64, made when something differs. */
#include "profiler/allclose/reference.h"

#include <stdio.h>

#include "profiler/workload/value_json.h"

enum { SMALL_ELEMENTS = 1 << 22 };
static const double most_calls_s = 4;
static const size_t most_bytes = (size_t)16 << 30;

static int64_t elements_of(struct value v)
{
	int64_t n = 0;

	if (v.kind == VALUE_TENSOR)
		return tensor_numel(fusion_tensor(v));
	for (int i = 0; (v.kind == VALUE_LIST || v.kind == VALUE_TUPLE) && i < value_length(v); i++)
		n += elements_of(value_item(v, i));
	return n;
}

/* Two disturbed ones where they cost nothing, else one. */
static int ways(const struct reference *r)
{
	int64_t n = 0;

	for (int i = 0; i < r->inputs->n_calls; i++)
		for (int k = 0; k < r->inputs->n_args[i]; k++)
			n += elements_of(r->inputs->args[i][k]);
	return n <= SMALL_ELEMENTS ? 3 : 2;
}

static bool make_calls(struct candidate *candidate, struct err *err)
{
	candidate_drop_results(candidate);
	for (int i = 0; i < candidate->originals->n_calls; i++)
		if (!candidate_call(candidate, i, &candidate->outputs[i], err) ||
		    !candidate_keep_grads(candidate, i, true, err))
			return false;
	return true;
}

static bool make(struct reference *r, struct err *err)
{
	const struct candidate_spec spec = { .w = r->w,
					     .p = r->p,
					     .mode = FUSION_EAGER,
					     .originals = r->inputs,
					     .cache = { .dir = r->cache_dir },
					     .references = r->n,
					     .memory_bytes = most_bytes };

	return candidate_create(&r->candidate, &spec, err) && make_calls(&r->candidate, err);
}

/* On to the next stage. */
static bool advance(struct reference *r, struct err *err)
{
	if (r->stage == STAGE_IN_ORDER) {
		candidate_drop_results(&r->candidate);
		if (!candidate_burst(&r->candidate, r->burst, err))
			return false;
		r->stage = STAGE_BURST;
		return true;
	}
	for (int i = 0; i < r->inputs->n_calls; i++)
		if (!candidate_restore(&r->candidate, i, err))
			return false;
	r->stage = STAGE_TIMED;
	return make_calls(&r->candidate, err);
}

const struct candidate *reference_at(struct reference *r, enum reference_stage stage)
{
	struct err err = { 0 };

	if (!r->made && !r->why_not[0]) {
		r->n = ways(r);
		if (r->calls_s > most_calls_s)
			snprintf(r->why_not, sizeof(r->why_not),
				 "its calls take too long to be made in float64 too");
		else if (!make(r, &err))
			snprintf(r->why_not, sizeof(r->why_not), "in float64 it fails: %.150s",
				 err.message);
		r->made = !r->why_not[0];
	}
	while (r->made && !r->why_not[0] && r->stage < stage)
		if (!advance(r, &err))
			snprintf(r->why_not, sizeof(r->why_not), "in float64 it fails: %.150s",
				 err.message);
	return r->made && !r->why_not[0] ? &r->candidate : NULL;
}
