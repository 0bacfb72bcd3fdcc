/* server/api/api_imports.c -- POST /imports: a log becomes a run, with its timeline. */
#include <stdlib.h>
#include <string.h>

#include "profiler/import/import.h"
#include "server/queue/queue.h"
#include "server/api/routes.h"

/* UNPACKED_BYTES: of what a gzip of the body's size may hold; larger files are read by
 * `breakeven import --post`, where they lie. */
enum { UNPACKED_BYTES = 1 << 30, IMPORTS_MOST = 2, FEED_BYTES = 1 << 20, NAME_CHARS = 200 };

struct import_sink {
	struct db *db;
	int64_t run, blocks;
};

/* A block of the timeline, stored as it comes. */
static bool store(void *self, const void *block, size_t len, struct err *err)
{
	struct import_sink *s = self;
	struct timeline_row row = { .data = block, .len = len };
	struct timeline_block b;

	if (!timeline_block_read(block, len, &b, err))
		return false;
	row.kind = b.kind;
	row.events = b.events;
	row.t0_ns = b.t0_ns;
	row.t1_ns = b.t1_ns;
	return db_trace_append(s->db, s->run,
			       &(struct trace_post){ s->blocks++, &row, 1, TRACE_RUN_BYTES }, err);
}

static json_t *read_log(struct req *req, const char *name, struct import_sink *s, struct err *err)
{
	struct import *im = import_create(store, s, UNPACKED_BYTES, err);
	bool ok = im && import_begin(im, name, err);
	json_t *report;

	for (size_t at = 0; ok && at < req->body_len; at += FEED_BYTES) {
		size_t n = req->body_len - at;

		ok = import_feed(im, req->body + at, n < FEED_BYTES ? n : FEED_BYTES, err);
	}
	ok = ok && import_end(im, err);
	report = ok ? import_finish(im, err) : NULL;
	import_destroy(im);
	return report;
}

/* The run with all that was read; none where it could not be read. */
static bool import_run(struct req *req, const char *name, const json_t *begin, struct reply *reply,
		       struct err *err)
{
	struct import_sink s = { .db = req->app->db };
	const struct report_workload *w = report_read_workload(begin, req->arena, err);
	json_t *imported;
	bool ok;

	if (!w || !enqueue_trace(s.db, w, &s.run, err))
		return false;
	imported = read_log(req, name, &s, err);
	ok = imported && trace_end(s.db, req->app->registry, s.run, imported, err);
	json_decref(imported);
	if (!ok) {
		db_run_end(s.db, s.run, RUN_FAILED, err, NULL);
		db_run_delete(s.db, s.run, NULL);
		return false;
	}
	events_publish(req->app->events, s.run);
	reply->status = 201;
	reply->json = json_pack("{s:I}", "id", (json_int_t)s.run);
	return true;
}

bool api_imports_post(struct req *req, struct reply *reply, struct err *err)
{
	const char *name = req_query(req, "name"), *project = req_query(req, "project");
	json_t *begin;
	bool ok;

	name = name && *name ? name : "import";
	if (strlen(name) > NAME_CHARS)
		return err_set(err, ERR_BAD_REQUEST, "name= takes at most %d bytes", NAME_CHARS);
	begin = json_pack("{s:s, s:s, s:s, s:b}", "name", name, "command", "import", "project",
			  project ? project : "", "imported", 1);
	if (!begin)
		return err_set(err, ERR_BAD_REQUEST, "name= and project= must be UTF-8");
	if (req->app->imports++ >= IMPORTS_MOST)
		ok = err_set(err, ERR_BUSY,
			     "%d logs are being read, the limit; post it again later",
			     IMPORTS_MOST);
	else
		ok = import_run(req, name, begin, reply, err);
	req->app->imports--;
	json_decref(begin);
	return ok;
}
