/* server/api/api_since.c -- GET /since: what the last hours brought; `breakeven digest` prints it.
 */
#define HANDLER_since(name) name
#include <string.h>

#include "fusion/base/clock.h"
#include "server/api/api.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum { HOURS = 24, ROWS_MOST = 20 };

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
static bool put_suites(struct app *app, const struct changes_query *q, struct arena *arena,
		       json_t *out, struct err *err)
{
	const char *project = q->project;
	int64_t since_ns = q->since_ns;
	struct suite_page page;

	if (!db_suite_list(app->db, &(struct suite_query){ .limit = ROWS_MOST }, arena, &page, err))
		return false;
	for (int i = 0; i < page.n && page.suites[i].created_ns >= since_ns; i++) {
		const struct suite *suite = &page.suites[i];
		json_t *listed;

		if (project && *project && strcmp(project, suite->project) != 0)
			continue;
		listed = suite_stored_listed(app->db, suite, arena, err);
		if (!listed)
			return false;
		if (has_failed(suite, listed))
			json_array_append(out, listed);
		json_decref(listed);
	}
	return true;
}

/* Steps found since then that nobody acknowledged, the newest first. */
static json_t *steps_json(struct app *app, const struct changes_query *q, int64_t *total,
			  struct err *err)
{
	const struct change_query query = {
		.project = q->project, .since_ns = q->since_ns, .open = true, .limit = ROWS_MOST
	};
	struct report_draft draft = { 0 };
	struct report_changes *to = report_new_changes(1, &draft.arena);
	struct change_list found = { 0 };
	json_t *list = NULL, *whole;

	if (to && db_changes_list(app->db, &query, &draft.arena, &found, err) &&
	    changes_fill(app->db, &found, &draft.arena, &to->changes)) {
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

/* Runs of a query that are of since then, newest first. */
static bool put_runs(struct app *app, const struct run_query *query, int64_t since_ns,
		     struct arena *arena, json_t *out, struct err *err)
{
	struct run_page page;

	if (!db_run_list(app->db, query, arena, &page, err))
		return false;
	for (int i = 0; i < page.n; i++)
		if (page.runs[i].created_ns >= since_ns)
			json_array_append_new(out, run_list_json(app, &page.runs[i]));
	return true;
}

static bool fill(struct app *app, const struct changes_query *q, struct arena *arena, json_t *to,
		 struct err *err)
{
	const struct run_query failed = { .project = q->project,
					  .status = RUN_FAILED,
					  .limit = ROWS_MOST },
			       pinned = { .project = q->project,
					  .pinned = true,
					  .status = -1,
					  .limit = ROWS_MOST };
	static const char *const lists[] = { "suites", "pinned", "failed" };
	json_t *list[3], *steps;
	struct run_changes changes;
	int64_t stepped = 0;

	for (size_t i = 0; i < 3; i++) {
		list[i] = json_array();
		json_object_set_new(to, lists[i], list[i]);
	}
	if (!db_run_changes(app->db, q, arena, &changes, err) ||
	    !put_suites(app, q, arena, list[0], err) ||
	    !put_runs(app, &pinned, 0, arena, list[1], err) ||
	    !put_runs(app, &failed, q->since_ns, arena, list[2], err))
		return false;
	steps = steps_json(app, q, &stepped, err);
	json_object_set_new(to, "runs", counts_json(&changes));
	json_object_set_new(to, "changed", json_integer(changes.total));
	json_object_set_new(to, "changes", changes_json(app, &changes));
	json_object_set_new(to, "stepped", json_integer(stepped));
	return (steps && json_object_set_new(to, "steps", steps) == 0) || err->code != ERR_NONE ||
	       err_set(err, ERR_MEMORY, "out of memory for a list");
}

json_t *since_answer(struct app *app, const char *project, int64_t hours, struct err *err)
{
	const struct changes_query q = { project, clock_wall_ns() - hours * INT64_C(3600000000000),
					 ROWS_MOST };
	struct arena arena = { 0 };
	json_t *json = json_pack("{s:I}", "since_ns", (json_int_t)q.since_ns);

	if (!json)
		err_set(err, ERR_MEMORY, "out of memory for a list");
	else if (!fill(app, &q, &arena, json, err) || err->code != ERR_NONE) {
		json_decref(json);
		json = NULL;
	}
	arena_finish(&arena);
	return json;
}

static bool api_since(struct req *req, struct reply *reply, struct err *err)
{
	int64_t hours;

	if (req_query_int(req, "hours", (struct req_range){ 1, SINCE_HOURS_MOST, HOURS }, &hours,
			  err))
		reply->json = since_answer(req->app, req_query(req, "project"), hours, err);
	return reply->json != NULL;
}

handler_fn *const since_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
