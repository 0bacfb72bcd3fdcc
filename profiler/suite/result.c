/* profiler/suite/result.c -- the results of one run, as its report has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/breaks.h"
#include "profiler/suite/suite.h"

/* A text that outlives the report; NULL: `otherwise`. */
static const char *kept_text(const char *text, const char *otherwise, struct arena *arena)
{
	return arena_strdup(arena, text ? text : otherwise);
}

static const struct interval no_speedup = { NAN, NAN, NAN };

static struct suite_result blank(const char *policy, int place, int64_t run, const char *mode,
				 struct arena *arena)
{
	return (struct suite_result){ .workload = place,
				      .run = run,
				      .engine = "breakeven",
				      .policy = kept_text(policy, "dynamo", arena),
				      .mode = arena_strdup(arena, mode),
				      .speedup = no_speedup,
				      .median_us = NAN,
				      .compile_ms = NAN,
				      .launches = NAN,
				      .peak_bytes = NAN,
				      .max_abs_error = NAN,
				      .graphs = -1,
				      .capture_breaks = -1,
				      .lowering_breaks = -1,
				      .recompiles = -1 };
}

static bool disagrees(const struct report_mode *m)
{
	return m->has.agrees && !m->agrees;
}

/* The mode at the first point at which its values differ from eager's, or as it is in m. */
static const struct report_mode *disagreeing(const struct report_run *run, const char *mode,
					     const struct report_mode *m)
{
	for (size_t i = 0; i < run->points.n; i++) {
		const struct report_mode *of = report_get(run->points.at[i].modes, mode);

		if (of && disagrees(of))
			return of;
	}
	return m;
}

/* A mode against eager; NULL: it was not compared. */
static void read_comparison(const struct report_comparison *c, struct suite_result *r,
			    struct arena *arena)
{
	bool few = c && c->verdict && strcmp(c->verdict, "NOT ENOUGH") == 0;

	if (c && c->verdict && !few && c->speedup_ci.low > 0)
		r->speedup = (struct interval){ c->speedup_ci.low, c->speedup, c->speedup_ci.high };
	if (few && !r->reason)
		r->reason = arena_strdup(arena,
					 "too few samples for a speedup: give it more seconds");
}

static void read_mode(const struct report_mode *m, const struct report_comparison *c,
		      struct suite_result *r, struct arena *arena)
{
	r->status = SUITE_PASS;
	read_comparison(c, r, arena);
	r->median_us = m->latency ? m->latency->median_us : (double)NAN;
	r->compile_ms = m->compile_ms;
	r->launches = m->launches;
	r->peak_bytes = m->has.peak_bytes ? (double)m->peak_bytes : (double)NAN;
	r->max_abs_error = m->max_abs_error;
	r->graphs = (int)m->graphs.n;
	r->capture_breaks = (int)break_distinct(&m->breaks, "capture");
	r->lowering_breaks = (int)break_distinct(&m->breaks, "lowering");
	r->recompiles = (int)m->recompiles.n;
}

/* What disagrees has no speedup. */
static void read_agreement(const struct report_mode *m, struct suite_result *r, struct arena *arena)
{
	if (!disagrees(m))
		return;
	r->status = SUITE_DISAGREES;
	r->reason = kept_text(m->disagreement, "its values differ from eager's", arena);
	r->max_abs_error = m->max_abs_error;
	r->speedup = no_speedup;
}

static const char *failure_of(const struct report_failure *f, struct arena *arena)
{
	return f->line > 0 ? arena_printf(arena, "line %d: %s", (int)f->line, f->message)
			   : arena_strdup(arena, f->message);
}

/* A mode of engine torch: it is judged by our eager's values, where those can be the same.  A
 * build whose random numbers are others has a note. */
static void read_torch_mode(const struct report_torch_mode *m, const struct report_comparison *c,
			    const struct report_torch_build *build, struct suite_result *r,
			    struct arena *arena)
{
	bool differs = m->values && !m->values->agree;

