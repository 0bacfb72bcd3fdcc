/* profiler/suite/result.c -- the results of one run, as its report has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/json.h"
#include "profiler/suite/suite.h"

/* A text that outlives the report. */
static const char *kept_text(const json_t *json, const char *field, const char *otherwise,
			     struct arena *arena)
{
	return arena_strdup(arena, text_field_or(json, field, otherwise));
}

/* Breaks of a stage, in a mode of a report. */
static int breaks_of(const json_t *m, const char *stage)
{
	json_t *list = json_object_get(m, "breaks"), *item;
	size_t i;
	int n = 0;

	json_array_foreach(list, i, item)
	{
		const char *of = json_string_value(json_object_get(item, "stage"));

		n += of && strcmp(of, stage) == 0;
	}
	return n;
}

static struct suite_result blank(const json_t *workload, int place, int64_t run, const char *mode,
				 struct arena *arena)
{
	return (struct suite_result){ .workload = place,
				      .run = run,
				      .engine = "breakeven",
				      .policy = kept_text(workload, "policy", "dynamo", arena),
				      .mode = arena_strdup(arena, mode),
				      .speedup = { NAN, NAN, NAN },
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

/* The mode at the first point at which its values are not eager's, or as it is in m. */
static const json_t *disagreeing(const json_t *report, const char *mode, const json_t *m)
{
	const json_t *point;
	size_t i;

	json_array_foreach(json_object_get(report, "points"), i, point)
	{
		const json_t *of = json_object_get(json_object_get(point, "modes"), mode);

		if (json_is_false(json_object_get(of, "agrees")))
			return of;
	}
	return m;
}

static void read_mode(const json_t *m, const json_t *comparison, struct suite_result *r,
		      struct arena *arena)
{
	const json_t *ci = json_object_get(comparison, "speedup_ci");
	const char *verdict = json_string_value(json_object_get(comparison, "verdict"));

	r->status = SUITE_PASS;
	if (comparison)
		r->speedup = (struct interval){ .low = json_number_value(json_array_get(ci, 0)),
						.mid = number_field(comparison, "speedup"),
						.high = json_number_value(json_array_get(ci, 1)) };
	if (!(r->speedup.low > 0) || !verdict || strcmp(verdict, "NOT ENOUGH") == 0)
		r->speedup = (struct interval){ NAN, NAN, NAN };
	if (verdict && strcmp(verdict, "NOT ENOUGH") == 0 && !r->reason)
		r->reason = arena_strdup(arena,
					 "too few samples for a speedup: give it more seconds");
	r->median_us = number_field(json_object_get(m, "latency"), "median_us");
	r->compile_ms = number_field(m, "compile_ms");
	r->launches = number_field(m, "launches");
	r->peak_bytes = number_field(m, "peak_bytes");
	r->max_abs_error = number_field(m, "max_abs_error");
	r->graphs = (int)json_array_size(json_object_get(m, "graphs"));
	r->capture_breaks = breaks_of(m, "capture");
	r->lowering_breaks = breaks_of(m, "lowering");
	r->recompiles = (int)json_array_size(json_object_get(m, "recompiles"));
}

/* What disagrees has no speedup. */
static void read_agreement(const json_t *m, struct suite_result *r, struct arena *arena)
{
	if (!json_is_false(json_object_get(m, "agrees")))
		return;
	r->status = SUITE_DISAGREES;
	r->reason = kept_text(m, "disagreement", "its values are not eager's", arena);
	r->max_abs_error = number_field(m, "max_abs_error");
	r->speedup = (struct interval){ NAN, NAN, NAN };
}

static const char *failure_of(const json_t *error, struct arena *arena)
{
	const char *message = kept_text(error, "message", "it failed", arena);
	int line = (int)json_integer_value(json_object_get(error, "line"));

	return line > 0 ? arena_printf(arena, "line %d: %s", line, message) : message;
}

/* The last point of a sweep, or the report itself. */
static const json_t *last_of(const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points);

	return n ? json_array_get(points, n - 1) : report;
}

/* A mode of engine torch: it is judged by our eager's values, where those can be the same. */
static void read_torch_mode(const json_t *m, const json_t *comparison, const json_t *note,
			    struct suite_result *r, struct arena *arena)
{
	const json_t *values = json_object_get(m, "values"), *error = json_object_get(m, "error");

