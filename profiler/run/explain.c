/* profiler/run/explain.c -- what capture makes of a workload: nothing is timed.
 *
 * The calls run once, by the interpreter tier, since later frames are captured
 * for the values that earlier ones computed.  What would happen at other sizes
 * is tried, not guessed: each try is a session of its own that makes the first
 * call and then the changed one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/refused.h"
#include "profiler/measure/candidate.h"
#include "profiler/report/report.h"
#include "profiler/report/passes.h"
#include "profiler/report/places.h"
#include "profiler/breaks/rewrites.h"
#include "profiler/report/sizes.h"
#include "profiler/workload/value_json.h"

/* The calls in order; a program's own error ends them and is reported. */
static bool explain_calls(struct candidate *candidate, struct report_explain *out,
			  struct report_draft *draft)
{
	int n = candidate->originals->n_calls;
	struct report_call *calls = report_new_call((size_t)n, &draft->arena);
	struct report_failure *error = report_new_failure(1, &draft->arena);
	bool ok = true;
	int i;

	if (!calls || !error)
		return false;
	for (i = 0; i < n; i++) {
		int64_t before = fusion_counts(candidate->session).graphs;
		struct err err = { 0 };

		ok = candidate_call(candidate, i, &candidate->outputs[i], &err);
		if (!ok) {
			report_error(error, &err, draft);
			REPORT_SET(error, call, i);
			REPORT_SET(out, error, error);
			break;
		}
		REPORT_SET(&calls[i], new_graphs,
			   fusion_counts(candidate->session).graphs - before);
	}
	REPORT_SET(out, calls, (struct report_call_list){ calls, (size_t)i });
	return true;
}

static int count_ops(struct report_graph_list graphs)
{
	size_t n = 0;

	for (size_t i = 0; i < graphs.n; i++)
		n += graphs.at[i].ops.n;
	return (int)n;
}

static int count_breaks(struct report_break_list breaks)
{
	int n = 0;

	for (size_t i = 0; i < breaks.n; i++)
		n += strcmp(breaks.at[i].stage, "capture") == 0;
	return n;
}

/* What is left of `limit_ms` since `begin`; negative: no limit. */
static double left_ms(double limit_ms, int64_t begin)
{
	double left = limit_ms - (double)(clock_cpu_ns() - begin) / 1e6;

	return limit_ms < 0 ? -1 : fmax(left, 0);
}

/* An explanation under way. */
struct explaining {
	struct report_explain *out;
	struct report_draft *draft;
	struct candidate candidate;
	struct workload quick;
	const struct workload *w;
	const struct explain_options *options;
	int64_t cpu_begin_ns;
	int64_t base_ns; /* what a session and its calls take: a try about as long */
};

/* What could be otherwise: the source, the sizes. */
static void try_changes(struct explaining *x)
{
	const struct explain_options *options = x->options;
	const struct point *p = &x->w->points[0];
	const struct rewrites_of rewrites = { .candidate = &x->candidate,
					      .w = &x->quick,
					      .p = p,
					      .limit_ms = left_ms(options->rewrites_ms,
								  x->cpu_begin_ns),
					      .base_ns = x->base_ns };
	struct sizes_of sizes = {
		.candidate = &x->candidate, .w = &x->quick, .p = p, .base_ns = x->base_ns
	};

	REPORT_SET(x->out, rewrites_tried,
		   options->rewrites_ms == 0 ||
		       rewrites_offer(x->out->breaks, &rewrites, x->draft));
	sizes.limit_ms = left_ms(options->sizes_ms, x->cpu_begin_ns);
	REPORT_SET_IF(x->out, sizes, options->sizes_ms != 0, sizes_try(&sizes, x->draft));
}

/* What capture made, as a mode of a run has it. */
static bool put_graphs(struct explaining *x)
{
	struct report_explain *out = x->out;
	struct report_mode *m = report_new_mode(1, &x->draft->arena);
	size_t passes_bytes = PASSES_REPORT_BYTES;

	if (!m || !report_graphs(m, &x->candidate, x->options->brief, x->draft))
		return false;
	if (x->options->passes)
		report_passes(m->graphs, &x->candidate, &passes_bytes, x->draft);
	REPORT_SET(out, graphs, m->graphs);
	REPORT_SET(out, guards, m->guards);
	REPORT_SET(out, breaks, m->breaks);
	REPORT_SET(out, tree, m->tree);
	REPORT_SET_IF(out, lazy, m->has.lazy, m->lazy);
	REPORT_SET(out, counts, m->counts);
	REPORT_SET(out, recompiles, m->recompiles);
	REPORT_SET(out, compile_ms, m->compile_ms);
	REPORT_SET(out, cached, m->cached);
	REPORT_SET(out, graph_count, (int64_t)m->graphs.n);
	REPORT_SET(out, graph_break_count, count_breaks(m->breaks));
	REPORT_SET(out, op_count, count_ops(m->graphs));
	return true;
}

/* False when out of memory. */
static bool explain(struct explaining *x)
{
	struct report_explain *out = x->out = report_new_explain(1, &x->draft->arena);
	int64_t begin_ns = clock_ns();

	if (!out)
		return false;
	REPORT_SET(out, breakeven, 1);
	REPORT_SET(out, name, report_draft_text(x->draft, x->w->name));
	REPORT_SET(out, mode, fusion_mode_name(x->options->mode));
	REPORT_SET(out, policy, fusion_policy_name(x->w->policy));
	if (!explain_calls(&x->candidate, out, x->draft))
		return false;
	x->base_ns = clock_cpu_ns() - x->cpu_begin_ns;
	if (!put_graphs(x))
		return false;
	if (!out->error)
		try_changes(x);
	REPORT_SET(out, ms, (double)(clock_ns() - begin_ns) / 1e6);
	return true;
}

struct report_explain *profiler_explain(const struct workload *w,
					const struct explain_options *options,
					struct report_draft *draft, struct err *err)
{
	struct explaining x = { .draft = draft,
				.quick = workload_quick(w),
				.w = w,
				.options = options,
				.cpu_begin_ns = clock_cpu_ns() };
	struct candidate_spec spec = { .w = &x.quick, .p = &w->points[0], .mode = options->mode };
	uint64_t refused = memory_refused();
	struct inputs inputs;
	bool ok = false;

	if (!inputs_create(&inputs, w, spec.p, err))
		return NULL;
	spec.originals = &inputs;
	if (!candidate_create(&x.candidate, &spec, err)) {
		sweep_locate(w, spec.p, err);
	} else {
		ok = (explain(&x) &&
		      report_places(REPORT_RECORD(explain), x.out, spec.p->program, draft)) ||
		     err_set(err, ERR_MEMORY, "out of memory for what capture makes");
	}
	candidate_destroy(&x.candidate);
	inputs_destroy(&inputs);
	if (ok && memory_refused() != refused)
		ok = memory_refused_error(err, "the explanation");
	return ok ? x.out : NULL;
}
