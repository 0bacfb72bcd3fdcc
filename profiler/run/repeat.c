/* profiler/run/repeat.c -- whether modes give what eager gives when calls follow each other.
 *
 * A fault of memory or of order shows only where a call begins while another is under way,
 * so calls that are waited for one by one do not show it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/run/run.h"
#include "profiler/workload/value_json.h"

/* Cycles over the calls, one after another. */
static int burst_of(double calls_s)
{
	static const struct {
		double below_s;
		int cycles;
	} rows[] = { { 0.02, 8 }, { 0.2, 3 }, { 1, 2 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (calls_s < rows[i].below_s)
			return rows[i].cycles;
	return 0;
}

static bool burst(struct candidate *candidate, int cycles, struct err *err)
{
	candidate_drop_results(candidate);
	buf_clear(fusion_stdout(candidate->session));
	return candidate_burst(candidate, cycles, err);
}

static struct allclose_pair pair_of(struct run *r, struct candidate *candidates, int k)
{
	return (struct allclose_pair){ &candidates[k], &candidates[0], "eager's", &r->reference };
}

/* The timed calls, one after another, from inputs as they were. */
static bool make_timed(struct candidate *candidate, struct err *err)
{
	candidate_drop_results(candidate);
	for (int i = 0; candidate->writes && i < candidate->n_timed; i++)
		if (!candidate_restore(candidate, candidate->timed[i], err))
			return false;
	for (int i = 0; i < candidate->n_timed; i++)
		if (!candidate_start(candidate, candidate->timed[i],
				     &candidate->outputs[candidate->timed[i]], err))
			return false;
	return fusion_wait(candidate->engine, err);
}

enum { KEPT_BYTES = 64 << 20 };

static int64_t bytes_of(struct value v)
{
	int64_t bytes = 0;

	if (fusion_tensor(v))
		return tensor_numel(fusion_tensor(v)) *
		       (int64_t)dtype_bytes(fusion_tensor(v)->dtype);
	if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST)
		for (int i = 0; i < value_length(v); i++)
			bytes += bytes_of(value_item(v, i));
	for (int i = 0; v.kind == VALUE_DICT && i < value_length(v); i++)
		bytes += bytes_of(value_item(v, i));
	return bytes;
}

/* What a program returns may be what its next call writes: a sum of gradients, a buffer.  Copies
 * of outputs that are not too large; the others stay. */
static bool keep_outputs(struct candidate *candidate, struct err *err)
{
	for (int i = 0; i < candidate->n_timed; i++) {
		struct value *v = &candidate->outputs[candidate->timed[i]], copy;

		if (!value_walkable(*v, "an output", NULL) || bytes_of(*v) > KEPT_BYTES)
			continue;
		copy = value_copy(*v, fusion_allocator(candidate->engine), err);
		if (copy.kind == VALUE_UNSET)
			return false;
		value_unref(*v);
		*v = copy;
	}
	return true;
}

/* Eager's timed calls, twice: whether the second time gave the same. */
static bool repeats(struct candidate *eager, bool *same, struct err *err)
{
	struct candidate first = *eager;
	struct allclose found = { 0 };
	struct allclose_pair pair = { eager, &first, "the first's", NULL };
	bool ok;

	if (!make_timed(eager, err) || !keep_outputs(eager, err))
		return false;
	first.outputs = eager->outputs;
	eager->outputs = calloc((size_t)eager->originals->n_calls, sizeof(*eager->outputs));
	if (!eager->outputs) {
		eager->outputs = first.outputs;
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	}
	ok = make_timed(eager, err);
	if (ok)
		allclose_later(&found, &pair, STAGE_TIMED);
	*same = found.differing == 0;
	for (int i = 0; i < eager->originals->n_calls; i++)
		value_unref(first.outputs[i]);
	free(first.outputs);
	return ok;
}

bool run_agree_before(struct run *r, struct candidate *candidates, struct err *err)
{
	int cycles = r->reference.burst = burst_of(candidates[0].calls_s);
	struct err ignored = { 0 };

	r->repeats = true;
	/* A program may not be one that can be called again and again. */
	if (candidates[0].mode != FUSION_EAGER || cycles == 0 || r->w->n_modes < 2 ||
	    !burst(&candidates[0], cycles, &ignored))
		return true;
	for (int k = 1; k < r->w->n_modes; k++) {
		struct allclose_pair pair = pair_of(r, candidates, k);

		if (!burst(&candidates[k], cycles, err))
			return false;
		allclose_later(&r->agreements[candidates[k].mode], &pair, STAGE_BURST);
		candidate_drop_results(&candidates[k]);
		buf_clear(fusion_stdout(candidates[k].session));
	}
	reference_rest(&r->reference);
	if (!repeats(&candidates[0], &r->repeats, err))
		return false;
	candidate_drop_results(&candidates[0]);
	buf_clear(fusion_stdout(candidates[0].session));
	return true;
}

bool run_agree_after(struct run *r, struct candidate *candidates, struct err *err)
{
	bool same = false;

	if (candidates[0].mode != FUSION_EAGER || r->w->n_modes < 2)
		return true;
	if (r->repeats && !repeats(&candidates[0], &same, err))
		return false;
	for (int k = 1; k < r->w->n_modes; k++) {
		struct allclose_pair pair = pair_of(r, candidates, k);
		enum fusion_mode mode = candidates[k].mode;
		struct allclose *a = &r->agreements[mode];
		struct allclose_found found;

		if (same && !make_timed(&candidates[k], err))
			return false;
		if (same)
			allclose_later(a, &pair, STAGE_TIMED);
		else
			snprintf(a->not_timed, sizeof(a->not_timed),
				 "each call changes what the next one gives");
		candidate_drop_results(&candidates[k]);
		found = allclose_report(a, pair.whose, r->draft);
		if (run_mode(r, mode))
			ALLCLOSE_SET(run_mode(r, mode), found);
		r->kept[r->point].disagrees[mode] = !found.agrees;
	}
	reference_rest(&r->reference);
	candidate_drop_results(&candidates[0]);
	for (int k = 0; k < r->w->n_modes; k++)
		for (int i = 0; candidates[k].writes && i < r->reference.inputs->n_calls; i++)
			if (!candidate_restore(&candidates[k], i, err))
				return false;
	return true;
}
