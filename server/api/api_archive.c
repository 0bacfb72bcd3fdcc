/* server/api/api_archive.c -- /api/v1/retention: what old runs lose, and when. */
#define HANDLER_archive(name) name
#include <string.h>

#include "server/api/api.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum { DAYS_MOST = 36500, LIST_DEFAULT = 20, LIST_MOST = 100, ID_MOST = 1 << 30 };

/* A token of one project sees that one alone. */
static const char *project_of(const struct req *req, const char *asked)
{
	const char *own = req->caller.project;

	return own && *own ? own : asked;
}

static json_t *row_json(const struct retain_row *row, int64_t frees)
{
	return json_pack(
	    "{s:I, s:s, s:s, s:I, s:I, s:I}", "id", (json_int_t)row->id, "name", row->name,
	    "project", row->project, "created_ns", (json_int_t)row->created_ns, "stored_bytes",
	    (json_int_t)(row->timeline_bytes + row->report_bytes + row->findings_bytes),
	    "frees_bytes", (json_int_t)frees);
}

static bool rows_json(struct req *req, const struct retain_list *list, json_t *out, int64_t *frees,
		      struct err *err)
{
	int64_t bytes;

	*frees = 0;
	for (int i = 0; i < list->n; i++) {
		if (!retain_frees(req->app->db, list->at[i].id, &bytes, err))
			return false;
		*frees += bytes;
		json_array_append_new(out, row_json(&list->at[i], bytes));
	}
	return true;
}

static bool api_retention(struct req *req, struct reply *reply, struct err *err)
{
	int64_t rule = req->app->bounds.keep_days, days, limit, frees;
	struct retain_query query = { .project = project_of(req, req_query(req, "project")) };
	struct retain_list list;
	json_t *rows;

	if (!req_query_int(req, "days", (struct req_range){ 0, DAYS_MOST, rule ? rule : KEEP_DAYS },
			   &days, err) ||
	    !req_query_int(req, "limit", (struct req_range){ 1, LIST_MOST, LIST_DEFAULT }, &limit,
			   err) ||
	    !req_query_int(req, "cursor", (struct req_range){ 1, ID_MOST, 0 }, &query.after, err))
		return false;
	query.before_ns = retain_before(days);
	query.limit = (int)limit;
	if (!db_retain_list(req->app->db, &query, req->arena, &list, err))
		return false;
	rows = json_array();
	if (!rows_json(req, &list, rows, &frees, err)) {
		json_decref(rows);
		return false;
	}
	reply->json = json_pack(
	    "{s:I, s:I, s:I, s:I, s:o, s:o}", "days", (json_int_t)rule, "total",
	    (json_int_t)list.total, "stored_bytes",
	    (json_int_t)(list.timeline_bytes + list.report_bytes + list.findings_bytes),
	    "frees_bytes", (json_int_t)frees, "runs", rows, "next",
	    list.n == limit ? json_integer(list.at[list.n - 1].id) : json_null());
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for an answer");
}

/* {"days": 30, "project": "speech"} */
static bool read_rule(struct req *req, const json_t *json, struct retain_query *out,
		      struct err *err)
{
	const char *project = NULL, *key;
	int64_t days = -1;
	json_t *value;

	json_object_foreach((json_t *)json, key, value) {
		if (strcmp(key, "days") == 0)
			days = json_is_integer(value) ? json_integer_value(value) : -1;
		else if (strcmp(key, "project") == 0 && json_is_string(value))
			project = json_string_value(value);
		else
			return err_set(err, ERR_BAD_REQUEST,
				       "%.40s: days, a number, and project, a text, are taken",
				       key);
	}
	if (days < 0 || days > DAYS_MOST)
		return err_set(err, ERR_BAD_REQUEST,
			       "days must be a whole number from 0 to %d: the age from which runs "
			       "are thinned out",
			       DAYS_MOST);
	*out = (struct retain_query){ .before_ns = retain_before(days),
				      .project = project_of(req, project),
				      .limit = LIST_MOST };
	return true;
}

static bool api_retention_post(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	struct retained done = { 0 };
	struct retain_query query;
	bool more, ok = json && read_rule(req, json, &query, err) &&
			retain_some(req->app->db, &query, &done, &more, err);

	json_decref(json);
	if (!ok)
		return false;
	jobs_wake(req->app->jobs); /* which gives the space back */
	reply->json = json_pack("{s:I, s:I, s:b}", "runs", (json_int_t)done.runs, "bytes",
				(json_int_t)done.bytes, "more", more);
	return true;
}

handler_fn *const archive_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
