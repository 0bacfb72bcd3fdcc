/* server/api/api_imports.c -- what other programs wrote: POST /imports makes a run of a log, with
 * its timeline, POST /results a run of each benchmark of a file of results. */
#define HANDLER_imports(name) name
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/timeline/timeline.h"
#include "server/queue/queue.h"
#include "server/api/routes.h"

enum { NAME_CHARS = 200, LOOK_MS = 100 /* so often: does anybody still want it? */ };

struct import_sink {
	struct app *app;
	int64_t run, blocks; /* run 0: results, which become runs when they are read */
	json_t *report;      /* what was read; new */
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
	return db_trace_append(
	    s->app->db, s->run,
	    &(struct trace_post){ s->blocks++, &row, 1, TRACE_RUN_BYTES, TRACE_RUN_EVENTS }, err);
}

static void note_progress(struct import_sink *s, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	struct arena arena = { 0 };
	const struct report_progress *p = json ? report_read_progress(json, &arena, NULL) : NULL;

	if (p)
		jobs_import_at(s->app->jobs, s->run, p);
	json_decref(json);
	arena_finish(&arena);
}

/* One message of the worker; false with an error. */
static bool take_message(struct import_sink *s, enum message_type type, const char *text,
			 size_t len, struct err *err)
{
	if (type == MESSAGE_TIMELINE)
		return store(s, text, len, err);
	if (type == MESSAGE_PROGRESS)
		note_progress(s, text);
	else if (type == MESSAGE_REPORT)
		s->report = json_loadb(text, len, 0, NULL);
	else if (type == MESSAGE_ERROR)
		message_error(text, err);
	return err->code == ERR_NONE;
}

/* Whether somebody waits for the run. */
static bool is_wanted(const struct req *req, const struct import_sink *s, struct err *err)
{
	if (req->app->stopping)
		return err_set(err, ERR_BUSY, "the server stops; post the log again later");
	if (peer_is_gone(req->connection))
		return err_set(err, ERR_CANCELLED,
			       "who posted the log closed the connection while it was read; keep "
			       "it open until the answer comes");
	return !s->run || jobs_import_at(req->app->jobs, s->run, NULL) ||
	       err_set(err, ERR_CONFLICT, "run %lld was cancelled while its log was read",
		       (long long)s->run);
}

/* All that the worker says, to its report; false with an error. */
static bool read_messages(const struct req *req, struct worker *w, struct import_sink *s,
			  struct err *err)
{
	struct message_reader reader = { 0 };
	bool ok = true;

	while (ok && !s->report) {
		struct pollfd ready = { .fd = w->fd, .events = POLLIN };
		enum message_type type;
		bool bad = false;
		size_t len;
		char *text;
		long n;

		ok = is_wanted(req, s, err);
		if (!ok || poll(&ready, 1, LOOK_MS) == 0)
			continue;
		n = message_fill(&reader, w->fd);
		while (ok && n > 0 && message_next(&reader, &type, &text, &len, &bad))
			ok = take_message(s, type, text, len, err);
		if (n == 0 || n == -1 || bad)
			break;
	}
	message_reader_finish(&reader);
	return s->report != NULL;
}

/* The log, or the file, is a stranger's, and may take long: a process of its own reads it.
 * `asked`: the name of a log, what is asked of a file of results. */
static bool read_log(const struct req *req, enum message_type job, const char *asked,
		     struct import_sink *s, struct err *err)
{
	const struct worker_options options = {
		.yields = true,
		.cpu_seconds = WORKER_WALL_S * WORKER_CPU_PER_WALL,
		.registry = req->app->registry,
		.log = req->body,
		.log_bytes = req->body_len,
	};
	struct worker worker = { .fd = -1 };
	struct err end = { 0 };
	bool clean, ok;

	if (!worker_start(&worker, &options, job, asked, err))
		return false;
	ok = read_messages(req, &worker, s, err);
	worker_reap(&worker, err->code != ERR_NONE, &clean, &end);
	if (!ok && err->code == ERR_NONE)
		*err = end;
	if (!ok && err->code == ERR_NONE)
		err_set(err, ERR_WORKER, "the worker that read it ended without a report");
	return ok;
}

