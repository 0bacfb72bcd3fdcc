/* server/api/api_check.c -- POST /api/v1/check: a program looked at while it is written.
 *
 * Syntax and names are checked here.  Breaks need the calls to be made, since
 * what follows a break is captured for real values; a worker of its own makes
 * them, with tight limits, by the interpreter tier.
 */
#define HANDLER_check(name) name
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/fields/breaks.h"
#include "profiler/profiler.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum {
	CHECKS_MOST = 2,    /* at once: each is a process */
	LOOK_MS = 100,      /* so often: does the server stop? */
	FIT_SHARE_MS = 700, /* of each second of a check's limit, to look for inputs in */
};

/* One past the word at a place of the source, which is what an editor marks. */
static int end_column(const char *source, int line, int column)
{
	const char *at = source ? source : "";
	int len = 0;

	for (; line > 1 && at; line--) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at || column < 1)
		return column;
	for (int i = 1; i < column && *at && *at != '\n'; at++)
		i += ((unsigned char)at[1] & 0xc0) != 0x80; /* characters, not bytes */
	while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '.')
		len++;
	return column + (len ? len : 1);
}

static json_t *diagnostic(const json_t *workload, const struct err *err, bool certain)
{
	const char *source = workload_text(workload, err->file);
	json_t *json = json_pack(
	    "{s:s, s:s, s:o, s:i, s:i, s:i}", "severity", certain ? "error" : "warning", "code",
	    err_name(err->code), "message", json_message(err), "line", err->line, "column",
	    err->column, "end_column", end_column(source, err->line, err->column));

	if (err->file[0])
		json_object_set_new(json, "file", json_string(err->file));
	return json;
}

static json_t *read_answer(enum message_type type, const char *text, size_t len, struct err *err)
{
	json_t *json = json_loadb(text, len, 0, NULL);
	struct arena arena = { 0 };
	const struct report_failure *f = NULL;

	if (type == MESSAGE_REPORT)
		return json;
	if (json)
		f = report_read_failure(json, &arena, NULL);
	if (f)
		message_failure(f, err);
	json_decref(json);
	arena_finish(&arena);
	return NULL;
}

