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
#include "profiler/measure/candidate.h"
#include "profiler/report/report.h"
#include "profiler/report/passes.h"
#include "profiler/report/places.h"
#include "profiler/breaks/rewrites.h"
#include "profiler/report/sizes.h"
#include "profiler/workload/value_json.h"

/* The calls in order; a program's own error ends them and is reported. */
static json_t *explain_calls(struct candidate *candidate, json_t *out)
{
	json_t *calls = json_array();

	json_object_set_new(out, "calls", calls);
	for (int i = 0; i < candidate->originals->n_calls; i++) {
		int64_t before = fusion_counts(candidate->session).graphs;
		struct err err = { 0 };

		if (!candidate_call(candidate, i, &candidate->outputs[i], &err)) {
			json_t *error = report_error(&err);

			json_object_set_new(error, "call", json_integer(i));
			return error;
		}
		json_array_append_new(
		    calls,
		    json_pack("{s:I}", "new_graphs",
			      (json_int_t)(fusion_counts(candidate->session).graphs - before)));
	}
	return json_null();
}

static int count_ops(const json_t *graphs)
{
	int n = 0;
	size_t i;
	json_t *graph;

	json_array_foreach((json_t *)graphs, i, graph)
	{
		n += (int)json_array_size(json_object_get(graph, "ops"));
	}
	return n;
}

static int count_breaks(const json_t *breaks)
{
	int n = 0;
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)breaks, i, item)
	{
		const char *stage = json_string_value(json_object_get(item, "stage"));

		n += stage && strcmp(stage, "capture") == 0;
	}
	return n;
}

/* What is left of `limit_ms` since `begin`; negative: no limit. */
static double left_ms(double limit_ms, int64_t begin)
{
	double left = limit_ms - (double)(clock_cpu_ns() - begin) / 1e6;

	return limit_ms < 0 ? -1 : fmax(left, 0);
}

/* What could be otherwise: the source, the sizes.  `base_ns`: what a session and
 * its calls take, a try about as long. */
static void try_changes(json_t *out, const struct candidate *candidate, const struct workload *w,
			const struct point *p, const struct explain_options *options, int64_t begin,
			int64_t base_ns)
{
	bool tried = options->rewrites_ms == 0 ||
		     rewrites_offer(json_object_get(out, "breaks"), candidate, w, p,
				    left_ms(options->rewrites_ms, begin), base_ns);

	json_object_set_new(out, "rewrites_tried", json_boolean(tried));
	if (options->sizes_ms != 0)
		json_object_set_new(
		    out, "sizes",
		    sizes_try(candidate, w, p, left_ms(options->sizes_ms, begin), base_ns));
}

json_t *profiler_explain(const struct workload *w, const struct explain_options *options,
			 struct err *err)
{
	struct workload quick = workload_quick(w);
	const struct point *p = &w->points[0];
	struct candidate candidate = { 0 };
	struct inputs inputs;
	json_t *out, *graphs;
	int64_t begin = clock_ns(), cpu_begin = clock_cpu_ns(), base_ns;
	size_t passes_bytes = PASSES_REPORT_BYTES;

	if (!inputs_create(&inputs, w, p, err))
		return NULL;
	if (!candidate_create(&candidate, &quick, p, options->mode, &inputs,
			      (struct candidate_cache){ 0 }, err)) {
		sweep_locate(w, p, err);
		candidate_destroy(&candidate);
		inputs_destroy(&inputs);
		return NULL;
	}
	out = json_pack("{s:i, s:s, s:s, s:s}", "breakeven", 1, "name", w->name, "mode",
			fusion_mode_name(options->mode), "policy", fusion_policy_name(w->policy));
	json_object_set_new(out, "error", explain_calls(&candidate, out));
	base_ns = clock_cpu_ns() - cpu_begin;
	report_graphs(out, &candidate, options->brief);
	if (options->passes)
		report_passes(out, &candidate, &passes_bytes);
	graphs = json_object_get(out, "graphs");
	json_object_set_new(out, "graph_count", json_integer((json_int_t)json_array_size(graphs)));
	json_object_set_new(out, "graph_break_count",
			    json_integer(count_breaks(json_object_get(out, "breaks"))));
	json_object_set_new(out, "op_count", json_integer(count_ops(graphs)));
	if (json_is_null(json_object_get(out, "error")))
		try_changes(out, &candidate, &quick, p, options, cpu_begin, base_ns);
	report_places(out, p->program);
	json_object_set_new(out, "ms", json_real((double)(clock_ns() - begin) / 1e6));
	candidate_destroy(&candidate);
	inputs_destroy(&inputs);
	return out;
}
