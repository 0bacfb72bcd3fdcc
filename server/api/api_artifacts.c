/* server/api/api_artifacts.c -- /api/v1/runs/{id}/artifacts: the texts of an imported log, listed,
 * read and searched out of the store (server/api/texts.h); and the files that they become over
 * ranks. */
#define HANDLER_artifacts(name) name
#include "server/api/over_ranks.h"
#include "server/api/routes.h"
#include "server/api/texts.h"

static bool read_asked(struct req *req, struct texts_asked *to, struct err *err)
{
	struct req_range any = { 0, INT32_MAX, -1 }, from = { 0, INT32_MAX, 0 },
			 limit = { 1, TEXTS_LIST_MOST, TEXTS_LIST_MOST };

	*to = (struct texts_asked){ .compile = req_query(req, "compile"),
				    .kind = req_query(req, "kind"),
				    .group = req_query(req, "group"),
				    .q = req_query(req, "q") };
	return req_query_int(req, "process", any, &to->process, err) &&
	       req_query_int(req, "resets", any, &to->resets, err) &&
	       req_query_int(req, "from", from, &to->from, err) &&
	       req_query_int(req, "limit", limit, &to->limit, err);
}

static bool api_run_artifacts(struct req *req, struct reply *reply, struct err *err)
{
	struct texts_asked asked;
	struct run_row run;
	int64_t id;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err) ||
	    !read_asked(req, &asked, err))
		return false;
	reply->json = texts_list(req->app->db, id, &asked, err);
	return reply->json != NULL ||
	       (err->code == ERR_NONE && err_set(err, ERR_MEMORY, "out of memory for a list"));
}

static bool api_run_artifact(struct req *req, struct reply *reply, struct err *err)
{
	struct req_range from = { 0, TEXTS_MOST_BYTES, 0 },
			 most = { 0, TEXTS_MOST_BYTES, TEXTS_MOST_BYTES };
	struct text_asked asked = { 0 };
	struct buf out = { 0 };
	struct run_row run;
	int64_t id;
	bool ok = req_id(req, 0, &id, err) && req_id(req, 1, &asked.n, err) &&
		  db_run_get(req->app->db, id, req->arena, &run, err) &&
		  req_query_int(req, "at", from, &asked.from, err) &&
		  req_query_int(req, "bytes", most, &asked.most, err) &&
		  text_of_run(req->app->db, id, &asked, &out, err);

	if (ok) {
		reply->text_len = out.len;
		reply->text = buf_steal(&out);
		reply->content_type = "text/plain; charset=utf-8";
		reply->keep = KEEP_STORE;
		ok = reply->text || err_set(err, ERR_MEMORY, "out of memory for a text");
	}
	buf_finish(&out);
	return ok;
}

/* What is imported of a run's report: new; NULL: the run is no import, or has no report yet. */
static json_t *imported_of(struct req *req, int64_t id, struct err *err)
{
	struct buf text = { 0 }, environment = { 0 };
	json_t *report = NULL, *imported = NULL;

	if (db_report_get(req->app->db, id, &text, &environment, err))
		report = json_loadb(text.data ? text.data : "", text.len, 0, NULL);
	imported = json_incref(json_object_get(report, "import"));
	json_decref(report);
	buf_finish(&text);
	buf_finish(&environment);
	return imported;
}

static bool api_run_ranks_file(struct req *req, struct reply *reply, struct err *err)
{
	struct buf out = { 0 };
	struct run_row run;
	json_t *imported;
	int64_t id;
	bool ok;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err))
		return false;
	imported = imported_of(req, id, err);
	ok = err->code == ERR_NONE &&
	     over_ranks_file(req->app->db, id, req->path_args[1], imported, &out, err);
	if (ok) {
		reply->text_len = out.len;
		reply->text = buf_steal(&out);
		reply->filename = arena_printf(req->arena, "%s", req->path_args[1]);
		reply->keep = KEEP_STORE;
	}
	json_decref(imported);
	buf_finish(&out);
	return ok;
}

handler_fn *const artifacts_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
