/* profiler/results/google.c -- results of Google Benchmark.
 *
 * Rows of one benchmark follow each other: a row a repetition, then its aggregates, which are read
 * where there are no repetitions (--benchmark_report_aggregates_only).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/json.h"
#include "profiler/results/reading.h"

/* What a row has that is no counter of the user's. */
static const char row_keys[] =
    "name family_index per_family_instance_index run_name run_type repetitions repetition_index "
    "threads iterations real_time cpu_time time_unit aggregate_name aggregate_unit label "
    "error_occurred error_message skipped skip_message big_o rms cpu_coefficient "
    "real_coefficient";

static bool is_google(const struct results_file *file)
{
	const json_t *rows = json_object_get(file->json, "benchmarks");

	return json_is_array(rows) && json_is_object(json_object_get(file->json, "context"));
}

static void common(struct results_reading *r, const json_t *context)
{
	static const char kept[] = "date host_name library_version library_build_type";
	static const char left[] = "caches load_avg json_schema_version";
	const char *key;
	json_t *value;

	reading_text(r->measured, sizeof(r->measured), json_object_get(context, "date"));
	reading_text(r->machine, sizeof(r->machine), json_object_get(context, "host_name"));
	reading_text(r->version, sizeof(r->version), json_object_get(context, "library_version"));
	reading_text(r->build, sizeof(r->build), json_object_get(context, "library_build_type"));
	json_object_foreach((json_t *)context, key, value)
	{
		if (reading_among(key, left))
			reading_note(r, "not kept: %s of the context", key);
		else if (!reading_among(key, kept))
			reading_common(r, key, value);
	}
}

/* run_name is there since 1.5. */
static const char *benchmark_of(const json_t *row)
{
	return *json_text(row, "run_name") ? json_text(row, "run_name") : json_text(row, "name");
}

static bool is_aggregate(const json_t *row, const char *which)
{
	const char *name = json_text(row, "aggregate_name");

	return *name && (!which || strcmp(name, which) == 0);
}

/* The factor that makes a row's times microseconds; NAN: of an unknown unit. */
static double microseconds(const json_t *row)
{
	static const struct {
		const char *unit;
		double scale;
	} units[] = { { "ns", 1e-3 }, { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 } };
	const char *unit = json_text(row, "time_unit");

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].unit) == 0)
			return units[i].scale;
	return NAN;
}

/* Why there is nothing of a benchmark: its row says it failed; NULL: it does not. */
static const char *failed(const json_t *row)
{
	if (json_is_true(json_object_get(row, "error_occurred")))
		return json_text(row, "error_message");
	return json_is_true(json_object_get(row, "skipped")) || *json_text(row, "skipped")
		   ? json_text(row, "skip_message")
		   : NULL;
}

/* Rows [begin, end) of the file are one benchmark's. */
struct google_rows {
	const json_t *rows;
	size_t begin, end;
};

static const json_t *aggregate(const struct google_rows *g, const char *which)
{
	for (size_t i = g->begin; i < g->end; i++)
		if (is_aggregate(json_array_get(g->rows, i), which))
			return json_array_get(g->rows, i);
	return NULL;
}

/* The repetitions' values of a key, new; NULL: no row is a repetition, or memory. */
static json_t *samples_of(const struct google_rows *g, const char *key)
{
	json_t *list = NULL;

	for (size_t i = g->begin; i < g->end; i++) {
		const json_t *row = json_array_get(g->rows, i);

		if (is_aggregate(row, NULL) || failed(row) || !json_object_get(row, key))
			continue;
		if (!list)
			list = json_array();
		json_array_append(list, json_object_get(row, key));
	}
	return list;
}

/* Of aggregates alone: the median (or mean), with half an interval of 95 % from the deviation,
 * 1.2533 times that of a mean for a median. */
static void from_aggregates(const struct google_rows *g, const char *key, struct reading_figure *f)
{
	const json_t *median = aggregate(g, "median"), *mean = aggregate(g, "mean");
	const json_t *middle = median ? median : mean, *deviation = aggregate(g, "stddev");
	double n = json_number_value(json_object_get(middle, "repetitions"));
	double half = json_number_value(json_object_get(deviation, key)) * 1.96 *
		      (median ? 1.2533 : 1) / sqrt(n);

	f->value = json_is_number(json_object_get(middle, key))
		       ? json_number_value(json_object_get(middle, key))
		       : (double)NAN;
	f->n = n >= 1 && n < 1e9 ? (int64_t)n : 1;
	f->of = median ? "the median of the file, with an interval of its deviation"
		       : "the mean of the file, with an interval of its deviation";
	if (deviation && f->n >= READING_ENOUGH) {
		f->low = f->value - half;
		f->high = f->value + half;
	}
}

