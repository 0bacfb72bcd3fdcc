/* server/api/api_history.c -- /api/v1/history: one figure over the runs of a workload. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/history.h"
#include "server/queue/queue.h"
#include "server/api/routes.h"

enum { LIST_DEFAULT = 200, LIST_MOST = 1000, NAMES_MOST = 200, CATCH_UP = 20, HASH_SHOWN = 12 };

/* What the workload has figures of. */
static bool add_once(json_t *list, json_t *value)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		if (json_equal(item, value)) {
			json_decref(value);
			return false;
		}
	}
	return json_array_append_new(list, value) == 0;
}

static json_t *known_json(const struct figure_list *k)
{
	json_t *metrics = json_array(), *modes = json_array(), *points = json_array();

	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *m = metric_info((enum figure_metric)i);

		for (int r = 0; r < k->n; r++)
			if (strcmp(k->at[r].metric, m->name) == 0) {
				json_array_append_new(metrics, json_pack("{s:s, s:s, s:s}", "name",
									 m->name, "title", m->title,
									 "unit", m->unit));
				break;
			}
	}
	for (int r = 0; r < k->n; r++) {
		add_once(modes, json_string(k->at[r].mode));
		if (isfinite(k->at[r].n))
			add_once(points, json_real(k->at[r].n));
	}
	return json_pack("{s:o, s:o, s:o}", "metrics", metrics, "modes", modes, "points", points);
}

static bool has_mode(const struct figure_list *k, const char *metric, const char *mode)
{
	for (int i = 0; i < k->n; i++)
		if (strcmp(k->at[i].mode, mode) == 0 && strcmp(k->at[i].metric, metric) == 0)
			return true;
	return false;
}

/* static where it is known, else the first that has the metric. */
static const char *mode_for(const struct figure_list *k, const char *metric)
{
	if (has_mode(k, metric, "static"))
		return "static";
	for (int i = 0; i < k->n; i++)
		if (strcmp(k->at[i].metric, metric) == 0)
			return k->at[i].mode;
	return "static";
}

static json_t *number_or_null(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *shortened(const char *hash)
{
	return *hash ? json_stringn(hash, HASH_SHOWN) : json_null();
}

static json_t *point_json(struct app *app, const struct history_point *p)
{
	const struct run_figure *f = &p->figure;
	json_t *ci = isfinite(f->lo) && isfinite(f->hi) ? json_pack("[f, f]", f->lo, f->hi)
							: json_null();

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "run", run_list_json(app, &p->run),
			 "source", shortened(p->run.source_hash), "settings",
			 shortened(p->run.settings_hash), "n", number_or_null(f->n), "value",
			 number_or_null(f->value), "ci", ci, "samples", (json_int_t)f->samples);
}

static json_t *names_json(const struct workload_name *names, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:I}", "name", names[i].name, "runs",
						      (json_int_t)names[i].runs));
	return list;
}

static bool read_n(struct req *req, double *n, struct err *err)
{
	const char *text = req_query(req, "n");
	char *end;

	*n = NAN;
	if (!text || !*text)
		return true;
	*n = strtod(text, &end);
	return (!*end && isfinite(*n)) ||
	       err_set(err, ERR_BAD_REQUEST, "n=%.40s: a point of the sweep is a number", text);
}

static bool check_hash(const char *name, const char *hash, struct err *err)
{
	return !hash || strspn(hash, "0123456789abcdef") == strlen(hash) ||
	       err_set(err, ERR_BAD_REQUEST, "%s=%.40s: hexadecimal digits are needed", name, hash);
}

static bool read_filter(struct req *req, struct history_query *f, enum figure_metric *metric,
			struct err *err)
{
	const char *name = req_query(req, "metric");
	int64_t limit;

	*f = (struct history_query){ .name = req_query(req, "workload"),
				     .project = req_query(req, "project"),
				     .source_hash = req_query(req, "source"),
				     .settings_hash = req_query(req, "settings"),
				     .mode = req_query(req, "mode") };
	*metric = METRIC_speedup;
	if ((name && *name && !metric_from_name(name, metric, err)) ||
	    !check_hash("source", f->source_hash, err) ||
	    !check_hash("settings", f->settings_hash, err) || !read_n(req, &f->n, err) ||
	    !req_query_int(req, "limit", (struct req_range){ 1, LIST_MOST, LIST_DEFAULT }, &limit,
			   err))
		return false;
	f->metric = metric_info(*metric)->name;
	f->limit = (int)limit;
	return true;
}

