/* server/api/api_export.c -- GET /runs/{id}/export and trace.json, which exports are under way, and
 * /formats.
 *
 * A worker writes it: much of a run is a stranger's, and may take long.  It is sent what the store
 * has of the run, and sees nothing else.  What it writes goes to a file without a name first:
 * memory does not grow with the run, and what fails on the way is answered as an error.
 */
#define HANDLER_export(name) name
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/hash.h"
#include "fusion/base/scratch.h"
#include "fusion/base/write.h"
#include "server/api/routes.h"
#include "server/queue/query.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

/* ---- exports that are being written ---- */

struct exports {
	pthread_mutex_t lock; /* guards what follows */
	int64_t last_id;
	int n;
	struct export_row rows[EXPORTS_MOST]; /* the oldest first */
};

struct exports *exports_create(void)
{
	struct exports *e = calloc(1, sizeof(*e));

	if (e)
		pthread_mutex_init(&e->lock, NULL);
	return e;
}

void exports_destroy(struct exports *e)
{
	if (!e)
		return;
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/* The caller has the lock; NULL: it has ended. */
static struct export_row *find(struct exports *e, int64_t id)
{
	for (int i = 0; i < e->n; i++)
		if (e->rows[i].id == id)
			return &e->rows[i];
	return NULL;
}

/* An export begins, to exports_end(); *id is new.  BUSY when as many are under way as may be. */
static bool exports_begin(struct exports *e, int64_t run, const char *format, const char *author,
			  int64_t *id, struct err *err)
{
	bool has_room;

	pthread_mutex_lock(&e->lock);
	has_room = e->n < EXPORTS_MOST;
	if (has_room) {
		struct export_row *row = &e->rows[e->n++];

		*row = (struct export_row){ .id = ++e->last_id,
					    .run = run,
					    .started_ns = clock_wall_ns(),
					    .format = format };
		snprintf(row->author, sizeof(row->author), "%s", author);
		*id = row->id;
	}
	pthread_mutex_unlock(&e->lock);
	return has_room ||
	       err_set(err, ERR_BUSY, "%d runs are being written, the limit; ask again later",
		       EXPORTS_MOST);
}

/* How far it is; false with CANCELLED once somebody has cancelled it. */
static bool exports_at(struct exports *e, int64_t id, int64_t bytes, double share, struct err *err)
{
	struct export_row *row;
	bool goes_on;

	pthread_mutex_lock(&e->lock);
	row = find(e, id);
	goes_on = row && !row->cancelled;
	if (goes_on) {
		row->bytes = bytes;
		row->share = share;
	}
	pthread_mutex_unlock(&e->lock);
	return goes_on || err_set(err, ERR_CANCELLED, "the export was cancelled");
}

static void exports_end(struct exports *e, int64_t id)
{
	struct export_row *row;

	pthread_mutex_lock(&e->lock);
	row = find(e, id);
	if (row) {
		for (e->n--; row < e->rows + e->n; row++)
			*row = row[1];
	}
	pthread_mutex_unlock(&e->lock);
}

int exports_list(struct exports *e, int64_t run, struct export_row rows[EXPORTS_MOST])
{
	int n = 0;

	pthread_mutex_lock(&e->lock);
	for (int i = 0; i < e->n; i++)
		if (!run || e->rows[i].run == run)
			rows[n++] = e->rows[i];
	pthread_mutex_unlock(&e->lock);
	return n;
}

/* Has no effect where it has ended. */
static void exports_cancel(struct exports *e, int64_t id)
{
	struct export_row *row;

	pthread_mutex_lock(&e->lock);
	row = find(e, id);
	if (row)
		row->cancelled = true;
	pthread_mutex_unlock(&e->lock);
}

/* ---- a run of the store as an export wants it ---- */

struct giving {
	timeline_block_fn *each;
	void *self;
};

static bool give(void *self, const struct timeline_row *row, struct err *err)
{
	struct giving *g = self;

	return g->each(g->self, row->data, row->len, err);
}

static bool blocks(void *store, int64_t kind, timeline_block_fn *each, void *self, struct err *err)
{
	struct stored_run *s = store;
	struct giving g = { each, self };

	return db_timeline_each(s->db, s->run.id, BLOCKS_ALL(kind), give, &g, err);
}

static bool load_report(struct stored_run *s, struct err *err)
{
	struct buf report = { 0 }, environment = { 0 };
	bool ok = db_report_get(s->db, s->run.id, &report, &environment, err);

	if (ok) {
		s->report = json_loadb(report.data, report.len, 0, NULL);
		s->environment = json_loadb(environment.data, environment.len, 0, NULL);
		ok = s->report || err_set(err, ERR_MEMORY, "out of memory for the report");
	}
	buf_finish(&report);
	buf_finish(&environment);
	return ok;
}

/* Whether a run came from a file that had left out its source. */
static bool is_redacted(const char *imported, struct arena *arena)
{
	json_t *json = *imported ? json_loads(imported, 0, NULL) : NULL;
	const struct report_imported *mark = json ? report_read_imported(json, arena, NULL) : NULL;
	bool redacted = mark && mark->run && mark->run->redacted;

	json_decref(json);
	return redacted;
}

bool stored_run_load(struct stored_run *s, struct db *db, int64_t id, struct arena *arena,
		     struct err *err)
{
	struct run_row run;

	*s = (struct stored_run){ .db = db };
	if (!db_run_get(db, id, arena, &run, err))
		return false;
	s->run = (struct export_run){
		.id = id,
		.created_ns = run.created_ns,
		.name = run.name,
		.project = run.project,
		.status = run_status_name(run.status),
		.device = run.device,
		.commit = run.commit,
		.branch = run.branch,
		.version = breakeven_version(),
		.blocks = blocks,
		.store = s,
	};
	if (run.error.code) {
		s->run.error = arena_strdup(arena, run.error.message);
		s->run.error_code = err_name(run.error.code);
		s->run.error_line = run.error.line;
		s->run.error_column = run.error.column;
	}
	s->workload = json_loads(run.workload, 0, NULL);
	s->run.redacted = is_redacted(run.imported, arena);
	if ((run.status == RUN_DONE || run.points_kept) && !load_report(s, err))
		return false;
	s->run.workload = s->workload;
	s->run.report = s->report;
	s->run.environment = s->environment;
	return true;
}

void stored_run_finish(struct stored_run *s)
{
	json_decref(s->workload);
	json_decref(s->report);
	json_decref(s->environment);
}

bool export_to_file(void *self, const void *bytes, size_t len, struct err *err)
{
	return write_all(*(int *)self, bytes, len) ||
	       err_set(err, ERR_IO, "the export could not be written: %s", strerror(errno));
}

/* ---- routes ---- */

enum { LOOK_MS = 100 /* so often: does anybody still want it? */ };
static const int64_t export_bytes = INT64_C(4) << 30;

/* An export under way, and the file that gets it. */
struct export_sink {
	int fd;
	int64_t id, bytes; /* exports_begin()'s id; written so far */
	double share;      /* of the timeline that the worker was sent */
};

static bool put(void *self, const void *bytes, size_t len, struct err *err)
{
	struct export_sink *s = self;

	s->bytes += (int64_t)len;
	if (s->bytes > export_bytes)
		return err_set(err, ERR_TOO_LARGE,
			       "the export has more than %lld GiB; ask for a part with mode= and "
			       "n=, or for chrome_gz",
			       (long long)(export_bytes >> 30));
	return export_to_file(&s->fd, bytes, len, err);
}

static bool read_flag(struct req *req, const char *name, bool *out, struct err *err)
{
	const char *text = req_query(req, name);

	*out = text && strcmp(text, "1") == 0;
	return !text || *out || !*text || strcmp(text, "0") == 0 ||
	       err_set(err, ERR_BAD_REQUEST, "%s=%.40s: 1 or 0 is needed", name, text);
}

static bool read_query(struct req *req, struct export_query *q, struct err *err)
{
	q->mode = req_query(req, "mode");
	if (q->mode && !*q->mode)
		q->mode = NULL;
	q->table = req_query(req, "table");
	q->has_n = req_query(req, "n") != NULL;
	q->has_window = req_query(req, "t0") || req_query(req, "t1");
	return req_query_int(req, "n", (struct req_range){ INT64_MIN / 2, INT64_MAX / 2, 0 }, &q->n,
			     err) &&
	       req_query_int(req, "t0", (struct req_range){ 0, TIMELINE_MAX_NS / 2, 0 }, &q->t0_ns,
			     err) &&
	       req_query_int(req, "t1",
			     (struct req_range){ 0, TIMELINE_MAX_NS / 2, TIMELINE_MAX_NS / 2 },
			     &q->t1_ns, err) &&
	       req_query_int(req, "graph", (struct req_range){ 0, INT32_MAX, 0 }, &q->graph, err) &&
	       read_flag(req, "redact", &q->redact, err);
}

/* What is asked of a run. */
struct export_asked {
	const struct export_format *format;
	struct export_query query;
	json_t *select; /* of a query: its body; NULL: the run is written in the format */
	int cpu_seconds;
};

/* What the worker is told of it (cmd_worker.c reads it); malloc'd. */
static char *order_of(const struct export_run *run, const struct export_asked *asked)
{
	const struct export_query *q = &asked->query;

	json_t *query = json_pack("{s:s*, s:b, s:I, s:b, s:I, s:I, s:s*, s:I, s:b}", "mode",
				  q->mode, "has_n", q->has_n, "n", (json_int_t)q->n, "has_window",
				  q->has_window, "t0", (json_int_t)q->t0_ns, "t1",
				  (json_int_t)q->t1_ns, "table", q->table, "graph",
				  (json_int_t)q->graph, "redact", q->redact);
	json_t *order = json_pack(
	    "{s:s, s:o, s:I, s:I, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:i, "
	    "s:i, s:b, s:O*, s:O*, s:O*, s:O*}",
	    "format", asked->format->name, "query", query, "id", (json_int_t)run->id, "created_ns",
	    (json_int_t)run->created_ns, "name", run->name, "project", run->project, "status",
	    run->status, "device", run->device, "commit", run->commit, "branch", run->branch,
	    "error", run->error, "error_code", run->error_code, "error_line", run->error_line,
	    "error_column", run->error_column, "redacted", run->redacted, "workload", run->workload,
	    "report", run->report, "environment", run->environment, "select", asked->select);
	char *text = order ? json_dumps(order, JSON_COMPACT) : NULL;

	json_decref(order);
	return text;
}

struct export_under_way {
	struct req *req;
	struct worker worker;
	struct message_reader reader;
	struct export_sink *sink;
	int64_t blocks, sent; /* of the timeline: all, and those that the worker was sent */
};

static bool is_wanted(const struct export_under_way *e, struct err *err)
{
	struct app *app = e->req->app;

	if (app->stopping)
		return err_set(err, ERR_BUSY, "the server stops; ask again later");
	if (peer_is_gone(e->req->connection))
		return err_set(err, ERR_CANCELLED,
			       "who asked for the export closed the connection");
	return exports_at(app->exports, e->sink->id, e->sink->bytes, e->sink->share, err);
}

/* Keeps the parts of the export that come before it; false with an error, or none where the worker
 * has ended. */
static bool next_message(struct export_under_way *e, enum message_type *type, int64_t *kind,
			 struct err *err)
{
	bool bad = false;
	char *text;
	size_t len;

	while (true) {
		struct pollfd ready = { .fd = e->worker.fd, .events = POLLIN };
		long n;

		while (message_next(&e->reader, type, &text, &len, &bad)) {
			if (*type == MESSAGE_ERROR)
				message_error(text, err);
			if (*type == MESSAGE_PART ? !put(e->sink, text, len, err)
						  : err->code != ERR_NONE)
				return false;
			*kind = strtoll(text, NULL, 10);
			if (*type != MESSAGE_PART)
				return true;
		}
		if (bad || !is_wanted(e, err))
			return false;
		if (poll(&ready, 1, LOOK_MS) <= 0)
			continue;
		n = message_fill(&e->reader, e->worker.fd);
		if (n == 0 || n == -1)
			return false;
	}
}

static bool send_block(void *self, const struct timeline_row *row, struct err *err)
{
	struct export_under_way *e = self;
	enum message_type type;
	int64_t kind;

	if (row->kind == TIMELINE_CHUNK && e->blocks > 0)
		e->sink->share = fmin(1, (double)e->sent++ / (double)e->blocks);
	return message_send(e->worker.fd, MESSAGE_TIMELINE, row->data, row->len, err) &&
	       next_message(e, &type, &kind, err) &&
	       (type == MESSAGE_MORE || err_set(err, ERR_INTERNAL, "an export out of step"));
}

/* What the worker asks for, until it is done. */
static bool serve_worker(struct export_under_way *e, const struct stored_run *s, struct err *err)
{
	enum message_type type;
	int64_t kind;

	if (!db_timeline_count(s->db, s->run.id, TIMELINE_CHUNK, &e->blocks, err))
		return false;
	while (next_message(e, &type, &kind, err)) {
		if (type == MESSAGE_REPORT)
			return true;
		if (type != MESSAGE_BLOCKS)
			return err_set(err, ERR_INTERNAL, "an export out of step");
		if (!db_timeline_each(s->db, s->run.id, BLOCKS_ALL(kind), send_block, e, err) ||
		    !message_send(e->worker.fd, MESSAGE_BLOCKS, "", 0, err))
			return false;
	}
	return false;
}

static bool write_in_worker(struct req *req, const struct stored_run *s,
			    const struct export_asked *asked, struct export_sink *sink,
			    struct err *err)
{
	const struct worker_options options = { .cpu_seconds = asked->cpu_seconds, .yields = true };
	struct export_under_way e = { .req = req, .worker = { .fd = -1 }, .sink = sink };
	char *order = order_of(&s->run, asked);
	struct err end = { 0 };
	bool clean = true, ok = false;

	if (!order) {
		err_set(err, ERR_MEMORY, "out of memory for the export");
	} else if (worker_start(&e.worker, &options, MESSAGE_EXPORT, order, err)) {
		/* it sends when it was asked, and listens when it asks */
		fcntl(e.worker.fd, F_SETFL, fcntl(e.worker.fd, F_GETFL) & ~O_NONBLOCK);
		ok = serve_worker(&e, s, err);
		worker_reap(&e.worker, !ok, &clean, &end);
		if (!ok && err->code == ERR_NONE)
			*err = end;
		if (!ok && err->code == ERR_NONE)
			err_set(err, ERR_WORKER, "the worker that wrote the export ended early");
	}
	message_reader_finish(&e.reader);
	free(order);
	return ok;
}

/* The hash of a file, so that who has a part of it can ask for the rest; NULL: none can be had. */
static const char *tag_of(int fd, size_t bytes, struct arena *arena)
{
	char *tag = arena_alloc(arena, HASH_HEX_BYTES);
	void *at = bytes ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED)
		return NULL;
	if (tag)
		hash_hex(at, bytes, tag);
	munmap(at, bytes);
	return tag;
}

