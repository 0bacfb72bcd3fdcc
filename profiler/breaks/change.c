/* profiler/breaks/change.c -- a program beside the one that it was before a change.
 *
 * What is timed here is not what the report's latencies are: only the two programs take
 * turns, so that their ratio is as narrow as a short run can make it.
 */
#include "profiler/breaks/change.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/allclose/allclose.h"
#include "profiler/measure/break_even.h"
#include "profiler/measure/measure.h"
#include "profiler/report/report.h"
#include "profiler/workload/value_json.h"

/* Seconds of sampling the two programs of a mode, where the workload gives none. */
static const double pair_s = 1;

enum { BEFORE, AFTER };

struct change {
	const struct workload *w;
	const struct profiler_options *options;
	const struct point *p;
	struct point before;
	struct candidate candidates[2];
	struct report_call_list calls[2]; /* as in a report: what was printed is there */
	struct report_draft *draft;
	bool agrees;
	const struct inputs *inputs;
};

static bool make_calls(struct change *c, int side, struct err *err)
{
	struct candidate *candidate = &c->candidates[side];

	c->calls[side] = (struct report_call_list){
		report_new_call((size_t)candidate->originals->n_calls, &c->draft->arena), 0
	};
	if (!c->calls[side].at)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (int i = 0; i < candidate->originals->n_calls; i++) {
		struct fusion_counts was = fusion_counts(candidate->session), now;

		if (!candidate_call(candidate, i, &candidate->outputs[i], err) ||
		    !candidate_reportable(candidate, i, err) ||
		    !candidate_keep_grads(candidate, i, false, err))
			return false;
		now = fusion_counts(candidate->session);
		candidate->launches = (double)(now.launches - was.launches);
		report_call_fill(
		    &c->calls[side].at[c->calls[side].n++],
		    &(struct report_of_call){
			.candidate = candidate, .call = i, .before = was, .after = now },
		    c->draft);
		buf_clear(fusion_stdout(candidate->session));
		if (!candidate_note_writes(candidate, i, err) ||
		    !fusion_wait(candidate->engine, err)) /* all that was read is so */
			return false;
	}
	return true;
}

static bool make_candidate(struct change *c, int side, enum fusion_mode mode,
			   const struct inputs *inputs, struct err *err)
{
	const struct candidate_spec spec = { .w = c->w,
					     .p = side == BEFORE ? &c->before : c->p,
					     .mode = mode,
					     .originals = inputs,
					     .cache = { .dir = c->options->cache_dir } };

	return candidate_create(&c->candidates[side], &spec, err) && make_calls(c, side, err);
}

/* How many lines `text` has beyond those of `kept`, which it has in the same order; -1: it lacks
 * one.
 */
static int64_t lines_beyond(const char *text, const char *kept)
{
	int64_t n = 0;

	while (*text) {
		size_t len = strcspn(text, "\n") + 1, other = strcspn(kept, "\n") + 1;

		if (*kept && len == other && strncmp(text, kept, len) == 0)
			kept += kept[len - 1] ? len : len - 1;
		else
			n++;
		text += text[len - 1] ? len : len - 1;
	}
	return *kept ? -1 : n;
}

/* What the old program printed and this one does not is no difference of values: a print that
 * breaks is left out.  Such lines are counted, and both texts are the same from here on. */
static int64_t leave_out_prints(struct change *c)
{
	int64_t all = 0;

	for (size_t i = 0; i < c->calls[BEFORE].n && i < c->calls[AFTER].n; i++) {
		struct report_call *old = &c->calls[BEFORE].at[i], *new = &c->calls[AFTER].at[i];
		int64_t n = lines_beyond(old->stdout ? old->stdout : "",
					 new->stdout ? new->stdout : "");

		if (n <= 0)
			continue;
		old->stdout = new->stdout;
		all += n;
	}
	return all;
}

/* Whether both give the same; before it is forgotten.  The old program is the reference. */
static void compare_values(struct change *c, struct report_change *to)
{
	struct reference reference = {
		.w = c->w, .p = &c->before, .inputs = c->inputs, .cache_dir = c->options->cache_dir
	};
	struct allclose_pair pair = { &c->candidates[AFTER], &c->candidates[BEFORE],
				      "the old program's", &reference };
	struct allclose_found found;
	struct allclose all = { 0 };
	int64_t left_out = leave_out_prints(c);

	REPORT_SET_IF(to, prints_less, left_out, left_out);
	allclose_in_order(&all, &pair, c->calls[AFTER], c->calls[BEFORE]);
	found = allclose_report(&all, pair.whose, c->draft);
	ALLCLOSE_SET(to, found);
	c->agrees = found.agrees;
	reference_finish(&reference);
}

static void fill_values(struct change *c, struct report_change *to)
{
	const struct candidate *before = &c->candidates[BEFORE], *after = &c->candidates[AFTER];

	compare_values(c, to);
	REPORT_SET(to, graphs,
		   (struct report_counts){ fusion_counts(before->session).n_graphs,
					   fusion_counts(after->session).n_graphs });
	REPORT_SET(to, breaks,
		   (struct report_counts){ fusion_counts(before->session).n_breaks,
					   fusion_counts(after->session).n_breaks });
	REPORT_SET(to, launches, (struct report_pair){ before->launches, after->launches });
}

static bool on_tick(void *self, const struct candidate *candidate, int round, double share)
{
	const struct change *c = self;

	(void)candidate, (void)round, (void)share;
	return !c->options->progress ||
	       c->options->progress(c->options->self, 0, "before and after the change", -1);
}