static enum history_lack lack_of(const struct history_point *p)
{
	if (isfinite(p->figure.value))
		return HISTORY_LACKS_NOTHING;
	if (p->run.status == RUN_FAILED)
		return HISTORY_FAILED;
	return p->run.summary.mode && strcmp(p->run.summary.verdict, RUN_DISAGREES) == 0
		   ? HISTORY_DISAGREES
		   : HISTORY_UNMEASURED;
}

/* What the runs say, added to the answer and to its points. */
static bool add_findings(json_t *out, struct history_runs *h, const struct history *found,
			 struct arena *arena, struct err *err)
{
	struct history_run *runs = ARENA_ARRAY(arena, struct history_run, (size_t)found->n + 1);
	json_t *said, *points = json_object_get(out, "points"), *point;
	size_t i;

	for (int k = 0; runs && k < found->n; k++) {
		const struct history_point *p = &found->points[k];

		runs[k] = (struct history_run){ p->run.id,
						{ p->figure.lo, p->figure.value, p->figure.hi },
						p->figure.n,
						lack_of(p),
						p->run.baseline };
	}
	h->at = runs;
	h->n = (size_t)found->n;
	h->total = found->total;
	said = runs ? report_write_history_findings(history_say(h, arena, err)) : NULL;
	if (!said)
		return err_set(err, ERR_MEMORY, "out of memory for a history");
	json_array_foreach(points, i, point)
		json_object_update(point, json_array_get(json_object_get(said, "points"), i));
	json_object_del(said, "points");
	json_object_update(out, said);
	json_decref(said);
	return true;
}

/* The history of one workload, added to the answer. */
static bool add_history(struct req *req, struct history_query *f, const struct metric_info *m,
			json_t *out, struct err *err)
{
	struct figure_list known = { 0 };
	struct history found;
	struct history_runs said = { .metric = m };
	json_t *list = json_array();

	if (!figures_catch_up(req->app->db, f->name, CATCH_UP, &said.pending, err) ||
	    !db_figures_known(req->app->db, f->name, req->arena, &known, err)) {
		json_decref(list);
		return false;
	}
	if (!f->mode || !*f->mode)
		f->mode = mode_for(&known, f->metric);
	if (!db_history(req->app->db, f, req->arena, &found, err)) {
		json_decref(list);
		return false;
	}
	for (int i = 0; i < found.n; i++)
		json_array_append_new(list, point_json(req->app, &found.points[i]));
	json_object_set_new(out, "mode", json_string(f->mode));
	json_object_set_new(out, "metric", json_string(m->name));
	json_object_set_new(out, "title", json_string(m->title));
	json_object_set_new(out, "unit", json_string(m->unit));
	json_object_set_new(out, "more_is_better", json_boolean(m->more_is_better));
	json_object_set_new(out, "n", number_or_null(f->n));
	json_object_set_new(out, "known", known_json(&known));
	json_object_set_new(out, "points", list);
	json_object_set_new(out, "total", json_integer(found.total));
	json_object_set_new(out, "pending", json_boolean(said.pending));
	said.mode = f->mode;
	return add_findings(out, &said, &found, req->arena, err);
}

bool api_history(struct req *req, struct reply *reply, struct err *err)
{
	struct workload_name *names;
	struct history_query filter;
	enum figure_metric metric;
	json_t *out;
	int n;

	if (!read_filter(req, &filter, &metric, err) ||
	    !db_workload_names(req->app->db, NAMES_MOST, req->arena, &names, &n, err))
		return false;
	out = json_pack("{s:s?, s:o}", "workload", filter.name, "workloads", names_json(names, n));
	if (filter.name && !add_history(req, &filter, metric_info(metric), out, err)) {
		json_decref(out);
		return false;
	}
	reply->json = out;
	return out || err_set(err, ERR_MEMORY, "out of memory for a history");
}