static bool write_run(struct req *req, int64_t id, const struct export_asked *asked,
		      struct reply *reply, struct err *err)
{
	const struct export_format *f = asked->format;
	struct export_sink sink = { .fd = -1 };
	struct exports *exports = req->app->exports;
	struct stored_run s = { 0 };
	bool ok;

	if (!exports_begin(exports, id, asked->select ? "query" : f->name, req->caller.name,
			   &sink.id, err))
		return false;
	sink.fd = scratch_file("the export", err);
	ok = sink.fd >= 0 && stored_run_load(&s, req->app->db, id, req->arena, err) &&
	     write_in_worker(req, &s, asked, &sink, err);
	exports_end(exports, sink.id);
	stored_run_finish(&s);
	if (!ok) {
		if (sink.fd >= 0)
			close(sink.fd);
		return false;
	}
	reply->file = sink.fd;
	reply->file_bytes = (uint64_t)sink.bytes;
	reply->etag = tag_of(sink.fd, (size_t)sink.bytes, req->arena);
	reply->content_type = f->type;
	reply->filename = arena_printf(req->arena, "breakeven-run-%lld.%s", (long long)id,
				       f->extension);
	return true;
}

static bool answer(struct req *req, const struct export_format *f, struct reply *reply,
		   struct err *err)
{
	struct export_asked asked = { .format = f,
				      .cpu_seconds = WORKER_WALL_S * WORKER_CPU_PER_WALL };
	int64_t id;