static bool add(struct results_reading *r, json_t *report, const struct google_rows *g,
		const struct reading_figure *what, const char *key, struct err *err)
{
	struct reading_figure f = *what;
	json_t *samples = samples_of(g, key);
	bool ok;

	f.samples = samples;
	if (!samples)
		from_aggregates(g, key, &f);
	ok = reading_add(r, report, &f, err);
	json_decref(samples);
	return ok;
}

static bool add_counters(struct results_reading *r, json_t *report, const struct google_rows *g,
			 const json_t *row, struct err *err)
{
	const char *key;
	json_t *value;
	bool ok = true;

	json_object_foreach((json_t *)row, key, value)
	{
		struct reading_figure f = READING_ONE(key, reading_kind(key), reading_unit(key), 1,
						      NAN);

		if (ok && json_is_number(value) && !reading_among(key, row_keys))
			ok = add(r, report, g, &f, key, err);
		else if (!json_is_number(value) && !reading_among(key, row_keys))
			reading_note(r, "not kept: %s of a benchmark", key);
	}
	return ok;
}

/* The row whose counters and unit are those of all: a repetition, or the middle aggregate. */
static const json_t *example(const struct google_rows *g)
{
	for (int failures = 0; failures < 2; failures++)
		for (size_t i = g->begin; i < g->end; i++) {
			const json_t *row = json_array_get(g->rows, i);

			if (!is_aggregate(row, NULL) && (failures || !failed(row)))
				return row;
		}
	return aggregate(g, "median") ? aggregate(g, "median") : aggregate(g, "mean");
}

static bool one(struct results_reading *r, const struct google_rows *g, struct err *err)
{
	const json_t *row = example(g);
	const char *why = failed(row);
	double scale = microseconds(row);
	struct reading_figure wall = READING_ONE("wall", "time", "us", scale, NAN);
	struct reading_figure cpu = READING_ONE("cpu", "time", "us", scale, NAN);
	json_t *report;

	if (why || !isfinite(scale)) {
		reading_note(r, "%.100s has no result: %.120s", benchmark_of(row),
			     why ? why : "no time, or of a unit that is not known");
		return true;
	}
	for (size_t i = g->begin; i < g->end; i++)
		if (failed(json_array_get(g->rows, i)))
			reading_note(r, "repetitions of %.100s that failed are left out",
				     benchmark_of(row));
	if (aggregate(g, "BigO"))
		reading_note(r, "not kept: complexity (BigO, RMS)");
	report = reading_begin(r, benchmark_of(row), err);
	if (!report)
		return false;
	reading_fact(report, "about", "label", json_object_get(row, "label"));
	reading_fact(report, "about", "iterations a repetition",
		     json_object_get(row, "iterations"));
	reading_fact(report, "about", "threads", json_object_get(row, "threads"));
	return add(r, report, g, &wall, "real_time", err) &&
	       add(r, report, g, &cpu, "cpu_time", err) && add_counters(r, report, g, row, err);
}

/* The rows from `begin` on that are of one benchmark. */
static size_t end_of_group(const json_t *rows, size_t begin)
{
	const char *name = benchmark_of(json_array_get(rows, begin));
	size_t i = begin + 1;

	while (i < json_array_size(rows) &&
	       strcmp(benchmark_of(json_array_get(rows, i)), name) == 0)
		i++;
	return i;
}

static bool read_google(struct results_reading *r, const struct results_file *file, struct err *err)
{
	const json_t *rows = json_object_get(file->json, "benchmarks");
	struct google_rows g = { rows, 0, 0 };

	common(r, json_object_get(file->json, "context"));
	for (; g.begin < json_array_size(rows); g.begin = g.end) {
		g.end = end_of_group(rows, g.begin);
		if (!*benchmark_of(json_array_get(rows, g.begin)))
			return err_set(err, ERR_WORKLOAD, "row %zu of the benchmarks has no name",
				       g.begin);
		if (!example(&g))
			reading_note(r, "not kept: rows that are neither repetitions nor a mean");
		else if (!one(r, &g, err))
			return false;
	}
	return true;
}

const struct results_format results_google = { is_google, read_google };
