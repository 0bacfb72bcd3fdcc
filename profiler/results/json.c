/* profiler/results/json.c -- results in JSON: pytest-benchmark, hyperfine, Bencher Metric Format.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/results/reading.h"

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Half the 95 % interval of a median, of the interquartile range of n samples: a deviation is
 * IQR / 1.349, that of a median 1.2533 / sqrt(n) of it (McGill, Tukey and Larsen, Variations of
 * box plots, The American Statistician 32, 1978). */
static double half_of_iqr(double iqr, double n)
{
	return 1.96 * 1.2533 / 1.349 * iqr / sqrt(n);
}

/* ---- pytest-benchmark ---- */

static bool is_pytest(const struct results_file *file)
{
	return json_is_array(json_object_get(file->json, "benchmarks")) &&
	       json_is_object(json_object_get(file->json, "machine_info"));
}

static void pytest_common(struct results_reading *r, const json_t *file)
{
	const json_t *machine = json_object_get(file, "machine_info"),
		     *cpu = json_object_get(machine, "cpu"),
		     *commit = json_object_get(file, "commit_info");
	char implementation[60], python[40];

	reading_text(r->version, sizeof(r->version), json_object_get(file, "version"));
	reading_text(r->measured, sizeof(r->measured), json_object_get(file, "datetime"));
	reading_text(r->machine, sizeof(r->machine), json_object_get(machine, "node"));
	reading_text(
	    r->cpu, sizeof(r->cpu),
	    json_object_get(cpu, json_object_get(cpu, "brand_raw") ? "brand_raw" : "brand"));
	reading_text(implementation, sizeof(implementation),
		     json_object_get(machine, "python_implementation"));
	reading_text(python, sizeof(python), json_object_get(machine, "python_version"));
	snprintf(r->build, sizeof(r->build), "%s %s", implementation, python);
	reading_text(r->commit, sizeof(r->commit) - 6, json_object_get(commit, "id"));
	reading_text(r->branch, sizeof(r->branch), json_object_get(commit, "branch"));
	if (strcmp(r->commit, "unversioned") == 0)
		r->commit[0] = '\0';
	else if (*r->commit && json_is_true(json_object_get(commit, "dirty")))
		strcat(r->commit, "-dirty");
	if (*r->branch == '(')
		r->branch[0] = '\0';
}

static bool pytest_one(struct results_reading *r, const json_t *b, struct err *err)
{
	static const char known[] =
	    "data median q1 q3 iqr rounds iterations min max mean stddev ops total outliers "
	    "iqr_outliers stddev_outliers ld15iqr hd15iqr";
	const json_t *stats = json_object_get(b, "stats"), *data = json_object_get(stats, "data");
	const json_t *full = json_object_get(b, "fullname"), *value;
	double median = number(stats, "median"), rounds = number(stats, "rounds");
	double half = half_of_iqr(number(stats, "iqr"), rounds);
	struct reading_figure f = { "time", "time", "us", NULL, 1e6, data, READING_NONE };
	const char *name = json_string_value(full ? full : json_object_get(b, "name")), *key;
	json_t *report = name ? reading_begin(r, name, err) : NULL;

	if (!report)
		return err->code != ERR_NONE
			   ? false
			   : err_set(err, ERR_WORKLOAD, "a benchmark of the file has no name");
	json_object_foreach(json_object_get(b, "params"), key, value)
	    reading_fact(report, "parameters", key, value);
	json_object_foreach(json_object_get(b, "extra_info"), key, value)
	    reading_fact(report, "about", key, value);
	reading_fact(report, "about", "group", json_object_get(b, "group"));
	reading_fact(report, "about", "iterations a round", json_object_get(stats, "iterations"));
	reading_left(r, "stats", stats, known);
	reading_left(r, "a benchmark", b, "group name fullname params param extra_info stats");
	if (!data) {
		f.value = median;
		f.n = isfinite(rounds) && rounds < 1e9 ? (int64_t)rounds : 0;
		f.low = f.n >= 6 ? median - half : NAN;
		f.high = f.n >= 6 ? median + half : NAN;
		f.of = "the median of the file, with an interval of its interquartile range";
	}
	return reading_add(r, report, &f, err);
}

static bool read_pytest(struct results_reading *r, const struct results_file *file, struct err *err)
{
	const json_t *b;
	bool ok = true;
	size_t i;

	pytest_common(r, file->json);
	json_array_foreach(json_object_get(file->json, "benchmarks"), i, b)
	{
		ok = ok && pytest_one(r, b, err);
	}
	return ok;
}

const struct results_format results_pytest = { is_pytest, read_pytest };

/* ---- hyperfine ---- */

static bool is_hyperfine(const struct results_file *file)
{
	const json_t *first = json_array_get(json_object_get(file->json, "results"), 0);

	return json_is_string(json_object_get(first, "command")) && json_object_get(first, "mean");
}

