/* server/api/api_runs.c -- /api/v1/runs: post, read, list, watch, end. */
#define HANDLER_runs(name) name
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/archive.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/break_even.h"
#include "profiler/profiler.h"
#include "server/api/api.h"
#include "server/api/routes.h"
#include "server/queue/hosts.h"
#include "server/queue/queue.h"

/* ---- runs as JSON ---- */

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *time_or_null(int64_t ns)
{
	return ns ? json_integer(ns) : json_null();
}

/* "a,b" or "a\nb" as an array. */
static json_t *split_json(const char *text, char separator)
{
	json_t *list = json_array();

	while (text && *text) {
		const char *end = strchr(text, separator);
		size_t len = end ? (size_t)(end - text) : strlen(text);

		json_array_append_new(list, json_stringn(text, len));
		text += len + (end != NULL);
	}
	return list;
}

static json_t *summary_json(const struct run_summary *m)
{
	json_t *speedup = json_null(), *interval = json_null(), *median = json_null();
	const struct interval ratio = { m->speedup_lo, m->speedup, m->speedup_hi };
	bool saves = isfinite(m->calls_to_repay);

	if (!m->mode)
		return json_null();
	if (strcmp(m->verdict, RUN_DISAGREES) != 0) {
		speedup = json_real(m->speedup);
		interval = json_pack("[f, f]", m->speedup_lo, m->speedup_hi);
	}
	if (!isnan(m->median_lo))
		median = json_pack("[f, f]", m->median_lo, m->median_hi);
	return json_pack("{s:s, s:s, s:o, s:o, s:f, s:o, s:s, s:o, s:o, s:o, s:o}", "mode", m->mode,
			 "verdict", m->verdict, "speedup", speedup, "speedup_ci", interval,
			 "median_us", m->median_us, "median_ci", median, "repay",
			 saves ? repay_word(REPAY_AFTER) : repay_word(repay_of(&ratio, false)),
			 "calls_to_repay", number_or_null(m->calls_to_repay), "crossover_n",
			 number_or_null(m->crossover_n), "at_n", number_or_null(m->at_n), "breaks",
			 m->breaks < 0 ? json_null() : json_integer(m->breaks));
}

/* What is said of a run that is under way changes as its job goes on. */
static enum keep keep_of(const struct run_row *run)
{
	return run->status == RUN_RUNNING ? KEEP_LIVE : KEEP_STORE;
}

/* status, progress, what, left_s, measured: from the worker where it has the run. */
static json_t *state_json(struct app *app, const struct run_row *run)
{
	struct job_state state = { .left_s = -1 };

	if (run->status == RUN_DONE)
		state.share = 1;
	else if (run->status == RUN_QUEUED && *run->host)
		snprintf(state.what, sizeof(state.what), "waiting for host %.64s", run->host);
	else if (run->status == RUN_QUEUED)
		strcpy(state.what, "waiting for its turn");
	else if (run->status == RUN_RUNNING && !jobs_state(app->jobs, run->id, &state) &&
		 run->trace)
		strcpy(state.what, "recording");
	return json_pack("{s:s, s:f, s:s, s:o, s:i}", "status", run_status_name(run->status),
			 "progress", state.share, "what", state.what, "left_s",
			 state.left_s >= 0 ? json_real(state.left_s) : json_null(), "measured",
			 state.n_points);
}

/* What a run that came from a file says of it; null where it ran here.  The ledger is for who
 * opens it. */
static json_t *imported_json(const struct run_row *run, bool whole)
{
	json_t *mark = run->imported && *run->imported ? json_loads(run->imported, 0, NULL) : NULL;

	if (!whole)
		json_object_del(mark, "ledger");
	return mark ? mark : json_null();
}

/* Of a run that is not done: how much of its sweep is kept. */
static json_t *partial_json(const struct run_row *run)
{
	return run->points_kept
		   ? json_pack("{s:i, s:i}", "measured", run->points_kept, "of", run->points_of)
		   : json_null();
}

