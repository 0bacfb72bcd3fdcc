/* server/api/api_traces.c -- runs that another process records: begin, add blocks, end. */
#define HANDLER_traces(name) name
#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "profiler/timeline/timeline.h"
#include "server/queue/queue.h"
#include "server/api/routes.h"

enum { NAME_CHARS = 200 };

static bool has_room(struct app *app, struct err *err)
{
	int64_t running;

	if (!db_run_count(app->db, RUN_RUNNING, &running, err))
		return false;
	return running < app->bounds.recordings ||
	       err_set(err, ERR_BUSY,
		       "%lld programs are being recorded, the limit; end some or post again later",
		       (long long)app->bounds.recordings);
}

/* What a trace begins with: as a workload has it, but that it must have a name. */
static const struct report_workload *read_begin(const json_t *json, struct arena *arena,
						struct err *err)
{
	const struct report_workload *w = NULL;

	if (!json_is_object(json))
		err_set(err, ERR_JSON, "a trace begins with an object");
	else
		w = report_read_workload(json, arena, err);
	if (err->code == ERR_WORKLOAD)
		err->code = ERR_JSON;
	if (w && (!w->name || !*w->name || strlen(w->name) > NAME_CHARS)) {
		err_set(err, ERR_JSON, "'name' must be a text of 1 to %d bytes", NAME_CHARS);
		return NULL;
	}
	return w;
}

static bool api_traces_post(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	const struct report_workload *w = json && req_take_project(req, json, err)
					      ? read_begin(json, req->arena, err)
					      : NULL;
	int64_t id = 0;
	bool ok = w && store_has_room(req->app, err) && has_room(req->app, err) &&
		  enqueue_trace(req->app->db, w, req->caller.name, &id, err);

	json_decref(json);
	if (!ok)
		return false;
	reply->news_run = id;
	reply->status = 201;
	reply->location = req_location(req, "runs", id);
	reply->json = json_pack("{s:I}", "id", (json_int_t)id);
	return true;
}

/* The body is blocks, one after the other; each is checked before any is stored. */
static bool api_trace_blocks(struct req *req, struct reply *reply, struct err *err)
{
	VEC(struct timeline_row) rows = { 0 };
	size_t at = 0;
	int64_t id, first;
	bool ok = req_id(req, 0, &id, err) && store_has_room(req->app, err) &&
		  req_query_int(req, "at", (struct req_range){ 0, 1 << 30, 0 }, &first, err);

	while (ok && at < req->body_len) {
		struct timeline_block b;

		ok = timeline_block_read(req->body + at, req->body_len - at, &b, err);
		if (ok && !VEC_PUSH(&rows, (struct timeline_row){ .kind = b.kind,
								  .events = b.events,
								  .t0_ns = b.t0_ns,
								  .t1_ns = b.t1_ns,
								  .data = req->body + at,
								  .len = b.block_bytes }))
			ok = err_set(err, ERR_MEMORY, "out of memory for blocks");
		at += ok ? b.block_bytes : 0;
	}
	ok = ok && db_trace_append(req->app->db, id,
				   &(struct trace_post){ first, rows.at, rows.len, TRACE_RUN_BYTES,
							 TRACE_RUN_EVENTS },
				   err);
	if (ok) {
		reply->news_run = id;
		reply->json = json_pack("{s:I}", "blocks", (json_int_t)rows.len);
	}
	VEC_FREE(&rows);
	return ok;
}

static bool api_trace_end(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	const struct report_trace_ended *how = json ? report_read_trace_ended(json, req->arena, err)
						    : NULL;
	struct err why = { 0 };
	int64_t id;
	const json_t *import = how && !json_is_null(how->import) ? how->import : NULL;
	bool ok = how && req_id(req, 0, &id, err);

	if (err->code == ERR_WORKLOAD)
		err->code = ERR_JSON;
	if (ok && import && !json_is_object(import))
		ok = err_set(err, ERR_JSON,
			     "'import' must be an object, as breakeven import --json "
			     "prints it");

	/* A workload's end is its worker's to say. */
	ok = ok && db_trace_append(req->app->db, id,
				   &(struct trace_post){ .most_bytes = TRACE_RUN_BYTES,
							 .most_events = TRACE_RUN_EVENTS },
				   err);
	if (ok && how->error) {
		err_set(&why, ERR_WORKER, "%.400s", how->error);
		ok = db_run_end(req->app->db, id, RUN_FAILED, &why, NULL, err);
	} else if (ok) {
		ok = trace_end(req->app->db, req->app->registry, id, import, err);
	}
	json_decref(json);
	if (!ok)
		return false;
	reply->news_run = id;
	reply->json = json_pack("{s:I}", "id", (json_int_t)id);
	return true;
}

static bool add_piece(void *self, const struct timeline_row *row, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_block b;

	return timeline_block_read(row->data, row->len, &b, err) &&
	       timeline_file_read(&b, name, self, err);
}

/* The files one after the other: no line needs another. */
static bool api_run_torch_trace(struct req *req, struct reply *reply, struct err *err)
{
	struct buf text;
	struct run_row run;
	int64_t id;
	bool ok;

	buf_init(&text, TRACE_RUN_BYTES);
	ok = req_id(req, 0, &id, err) && db_run_get(req->app->db, id, req->arena, &run, err) &&
	     db_timeline_each(req->app->db, id, BLOCKS_ALL(TIMELINE_FILE), add_piece, &text, err);
	if (ok && text.len == 0)
		ok = err_set(err, ERR_NOT_FOUND, "run %lld holds no TORCH_TRACE", (long long)id);
	if (ok) {
		reply->text_len = text.len;
		reply->text = buf_steal(&text);
		reply->content_type = "text/plain; charset=utf-8";
		reply->filename = arena_printf(req->arena, "breakeven-run-%lld.torch_trace.log",
					       (long long)id);
	}
	buf_finish(&text);
	return ok;
}

handler_fn *const traces_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
