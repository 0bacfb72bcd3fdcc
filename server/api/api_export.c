/* server/api/api_export.c -- GET /runs/{id}/export and trace.json, and /formats.
 *
 * What is written goes to a file without a name first: memory does not grow with the
 * run, and what fails on the way is answered as an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/scratch.h"
#include "server/api/routes.h"
#include "server/text/text.h"

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
	if (run.status == RUN_DONE && !load_report(s, err))
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
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(*(int *)self, at, len);

		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "the export could not be written: %s",
				       strerror(errno));
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* ---- routes ---- */

enum { EXPORTS_MOST = 4, NAME_BYTES = 128 };
static const int64_t export_bytes = INT64_C(4) << 30;

struct export_sink {
	int fd;
	int64_t bytes;
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

static bool write_run(struct req *req, int64_t id, const struct export_format *f,
		      const struct export_query *q, struct reply *reply, struct err *err)
{
	struct export_sink sink = { .fd = scratch_file("the export", err) };
	struct stored_run s = { 0 };
	bool ok = sink.fd >= 0 && stored_run_load(&s, req->app->db, id, req->arena, err) &&
		  export_write(f, &s.run, q, put, &sink, err);

	stored_run_finish(&s);
	if (!ok) {
		if (sink.fd >= 0)
			close(sink.fd);
		return false;
	}
	reply->file = sink.fd;
	reply->file_bytes = (uint64_t)sink.bytes;
	reply->content_type = f->type;
	reply->filename = arena_printf(req->arena, "breakeven-run-%lld.%s", (long long)id,
				       f->extension);
	return true;
}

static bool answer(struct req *req, const struct export_format *f, struct reply *reply,
		   struct err *err)
{
	struct export_query q = { 0 };
	int64_t id;
	bool ok;

	if (!req_id(req, 0, &id, err) || !f || !read_query(req, &q, err))
		return false;
	if (req->app->exports++ >= EXPORTS_MOST)
		ok = err_set(err, ERR_BUSY, "%d runs are being written, the limit; ask again later",
			     EXPORTS_MOST);
	else
		ok = write_run(req, id, f, &q, reply, err);
	req->app->exports--;
	return ok;
}

bool api_run_export(struct req *req, struct reply *reply, struct err *err)
{
	return answer(req, export_format_find(req_query(req, "format"), err), reply, err);
}

bool api_run_trace(struct req *req, struct reply *reply, struct err *err)
{
	return answer(req, export_format_find("chrome", err), reply, err);
}

bool api_formats(struct req *req, struct reply *reply, struct err *err)
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
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for the formats");
}
