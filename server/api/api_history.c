/* server/api/api_history.c -- /api/v1/history: one figure over the runs of a workload. */
#define HANDLER_history(name) name
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/history/history.h"
#include "server/queue/queue.h"
#include "server/api/api.h"
#include "server/api/routes.h"

enum {
	LIST_DEFAULT = 200,
	LIST_MOST = 1000,
	PARTINGS_NAMED = 8,
	NAMES_MOST = 200,
	CATCH_UP = 20,
	HASH_SHOWN = 12,
	CHANGES = 50
};

/* A list with room for all. */
static void add_text_once(struct report_texts *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->at[i], text) == 0)
			return;
	list->at[list->n++] = text;
}

static void add_real_once(struct report_reals *list, double x)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == x)
			return;
	list->at[list->n++] = x;
}

static bool has_metric(const struct figure_list *k, const char *metric)
{
	for (int i = 0; i < k->n; i++)
		if (strcmp(k->at[i].metric, metric) == 0)
			return true;
	return false;
}

static struct report_history_metric_list metrics_of(const struct figure_list *k,
						    struct arena *arena)
{
	struct report_history_metric_list list = { report_new_history_metric(METRIC_COUNT, arena),
						   0 };

	for (int i = 0; list.at && i < METRIC_COUNT; i++) {
		const struct metric_info *m = metric_info((enum figure_metric)i);
		struct report_history_metric *to = &list.at[list.n];

		if (!has_metric(k, m->name))
			continue;
		REPORT_SET(to, name, m->name);
		REPORT_SET(to, title, m->title);
		REPORT_SET(to, unit, m->unit);
		list.n++;
	}
	return list;
}

/* What the workload has figures of; NULL: no memory. */
static struct report_history_known *known_of(const struct figure_list *k, struct arena *arena)
{
	struct report_history_known *to = report_new_history_known(1, arena);
	struct report_texts modes = { ARENA_ARRAY(arena, const char *, (size_t)k->n + 1), 0 };
	struct report_reals points = { ARENA_ARRAY(arena, double, (size_t)k->n + 1), 0 };

	if (!to || !modes.at || !points.at)
		return NULL;
	for (int i = 0; i < k->n; i++) {
		add_text_once(&modes, k->at[i].mode);
		if (isfinite(k->at[i].n))
			add_real_once(&points, k->at[i].n);
	}
	REPORT_SET(to, metrics, metrics_of(k, arena));
	REPORT_SET(to, modes, modes);
	REPORT_SET(to, points, points);
	return to->metrics.at ? to : NULL;
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

/* What is asked for; speedup where it is not said, of what has none the first that there is. */
static enum figure_metric metric_for(const struct figure_list *k, enum figure_metric asked)
{
	enum figure_metric first = METRIC_speedup;

	if (asked != METRIC_COUNT || has_metric(k, metric_info(first)->name))
		return asked == METRIC_COUNT ? first : asked;
	for (int i = METRIC_COUNT; i-- > 0;)
		if (has_metric(k, metric_info((enum figure_metric)i)->name))
			first = (enum figure_metric)i;
	return first;
}

static const char *shortened(const char *hash, struct arena *arena)
{
	return arena_printf(arena, "%.*s", HASH_SHOWN, hash);
}

/* The struct keeps the row's other fields: they are written with it. */
static struct report_compared_run *row_of(struct app *app, const struct run_row *run,
					  struct report_draft *draft, struct err *err)
{
	json_t *row = report_draft_value(draft, run_list_json(app, run));

	return row ? report_read_compared_run(row, &draft->arena, err) : NULL;
}

static bool put_point(struct app *app, const struct history_point *p, struct report_draft *draft,
		      struct report_history_point *to, struct err *err)
{
	const struct run_figure *f = &p->figure;
	const struct run_row *run = &p->run;

	REPORT_SET(to, run, row_of(app, run, draft, err));
	REPORT_SET_IF(to, source, *run->source_hash, shortened(run->source_hash, &draft->arena));
	REPORT_SET_IF(to, settings, *run->settings_hash,
		      shortened(run->settings_hash, &draft->arena));
	REPORT_SET_IF(to, n, isfinite(f->n), f->n);
	REPORT_SET_IF(to, value, isfinite(f->value), f->value);
	REPORT_SET_IF(to, ci, isfinite(f->lo) && isfinite(f->hi),
		      (struct report_interval){ f->lo, f->hi });
	REPORT_SET(to, samples, f->samples);
	return to->run != NULL;
}

static bool put_names(struct db *db, struct report_history *to, struct arena *arena,
		      struct err *err)
{
	struct workload_name *names;
	int n;