/* Each text in parts: what is before what was looked for, that, and what is after it. */
static json_t *found_json(const struct run_row *run)
{
	json_t *list = json_array();

	for (int i = 0; i < run->n_found; i++) {
		const char *text = run->found[i].text;
		size_t before = strcspn(text, "\2"), it = strcspn(text, "\3");

		if (!text[it] || before >= it)
			continue;
		json_array_append_new(
		    list, json_pack("{s:s, s:[s%, s%, s]}", "in", run->found[i].in, "text", text,
				    before, text + before + 1, it - before - 1, text + it + 1));
	}
	return list;
}

json_t *run_list_json(struct app *app, const struct run_row *run)
{
	json_t *json = json_pack(
	    "{s:I, s:s, s:s, s:o, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:b}",
	    "id", (json_int_t)run->id, "name", run->name, "project", run->project, "tags",
	    split_json(run->tags, '\n'), "device", run->device, "modes",
	    split_json(run->modes, ','), "commit", run->commit, "branch", run->branch, "created_ns",
	    time_or_null(run->created_ns), "started_ns", time_or_null(run->started_ns),
	    "finished_ns", time_or_null(run->finished_ns), "summary", summary_json(&run->summary),
	    "error", run->error.code == ERR_NONE ? json_null() : error_fields(&run->error),
	    "attempts", run->attempts, "note", run->note, "baseline", run->baseline);
	json_t *state = state_json(app, run), *recent = json_array();

	json_object_set_new(json, "pinned", json_boolean(run->pinned));
	json_object_set_new(json, "partial", partial_json(run));
	json_object_set_new(json, "suite_id", run->suite ? json_integer(run->suite) : json_null());
	json_object_set_new(json, "change", run->change ? json_integer(run->change) : json_null());
	json_object_set_new(json, "about",
			    run->about && *run->about ? json_loads(run->about, 0, NULL)
						      : json_null());
	json_object_set_new(json, "host", json_string(run->host));
	json_object_set_new(json, "author", json_string(run->author));
	json_object_set_new(json, "note_by", json_string(run->note_by));
	for (int i = run->n_recent; i-- > 0;)
		json_array_append_new(recent, json_real(run->recent[i]));
	json_object_set_new(json, "recent", recent);
	json_object_set_new(json, "imported", imported_json(run, false));
	if (run->n_found)
		json_object_set_new(json, "found", found_json(run));
	json_object_update(json, state);
	json_decref(state);
	return json;
}

static json_t *run_head_json(struct app *app, const struct run_row *run)
{
	json_t *json = run_list_json(app, run);

	json_object_set_new(json, "workload", json_loads(run->workload, 0, NULL));
	json_object_set_new(json, "imported", imported_json(run, true));
	if (run->status == RUN_RUNNING)
		json_object_set_new(json, "points", jobs_points(app->jobs, run->id));
	return json;
}

size_t run_event(void *self, int64_t id, char *out, size_t size, bool *last)
{
	struct app *app = self;
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run_row run;
	size_t len = 0;

	*last = !db_run_get(app->db, id, &arena, &run, &err) || run.status > RUN_RUNNING;
	if (err.code != ERR_NONE) {
		len = (size_t)snprintf(out, size, "event: end\ndata: {}\n\n");
	} else {
		json_t *state = state_json(app, &run);
		char *text = json_dumps(state, JSON_COMPACT | JSON_ENSURE_ASCII);

		len = (size_t)snprintf(out, size, "event: %s\ndata: %s\n\n",
				       *last ? "end" : "progress", text ? text : "{}");
		free(text);
		json_decref(state);
	}
	arena_finish(&arena);
	return len < size ? len : size - 1;
}

/* ---- routes ---- */

enum { LIST_DEFAULT = 50, LIST_MOST = 500, OPEN_CHARS = 400, CURSOR_MOST = 1 << 30 };
enum { NAME_BYTES = 200, NOTE_BYTES = 4000, TAGS_MOST = 32, TAG_BYTES = 64 };

