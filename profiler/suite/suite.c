/* profiler/suite/suite.c -- many workloads measured as one: results in, a report out. */
#include "profiler/suite/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/suite/stats.h"

enum { MAX_COLUMNS = 64 };

static const char *const status_names[SUITE_STATUS_COUNT] = { "pass", "disagrees", "failed",
							      "cancelled", "waiting" };

const char *suite_status_name(enum suite_status status)
{
	return status_names[status];
}

bool suite_status_from_name(const char *name, enum suite_status *out)
{
	for (int i = 0; i < SUITE_STATUS_COUNT; i++)
		if (strcmp(name, status_names[i]) == 0) {
			*out = (enum suite_status)i;
			return true;
		}
	return false;
}

struct column {
	const char *engine, *policy, *mode;
	const struct suite_result **results; /* by workload; NULL: none */
	int counts[SUITE_STATUS_COUNT];
};

struct table {
	struct column columns[MAX_COLUMNS];
	int n_columns, n_workloads;
	double *speedups; /* [column][workload]; NaN: none */
	bool *common;
	int n_common;
};

static double speedup_of(const struct suite_result *r)
{
	return r && r->status == SUITE_PASS ? r->speedup.mid : (double)NAN;
}

static struct column *column_of(struct table *t, const struct suite_result *r)
{
	struct column *c = t->columns;

	for (; c < t->columns + t->n_columns; c++)
		if (strcmp(c->engine, r->engine) == 0 && strcmp(c->policy, r->policy) == 0 &&
		    strcmp(c->mode, r->mode) == 0)
			return c;
	if (t->n_columns == MAX_COLUMNS)
		return NULL;
	*c = (struct column){ .engine = r->engine, .policy = r->policy, .mode = r->mode };
	c->results = calloc((size_t)t->n_workloads + 1, sizeof(struct suite_result *));
	t->n_columns += c->results != NULL;
	return c->results ? c : NULL;
}

static void table_finish(struct table *t)
{
	for (int c = 0; c < t->n_columns; c++)
		free(t->columns[c].results);
	free(t->speedups);
	free(t->common);
}

static bool table_fill(struct table *t, const struct suite_result *results, int n)
{
	for (int i = 0; i < n; i++) {
		struct column *c = column_of(t, &results[i]);

		if (!c)
			return false;
		c->results[results[i].workload] = &results[i];
	}
	t->speedups = calloc((size_t)t->n_workloads * (size_t)t->n_columns + 1, sizeof(double));
	t->common = calloc((size_t)t->n_workloads + 1, sizeof(bool));
	if (!t->speedups || !t->common)
		return false;
	for (int c = 0; c < t->n_columns; c++)
		for (int w = 0; w < t->n_workloads; w++) {
			const struct suite_result *r = t->columns[c].results[w];

			t->speedups[c * t->n_workloads + w] = speedup_of(r);
			if (r)
				t->columns[c].counts[r->status]++;
		}
	t->n_common = suite_common(t->speedups, t->n_columns, t->n_workloads, t->common);
	return true;
}