	if (!db_workload_names(db, NAMES_MOST, arena, &names, &n, err))
		return false;
	REPORT_SET(to, workloads,
		   (struct report_workload_name_list){ report_new_workload_name((size_t)n, arena),
						       (size_t)n });
	for (int i = 0; to->workloads.at && i < n; i++) {
		REPORT_SET(&to->workloads.at[i], name, names[i].name);
		REPORT_SET(&to->workloads.at[i], runs, names[i].runs);
	}
	return to->workloads.at != NULL;
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

static bool read_filter(struct req *req, struct history_asked *asked, struct err *err)
{
	const char *name = req_query(req, "metric");
	struct history_query *f = &asked->query;
	int64_t limit;

	*asked = (struct history_asked){ .metric = METRIC_COUNT };
	*f = (struct history_query){ .name = req_query(req, "workload"),
				     .project = req_query(req, "project"),
				     .source_hash = req_query(req, "source"),
				     .settings_hash = req_query(req, "settings"),
				     .mode = req_query(req, "mode") };
	if ((name && *name && !metric_from_name(name, &asked->metric, err)) ||
	    !check_hash("source", f->source_hash, err) ||
	    !check_hash("settings", f->settings_hash, err) || !read_n(req, &f->n, err) ||
	    !req_query_int(req, "limit", (struct req_range){ 1, LIST_MOST, LIST_DEFAULT }, &limit,
			   err))
		return false;
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

static const char settings_changed[] = "settings changed";

/* Why the line between two runs is broken; NULL where it goes on. */
static const char *parting(const struct history_point *p, const struct history_point *q)
{
	bool one_n = p->figure.n == q->figure.n || (isnan(p->figure.n) && isnan(q->figure.n));

	if (strncmp(p->run.settings_hash, q->run.settings_hash, HASH_SHOWN) != 0)
		return settings_changed;
	if (!one_n)
		return "other point";
	return strncmp(p->run.source_hash, q->run.source_hash, HASH_SHOWN) != 0 ? "source changed"
										: NULL;
}

/* *text: "settings changed: threads 1, then 4; policy dynamo, then native"; NULL where that is not
 * known, since one of the runs cannot be compared.  False with MEMORY or STORAGE. */
static bool named_parting(struct app *app, const int64_t ids[2], struct arena *arena,
			  const char **named, struct err *err)
{
	const struct compare_options all = { .force = true };
	struct loaded_runs runs = { 0 };
	struct err why = { 0 };
	const char *text = NULL;
	json_t *json = NULL, *list, *row;
	bool failed;
	size_t i;

	if (loaded_add_run(&runs, app->db, ids[0], &why) &&
	    loaded_add_run(&runs, app->db, ids[1], &why))
		json = compare_runs(runs.at, runs.n, &all, &why);
	failed = !json && (why.code == ERR_MEMORY || why.code == ERR_STORAGE);
	list = json_object_get(json_array_get(json_object_get(json, "comparisons"), 0),
			       "differences");
	json_array_foreach(list, i, row)
		if (json_is_true(json_object_get(row, "parts")))
			text = arena_printf(arena, "%s%s %s, then %s",
					    text ? arena_printf(arena, "%s; ", text)
						 : "settings changed: ",
					    json_string_value(json_object_get(row, "title")),
					    json_string_value(json_object_get(row, "a")),
					    json_string_value(json_object_get(row, "b")));
	json_decref(json);
	loaded_finish(&runs);
	*named = text;
	return !failed || err_set(err, why.code, "%s", why.message);
}

/* Both reports are read for the name of a setting: of the newest places alone. */
static bool name_partings(struct report_history *to, struct app *app, const struct history *found,
			  struct arena *arena, struct err *err)
{
	int left = PARTINGS_NAMED, next = found->n;

	for (int i = found->n - 1; i >= 0 && left > 0; i--) {
		const char *why = next < found->n ? to->points.at[next].parting : NULL;

		if (!isfinite(found->points[i].figure.value))
			continue;
		if (why && strcmp(why, settings_changed) == 0) {
			const int64_t ids[] = { found->points[i].run.id,
						found->points[next].run.id };

			if (!named_parting(app, ids, arena, &why, err))
				return false;
			if (why)
				REPORT_SET(&to->points.at[next], parting, why);
			left--;
		}
		next = i;
	}
	return true;
}

static bool put_partings(struct report_history *to, struct app *app, const struct history *found,
			 struct arena *arena, struct err *err)
{
	const struct history_point *last = NULL;

	for (int i = 0; i < found->n; i++) {
		const struct history_point *p = &found->points[i];
		const char *why = last ? parting(last, p) : NULL;

		if (!isfinite(p->figure.value))
			continue;
		REPORT_SET_IF(&to->points.at[i], parting, why != NULL, why);
		last = p;
	}
	return name_partings(to, app, found, arena, err);
}

/* What the runs say, and of each point what is shown. */
static bool put_findings(struct report_history *to, struct history_runs *h,
			 const struct history *found, struct arena *arena, struct err *err)
{
	struct history_run *runs = ARENA_ARRAY(arena, struct history_run, (size_t)found->n + 1);
	const struct report_history_findings *said;

	for (int k = 0; runs && k < found->n; k++) {
		const struct history_point *p = &found->points[k];

		runs[k] = (struct history_run){
			p->run.id,       { p->figure.lo, p->figure.value, p->figure.hi },
			p->figure.n,     lack_of(p),
			p->run.baseline, to->points.at[k].has.change
		};
	}
	h->at = runs;
	h->n = (size_t)found->n;
	h->total = found->total;
	said = runs ? history_say(h, arena, err) : NULL;
	if (!said)
		return false;
	REPORT_SET(to, sentence, said->sentence);
	REPORT_SET(to, how, said->how);
	for (size_t i = 0; i < to->points.n; i++) {
		const struct report_history_shown *of = &said->points.at[i];

		REPORT_SET_IF(&to->points.at[i], shown, of->shown != NULL, of->shown);
		REPORT_SET_IF(&to->points.at[i], of_baseline, of->of_baseline != NULL,
			      of->of_baseline);
	}
	return true;
}

/* Its points, in the order of the store. */
static bool put_points(struct app *app, const struct history *found, struct report_draft *draft,
		       struct report_history *to, struct err *err)
{
	size_t n = (size_t)found->n;

	REPORT_SET(
	    to, points,
	    (struct report_history_point_list){ report_new_history_point(n, &draft->arena), n });
	for (size_t i = 0; to->points.at && i < n; i++)
		if (!put_point(app, &found->points[i], draft, &to->points.at[i], err))
			return false;
	return to->points.at != NULL;
}

/* The level that a run is of, and the change that it begins, where the figure stepped. */
static void put_level(struct report_history_point *to, const struct history_point *p,
		      const struct change_step_row *s, int64_t change)
{
	int64_t run = p->run.id;

	if (!isfinite(p->figure.value) ||
	    !(s->n == p->figure.n || (isnan(s->n) && isnan(p->figure.n))))
		return;
	if (run == s->run)
		REPORT_SET(to, change, change);
	if (run >= s->run && run <= s->to_run)
		REPORT_SET(to, level, s->new.mid);
	else if (run >= s->from_run && run <= s->before_run && !to->has.level)
		REPORT_SET(to, level, s->old.mid);
}

static bool is_of_scope(const struct change_row *c, const struct run_row *run)
{
	return strcmp(c->project, run->project) == 0 && strcmp(c->branch, run->branch) == 0 &&
	       strcmp(c->settings_hash, run->settings_hash) == 0;
}

static bool put_changes(struct app *app, const struct history_query *query,
			const struct history *found, struct report_history *to, struct arena *arena,
			struct err *err)
{
	struct change_query all = { .name = query->name,
				    .project = query->project,
				    .limit = CHANGES };
	struct change_list list;

	if (!db_changes_list(app->db, &all, arena, &list, err))
		return false;
	for (int k = 0; k < list.n; k++)
		for (int t = 0; t < list.at[k].n_steps && !list.at[k].gone; t++) {
			const struct change_step_row *s = &list.at[k].steps[t];

			if (strcmp(s->metric, query->metric) != 0 ||
			    strcmp(s->mode, query->mode) != 0)
				continue;
			for (int i = 0; i < found->n; i++)
				if (is_of_scope(&list.at[k], &found->points[i].run))
					put_level(&to->points.at[i], &found->points[i], s,
						  list.at[k].id);
		}
	to->has.changes = true;
	return changes_fill(app->db, &list, arena, &to->changes);
}

/* Whether runs of an older version are left whose figures are not stored. */
static bool find_pending(struct db *db, const struct history_asked *asked, bool *pending,
			 struct err *err)
{
	int64_t run;
	int missing;

	if (!asked->reads_only)
		return changes_catch_up(db, asked->query.name, CATCH_UP, pending, err);
	missing = db_figures_missing(db, asked->query.name, &run, 1, err);
	*pending = missing > 0;
	return missing >= 0;
}

/* The history of one workload. */
static bool put_history(struct app *app, const struct history_asked *asked,
			struct report_draft *draft, struct report_history *to, struct err *err)
{
	const struct metric_info *m;
	struct history_query query = asked->query;
	struct figure_list known = { 0 };
	struct history_runs said = { 0 };
	struct arena *arena = &draft->arena;
	struct history found;

	if (!find_pending(app->db, asked, &said.pending, err) ||
	    !db_figures_known(app->db, query.name, arena, &known, err))
		return false;
	m = said.metric = metric_info(metric_for(&known, asked->metric));
	query.metric = m->name;
	if (!query.mode || !*query.mode)
		query.mode = mode_for(&known, query.metric);
	if (!db_history(app->db, &query, arena, &found, err))
		return false;
	said.mode = query.mode;
	REPORT_SET(to, mode, query.mode);
	REPORT_SET(to, metric, m->name);
	REPORT_SET(to, title, m->title);
	REPORT_SET(to, unit, m->unit);
	REPORT_SET(to, more_is_better, m->more_is_better);
	REPORT_SET_OR_NULL(to, n, isfinite(query.n), query.n);
	REPORT_SET(to, known, known_of(&known, arena));
	REPORT_SET(to, total, found.total);
	REPORT_SET(to, pending, said.pending);
	if (!to->known || !put_points(app, &found, draft, to, err))
		return false;
	if (!put_partings(to, app, &found, arena, err))
		return false;
	if (!put_changes(app, &query, &found, to, arena, err))
		return false;
	return put_findings(to, &said, &found, arena, err);
}

struct report_history *history_answer(struct app *app, const struct history_asked *asked,
				      struct report_draft *draft, struct err *err)
{
	struct report_history *to = report_new_history(1, &draft->arena);
	bool ok = to && put_names(app->db, to, &draft->arena, err);

	if (ok && asked->query.name) {
		REPORT_SET(to, workload, asked->query.name);
		ok = put_history(app, asked, draft, to, err);
	}
	if (!ok && err->code == ERR_NONE)
		err_set(err, ERR_MEMORY, "out of memory for a history");
	return ok ? to : NULL;
}

static bool api_history(struct req *req, struct reply *reply, struct err *err)
{
	struct report_draft draft = { 0 };
	struct history_asked asked;
	const struct report_history *answer = NULL;

	if (read_filter(req, &asked, err))
		answer = history_answer(req->app, &asked, &draft, err);
	reply->json = report_write_history(answer);
	reply->keep = KEEP_STORE;
	report_draft_finish(&draft);
	return reply->json || err->code != ERR_NONE
		   ? reply->json != NULL
		   : err_set(err, ERR_MEMORY, "out of memory for a history");
}

/* ---- all workloads over commits ---- */

/* `first`: the median of the oldest column that the workload has. */
static json_t *cell_json(const struct heat_cell *cell, double first_us)
{
	const struct run_summary *m = &cell->summary;
	bool judged = strcmp(m->verdict, RUN_DISAGREES) != 0;

	return json_pack("{s:I, s:s, s:s, s:o, s:o, s:f, s:f}", "run", (json_int_t)cell->run,
			 "mode", m->mode, "verdict", m->verdict, "speedup",
			 judged ? json_real(m->speedup) : json_null(), "speedup_ci",
			 judged ? json_pack("[f, f]", m->speedup_lo, m->speedup_hi) : json_null(),
			 "median_us", m->median_us, "median_of_first",
			 first_us > 0 ? m->median_us / first_us : 1.0);
}

/* That of a column, among those from `from` to `end`; NULL: there is none. */
static const struct heat_cell *cell_of(const struct heat *heat, int from, int end,
				       const char *column)
{
	for (int i = from; i < end; i++)
		if (strcmp(heat->at[i].column, column) == 0)
			return &heat->at[i];
	return NULL;
}

/* The row of the workload whose cells begin at `from`; returns where the next begins. */
static int put_row(const struct heat *heat, int from, json_t *rows)
{
	const char *name = heat->at[from].name;
	json_t *cells = json_array();
	double first_us = 0;
	int end = from;

	while (end < heat->n && strcmp(heat->at[end].name, name) == 0)
		end++;
	for (int c = 0; c < heat->n_columns; c++) {
		const struct heat_cell *cell = cell_of(heat, from, end, heat->columns[c]);

		if (cell && first_us == 0)
			first_us = cell->summary.median_us;
		json_array_append_new(cells, cell ? cell_json(cell, first_us) : json_null());
	}
	json_array_append_new(rows, json_pack("{s:s, s:o}", "name", name, "cells", cells));
	return end;
}

static bool api_heat(struct req *req, struct reply *reply, struct err *err)
{
	json_t *columns = json_array(), *rows = json_array();
	struct heat heat;
	bool ok = db_heat(req->app->db, req_query(req, "project"), req->arena, &heat, err);

	for (int i = 0; ok && i < heat.n_columns; i++)
		json_array_append_new(columns, json_string(heat.columns[i]));
	for (int i = 0; ok && i < heat.n;)
		i = put_row(&heat, i, rows);
	if (ok)
		reply->json = json_pack("{s:O, s:O}", "columns", columns, "rows", rows);
	reply->keep = KEEP_STORE;
	json_decref(columns);
	json_decref(rows);
	return ok;
}

handler_fn *const history_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