static bool queue_has_room(struct req *req, struct err *err)
{
	const struct caller *who = &req->caller;
	struct app *app = req->app;
	int64_t queued, own;

	if (!db_run_count(app->db, RUN_QUEUED, &queued, err) ||
	    !db_run_waiting_of(app->db, who->name, who->address, &own, err))
		return false;
	if (own >= app->bounds.user_queue)
		return err_set(err, ERR_RATE,
			       "%lld runs of '%.64s' are waiting, the limit for one; cancel some "
			       "or post again later",
			       (long long)own, caller_key(who));
	return queued < app->bounds.queue ||
	       err_set(err, ERR_BUSY,
		       "%lld runs are waiting, the limit; cancel some or post again later",
		       (long long)app->bounds.queue);
}

/* What this server cannot do is said at once. */
static bool has_engines(const struct app *app, const struct workload *w, struct err *err)
{
	return !workload_wants_torch(w) || !app->no_torch ||
	       err_set(err, ERR_NO_DEVICE, "%s", app->no_torch);
}

static void add_problem(void *self, const struct err *problem, bool certain)
{
	if (certain)
		json_array_append_new(self, error_fields(problem));
}

/* The error, and beside it all that the workload would be refused for. */
static bool refuse(const json_t *json, const struct registry *registry, struct reply *reply,
		   struct err *err)
{
	json_t *problems = json_array();

	workload_problems(json, registry, add_problem, problems);
	if (json_array_size(problems) < 2) {
		json_decref(problems);
		return false;
	}
	reply->status = err_status(err->code);
	reply->json = error_json(err);
	json_object_set_new(reply->json, "problems", problems);
	return true;
}

bool run_enqueue(struct req *req, const json_t *json, struct workload *w, int64_t *id,
		 struct err *err)
{
	const char *host = json_string_value(json_object_get(json, "host"));
	bool elsewhere = host && *host && strcmp(host, "local") != 0;

	if (!workload_weights_in(w, req->app->files_folder, err) ||
	    !hosts_take_workload(req->app->hosts, host, workload_weights_bytes(w) > 0, err) ||
	    (!elsewhere && !has_engines(req->app, w, err)) || !store_has_room(req->app, err) ||
	    !queue_has_room(req, err) || !enqueue(req->app->db, json, w, req->caller.name, id, err))
		return false;
	jobs_wake(req->app->jobs);
	return true;
}

enum { BULK_MOST = 200 };

/* {"id"} of a workload that is queued, or {"error"}. */
static json_t *post_one(struct req *req, json_t *json)
{
	struct err err = { 0 };
	struct workload *w = req_take_project(req, json, &err)
				 ? workload_parse_in(json, req->app->registry, &err)
				 : NULL;
	int64_t id = 0;
	bool ok = w && run_enqueue(req, json, w, &id, &err);

	workload_destroy(w);
	return ok ? json_pack("{s:I}", "id", (json_int_t)id) : error_json(&err);
}

/* Each of a list is answered in its place, whatever becomes of the others. */
static bool post_all(struct req *req, json_t *list, struct reply *reply, struct err *err)
{
	json_t *answers = json_array(), *one;
	size_t n = json_array_size(list), i;

	bool ok = n >= 1 && n <= BULK_MOST;

	if (!ok)
		err_set(err, ERR_WORKLOAD, "a list must have 1 to %d workloads", BULK_MOST);
	else if (reply->wait_ns)
		ok = err_set(err, ERR_BAD_REQUEST, "wait= is for one workload, not for a list");
	if (!ok) {
		json_decref(answers);
		return false;
	}
	json_array_foreach(list, i, one) {
		json_array_append_new(answers, post_one(req, one));
	}
	reply->status = 202;
	reply->json = json_pack("{s:o}", "runs", answers);
	return true;
}

static bool api_runs_post(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_wait(req, &reply->wait_ns, err) ? req_workload(req, err) : NULL;
	struct workload *w;
	int64_t id = 0;
	bool ok;

	if (json_is_array(json)) {
		ok = post_all(req, json, reply, err);
		json_decref(json);
		return ok;
	}
	w = json ? workload_parse_in(json, req->app->registry, err) : NULL;
	if (json && !w) {
		ok = refuse(json, req->app->registry, reply, err);
		json_decref(json);
		return ok;
	}
	ok = w && run_enqueue(req, json, w, &id, err);
	workload_destroy(w);
	json_decref(json);
	if (!ok)
		return false;
	reply->status = 202;
	reply->json = json_pack("{s:I}", "id", (json_int_t)id);
	reply->location = req_location(req, "runs", id);
	reply->wait_run = reply->wait_ns ? id : 0;
	return true;
}

