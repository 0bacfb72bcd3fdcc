/* profiler/results/asv.c -- results of asv: a file of its folder results, of a commit on a machine.
 *
 * A row of `results` is of a benchmark, its columns are named in `result_columns`; a benchmark with
 * parameters has a value of each combination, of which the last varies fastest.  The unit is
 * benchmarks.json's; without that file the name tells, as asv itself reads it: time_, mem_,
 * peakmem_, track_.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profiler/results/reading.h"

static bool is_asv(const struct results_file *file)
{
	return json_is_string(json_object_get(file->json, "commit_hash")) &&
	       json_is_object(json_object_get(file->json, "params")) &&
	       json_is_object(json_object_get(file->json, "results"));
}

/* Milliseconds since 1970 as a date; "" of none. */
static void date_text(char *out, size_t bytes, const json_t *milliseconds)
{
	double ms = json_number_value(milliseconds);
	time_t seconds = isfinite(ms) && ms > 0 && ms < 1e14 ? (time_t)(ms / 1000) : 0;
	struct tm tm;

	if (!seconds || !gmtime_r(&seconds, &tm) ||
	    strftime(out, bytes, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		out[0] = '\0';
}

static void common(struct results_reading *r, const json_t *file)
{
	const json_t *params = json_object_get(file, "params");
	const char *key;
	json_t *value;

	reading_text(r->commit, sizeof(r->commit), json_object_get(file, "commit_hash"));
	reading_text(r->machine, sizeof(r->machine), json_object_get(params, "machine"));
	reading_text(r->cpu, sizeof(r->cpu), json_object_get(params, "cpu"));
	reading_text(r->build, sizeof(r->build), json_object_get(file, "env_name"));
	json_object_foreach((json_t *)params, key, value)
	{
		if (!reading_among(key, "machine cpu"))
			reading_common(r, key, value);
	}
	reading_left(r, "the file", file,
		     "commit_hash env_name date params python requirements env_vars "
		     "result_columns results version");
}

/* ---- a row ---- */

struct row {
	const json_t *columns, *values;
	const json_t *facts; /* of benchmarks.json; NULL: none */
};

static const json_t *column(const struct row *row, const char *name)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)row->columns, i, item)
	{
		if (json_is_string(item) && strcmp(json_string_value(item), name) == 0)
			return json_array_get(row->values, i);
	}
	return NULL;
}

/* A column's value of combination i; a column of one value has it as it is. */
static const json_t *cell(const struct row *row, const char *name, size_t i)
{
	const json_t *list = column(row, name);

	return json_is_array(list) ? json_array_get(list, i) : i == 0 ? list : NULL;
}

/* What a combination is of: (1, 'float32'), and its parts as parameters of the report. */
static void combination(const struct row *row, size_t index, char *out, size_t bytes,
			json_t *report)
{
	const json_t *params = column(row, "params");
	const json_t *names = json_object_get(row->facts, "param_names");
	size_t n = json_array_size(params), of = 1, len = 0;

	out[0] = '\0';
	for (size_t i = n; i-- > 0;)
		of *= json_array_size(json_array_get(params, i)) ?: 1;
	for (size_t i = 0; i < n; i++) {
		const json_t *values = json_array_get(params, i), *value;
		char text[80], name[80];

		of /= json_array_size(values) ?: 1;
		value = json_array_get(values, index / of % (json_array_size(values) ?: 1));
		reading_text(text, sizeof(text), value);
		reading_text(name, sizeof(name), json_array_get(names, i));
		if (!*name)
			snprintf(name, sizeof(name), "param%zu", i + 1);
		if (report)
			reading_fact(report, "parameters", name, value);
		if (len < bytes)
			len += (size_t)snprintf(out + len, bytes - len, "%s%s%s", i ? ", " : "(",
						text, i + 1 == n ? ")" : "");
	}
}

/* What kind of figure it is: of its type, or of what the name's last word begins with. */
static void kind_of(struct results_reading *r, const char *name, const json_t *facts,
		    struct reading_figure *f)
{
	const char *type = json_string_value(json_object_get(facts, "type"));
	const char *unit = json_string_value(json_object_get(facts, "unit"));
	const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;

