/* profiler/torch/report.c -- what the process sent, as the report has it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/report.h"
#include "profiler/torch/engine.h"

struct samples {
	double *us;
	int n;
};

static bool samples_read(const json_t *row, struct samples *out)
{
	const json_t *list = json_object_get(row, "samples_ns");

	out->n = (int)json_array_size(list);
	out->us = calloc((size_t)out->n + 1, sizeof(*out->us));
	for (int i = 0; out->us && i < out->n; i++)
		out->us[i] = fmax(json_number_value(json_array_get(list, (size_t)i)) / 1000, 1e-3);
	return out->us != NULL;
}

/* Its median over ours; the interval is as wide as both allow, for the two were not
 * measured in one round. */
static json_t *over_ours(const json_t *theirs, const json_t *ours)
{
	const json_t *a = json_object_get(theirs, "ci_us"), *b = json_object_get(ours, "ci_us");
	double mid = json_number_value(json_object_get(ours, "median_us"));
	double low = json_number_value(json_array_get(b, 0));
	double high = json_number_value(json_array_get(b, 1));

	if (!(mid > 0) || !(low > 0))
		return json_null();
	return json_pack("{s:f, s:[f, f]}", "ratio",
			 json_number_value(json_object_get(theirs, "median_us")) / mid, "ci",
			 json_number_value(json_array_get(a, 0)) / high,
			 json_number_value(json_array_get(a, 1)) / low);
}

json_t *torch_mode_json(const json_t *row, const json_t *ours)
{
	static const char *const same[] = { "compile_ms", "peak_bytes", "first_call_ms",
					    "frames",     "draws",      "error" };
	json_t *m = json_object(), *latency;
	struct samples s;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (json_object_get(row, same[i]))
			json_object_set(m, same[i], json_object_get(row, same[i]));
	if (json_object_get(row, "samples_ns") && samples_read(row, &s)) {
		latency = report_samples(s.us, s.n,
					 json_integer_value(json_object_get(row, "calls_a_sample")),
					 json_integer_value(json_object_get(row, "compiled")));
		json_object_set_new(m, "latency", latency);
		json_object_set_new(m, "over_ours",
				    over_ours(latency, json_object_get(ours, "latency")));
		free(s.us);
	}
	return m;
}

/* ---- is compiling worth it there */

bool torch_point_even(const json_t *rows, json_t *out)
{
	const json_t *row, *eager_row = json_object_get(rows, "eager");
	struct samples eager = { 0 };
	const char *mode;
	bool ok = samples_read(eager_row, &eager);

	json_object_foreach((json_t *)rows, mode, row)
	{
		double compile_us = 1000 * json_number_value(json_object_get(row, "compile_ms"));
		struct samples s = { 0 };
		struct comparison c;

		if (!ok || row == eager_row || eager.n == 0 || !json_object_get(row, "samples_ns"))
			continue;
		ok = samples_read(row, &s) &&
		     (s.n != eager.n || s.n == 0 ||
		      break_even_compare(eager.us, s.us, s.n, compile_us, &c));
		if (ok && s.n == eager.n && s.n > 0)
			json_object_set_new(out, mode, report_comparison(&c, compile_us));
		free(s.us);
	}
	free(eager.us);
	return ok;
}

/* One mode's crossover over the points that have both; `all` has room for their samples. */
static bool mode_even(const json_t *messages, const char *mode, struct samples (*all)[2],
		      struct curve_point *curve, json_t *out)
{
	const json_t *message;
	struct crossover c;
	bool ok = true;
	int n = 0;
	size_t i;

	json_array_foreach((json_t *)messages, i, message)
	{
		const json_t *rows = json_object_get(message, "modes");

		ok = ok && samples_read(json_object_get(rows, "eager"), &all[i][0]) &&
		     samples_read(json_object_get(rows, mode), &all[i][1]);
		if (!ok || all[i][0].n == 0 || all[i][0].n != all[i][1].n)
			continue;
		curve[n++] = (struct curve_point){
			.n = json_number_value(json_object_get(message, "n")),
			.eager_us = all[i][0].us,
			.mode_us = all[i][1].us,
			.rounds = all[i][0].n,
		};
	}
	if (ok && n > 0 && (ok = break_even_crossover(curve, n, &c)))
		json_object_set_new(out, mode, report_crossover(&c));
	for (i = 0; i < json_array_size(messages); i++) {
		free(all[i][0].us);
		free(all[i][1].us);
	}
	return ok;
}

bool torch_sweep_even(const json_t *messages, json_t *out)
{
	size_t n = json_array_size(messages);
	const json_t *first = json_object_get(json_array_get(messages, 0), "modes"), *row;
	struct curve_point *curve = calloc(n + 1, sizeof(*curve));
	bool ok = curve != NULL;
	const char *mode;

	json_object_foreach((json_t *)first, mode, row)
	{
		struct samples(*all)[2] = ok ? calloc(n + 1, sizeof(*all)) : NULL;

		ok = ok && all &&
		     (strcmp(mode, "eager") == 0 || mode_even(messages, mode, all, curve, out));
		free(all);
	}
	free(curve);
	return ok;
}

void torch_mark_disagreeing(json_t *modes, json_t *even)
{
	static const struct comparison no_comparison = { .verdict = VERDICT_DISAGREES };
	static const struct crossover no_crossover = { .side = SIDE_DISAGREES };
	json_t *m;
	const char *mode;

	json_object_foreach(modes, mode, m)
	{
		const json_t *old = json_object_get(even, mode);
		double compile_ms = json_number_value(json_object_get(old, "compile_ms"));

		if (!json_is_false(json_object_get(json_object_get(m, "values"), "agree")))
			continue;
		json_object_set_new(m, "over_ours", json_null());
		if (json_object_get(old, "side"))
			json_object_set_new(even, mode, report_crossover(&no_crossover));
		else if (old)
			json_object_set_new(even, mode,
					    report_comparison(&no_comparison, compile_ms * 1000));
	}
}