/* {"project": [["bench", 6], ...], ...} */
static json_t *facets_json(struct req *req, struct err *err)
{
	static const char *const kinds[] = { "project", "tag", "device", "status", "verdict" };
	struct run_facet *facets;
	json_t *json;
	int n;

	if (!db_run_facets(req->app->db, req->caller.project, req->arena, &facets, &n, err))
		return NULL;
	json = json_object();
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		json_t *list = json_array();

		for (int i = 0; i < n; i++)
			if (strcmp(facets[i].kind, kinds[k]) == 0)
				json_array_append_new(list, json_pack("[s, I]", facets[i].value,
								      (json_int_t)facets[i].runs));
		json_object_set_new(json, kinds[k], list);
	}
	return json;
}

/* "12,15" as a JSON list. */
static bool read_open(struct req *req, struct run_query *filter, struct err *err)
{
	const char *text = req_query(req, "open");

	filter->open = text && *text ? arena_printf(req->arena, "[%s]", text) : "[]";
	if (text &&
	    (strspn(text, "0123456789,") != strlen(text) || strlen(text) > OPEN_CHARS ||
	     strstr(text, ",,") || *text == ',' || text[strlen(text) - (*text != 0)] == ','))
		return err_set(err, ERR_BAD_REQUEST,
			       "open=%.40s: numbers of suites with a comma between them are "
			       "needed, in at most %d characters",
			       text, OPEN_CHARS);
	return filter->open || err_set(err, ERR_MEMORY, "out of memory while listing runs");
}

static bool read_fold(struct req *req, struct run_query *filter, struct err *err)
{
	const char *text = req_query(req, "fold");

	filter->fold = text && strcmp(text, "1") == 0;
	if (text && *text && !filter->fold)
		return err_set(err, ERR_BAD_REQUEST, "fold=%.40s: it is 1, or left out", text);
	if (filter->fold && (filter->sort != RUN_SORT_AGE || filter->up || filter->before_id))
		return err_set(err, ERR_BAD_REQUEST,
			       "fold=1 is for the newest first, by offset=: in another order the "
			       "runs of a suite are apart");
	return read_open(req, filter, err);
}

/* A row, of a folded list with the suite that it stands for; NULL with an error. */
static json_t *listed_json(struct req *req, const struct run_row *run, struct err *err)
{
	json_t *json = run_list_json(req->app, run), *suite;
	struct suite of;

	if (!run->stands_for)
		return json;
	suite = db_suite_get(req->app->db, run->suite, req->arena, &of, err)
		    ? suite_stored_listed(req->app->db, &of, req->arena, err)
		    : NULL;
	if (!suite) {
		json_decref(json);
		return NULL;
	}
	json_object_set_new(suite, "matching", json_integer(run->stands_for));
	json_object_set_new(json, "suite", suite);
	return json;
}

static const char *query_of(void *self, const char *name)
{
	return req_query(self, name);
}

/* view=: what is not given here is as that says; the caller owns it. */
static bool read_view(struct req *req, json_t **out, struct err *err)
{
	struct view_query query = { .project = req->caller.project, .page = "runs" };
	struct saved_view *found;
	int n;

	if (!req_query_int(req, "view", (struct req_range){ 1, INT64_MAX, 0 }, &query.id, err))
		return false;
	if (!query.id)
		return true;
	if (!db_view_list(req->app->db, &query, req->arena, &found, &n, err))
		return false;
	*out = n ? json_loads(found->query, 0, NULL) : NULL;
	return *out ||
	       err_set(err, ERR_NOT_FOUND, "there is no view %lld of runs", (long long)query.id);
}

