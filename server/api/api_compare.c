/* server/api/api_compare.c -- /api/v1/compare: two runs or more, out of the store. */
#define HANDLER_compare(name) name
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/api/api.h"
#include "server/api/routes.h"

bool loaded_add(struct loaded_runs *l, json_t *head, json_t *report, struct err *err)
{
	if (l->n < COMPARE_MAX_RUNS && head && report) {
		l->at[l->n++] = (struct compared_run){ .head = head, .report = report };
		return true;
	}
	json_decref(head);
	json_decref(report);
	if (l->n == COMPARE_MAX_RUNS)
		return err_set(err, ERR_BAD_REQUEST, "at most %d runs are compared at once",
			       COMPARE_MAX_RUNS);
	return err_set(err, ERR_MEMORY, "out of memory for a comparison");
}

/* What a report says of its machine is kept beside it in the store. */
static json_t *with_environment(json_t *report, const struct buf *environment)
{
	json_t *of_run = json_loadb(environment->data, environment->len, 0, NULL);
	json_t *kept = json_object_size(of_run) > 0 ? json_pack("{s:o}", "environment", of_run)
						    : of_run;

	json_object_update_missing(report, kept);
	json_decref(kept);
	return report;
}

/* What the store has of runs that repeat it; none is no failure. */
static bool add_repeats(struct loaded_runs *l, struct db *db, int64_t id, struct err *err)
{
	struct compared_run *run = &l->at[l->n - 1];
	struct figure_list figures;
	struct repeat *repeats;

	if (!db_repeats(db, id, &l->arena, &figures, err))
		return false;
	repeats = ARENA_ARRAY(&l->arena, struct repeat, (size_t)figures.n + 1);
	if (!repeats)
		return err_set(err, ERR_MEMORY, "out of memory for a comparison");
	for (int i = 0; i < figures.n; i++) {
		const struct run_figure *f = &figures.at[i];

		repeats[i] = (struct repeat){ f->metric, f->mode, f->n, f->value };
	}
	run->repeats = repeats;
	run->n_repeats = figures.n;
	return true;
}

bool loaded_add_run(struct loaded_runs *l, struct db *db, int64_t id, struct err *err)
{
	struct buf report = { 0 }, environment = { 0 };
	struct arena arena = { 0 };
	struct run_row run;
	bool ok = db_run_get(db, id, &arena, &run, err);

	if (ok && run.status != RUN_DONE)
		ok = err_set(err, ERR_CONFLICT,
			     "run %lld is %s; only a run that is done can be "
			     "compared",
			     (long long)id, run_status_name(run.status));
	ok = ok && db_report_get(db, id, &report, &environment, err);
	if (ok) {
		json_t *json = json_loadb(report.data, report.len, 0, NULL);

		ok = loaded_add(l,
				json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:I}", "id",
					  (json_int_t)id, "name", run.name, "project", run.project,
					  "device", run.device, "commit", run.commit, "branch",
					  run.branch, "created_ns", (json_int_t)run.created_ns),
				json ? with_environment(json, &environment) : NULL, err) &&
		     add_repeats(l, db, id, err);
	}
	buf_finish(&report);
	buf_finish(&environment);
	arena_finish(&arena);
	return ok;
}

void loaded_finish(struct loaded_runs *l)
{
	for (int i = 0; i < l->n; i++) {
		json_decref(l->at[i].head);
		json_decref((json_t *)l->at[i].report);
	}
	l->n = 0;
	arena_finish(&l->arena);
}

/* ---- the route ---- */

/* Percents of a difference that is worth telling. */
static const double margin_most = 100;

static bool add_one(struct req *req, const char *name, const char *text, struct loaded_runs *runs,
		    struct err *err)
{
	char *end;
	long long id;

	errno = 0;
	id = strtoll(text, &end, 10);
	if (errno || end == text || *end || id <= 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "%s=%.40s is no run; runs have numbers from "
			       "1 on",
			       name, text);
	return loaded_add_run(runs, req->app->db, id, err);
}

/* a=, then every b=, then c= to h=. */
static bool load(struct req *req, struct loaded_runs *runs, struct err *err)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	const char *values[COMPARE_MAX_RUNS + 1];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int n = req_query_all(req, names[i], values, COMPARE_MAX_RUNS + 1);

		if (n == 0 && i < 2)
			return err_set(err, ERR_BAD_REQUEST,
				       "%s= is missing: /compare?a=1&b=2 "
				       "compares run 2 with run 1",
				       names[i]);
		if (n > 1 && i != 1)
			return err_set(err, ERR_BAD_REQUEST,
				       "%s= stands twice; more runs are "
				       "further b=",
				       names[i]);
		for (int k = 0; k < n; k++)
			if (!add_one(req, names[i], values[k], runs, err))
				return false;
	}
	return true;
}

static bool read_options(struct req *req, struct compare_options *o, struct err *err)
{
	const char *margin = req_query(req, "margin"), *force = req_query(req, "force");
	char *end;

	o->metric = req_query(req, "metric");
	o->force = force && strcmp(force, "1") == 0;
	if (force && !o->force && strcmp(force, "0") != 0)
		return err_set(err, ERR_BAD_REQUEST, "force=%.40s: 1 or 0 is needed", force);
	if (!margin)
		return true;
	o->margin = strtod(margin, &end) / 100;
	return (end != margin && !*end && o->margin > 0 && o->margin <= margin_most / 100) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "margin=%.40s: percents above 0 and up to %.0f are "
		       "needed",
		       margin, margin_most);
}

static bool api_compare(struct req *req, struct reply *reply, struct err *err)
{
	struct compare_options options = { 0 };
	struct loaded_runs runs = { 0 };

	if (read_options(req, &options, err) && load(req, &runs, err))
		reply->json = compare_runs(runs.at, runs.n, &options, err);
	loaded_finish(&runs);
	reply->keep = KEEP_STORE;
	return reply->json != NULL;
}

handler_fn *const compare_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