	if (!type)
		type = strncasecmp(last, "time", 4) == 0      ? "time"
		       : strncasecmp(last, "mem", 3) == 0     ? "memory"
		       : strncasecmp(last, "peakmem", 7) == 0 ? "peakmemory"
							      : "track";
	f->mode = strcmp(type, "track") == 0 ? "value" : type;
	f->scale = 1;
	f->kind = reading_kind(name);
	f->unit = unit ? unit : "";
	if (strcmp(type, "time") == 0) {
		f->kind = "time";
		f->unit = "us";
		f->scale = 1e6;
	} else if (strstr(type, "mem")) {
		f->mode = "memory";
		f->kind = "amount";
		f->unit = "B";
	} else if (!unit)
		reading_note(r, "the unit of %.100s is in benchmarks.json, which was not given",
			     name);
}

/* A number that is not infinite, else NAN. */
static double number(const json_t *value)
{
	double x = json_is_number(value) ? json_number_value(value) : (double)NAN;

	return isfinite(x) ? x : (double)NAN;
}

/* asv's interval is one of 99 %: that of 95 % is 1.960 / 2.576 of it, about the median. */
static void interval_of(const struct row *row, size_t i, struct reading_figure *f)
{
	double low = number(cell(row, "stats_ci_99_a", i));
	double high = number(cell(row, "stats_ci_99_b", i));
	double repeat = number(cell(row, "stats_repeat", i));

	f->n = repeat >= 1 && repeat < 1e9 ? (int64_t)repeat : 1;
	if (f->n < READING_ENOUGH)
		return;
	f->low = f->value - (f->value - low) * 1.960 / 2.576;
	f->high = f->value + (high - f->value) * 1.960 / 2.576;
	if (!f->samples && isfinite(f->low) && isfinite(f->high))
		f->of = "the median of the file, with asv's interval, made one of 95 %";
}

static bool one(struct results_reading *r, const char *name, const struct row *row, size_t i,
		struct err *err)
{
	struct reading_figure f = READING_ONE(NULL, NULL, NULL, 1, NAN);
	const json_t *samples = cell(row, "samples", i);
	char of[160], whole[400], started[40];
	json_t *report;

	combination(row, i, of, sizeof(of), NULL);
	f.value = number(cell(row, "result", i));
	if (!isfinite(f.value)) {
		reading_note(r, "%.120s%.100s has no result: it failed or was skipped", name, of);
		return true;
	}
	snprintf(whole, sizeof(whole), "%.230s%s", name, of);
	date_text(started, sizeof(started), column(row, "started_at"));
	if (*started)
		snprintf(r->measured, sizeof(r->measured), "%s", started);
	report = reading_begin(r, whole, err);
	if (!report)
		return false;
	combination(row, i, of, sizeof(of), report);
	reading_fact(report, "parameters", "version of the benchmark", column(row, "version"));
	reading_fact(report, "about", "calls a sample", cell(row, "stats_number", i));
	if (cell(row, "profile", i) && !json_is_null(cell(row, "profile", i)))
		reading_note(r, "not kept: profiles");
	kind_of(r, name, row->facts, &f);
	f.samples = json_array_size(samples) ? samples : NULL;
	interval_of(row, i, &f);
	return reading_add(r, report, &f, err);
}

static bool all_of(struct results_reading *r, const char *name, const struct row *row,
		   struct err *err)
{
	const json_t *results = column(row, "result");
	size_t n = json_is_array(results) ? json_array_size(results) : 1;

	for (size_t i = 0; i < n; i++)
		if (!one(r, name, row, i, err))
			return false;
	return true;
}

static bool read_asv(struct results_reading *r, const struct results_file *file, struct err *err)
{
	const json_t *columns = json_object_get(file->json, "result_columns");
	const char *name;
	json_t *values;

	if (!json_is_array(columns))
		return err_set(err, ERR_UNSUPPORTED,
			       "the file is of asv before 0.5, without result_columns: a newer asv "
			       "makes it new (asv update)");
	common(r, file->json);
	json_object_foreach(json_object_get(file->json, "results"), name, values)
	{
		struct row row = { columns, values, json_object_get(r->request->benchmarks, name) };

		if (!json_is_array(values))
			return err_set(err, ERR_WORKLOAD, "the result of %.200s is no list", name);
		if (!all_of(r, name, &row, err))
			return false;
	}
	return true;
}

const struct results_format results_asv = { is_asv, read_asv };