static bool list_runs(struct req *req, const struct run_params *params, struct reply *reply,
		      struct err *err)
{
	const char *facets = req_query(req, "facets");
	struct run_query filter;
	struct run_page page;
	int64_t limit;
	json_t *list;

	if (!run_filter_read(params, &filter, err) ||
	    !req_query_int(req, "limit", (struct req_range){ 1, LIST_MOST, LIST_DEFAULT }, &limit,
			   err) ||
	    !req_query_int(req, "cursor", (struct req_range){ 1, CURSOR_MOST, 0 },
			   &filter.before_id, err) ||
	    !req_query_int(req, "offset", (struct req_range){ 0, CURSOR_MOST, 0 }, &filter.offset,
			   err) ||
	    !read_fold(req, &filter, err))
		return false;
	if (filter.before_id && (filter.sort != RUN_SORT_AGE || filter.up))
		return err_set(err, ERR_BAD_REQUEST,
			       "cursor= goes through the newest first; in another order use "
			       "offset=");
	filter.limit = (int)limit;
	if (!db_run_list(req->app->db, &filter, req->arena, &page, err))
		return false;
	list = json_array();
	reply->json = json_pack("{s:o, s:o, s:I, s:I}", "runs", list, "next",
				page.next ? json_integer(page.next) : json_null(), "total",
				(json_int_t)page.total, "total_runs", (json_int_t)page.total_runs);
	reply->keep = KEEP_STORE;
	for (int i = 0; i < page.n; i++) {
		json_t *row = listed_json(req, &page.runs[i], err);

		if (!row)
			return false;
		if (keep_of(&page.runs[i]) == KEEP_LIVE)
			reply->keep = KEEP_LIVE;
		json_array_append_new(list, row);
	}
	if (facets && strcmp(facets, "1") == 0) {
		json_t *json = facets_json(req, err);

		json_object_set_new(reply->json, "facets", json);
		return json != NULL;
	}
	return true;
}

static bool api_runs_list(struct req *req, struct reply *reply, struct err *err)
{
	json_t *view = NULL;
	bool ok = read_view(req, &view, err) &&
		  list_runs(req, &(struct run_params){ query_of, req, view }, reply, err);

	json_decref(view);
	return ok;
}

/* The report is stored as JSON text and put in as it is: writing it again would take longer than
 * all else here. */
static bool splice(json_t *head, const struct buf *report, const struct buf *environment,
		   const struct buf *findings, struct reply *reply, struct err *err)
{
	char *text = json_dumps(head, JSON_COMPACT | JSON_ENSURE_ASCII);
	struct buf out = { 0 };

	if (text) {
		buf_add(&out, text, strlen(text) - 1); /* without its last brace */
		buf_puts(&out, ",\"environment\":");
		buf_puts(&out, environment->len ? environment->data : "null");
		buf_puts(&out, ",\"report\":");
		buf_puts(&out, report->len ? report->data : "null");
		buf_puts(&out, ",\"findings\":");
		buf_puts(&out, findings->len ? findings->data : "null");
		buf_putc(&out, '}');
	}
	reply->text_len = out.len;
	reply->text = text ? buf_steal(&out) : NULL;
	free(text);
	return reply->text || err_set(err, ERR_MEMORY, "out of memory for the report");
}

static bool api_run_get(struct req *req, struct reply *reply, struct err *err)
{
	struct buf report = { 0 }, environment = { 0 }, findings = { 0 };
	const char *view = req_query(req, "view");
	struct run_row run;
	int64_t id;
	bool ok;

	if (!req_id(req, 0, &id, err) || !req_wait(req, &reply->wait_ns, err) ||
	    !db_run_get(req->app->db, id, req->arena, &run, err))
		return false;
	reply->wait_run = reply->wait_ns && run.status <= RUN_RUNNING ? id : 0;
	if (view && strcmp(view, "summary") != 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "view=%.40s: summary, as a list has it, or left out for all", view);
	if (view) {
		reply->json = run_list_json(req->app, &run);
		reply->keep = keep_of(&run);
		return true;
	}
	ok = (run.status != RUN_DONE && !run.points_kept) ||
	     (db_report_get(req->app->db, id, &report, &environment, err) &&
	      outcome_findings(req->app->db, id, &report, &findings, err));
	if (ok) {
		json_t *head = run_head_json(req->app, &run);

		ok = splice(head, &report, &environment, &findings, reply, err);
		reply->keep = keep_of(&run);
		json_decref(head);
	}
	buf_finish(&report);
	buf_finish(&environment);
	buf_finish(&findings);
	return ok;
}

