/* server/api/api_suites.c -- /api/v1/suites: many workloads as one. */
#define HANDLER_suites(name) name
#include <stdlib.h>
#include <string.h>

#include "profiler/suite/suite.h"
#include "server/queue/hosts.h"
#include "server/queue/queue.h"
#include "server/api/routes.h"

enum { LIST_DEFAULT = 20, LIST_MOST = 100, CURSOR_MOST = 1 << 30 };

static bool queue_takes(struct app *app, int n, struct err *err)
{
	int64_t queued;

	if (!db_run_count(app->db, RUN_QUEUED, &queued, err))
		return false;
	return queued + n <= SUITE_MAX_JOBS ||
	       err_set(err, ERR_BUSY,
		       "the suite makes %d runs and %lld are waiting; the limit is %d; cancel some "
		       "or post again later",
		       n, (long long)queued, SUITE_MAX_JOBS);
}

/* What this server cannot do is said at once, not in every row. */
static bool has_engines(const struct app *app, const struct suite_plan *plan, struct err *err)
{
	const struct report_texts *engines = &plan->asked->engines;

	const char *host = report_text(plan->asked->host);

	return (*host && strcmp(host, "local") != 0) || !app->no_torch ||
	       report_key(engines->at, engines->n, "torch") == engines->n ||
	       err_set(err, ERR_NO_DEVICE, "%s", app->no_torch);
}

static bool api_suites_post(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	struct suite_plan plan = { 0 };
	struct suite_stored made = { 0 };
	bool ok = json && req_take_project(req, json, err) &&
		  suite_plan_make(&plan, json, req->app->registry, err) &&
		  hosts_take_workload(req->app->hosts, plan.asked->host, false, err) &&
		  has_engines(req->app, &plan, err) && store_has_room(req->app, err) &&
		  queue_takes(req->app, plan.n_jobs, err) &&
		  suite_store_plan(req->app->db, &plan, req->caller.name, &made, err);

	if (ok) {
		jobs_wake(req->app->jobs);
		reply->status = 202;
		reply->location = req_location(req, "suites", made.id);
		reply->json = json_pack("{s:I, s:i, s:i, s:I}", "id", (json_int_t)made.id,
					"workloads", plan.n_workloads, "runs",
					plan.n_jobs - (int)made.kept, "kept",
					(json_int_t)made.kept);
	}
	suite_plan_finish(&plan);
	json_decref(json);
	return ok;
}

static bool api_suites_list(struct req *req, struct reply *reply, struct err *err)
{
	struct suite_query query;
	struct suite_page page;
	int64_t limit;
	json_t *list;

	if (!req_query_int(req, "limit", (struct req_range){ 1, LIST_MOST, LIST_DEFAULT }, &limit,
			   err) ||
	    !req_query_int(req, "cursor", (struct req_range){ 1, CURSOR_MOST, 0 }, &query.before_id,
			   err))
		return false;
	query.limit = (int)limit;
	if (!db_suite_list(req->app->db, &query, req->arena, &page, err))
		return false;
	list = json_array();
	for (int i = 0; i < page.n; i++) {
		json_t *head = suite_stored_listed(req->app->db, &page.suites[i], req->arena, err);

		if (!head) {
			json_decref(list);
			return false;
		}
		json_array_append_new(list, head);
	}
	reply->json = json_pack("{s:o, s:o, s:I}", "suites", list, "next",
				page.next ? json_integer(page.next) : json_null(), "total",
				(json_int_t)page.total);
	reply->keep = KEEP_STORE;
	return true;
}

static bool api_suite_get(struct req *req, struct reply *reply, struct err *err)
{
	struct suite suite;
	json_t *report;
	int64_t id;

	if (!req_id(req, 0, &id, err) || !db_suite_get(req->app->db, id, req->arena, &suite, err))
		return false;
	report = suite_stored_report(req->app->db, &suite, req->arena, err);
	if (!report)
		return false;
	reply->json = suite_stored_head(&suite);
	reply->keep = KEEP_STORE;
	json_object_set_new(reply->json, "report", report);
	return true;
}