	read_mode(m, comparison, r, arena);
	r->policy = "dynamo"; /* the original */
	r->graphs = r->recompiles = -1;
	if (!json_is_array(json_object_get(m, "breaks")))
		r->capture_breaks = -1;
	else
		r->capture_breaks = (int)json_array_size(json_object_get(m, "breaks"));
	r->lowering_breaks = -1;
	r->max_abs_error = number_field(values, "max_abs_error");
	if (json_is_false(json_object_get(values, "agree")) &&
	    json_is_true(json_object_get(m, "draws")) && json_is_string(note)) {
		r->reason = arena_printf(arena, "values are not compared: it draws, and %s",
					 json_string_value(note));
	} else if (json_is_false(json_object_get(values, "agree"))) {
		r->status = SUITE_DISAGREES;
		r->reason = kept_text(values, "first", "its values are not ours", arena);
		r->speedup = (struct interval){ NAN, NAN, NAN };
	}
	if (json_is_object(error)) {
		r->status = SUITE_FAILED;
		r->reason = failure_of(error, arena);
	} else if (json_is_string(error)) {
		r->status = SUITE_FAILED;
		r->reason = kept_text(m, "error", "it failed", arena);
	}
}

/* `engines.torch`; where that failed as a whole, a failure in each of the workload's
 * modes that it has. */
static int torch_results(const json_t *report, struct suite_result first, struct arena *arena,
			 struct suite_result *out, int most)
{
	const json_t *torch = json_object_get(json_object_get(report, "engines"), "torch");
	const json_t *error = json_object_get(torch, "error"), *at = last_of(torch);
	json_t *modes = json_object_get(at, "modes"), *m;
	const char *mode;
	size_t i;
	int n = 0;

	first.engine = "torch";
	first.policy = "dynamo";
	if (json_is_object(error)) {
		json_array_foreach(json_object_get(json_object_get(report, "workload"), "modes"), i,
				   m)
		{
			const char *name = json_string_value(m);

			if (n == most || !name || strcmp(name, "lazy") == 0)
				continue;
			out[n] = first;
			out[n].mode = arena_strdup(arena, name);
			out[n].status = SUITE_FAILED;
			out[n++].reason = failure_of(error, arena);
		}
		return n;
	}
	json_object_foreach(modes, mode, m)
	{
		if (n == most)
			return n;
		out[n] = first;
		out[n].mode = arena_strdup(arena, mode);
		read_torch_mode(m, json_object_get(json_object_get(at, "break_even"), mode),
				json_object_get(json_object_get(torch, "build"), "note"), &out[n++],
				arena);
	}
	return n;
}

int suite_results_of_report(const json_t *report, int workload, int64_t run, struct arena *arena,
			    struct suite_result *out, int most)
{
	const json_t *json = json_object_get(report, "workload"), *at = last_of(report);
	json_t *break_even = json_object_get(at, "break_even"), *m;
	const char *mode;
	int n = 0;

	json_object_foreach(json_object_get(at, "modes"), mode, m)
	{
		if (n == most)
			return n;
		out[n] = blank(json, workload, run, mode, arena);
		read_mode(m, json_object_get(break_even, mode), &out[n], arena);
		read_agreement(disagreeing(report, mode, m), &out[n++], arena);
	}
	json_object_foreach(json_object_get(report, "failed"), mode, m)
	{
		if (n == most)
			return n;
		out[n] = blank(json, workload, run, mode, arena);
		out[n].status = SUITE_FAILED;
		out[n++].reason = failure_of(m, arena);
	}
	return n + torch_results(report, blank(json, workload, run, "", arena), arena, out + n,
				 most - n);
}

int suite_results_of_failure(const json_t *workload_json, int workload, int64_t run,
			     enum suite_status status, const char *reason, struct arena *arena,
			     struct suite_result *out, int most)
{
	json_t *mode;
	size_t i;
	int n = 0;

	json_array_foreach(json_object_get(workload_json, "modes"), i, mode)
	{
		if (n == most || !json_is_string(mode))
			continue;
		out[n] = blank(workload_json, workload, run, json_string_value(mode), arena);
		out[n].status = status;
		out[n++].reason = reason ? arena_strdup(arena, reason) : NULL;
	}
	return n;
}