static bool fill_times(struct change *c, struct report_change *to, const struct interval median[2],
		       const struct comparison *found)
{
	struct report_interval *ci = ARENA_ARRAY(&c->draft->arena, struct report_interval, 2);

	if (!ci)
		return false;
	ci[BEFORE] = report_interval_of(&median[BEFORE]);
	ci[AFTER] = report_interval_of(&median[AFTER]);
	REPORT_SET(to, median_us, (struct report_pair){ median[BEFORE].mid, median[AFTER].mid });
	REPORT_SET(to, ci_us, (struct report_intervals){ ci, 2 });
	REPORT_SET(to, saved_us, found->saved_us.mid);
	REPORT_SET(to, saved_ci_us, report_interval_of(&found->saved_us));
	REPORT_SET(to, speedup, found->speedup.mid);
	REPORT_SET(to, speedup_ci, report_interval_of(&found->speedup));
	REPORT_SET(to, verdict, verdict_word(found->verdict));
	return true;
}

static bool time_both(struct change *c, struct report_change *to, struct err *err)
{
	struct measure_watch watch = { .tick = on_tick, .self = c };
	struct candidate *before = &c->candidates[BEFORE], *after = &c->candidates[AFTER];
	double seconds = c->w->seconds > 0 ? c->w->seconds : pair_s;
	struct interval median[2];
	struct comparison found;

	if (!candidate_forget(before, err) || !candidate_forget(after, err) ||
	    !measure_candidates(c->candidates, 2, seconds, &watch, err))
		return false;
	if (!stats_median(before->sample_us, before->n_samples, &median[BEFORE]) ||
	    !stats_median(after->sample_us, after->n_samples, &median[AFTER]) ||
	    !break_even_compare(
		&(struct paired_samples){ before->sample_us, after->sample_us,
					  (int[STATS_PROCESSES]){ after->n_samples } },
		0, &found))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	if (!c->agrees)
		found.verdict = VERDICT_DISAGREES;
	return fill_times(c, to, median, &found) ||
	       err_set(err, ERR_MEMORY, "out of memory for the run");
}

static void drop(struct change *c)
{
	for (int side = 0; side < 2; side++) {
		candidate_destroy(&c->candidates[side]);
		c->candidates[side] = (struct candidate){ 0 };
	}
}

static bool fail_before(struct change *c, struct report_change *to, const struct err *why)
{
	struct report_failure *failure = report_new_failure(1, &c->draft->arena);

	if (!failure)
		return false;
	report_error(failure, why, c->draft);
	REPORT_SET(to, error, failure);
	return true;
}

/* False with *err: of the program after the change, or of the run. */
static bool run_mode(struct change *c, enum fusion_mode mode, struct report_change *to,
		     struct err *err)
{
	struct err why = { 0 };
	bool ok = make_candidate(c, AFTER, mode, c->inputs, err);

	if (ok && !make_candidate(c, BEFORE, mode, c->inputs, &why)) {
		ok = fail_before(c, to, &why) ||
		     err_set(err, ERR_MEMORY, "out of memory for the run");
	} else if (ok) {
		fill_values(c, to);
		ok = !c->options->timing || time_both(c, to, err);
	}
	drop(c);
	return ok;
}

static bool run_point(struct change *c, struct report_change_map *to, struct err *err)
{
	int n = c->w->n_modes;
	struct inputs inputs;
	bool ok = true;

	to->at = report_new_change((size_t)n, &c->draft->arena);
	to->keys = ARENA_ARRAY(&c->draft->arena, const char *, (size_t)n);
	if (!to->at || !to->keys)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	if (!inputs_create(&inputs, c->w, c->p, err))
		return false;
	c->inputs = &inputs;
	for (int k = 0; ok && k < n; k++) {
		to->keys[k] = fusion_mode_name(c->w->modes[k]);
		ok = run_mode(c, c->w->modes[k], &to->at[k], err);
		to->n++;
	}
	inputs_destroy(&inputs);
	return ok;
}

bool change_run(const struct workload *w, const struct profiler_options *options,
		struct report_draft *draft, struct changes_made *out, struct err *err)
{
	struct change c = { .w = w, .options = options, .draft = draft };
	struct err why = { 0 };

	if (!w->before.program)
		return true;
	out->points = ARENA_ARRAY(&draft->arena, struct report_change_map, (size_t)w->n_points);
	if (!out->points)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (int i = 0; i < w->n_points && !why.code; i++) {
		c.p = &w->points[i];
		if (options->only && c.p->n != options->at)
			continue;
		c.before = w->before;
		c.before.n = c.p->n;
		if (run_point(&c, &out->points[out->n], &why))
			out->n++;
	}
	if (!why.code)
		return true;
	out->n = 0;
	if (why.code != ERR_CANCELLED && why.code != ERR_MEMORY)
		return true;
	*err = why;
	return false;
}

void change_put(struct report_run *report, const struct changes_made *made)
{
	for (size_t i = 0; i < made->n; i++) {
		const struct report_change_map *of = &made->points[i];
		struct report_mode_map modes = i < report->points.n ? report->points.at[i].modes
								    : report->modes;

		for (size_t k = 0; k < of->n; k++) {
			struct report_mode *m = report_get(modes, of->keys[k]);

			if (m)
				REPORT_SET(m, change, &of->at[k]);
		}
	}
}