/* The run with all that was read; none where it could not be read. */
static bool import_run(struct req *req, const char *name, const json_t *begin, struct reply *reply,
		       struct err *err)
{
	struct import_sink s = { .app = req->app };
	const struct report_workload *w = report_read_workload(begin, req->arena, err);
	struct db *db = req->app->db;
	bool ok;

	if (!w || !enqueue_trace(db, w, req->caller.name, &s.run, err))
		return false;
	jobs_import_begin(req->app->jobs, s.run);
	ok = read_log(req, MESSAGE_IMPORT, name, &s, err);
	req_join(req);
	ok = ok && trace_end(db, req->app->registry, s.run, s.report, err);
	jobs_import_end(req->app->jobs, s.run);
	json_decref(s.report);
	if (!ok) {
		db_join_end(db, false, NULL);
		/* One that was cancelled stays, as such. */
		if (db_run_end(db, s.run, RUN_FAILED, err, NULL, NULL))
			db_run_delete(db, s.run, NULL);
		events_publish(req->app->events, s.run);
		return false;
	}
	reply->news_run = s.run;
	reply->status = 201;
	reply->location = req_location(req, "runs", s.run);
	reply->json = json_pack("{s:I}", "id", (json_int_t)s.run);
	return true;
}

/* Whether one more may be read; the caller gives its place back in any case. */
static bool take_place(struct req *req, struct err *err)
{
	if (req->app->imports++ >= JOBS_MOST_IMPORTS)
		return err_set(err, ERR_BUSY,
			       "%d logs or files of results are being read, the limit; post it "
			       "again later",
			       JOBS_MOST_IMPORTS);
	return store_has_room(req->app, err);
}

static bool api_imports_post(struct req *req, struct reply *reply, struct err *err)
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
	ok = take_place(req, err) && import_run(req, name, begin, reply, err);
	req->app->imports--;
	json_decref(begin);
	return ok;
}

/* ---- results ---- */

/* What the query says, as the worker takes it; new. */
static json_t *asked_of_results(struct req *req, struct err *err)
{
	static const char *const keys[] = {
		"file", "name", "project", "commit", "branch", "machine"
	};
	json_t *asked = json_object();

	for (size_t i = 0; asked && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = req_query(req, keys[i]);

		if (!text || !*text)
			continue;
		if (strlen(text) > NAME_CHARS ||
		    json_object_set_new(asked, keys[i], json_string(text)) != 0) {
			err_set(err, ERR_BAD_REQUEST, "%s= takes at most %d bytes of UTF-8",
				keys[i], NAME_CHARS);
			json_decref(asked);
			return NULL;
		}
	}
	if (!asked)
		err_set(err, ERR_MEMORY, "out of memory for results");
	return asked;
}

static void answer_stored(const struct results_stored *stored, const json_t *results,
			  struct reply *reply)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < stored->n; i++)
		json_array_append_new(runs, json_integer(stored->runs[i]));
	reply->status = 201;
	reply->json = json_pack("{s:o, s:o, s:O, s:O}", "runs", runs, "suite",
				stored->suite ? json_integer(stored->suite) : json_null(), "format",
				json_object_get(results, "format"), "notes",
				json_object_get(results, "notes"));
}

static bool api_results_post(struct req *req, struct reply *reply, struct err *err)
{
	struct import_sink s = { .app = req->app };
	json_t *asked = asked_of_results(req, err);
	char *text = asked ? json_dumps(asked, JSON_COMPACT) : NULL;
	struct results_stored stored;
	bool ok = text != NULL;

	ok = ok && take_place(req, err) && read_log(req, MESSAGE_RESULTS, text, &s, err);
	req_join(req);
	ok = ok &&
	     results_store(req->app->db, s.report, req->caller.name, req->arena, &stored, err);
	if (text)
		req->app->imports--;
	if (ok)
		answer_stored(&stored, s.report, reply);
	if (ok && req->app->hooks)
		hooks_wake(req->app->hooks);
	json_decref(s.report);
	json_decref(asked);
	free(text);
	return ok;
}

handler_fn *const imports_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