	return req_id(req, 0, &id, err) && f && read_query(req, &asked.query, err) &&
	       write_run(req, id, &asked, reply, err);
}

enum { QUERY_CPU_SECONDS = 120 };

/* {"sql", ...}: a worker reads the run's events, then the statement over them (queue/query.h). */
static bool api_run_query(struct req *req, struct reply *reply, struct err *err)
{
	static const char *const keys[] = { "sql", "format", "mode",  "n",
					    "t0",  "t1",     "limit", "clocks" };
	json_t *body = req_json(req, err);
	const char *key, *format;
	struct export_asked asked = { .select = body, .cpu_seconds = QUERY_CPU_SECONDS };
	json_t *value;
	bool ok = body != NULL;
	int64_t id;

	json_object_foreach(body, key, value) {
		size_t i = 0;

		while (i < sizeof(keys) / sizeof(keys[0]) && strcmp(key, keys[i]) != 0)
			i++;
		if (i == sizeof(keys) / sizeof(keys[0]))
			ok = err_set(err, ERR_BAD_REQUEST,
				     "\"%.40s\" is not known; sql, format, mode, n, t0, t1, limit "
				     "and clocks are",
				     key);
	}
	format = json_string_value(json_object_get(body, "format"));
	format = format ? format : "json";
	if (ok && strcmp(format, "json") != 0 && strcmp(format, "csv") != 0)
		ok = err_set(err, ERR_BAD_REQUEST, "format \"%.40s\": json or csv is needed",
			     format);
	ok = ok && req_id(req, 0, &id, err);
	asked.format = ok ? export_format_find(format, err) : NULL;
	ok = asked.format && write_run(req, id, &asked, reply, err);
	json_decref(body);
	return ok;
}