static json_t *real_or_null(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count_or_null(int n)
{
	return n >= 0 ? json_integer(n) : json_null();
}

static json_t *interval_json(const struct interval *i)
{
	return isfinite(i->mid) && isfinite(i->low) && isfinite(i->high)
		   ? json_pack("[f, f]", i->low, i->high)
		   : json_null();
}

/* Of those with a speedup, of the common set alone or of all. */
static json_t *geomean_json(const struct table *t, const struct column *c, bool common_only)
{
	struct interval *ratios = calloc((size_t)t->n_workloads + 1, sizeof(*ratios)), mean;
	json_t *json;
	int n = 0;

	for (int w = 0; ratios && w < t->n_workloads; w++)
		if (!isnan(speedup_of(c->results[w])) && (!common_only || t->common[w]))
			ratios[n++] = c->results[w]->speedup;
	mean = n ? suite_geomean(ratios, n) : (struct interval){ .mid = NAN };
	free(ratios);
	json = json_pack("{s:i, s:o, s:o}", "n", n, "speedup", real_or_null(mean.mid), "speedup_ci",
			 interval_json(&mean));
	return json;
}

static json_t *quantiles_json(double *speedups, int n)
{
	static const struct {
		const char *name;
		double q;
	} wanted[] = {
		{ "min", 0 }, { "q25", 0.25 }, { "median", 0.5 }, { "q75", 0.75 }, { "max", 1 }
	};
	json_t *json = json_object();

	stats_sort(speedups, n);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		json_object_set_new(json, wanted[i].name,
				    json_real(stats_quantile(speedups, n, wanted[i].q)));
	return json;
}

static void add_distribution(const struct table *t, const struct column *c, json_t *json)
{
	double *speedups = calloc((size_t)t->n_workloads + 1, sizeof(double));
	int counts[SUITE_BUCKETS], n = 0;
	json_t *histogram = json_array();

	for (int w = 0; speedups && w < t->n_workloads; w++)
		if (!isnan(speedup_of(c->results[w])))
			speedups[n++] = speedup_of(c->results[w]);
	suite_histogram(speedups, n, counts);
	for (int i = 0; i < SUITE_BUCKETS; i++)
		json_array_append_new(histogram, json_integer(counts[i]));
	json_object_set_new(json, "quantiles", n ? quantiles_json(speedups, n) : json_null());
	json_object_set_new(json, "histogram", n ? json_incref(histogram) : json_null());
	json_decref(histogram);
	free(speedups);
}

/* Sums over what ran. */
static void add_totals(const struct table *t, const struct column *c, json_t *json)
{
	double compile_ms = 0;
	int capture = 0, lowering = 0, recompiles = 0;

	for (int w = 0; w < t->n_workloads; w++) {
		const struct suite_result *r = c->results[w];

		if (!r || r->status > SUITE_DISAGREES)
			continue;
		compile_ms += isfinite(r->compile_ms) ? r->compile_ms : 0;
		capture += r->capture_breaks > 0 ? r->capture_breaks : 0;
		lowering += r->lowering_breaks > 0 ? r->lowering_breaks : 0;
		recompiles += r->recompiles > 0 ? r->recompiles : 0;
	}
	json_object_set_new(json, "compile_ms", json_real(compile_ms));
	json_object_set_new(json, "breaks",
			    json_pack("{s:i, s:i}", "capture", capture, "lowering", lowering));
	json_object_set_new(json, "recompiles", json_integer(recompiles));
}

static json_t *column_json(const struct table *t, const struct column *c)
{
	int ended = c->counts[SUITE_PASS] + c->counts[SUITE_DISAGREES] + c->counts[SUITE_FAILED];
	json_t *json = json_pack("{s:s, s:s, s:s, s:i}", "engine", c->engine, "policy", c->policy,
				 "mode", c->mode, "workloads", t->n_workloads);

	for (int s = 0; s < SUITE_STATUS_COUNT; s++)
		json_object_set_new(json, status_names[s], json_integer(c->counts[s]));
	json_object_set_new(json, "pass_rate",
			    ended ? json_real((double)c->counts[SUITE_PASS] / ended) : json_null());
	json_object_set_new(json, "geomean",
			    json_pack("{s:o, s:o}", "common", geomean_json(t, c, true), "own",
				      geomean_json(t, c, false)));
	add_distribution(t, c, json);
	add_totals(t, c, json);
	return json;
}

static json_t *result_json(const struct suite_result *r)
{
	json_t *json = json_pack(
	    "{s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "engine", r->engine, "policy",
	    r->policy, "mode", r->mode, "status", status_names[r->status], "reason", r->reason,
	    "run", r->run ? json_integer(r->run) : json_null(), "speedup",
	    real_or_null(r->speedup.mid), "speedup_ci", interval_json(&r->speedup), "median_us",
	    real_or_null(r->median_us), "compile_ms", real_or_null(r->compile_ms));

	json_object_set_new(json, "launches", real_or_null(r->launches));
	json_object_set_new(json, "peak_bytes", real_or_null(r->peak_bytes));
	json_object_set_new(json, "max_abs_error", real_or_null(r->max_abs_error));
	json_object_set_new(json, "graphs", count_or_null(r->graphs));
	json_object_set_new(json, "breaks",
			    json_pack("{s:o, s:o}", "capture", count_or_null(r->capture_breaks),
				      "lowering", count_or_null(r->lowering_breaks)));
	json_object_set_new(json, "recompiles", count_or_null(r->recompiles));
	return json;
}

static json_t *workloads_json(const struct table *t, const char *const *names)
{
	json_t *list = json_array();

	for (int w = 0; w < t->n_workloads; w++) {
		json_t *results = json_array();

		for (int c = 0; c < t->n_columns; c++)
			if (t->columns[c].results[w])
				json_array_append_new(results,
						      result_json(t->columns[c].results[w]));
		json_array_append_new(list, json_pack("{s:s, s:b, s:o}", "name", names[w], "common",
						      t->common[w], "results", results));
	}
	return list;
}

/* Results by status, over all columns. */
static json_t *progress_json(const struct table *t)
{
	json_t *json = json_object();

	for (int s = 0; s < SUITE_STATUS_COUNT; s++) {
		int n = 0;

		for (int c = 0; c < t->n_columns; c++)
			n += t->columns[c].counts[s];
		json_object_set_new(json, status_names[s], json_integer(n));
	}
	return json;
}

static json_t *edges_json(void)
{
	json_t *edges = json_array();

	for (int i = 1; i < SUITE_BUCKETS; i++)
		json_array_append_new(edges, json_real(suite_edge(i)));
	return edges;
}

json_t *suite_report(const char *const *names, int n_workloads, const struct suite_result *results,
		     int n_results, struct err *err)
{
	struct table t = { .n_workloads = n_workloads };
	json_t *columns = json_array(), *report = NULL;

	if (table_fill(&t, results, n_results)) {
		for (int c = 0; c < t.n_columns; c++)
			json_array_append_new(columns, column_json(&t, &t.columns[c]));
		report = json_pack("{s:i, s:O, s:o, s:o, s:o, s:o}", "breakeven_suite", 1,
				   "columns", columns, "common",
				   json_pack("{s:i, s:i}", "n", t.n_common, "of", n_workloads),
				   "histogram_edges", edges_json(), "results", progress_json(&t),
				   "workloads", workloads_json(&t, names));
	}
	if (!report)
		err_set(err, ERR_MEMORY, "out of memory for the report of a suite");
	json_decref(columns);
	table_finish(&t);
	return report;
}