static bool api_run_report(struct req *req, struct reply *reply, struct err *err)
{
	struct buf report = { 0 }, environment = { 0 };
	struct run_row run;
	int64_t id;
	bool ok;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err))
		return false;
	ok = db_report_get(req->app->db, id, &report, &environment, err);
	if (ok) {
		reply->keep = KEEP_STORE;
		reply->text_len = report.len;
		reply->text = buf_steal(&report);
		reply->filename = arena_printf(req->arena, "breakeven-run-%lld.json",
					       (long long)id);
	}
	buf_finish(&report);
	buf_finish(&environment);
	return ok;
}

static bool api_run_script(struct req *req, struct reply *reply, struct err *err)
{
	const struct report_workload *fields;
	struct workload *w = NULL;
	json_t *json;
	struct run_row run;
	int64_t id;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err))
		return false;
	json = json_loads(run.workload, 0, NULL);
	fields = report_read_workload(json, req->arena, NULL);
	if (fields && (fields->source || fields->files.n))
		w = workload_parse_in(json, req->app->registry, err);
	else
		err_set(err, ERR_NOT_FOUND,
			"run %lld was imported or recorded: it has no source to make a script of",
			(long long)id);
	json_decref(json);
	reply->text = w ? workload_torch_script(w, err) : NULL;
	workload_destroy(w);
	if (!reply->text)
		return false;
	reply->text_len = strlen(reply->text);
	reply->content_type = "text/x-python; charset=utf-8";
	reply->keep = KEEP_STORE;
	reply->filename = arena_printf(req->arena, "breakeven-run-%lld.py", (long long)id);
	return true;
}

static bool api_run_events(struct req *req, struct reply *reply, struct err *err)
{
	struct run_row run;

	return req_id(req, 0, &reply->stream_run, err) &&
	       db_run_get(req->app->db, reply->stream_run, req->arena, &run, err);
}

/* A list of texts as one, joined by '\n'; NULL with BAD_REQUEST. */
static const char *read_tags(struct req *req, const json_t *tags, struct err *err)
{
	const char *all = "";
	json_t *tag;
	size_t i;

	if (!json_is_array(tags) || json_array_size(tags) > TAGS_MOST) {
		err_set(err, ERR_BAD_REQUEST, "tags must be a list of at most %d strings",
			TAGS_MOST);
		return NULL;
	}
	json_array_foreach(tags, i, tag) {
		const char *text = json_string_value(tag);

		if (!text || !*text || json_string_length(tag) > TAG_BYTES || strchr(text, '\n')) {
			err_set(err, ERR_BAD_REQUEST,
				"tags[%zu] must be a string of 1 to %d bytes, in one line", i,
				TAG_BYTES);
			return NULL;
		}
		all = arena_printf(req->arena, "%s%s%s", all, i ? "\n" : "", text);
	}
	return all ? all : (err_set(err, ERR_MEMORY, "out of memory for tags"), NULL);
}

/* A text of a bounded length in bytes. */
static bool read_text(const json_t *value, const char *key, size_t least, size_t most,
		      const char **out, struct err *err)
{
	size_t len = json_string_length(value);

	*out = json_string_value(value);
	return (*out && len >= least && len <= most) ||
	       err_set(err, ERR_BAD_REQUEST, "%s must be a string of %zu to %zu bytes", key, least,
		       most);
}

static bool read_flag(const json_t *value, const char *key, bool *is_set, bool *out,
		      struct err *err)
{
	*is_set = true;
	*out = json_is_true(value);
	return json_is_boolean(value) ||
	       err_set(err, ERR_BAD_REQUEST, "%s must be true or false", key);
}