static bool api_run_export(struct req *req, struct reply *reply, struct err *err)
{
	return answer(req, export_format_find(req_query(req, "format"), err), reply, err);
}

static bool api_run_trace(struct req *req, struct reply *reply, struct err *err)
{
	return answer(req, export_format_find("chrome", err), reply, err);
}

static bool api_run_exports(struct req *req, struct reply *reply, struct err *err)
{
	struct export_row rows[EXPORTS_MOST];
	struct run_row run;
	json_t *list;
	int64_t id;
	int n;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err))
		return false;
	list = json_array();
	n = exports_list(req->app->exports, id, rows);
	for (int i = 0; i < n; i++)
		json_array_append_new(
		    list,
		    json_pack("{s:I, s:s, s:s, s:I, s:I, s:f, s:b}", "id", (json_int_t)rows[i].id,
			      "format", rows[i].format, "author", rows[i].author, "started_ns",
			      (json_int_t)rows[i].started_ns, "bytes", (json_int_t)rows[i].bytes,
			      "share", rows[i].share, "cancelled", rows[i].cancelled));
	reply->json = json_pack("{s:o}", "exports", list);
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for the exports");
}

static bool api_export_cancel(struct req *req, struct reply *reply, struct err *err)
{
	struct export_row rows[EXPORTS_MOST];
	int64_t run, id;
	int n, at = 0;

	if (!req_id(req, 0, &run, err) || !req_id(req, 1, &id, err))
		return false;
	n = exports_list(req->app->exports, run, rows);
	while (at < n && rows[at].id != id)
		at++;
	if (at == n)
		return err_set(err, ERR_NOT_FOUND,
			       "no export %lld of run %lld is under way; it may have ended",
			       (long long)id, (long long)run);
	if (!req_may_remove(req, arena_printf(req->arena, "export %lld", (long long)id),
			    rows[at].author, err))
		return false;
	exports_cancel(req->app->exports, id);
	reply->json = json_pack("{s:I, s:b}", "id", (json_int_t)id, "cancelled", true);
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for the answer");
}

static bool api_formats(struct req *req, struct reply *reply, struct err *err)
{
	json_t *list = json_array();

	(void)req;
	for (int i = 0; i < export_format_count(); i++) {
		const struct export_format *f = export_format_at(i);

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", f->name,
						      "extension", f->extension, "type", f->type,
						      "title", f->title));
	}
	reply->json = json_pack("{s:o}", "formats", list);
	reply->keep = KEEP_STORE;
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for the formats");
}

handler_fn *const export_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