/* Its exit statuses; those of signals are null there. */
static void exit_codes(struct results_reading *r, json_t *report, const json_t *codes)
{
	json_t *kept = json_array();
	const json_t *code;
	int failed = 0;
	size_t i;

	json_array_foreach(codes, i, code)
	{
		json_int_t status = json_is_number(code) ? (json_int_t)json_number_value(code) : -1;

		failed += status != 0;
		json_array_append_new(kept, json_integer(status));
	}
	if (failed)
		reading_note(r, "a command ended with another status than 0 (exit_codes; -1: a "
				"signal)");
	json_object_set_new(json_object_get(report, "result"), "exit_codes", kept);
}

static bool hyperfine_one(struct results_reading *r, const json_t *b, struct err *err)
{
	const char *command = json_string_value(json_object_get(b, "command")), *key;
	const json_t *times = json_object_get(b, "times"), *value;
	const json_t *memory = json_object_get(b, "memory_usage_byte");
	double user = number(b, "user"), system = number(b, "system");
	struct reading_figure wall = { "wall", "time", "us", NULL, 1e6, times, READING_NONE };
	struct reading_figure cpu = {
		"cpu", "time", "us", "the mean of user and system time", 1e6, NULL, READING_NONE
	};
	struct reading_figure peak = { "memory", "amount", "B", NULL, 1, memory, READING_NONE };
	json_t *report = command ? reading_begin(r, command, err) : NULL;

	if (!report)
		return err->code != ERR_NONE
			   ? false
			   : err_set(err, ERR_WORKLOAD, "a result of the file has no command");
	json_object_foreach(json_object_get(b, "parameters"), key, value)
	    reading_fact(report, "parameters", key, value);
	if (json_is_array(json_object_get(b, "exit_codes")))
		exit_codes(r, report, json_object_get(b, "exit_codes"));
	reading_left(r, "a result", b,
		     "command times mean stddev median min max user system exit_codes parameters "
		     "memory_usage_byte");
	if (!times) {
		wall.value = number(b, "median");
		wall.of = "the median of the file, which has no samples";
		wall.n = 1;
	}
	cpu.value = user + system;
	cpu.n = 1;
	return reading_add(r, report, &wall, err) &&
	       (!isfinite(cpu.value) || reading_add(r, report, &cpu, err)) &&
	       (!json_array_size(memory) || reading_add(r, report, &peak, err));
}

static bool read_hyperfine(struct results_reading *r, const struct results_file *file,
			   struct err *err)
{
	const json_t *b;
	bool ok = true;
	size_t i;

	json_array_foreach(json_object_get(file->json, "results"), i, b)
	{
		ok = ok && hyperfine_one(r, b, err);
	}
	return ok;
}

const struct results_format results_hyperfine = { is_hyperfine, read_hyperfine };

/* ---- Bencher Metric Format ---- */

static bool is_bmf(const struct results_file *file)
{
	const json_t *measures, *metric;
	const char *name, *key;

	if (json_object_size(file->json) == 0)
		return false;
	json_object_foreach(file->json, name, measures)
	{
		if (json_object_size(measures) == 0)
			return false;
		json_object_foreach((json_t *)measures, key, metric)
		{
			if (!json_is_number(json_object_get(metric, "value")))
				return false;
		}
	}
	return true;
}

/* Of Bencher's own measures latency is in nanoseconds, throughput in operations a second. */
static bool bmf_one(struct results_reading *r, json_t *report, const char *key,
		    const json_t *metric, struct err *err)
{
	bool time = strcmp(key, "latency") == 0;
	struct reading_figure f = { .mode = key,
				    .kind = time ? "time" : reading_kind(key),
				    .unit = time                             ? "us"
					    : strcmp(key, "throughput") == 0 ? "ops/s"
									     : "",
				    .scale = time ? 1e-3 : 1,
				    .value = number(metric, "value"),
				    .low = NAN,
				    .high = NAN,
				    .bound_low = number(metric, "lower_value"),
				    .bound_high = number(metric, "upper_value"),
				    .n = 1 };

	if (isfinite(f.bound_low) || isfinite(f.bound_high))
		reading_note(r,
			     "lower_value and upper_value are kept and shown; the format does not "
			     "say what they are, so no verdict rests on them");
	reading_left(r, "a metric", metric, "value lower_value upper_value");
	return reading_add(r, report, &f, err);
}

static bool read_bmf(struct results_reading *r, const struct results_file *file, struct err *err)
{
	const json_t *measures, *metric;
	const char *name, *key;
	bool ok = true;

	json_object_foreach(file->json, name, measures)
	{
		json_t *report = ok ? reading_begin(r, name, err) : NULL;

		ok = report != NULL;
		json_object_foreach((json_t *)measures, key, metric)
		{
			ok = ok && bmf_one(r, report, key, metric, err);
		}
	}
	return ok;
}

const struct results_format results_bmf = { is_bmf, read_bmf };
