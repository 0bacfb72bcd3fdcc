/* server/api/api_since.c -- GET /since: what the last hours brought. */
#define HANDLER_since(name) name
#include <string.h>

#include "fusion/base/clock.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum { HOURS = 24, HOURS_MOST = 24 * 365, ROWS_MOST = 20 };

/* {"done": 4, ...} of the runs since then. */
static json_t *counts_json(const struct run_changes *c)
{
	json_t *counts = json_object();

	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		json_object_set_new(counts, run_status_name((enum run_status)i),
				    json_integer(c->counts[i]));
	return counts;
}

static json_t *changes_json(struct app *app, const struct run_changes *c)
{
	json_t *list = json_array();

	for (int i = 0; i < c->n; i++) {
		const struct run_change *at = &c->at[i];

		json_array_append_new(list, json_pack("{s:o, s:I, s:s}", "run",
						      run_list_json(app, &at->run), "before",
						      (json_int_t)at->before, "was", at->was));
	}
	return list;
}

/* Whether a mode of a workload of it did not pass. */
static bool has_failed(const struct suite *suite, const json_t *listed)
{
	json_t *columns = json_object_get(listed, "columns"), *column;
	size_t i;

	json_array_foreach(columns, i, column)
		if (json_integer_value(json_object_get(column, "failed")) ||
		    json_integer_value(json_object_get(column, "disagrees")))
			return true;
	return suite->counts[RUN_FAILED] > 0;
}

/* Suites since then of which something did not pass, newest first. */
static bool put_suites(struct req *req, int64_t since_ns, json_t *out, struct err *err)
{
	const char *project = req_query(req, "project");
	struct suite_page page;

	if (!db_suite_list(req->app->db, &(struct suite_query){ .limit = ROWS_MOST }, req->arena,
			   &page, err))
		return false;
	for (int i = 0; i < page.n && page.suites[i].created_ns >= since_ns; i++) {
		const struct suite *suite = &page.suites[i];
		json_t *listed;

		if (project && *project && strcmp(project, suite->project) != 0)
			continue;
		listed = suite_stored_listed(req->app->db, suite, req->arena, err);
		if (!listed)
			return false;
		if (has_failed(suite, listed))
			json_array_append(out, listed);
		json_decref(listed);
	}
	return true;
}

/* Steps found since then that nobody acknowledged, the newest first. */
static json_t *steps_json(struct req *req, int64_t since_ns, int64_t *total, struct err *err)
{
	const struct change_query query = { .project = req_query(req, "project"),
					    .since_ns = since_ns,
					    .open = true,
					    .limit = ROWS_MOST };
	struct report_draft draft = { 0 };
	struct report_changes *to = report_new_changes(1, &draft.arena);
	struct change_list found = { 0 };
	json_t *list = NULL, *whole;

	if (to && db_changes_list(req->app->db, &query, &draft.arena, &found, err) &&
	    changes_fill(req->app->db, &found, &draft.arena, &to->changes)) {
		to->has.changes = true;
		REPORT_SET(to, total, found.total);
		whole = report_write_changes(to);
		list = json_incref(json_object_get(whole, "changes"));
		json_decref(whole);
	}
	*total = found.total;
	report_draft_finish(&draft);
	return list;
}

static bool put_pinned(struct req *req, json_t *out, struct err *err)
{
	const struct run_query query = { .project = req_query(req, "project"),
					 .pinned = true,
					 .status = -1,
					 .limit = ROWS_MOST };
	struct run_page page;

	if (!db_run_list(req->app->db, &query, req->arena, &page, err))
		return false;
	for (int i = 0; i < page.n; i++)
		json_array_append_new(out, run_list_json(req->app, &page.runs[i]));
	return true;
}

static bool api_since(struct req *req, struct reply *reply, struct err *err)
{
	json_t *suites = json_array(), *pinned = json_array(), *steps = NULL;
	struct run_changes changes;
	int64_t hours, since_ns, stepped = 0;
	bool ok = req_query_int(req, "hours", (struct req_range){ 1, HOURS_MOST, HOURS }, &hours,
				err);

	since_ns = clock_wall_ns() - hours * INT64_C(3600000000000);
	ok = ok &&
	     db_run_changes(
		 req->app->db,
		 &(struct changes_query){ req_query(req, "project"), since_ns, ROWS_MOST },
		 req->arena, &changes, err) &&
	     put_suites(req, since_ns, suites, err) && put_pinned(req, pinned, err);
	steps = ok ? steps_json(req, since_ns, &stepped, err) : NULL;
	if (ok && !steps && err->code == ERR_NONE)
		err_set(err, ERR_MEMORY, "out of memory for a list");
	ok = ok && steps;
	if (ok)
		reply->json = json_pack(
		    "{s:I, s:o, s:I, s:o, s:O, s:O, s:I, s:O}", "since_ns", (json_int_t)since_ns,
		    "runs", counts_json(&changes), "changed", (json_int_t)changes.total, "changes",
		    changes_json(req->app, &changes), "suites", suites, "pinned", pinned, "stepped",
		    (json_int_t)stepped, "steps", steps);
	json_decref(steps);
	json_decref(suites);
	json_decref(pinned);
	return ok;
}

handler_fn *const since_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