/* The report of a suite, and what it is called; NULL with why not. */
static json_t *load_suite(struct req *req, int64_t id, json_t **head, struct err *err)
{
	struct suite suite;
	json_t *report;

	if (!db_suite_get(req->app->db, id, req->arena, &suite, err))
		return NULL;
	report = suite_stored_report(req->app->db, &suite, req->arena, err);
	*head = report ? suite_stored_head(&suite) : NULL;
	return report;
}

static bool api_suite_compare(struct req *req, struct reply *reply, struct err *err)
{
	json_t *before = NULL, *after = NULL, *heads[2] = { NULL, NULL };
	int64_t id, base;
	bool ok = req_id(req, 0, &id, err) &&
		  req_query_int(req, "base", (struct req_range){ 1, INT64_MAX, 0 }, &base, err) &&
		  (base || err_set(err, ERR_BAD_REQUEST, "base= is missing: an earlier suite"));

	before = ok ? load_suite(req, base, &heads[0], err) : NULL;
	after = before ? load_suite(req, id, &heads[1], err) : NULL;
	reply->json = after ? suite_compare(before, after, err) : NULL;
	if (reply->json) {
		reply->keep = KEEP_STORE;
		json_object_set(reply->json, "before", heads[0]);
		json_object_set(reply->json, "after", heads[1]);
	}
	json_decref(before);
	json_decref(after);
	json_decref(heads[0]);
	json_decref(heads[1]);
	return reply->json != NULL;
}

/* Those of its runs that another has made are for an admin to remove. */
static bool may_remove(struct req *req, int64_t id, struct err *err)
{
	struct suite_contents in;

	if (!db_suite_members(req->app->db, id, req->arena, &in, err))
		return false;
	for (int i = 0; i < in.n_members; i++)
		if (!in.members[i].kept &&
		    !req_may_remove(req, "the suite", in.members[i].run.author, err))
			return false;
	return true;
}

static bool api_suite_delete(struct req *req, struct reply *reply, struct err *err)
{
	struct suite suite;
	const char *did;
	int64_t id;
	bool ok;

	if (!req_id(req, 0, &id, err) || !db_suite_get(req->app->db, id, req->arena, &suite, err) ||
	    !may_remove(req, id, err))
		return false;
	if (suite.counts[RUN_QUEUED] + suite.counts[RUN_RUNNING] > 0) {
		did = "cancelled";
		ok = suite_cancel(req->app->db, req->app->jobs, id, req->arena, err);
	} else {
		did = "removed";
		ok = db_suite_delete(req->app->db, id, err);
	}
	if (ok)
		reply->json = json_pack("{s:I, s:s, s:o*}", "id", (json_int_t)id, "did", did,
					"restorable_s",
					*did == 'r' ? json_integer(JOBS_RESTORABLE_S) : NULL);
	return ok;
}

static bool api_suite_resume(struct req *req, struct reply *reply, struct err *err)
{
	struct suite suite;
	int64_t id, n;
	bool ok = req_id(req, 0, &id, err) &&
		  db_suite_get(req->app->db, id, req->arena, &suite, err) &&
		  store_has_room(req->app, err) &&
		  queue_takes(req->app, (int)suite.counts[RUN_CANCELLED], err) &&
		  db_suite_resume(req->app->db, id, &n, err) &&
		  db_suite_get(req->app->db, id, req->arena, &suite, err);

	if (ok) {
		jobs_wake(req->app->jobs);
		reply->json = suite_stored_head(&suite);
	}
	return ok;
}

static bool api_suite_restore(struct req *req, struct reply *reply, struct err *err)
{
	bool admin = req->caller.scope == SCOPE_ADMIN;
	struct suite suite;
	int64_t id;
	bool ok = req_id(req, 0, &id, err) &&
		  db_suite_restore(req->app->db, id, admin ? NULL : req->caller.name, err) &&
		  db_suite_get(req->app->db, id, req->arena, &suite, err);

	if (ok)
		reply->json = suite_stored_head(&suite);
	return ok;
}

handler_fn *const suites_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
