/* server/queue/summary.c -- see summary.h. */
#include "server/queue/summary.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static double number_or(const json_t *json, double otherwise)
{
	return json_is_number(json) ? json_number_value(json) : otherwise;
}

static const char *main_mode(json_t *break_even)
{
	if (json_object_get(break_even, "static"))
		return "static";
	return json_object_iter_key(json_object_iter(break_even));
}

/* The first mode of a point whose values are not eager's; NULL: there is none. */
static const char *disagreeing(const json_t *at)
{
	const char *mode;
	json_t *m;

	json_object_foreach(json_object_get(at, "modes"), mode, m)
	{
		if (json_is_false(json_object_get(m, "agrees")))
			return mode;
	}
	return NULL;
}

/* A mode that disagrees at any point speaks for the run: how quick others are comes second. */
static bool summary_of_disagreement(const json_t *root, struct arena *arena,
				    struct run_summary *out)
{
	const json_t *points = json_object_get(root, "points");
	size_t n = json_array_size(points);

	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : root, *m;
		const char *mode = disagreeing(at);

		if (!mode)
			continue;
		m = json_object_get(json_object_get(at, "modes"), mode);
		*out = (struct run_summary){
			.mode = arena_strdup(arena, mode),
			.verdict = arena_strdup(arena, RUN_DISAGREES),
			.median_us = number_or(
			    json_object_get(json_object_get(m, "latency"), "median_us"), 0),
			.calls_to_repay = INFINITY,
			.crossover_n = NAN,
			.at_n = n ? number_or(json_object_get(at, "n"), NAN) : NAN,
			.breaks = (int)json_array_size(json_object_get(m, "breaks")),
		};
		return true;
	}
	return false;
}

void summary_of_report(const char *report, struct arena *arena, struct run_summary *out)
{
	json_t *root = json_loads(report, 0, NULL);
	json_t *points = json_object_get(root, "points");
	size_t n = json_array_size(points);
	json_t *at = n ? json_array_get(points, n - 1) : root;
	json_t *break_even = json_object_get(at, "break_even");
	const char *mode = main_mode(break_even);
	json_t *b = mode ? json_object_get(break_even, mode) : NULL;
	json_t *ci = json_object_get(b, "speedup_ci");
	json_t *verdict = json_object_get(b, "verdict");
	json_t *measured;

	if (summary_of_disagreement(root, arena, out)) {
		json_decref(root);
		return;
	}
	if (json_is_string(verdict)) {
		json_t *top = json_object_get(json_object_get(root, "break_even"), mode);

		measured = json_object_get(json_object_get(at, "modes"), mode);
		*out = (struct run_summary){
			.mode = arena_strdup(arena, mode),
			.verdict = arena_strdup(arena, json_string_value(verdict)),
			.speedup = number_or(json_object_get(b, "speedup"), 1),
			.speedup_lo = number_or(json_array_get(ci, 0), 0),
			.speedup_hi = number_or(json_array_get(ci, 1), 0),
			.median_us = number_or(
			    json_object_get(json_object_get(measured, "latency"), "median_us"), 0),
			.calls_to_repay = number_or(json_object_get(b, "calls_to_repay"), INFINITY),
			.crossover_n = number_or(json_object_get(top, "crossover_n"), NAN),
			.at_n = n ? number_or(json_object_get(at, "n"), NAN) : NAN,
			.breaks = (int)json_array_size(json_object_get(measured, "breaks")),
		};
	}
	json_decref(root);
}