	r->status = SUITE_PASS;
	read_comparison(c, r, arena);
	r->median_us = m->latency ? m->latency->median_us : (double)NAN;
	r->compile_ms = m->compile_ms;
	r->peak_bytes = m->has.peak_bytes ? (double)m->peak_bytes : (double)NAN;
	r->capture_breaks = m->has.breaks ? (int)m->breaks.n : -1;
	r->max_abs_error = m->values ? m->values->max_abs_error : (double)NAN;
	if (differs && m->draws && build && build->note) {
		r->reason = arena_printf(arena, "values are not compared: it draws, and %s",
					 build->note);
	} else if (differs) {
		r->status = SUITE_DISAGREES;
		r->reason = kept_text(m->values->first, "its values are not Breakeven's", arena);
		r->speedup = no_speedup;
	}
	if (m->error) {
		r->status = SUITE_FAILED;
		r->reason = kept_text(m->error, "it failed", arena);
	}
}

/* Where torch failed as a whole: a failure in each of the workload's modes that it has. */
static int torch_failures(const struct report_run *run, const struct suite_result *first,
			  struct arena *arena, struct suite_result *out, int most)
{
	struct report_texts modes = run->workload ? run->workload->modes
						  : (struct report_texts){ 0 };
	int n = 0;

	for (size_t i = 0; i < modes.n && n < most; i++) {
		if (strcmp(modes.at[i], "lazy") == 0)
			continue;
		out[n] = *first;
		out[n].mode = arena_strdup(arena, modes.at[i]);
		out[n].status = SUITE_FAILED;
		out[n++].reason = failure_of(run->engines->torch->error, arena);
	}
	return n;
}

static int torch_results(const struct report_run *run, struct suite_result first,
			 struct arena *arena, struct suite_result *out, int most)
{
	const struct report_torch *torch = run->engines ? run->engines->torch : NULL;
	const struct report_torch_point *last;
	struct report_torch_mode_map modes;
	struct report_comparison_map paid;
	int n = 0;

	if (!torch)
		return 0;
	first.engine = "torch";
	first.policy = "dynamo"; /* the original */
	if (torch->error)
		return torch_failures(run, &first, arena, out, most);
	last = torch->points.n ? &torch->points.at[torch->points.n - 1] : NULL;
	modes = last ? last->modes : torch->modes;
	paid = last ? last->break_even : torch->break_even;
	for (; n < most && (size_t)n < modes.n; n++) {
		out[n] = first;
		out[n].mode = arena_strdup(arena, modes.keys[n]);
		read_torch_mode(&modes.at[n], report_get(paid, modes.keys[n]), torch->build,
				&out[n], arena);
	}
	return n;
}

int suite_results_of_report(const struct report_run *run, int workload, int64_t id,
			    struct arena *arena, struct suite_result *out, int most)
{
	const struct report_point *last = run->points.n ? &run->points.at[run->points.n - 1] : NULL;
	struct report_mode_map modes = last ? last->modes : run->modes;
	struct report_comparison_map paid = last ? last->break_even : run->break_even;
	const char *policy = run->workload ? run->workload->policy : NULL;
	int n = 0;

	for (size_t i = 0; i < modes.n && n < most; i++) {
		const char *mode = modes.keys[i];

		out[n] = blank(policy, workload, id, mode, arena);
		read_mode(&modes.at[i], report_get(paid, mode), &out[n], arena);
		read_agreement(disagreeing(run, mode, &modes.at[i]), &out[n++], arena);
	}
	for (size_t i = 0; i < run->failed.n && n < most; i++) {
		out[n] = blank(policy, workload, id, run->failed.keys[i], arena);
		out[n].status = SUITE_FAILED;
		out[n++].reason = failure_of(&run->failed.at[i], arena);
	}
	return n +
	       torch_results(run, blank(policy, workload, id, "", arena), arena, out + n, most - n);
}

int suite_results_of_failure(const struct suite_failure *f, struct arena *arena,
			     struct suite_result *out, int most)
{
	int n = 0;

	for (size_t i = 0; i < f->modes.n && n < most; i++) {
		out[n] = blank(f->policy, f->workload, f->run, f->modes.at[i], arena);
		out[n].status = f->status;
		out[n++].reason = f->reason ? arena_strdup(arena, f->reason) : NULL;
	}
	return n;
}