/* Waits for the worker's answer: an explanation, or an error in *err. */
static json_t *read_messages(struct worker *w, const struct app *app, struct err *err)
{
	struct message_reader reader = { 0 };
	int64_t end_ns = clock_ns() + app->bounds.check_seconds * 1000000000;
	json_t *answer = NULL;
	bool done = false;

	while (!done && !app->stopping) {
		struct pollfd ready = { .fd = w->fd, .events = POLLIN };
		int64_t left_ms = (end_ns - clock_ns()) / 1000000;
		enum message_type type;
		bool bad = false;
		char *text;
		size_t len;
		long n;

		if (left_ms <= 0)
			break;
		n = poll(&ready, 1, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
		if (n == 0 || (n < 0 && errno == EINTR))
			continue;
		n = n < 0 ? n : message_fill(&reader, w->fd);
		if (n == -2)
			continue;
		if (n <= 0)
			break;
		if (!message_next(&reader, &type, &text, &len, &bad) && !bad)
			continue;
		done = true;
		if (!bad && (type == MESSAGE_REPORT || type == MESSAGE_ERROR))
			answer = read_answer(type, text, len, err);
	}
	message_reader_finish(&reader);
	if (answer || err->code != ERR_NONE)
		return answer;
	if (app->stopping)
		err_set(err, ERR_BUSY, "the server stops");
	else
		err_set(err, ERR_WORKER,
			"the program took over %d s, the limit of a check; give it smaller inputs",
			(int)app->bounds.check_seconds);
	return answer;
}

static json_t *ask_worker(struct app *app, enum message_type what, const json_t *json,
			  struct err *err)
{
	char *text = json_dumps(json, JSON_COMPACT);
	struct worker_options options = { .yields = true,
					  .cpu_seconds = (int)app->bounds.check_seconds,
					  .files_folder = app->files_folder,
					  .registry = app->registry };
	struct worker worker = { .fd = -1 };
	json_t *answer = NULL;
	bool clean;

	if (!text) {
		err_set(err, ERR_MEMORY, "out of memory for the check");
		return NULL;
	}
	if (app->checks++ >= CHECKS_MOST)
		err_set(err, ERR_BUSY, "%d checks are under way, the limit; post it again later",
			CHECKS_MOST);
	else if (worker_start(&worker, &options, what, text, err)) {
		answer = read_messages(&worker, app, err);
		worker_reap(&worker, true, &clean, NULL);
	}
	app->checks--;
	free(text);
	return answer;
}

/* Each break with its place in front, as an editor wants it. */
static void place_breaks(struct report_break_list breaks)
{
	for (size_t i = 0; i < breaks.n; i++) {
		struct break_place at = break_place_of(&breaks.at[i]);
		json_t *item = (json_t *)breaks.at[i].json; /* of the answer */

		json_object_set_new(item, "line", json_integer(at.line));
		json_object_set_new(item, "column", json_integer(at.column));
		json_object_set_new(item, "end_column", json_integer(at.end_column));
		if (at.file)
			json_object_set_new(item, "file", json_string(at.file));
	}
}

/* What was explained, as an answer: the program's own error goes to the diagnostics.  False with
 * WORKER where it is no explanation. */
static bool complete_answer(json_t *answer, json_t *diagnostics, const json_t *workload,
			    struct err *err)
{
	struct arena arena = { 0 };
	const struct report_explain *e = report_read_explain(answer, &arena, err);
	struct err said = { 0 };

	if (e && e->error) {
		message_failure(e->error, &said);
		json_array_append_new(diagnostics, diagnostic(workload, &said, true));
	}
	if (e) {
		place_breaks(e->breaks);
		json_object_del(answer, "error");
	} else {
		err->code = ERR_WORKER;
	}
	arena_finish(&arena);
	return e != NULL;
}

/* A source without calls is parsed all the same.  A new reference. */
static json_t *with_calls(const json_t *json)
{
	json_t *copy = json_copy((json_t *)json), *calls = json_pack("{s:[[]]}", "calls");

	json_object_update_missing(copy, calls);
	json_decref(calls);
	return copy;
}

/* The fields, the syntax and the names. */
static bool parses(const struct registry *registry, const json_t *json, struct err *err)
{
	struct workload *w = workload_parse_in(json, registry, err);

	workload_destroy(w);
	return w != NULL;
}

struct listed {
	const json_t *workload;
	const struct err *first; /* is in the list already */
	json_t *diagnostics;
};

static void list_problem(void *self, const struct err *problem, bool certain)
{
	const struct listed *l = self;

	if (problem->line != l->first->line || problem->column != l->first->column ||
	    strcmp(problem->file, l->first->file) != 0 ||
	    (problem->line == 0 && strcmp(problem->message, l->first->message) != 0))
		json_array_append_new(l->diagnostics, diagnostic(l->workload, problem, certain));
}

/* The diagnostics of what was asked, and the answer that an explanation makes; false where the
 * check itself has failed. */
static bool check(struct req *req, const json_t *json, json_t *diagnostics, json_t **answer,
		  struct err *err)
{
	/* one whose fields are no workload's is not explained: parsing it says why */
	const struct report_workload *w = report_read_workload(json, req->arena, NULL);
	struct err found = { 0 };
	struct listed listed = { json, &found, diagnostics };
	json_t *whole;

	if (!json_is_object(json) || (w && !w->source && !w->has.files))
		return err_set(err, ERR_WORKLOAD,
			       "source is missing: the text of the program to check");
	whole = with_calls(json);
	if (parses(req->app->registry, whole, &found) && w && json_array_size(w->calls))
		*answer = ask_worker(req->app, MESSAGE_CHECK, json, &found);
	if (found.code == ERR_BUSY || found.code == ERR_MEMORY || found.code == ERR_IO) {
		*err = found;
		json_decref(whole);
		return false;
	}
	if (found.code != ERR_NONE)
		json_array_append_new(diagnostics, diagnostic(json, &found, true));
	workload_problems(whole, req->app->registry, list_problem, &listed);
	json_decref(whole);
	if (*answer)
		return complete_answer(*answer, diagnostics, json, err);
	*answer = json_pack("{s:[], s:[]}", "breaks", "graphs");
	return true;
}

/* ---- proposals ---- */

/* The names of ?free=x,mask; NULL: it is not asked for. */
static json_t *free_names(struct req *req)
{
	const char *text = req_query(req, "free");
	json_t *list = text ? json_array() : NULL;

	for (size_t len; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (len)
			json_array_append_new(list, json_stringn(text, len));
	}
	return list;
}

/* Inputs for the program, as its text tells; where the calls as posted fail and some inputs are
 * free, tried by a worker. */
static json_t *proposals_of(struct req *req, const json_t *json, bool fails)
{
	json_t *names = free_names(req), *whole = with_calls(json), *list = NULL, *job;
	struct err ignored = { 0 };

	if (fails && json_array_size(names) && parses(req->app->registry, whole, &ignored)) {
		job = json_pack("{s:O, s:O, s:f}", "workload", json, "free", names, "limit_ms",
				FIT_SHARE_MS * (double)req->app->bounds.check_seconds);
		list = ask_worker(req->app, MESSAGE_FIT, job, &ignored);
		json_decref(job);
	}
	json_decref(whole);
	json_decref(names);
	if (json_is_array(list))
		return list;
	json_decref(list);
	return workload_proposals(json, req->app->registry, false);
}

static bool api_check(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_workload(req, err), *answer = NULL, *diagnostics = json_array();
	bool ok = json && check(req, json, diagnostics, &answer, err);

	if (ok)
		json_object_set_new(answer, "proposals",
				    proposals_of(req, json, json_array_size(diagnostics) > 0));
	json_decref(json);
	if (!ok) {
		json_decref(answer);
		json_decref(diagnostics);
		return false;
	}
	json_object_set_new(answer, "diagnostics", diagnostics);
	reply->json = answer;
	return true;
}

handler_fn *const check_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