static bool read_name(const json_t *value, const char **out, struct err *err)
{
	return read_text(value, "name", 1, NAME_BYTES, out, err) &&
	       (!strpbrk(*out, "\n\r\t") ||
		err_set(err, ERR_BAD_REQUEST, "name must be one line, without tabs"));
}

/* A token of one project does not give its runs away. */
static bool read_project(struct req *req, const json_t *value, const char **out, struct err *err)
{
	const char *own = req->caller.project;

	return read_text(value, "project", 0, NAME_BYTES, out, err) &&
	       (!strpbrk(*out, "\n\r\t") ||
		err_set(err, ERR_BAD_REQUEST, "project must be one line, without tabs")) &&
	       (!own || !*own || strcmp(own, *out) == 0 ||
		err_set(err, ERR_FORBIDDEN,
			"this token is for the project '%.80s': it cannot move a run to another",
			own));
}

static bool read_note(struct req *req, const char *key, const json_t *value, struct run_notes *out,
		      struct err *err)
{
	if (strcmp(key, "note") == 0)
		return read_text(value, key, 0, NOTE_BYTES, &out->note, err);
	if (strcmp(key, "name") == 0)
		return read_name(value, &out->name, err);
	if (strcmp(key, "project") == 0)
		return read_project(req, value, &out->project, err);
	if (strcmp(key, "baseline") == 0)
		return read_flag(value, key, &out->sets_baseline, &out->baseline, err);
	if (strcmp(key, "pinned") == 0)
		return read_flag(value, key, &out->sets_pinned, &out->pinned, err);
	if (strcmp(key, "tags") == 0)
		return (out->tags = read_tags(req, value, err)) != NULL;
	return err_set(err, ERR_BAD_REQUEST,
		       "%.40s cannot be changed: name, project, note, tags, baseline and pinned "
		       "can",
		       key);
}

static bool read_notes(struct req *req, const json_t *json, struct run_notes *out, struct err *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json) || json_object_size(json) == 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "an object with name, project, note, tags, baseline or pinned is "
			       "needed");
	json_object_foreach((json_t *)json, key, value)
		if (!read_note(req, key, value, out, err))
			return false;
	return true;
}

static bool api_run_patch(struct req *req, struct reply *reply, struct err *err)
{
	struct run_notes notes = { 0 };
	struct run_row run;
	json_t *json;
	int64_t id;
	bool ok;

	if (!req_id(req, 0, &id, err))
		return false;
	json = req_json(req, err);
	notes.by = req->caller.name;
	ok = json && read_notes(req, json, &notes, err) &&
	     db_run_annotate(req->app->db, id, &notes, err) &&
	     db_run_get(req->app->db, id, req->arena, &run, err);
	json_decref(json);
	if (ok)
		reply->json = run_list_json(req->app, &run);
	return ok;
}

static bool api_run_delete(struct req *req, struct reply *reply, struct err *err)
{
	struct run_row run;
	const char *did;
	int64_t id;
	bool ok;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err) ||
	    !req_may_remove(req, "the run", run.author, err))
		return false;
	if (run.status == RUN_QUEUED || run.status == RUN_RUNNING) {
		did = "cancelled";
		ok = jobs_cancel(req->app->jobs, id, err);
	} else {
		did = "removed";
		ok = db_run_delete(req->app->db, id, err);
	}
	if (ok)
		reply->json = json_pack("{s:I, s:s, s:o*}", "id", (json_int_t)id, "did", did,
					"restorable_s",
					*did == 'r' ? json_integer(JOBS_RESTORABLE_S) : NULL);
	return ok;
}

static bool api_run_restore(struct req *req, struct reply *reply, struct err *err)
{
	struct run_row run;
	int64_t id;
	bool ok = req_id(req, 0, &id, err) &&
		  db_run_removed(req->app->db, id, req->arena, &run, err) &&
		  req_may_remove(req, "the run", run.author, err) &&
		  db_run_restore(req->app->db, id, err) &&
		  db_run_get(req->app->db, id, req->arena, &run, err);

	if (ok)
		reply->json = run_list_json(req->app, &run);
	return ok;
}

handler_fn *const runs_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
