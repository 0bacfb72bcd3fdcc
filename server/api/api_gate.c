/* server/api/api_gate.c -- POST /api/v1/gate: do workloads pass beside a baseline?  What is missing
 * is run. */
#define HANDLER_gate(name) name
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/gate/gate.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum { MOST = 1000, MARGIN_MOST = 100 };

struct gate_asked {
	struct gate_options options;
	const char *format;
	int64_t runs[MOST];
	int n;
	bool waiting; /* one of them has not ended */
};

static const char *text_or(const json_t *json, const char *key, const char *fallback)
{
	const json_t *value = json_object_get(json, key);

	return value ? json_string_value(value) : fallback;
}

static bool read_options(const json_t *json, struct gate_asked *asked, struct err *err)
{
	static const char *const known[] = { "workloads", "runs",     "baseline",
					     "margin",    "fails_on", "format" };
	const json_t *margin = json_object_get(json, "margin");
	const char *fails_on = text_or(json, "fails_on", NULL), *key;
	json_t *value;

	json_object_foreach((json_t *)json, key, value) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], key) != 0)
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return err_set(err, ERR_BAD_REQUEST,
				       "%.40s is not known: workloads or runs, baseline, margin, "
				       "fails_on, format are",
				       key);
	}
	asked->options.baseline = text_or(json, "baseline", NULL);
	asked->options.fails_on = GATE_ALL;
	asked->options.margin = json_number_value(margin) / 100;
	asked->format = text_or(json, "format", "json");
	if (!asked->options.baseline || !*asked->options.baseline)
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "baseline is needed: a branch, a tag, the word baseline or a run's number");
	if (margin && !(asked->options.margin > 0 && asked->options.margin <= MARGIN_MOST / 100.0))
		return err_set(err, ERR_BAD_REQUEST, "margin is a percentage above 0 and up to %d",
			       MARGIN_MOST);
	if (!asked->format)
		return err_set(err, ERR_BAD_REQUEST, "format is a text");
	if (json_object_get(json, "fails_on") && !fails_on)
		return err_set(err, ERR_BAD_REQUEST, "fails_on is a text: values,breaks");
	return !fails_on || gate_kinds_read(fails_on, &asked->options.fails_on, err);
}

/* The run of a workload: one that there is, else a new one. */
static bool run_of(struct req *req, json_t *json, struct gate_asked *asked, struct err *err)
{
	struct workload *w = req_take_project(req, json, err)
				 ? workload_parse_in(json, req->app->registry, err)
				 : NULL;
	char *text = w ? json_dumps(json, JSON_COMPACT) : NULL;
	struct run_row run;
	bool found = false,
	     ok = text && db_run_same(req->app->db, text, req->arena, &run, &found, err);

	if (ok && found)
		asked->runs[asked->n++] = run.id;
	else if (ok && run_enqueue(req, json, w, &asked->runs[asked->n], err))
		asked->n++;
	else
		ok = false;
	free(text);
	workload_destroy(w);
	return ok || (err->code == ERR_NONE ? err_set(err, ERR_MEMORY, "out of memory for a gate")
					    : false);
}

static bool collect(struct req *req, json_t *json, struct gate_asked *asked, struct err *err)
{
	json_t *workloads = json_object_get(json, "workloads"), *one;
	const json_t *runs = json_object_get(json, "runs");
	size_t i, n = json_array_size(workloads) + json_array_size(runs);

	if (!n || n > MOST)
		return err_set(err, ERR_BAD_REQUEST,
			       "workloads, a list, or runs, a list of numbers, is needed: up to %d",
			       MOST);
	json_array_foreach(workloads, i, one)
		if (!run_of(req, one, asked, err))
			return false;
	json_array_foreach(runs, i, one) {
		if (json_integer_value(one) <= 0)
			return err_set(err, ERR_BAD_REQUEST, "runs are numbers from 1 on");
		asked->runs[asked->n++] = json_integer_value(one);
	}
	return true;
}

/* What the gate looks at: each run, and its baseline. */
struct gate_loaded {
	struct gate_pair pairs[MOST];
	struct loaded_runs runs[MOST];
	int n;
};

static bool find_baseline(struct req *req, const struct gate_asked *asked,
			  const struct run_row *run, struct run_row *out, bool *found,
			  struct err *err)
{
	const char *of = asked->options.baseline;
	char *end;
	long long id = strtoll(*of == '#' ? of + 1 : of, &end, 10);
	struct err none = { 0 };

	if (id > 0 && !*end) {
		*found = db_run_get(req->app->db, id, req->arena, out, &none) &&
			 out->status == RUN_DONE &&
			 (!*req->caller.project || strcmp(out->project, req->caller.project) == 0);
		return true;
	}
	return db_run_newest(
	    req->app->db,
	    &(struct newest_query){ run->name, run->project, of, run->settings_hash, run->id },
	    req->arena, out, found, err);
}

static bool load_pair(struct req *req, const struct gate_asked *asked, const struct run_row *run,
		      struct gate_loaded *l, struct err *err)
{
	struct loaded_runs *runs = &l->runs[l->n];
	struct gate_pair *pair = &l->pairs[l->n++];
	struct run_row base;
	bool found = false;

	*pair = (struct gate_pair){ .name = run->name };
	if (run->status != RUN_DONE) {
		pair->why = arena_printf(req->arena, "run %lld %s: %s", (long long)run->id,
					 run->status == RUN_FAILED ? "failed" : "was cancelled",
					 run->error.message);
		return true;
	}
	if (!find_baseline(req, asked, run, &base, &found, err))
		return false;
	if (!found)
		pair->why = arena_printf(req->arena,
					 "no run of %s is done whose branch or tag is %s",
					 run->name, asked->options.baseline);
	if ((found && !loaded_add_run(runs, req->app->db, base.id, err)) ||
	    !loaded_add_run(runs, req->app->db, run->id, err))
		return false;
	pair->b = &runs->at[runs->n - 1];
	pair->a = found ? &runs->at[0] : NULL;
	return true;
}

/* Loads what has ended; what has not makes it wait. */
static bool load_all(struct req *req, struct gate_asked *asked, struct gate_loaded *l,
		     json_t *listed, struct err *err)
{
	struct run_row run;

	for (int i = 0; i < asked->n; i++) {
		if (!db_run_get(req->app->db, asked->runs[i], req->arena, &run, err))
			return false;
		if (*req->caller.project && strcmp(run.project, req->caller.project) != 0)
			return err_set(err, ERR_NOT_FOUND, "there is no run %lld",
				       (long long)run.id);
		json_array_append_new(listed,
				      json_pack("{s:I, s:s, s:s}", "id", (json_int_t)run.id, "name",
						run.name, "status", run_status_name(run.status)));
		asked->waiting |= run.status == RUN_QUEUED || run.status == RUN_RUNNING;
	}
	for (int i = 0; !asked->waiting && i < asked->n; i++)
		if (!db_run_get(req->app->db, asked->runs[i], req->arena, &run, err) ||
		    !load_pair(req, asked, &run, l, err))
			return false;
	return true;
}

static bool answer(const struct gate_asked *asked, const struct gate_loaded *l, struct reply *reply,
		   struct err *err)
{
	struct report_draft draft = { 0 };
	const struct report_gate *gate = gate_judge(l->pairs, l->n, &asked->options, &draft, err);
	struct buf out = { 0 };
	bool ok = gate != NULL;

	if (ok && strcmp(asked->format, "json") == 0) {
		reply->json = report_write_gate(gate);
		ok = reply->json || err_set(err, ERR_MEMORY, "out of memory for a gate");
	} else if (ok && (ok = gate_write(gate, asked->format, &out, err))) {
		reply->content_type = strcmp(asked->format, "junit") == 0 ? "application/xml"
				      : strcmp(asked->format, "sarif") == 0
					  ? "application/json"
					  : "text/plain; charset=utf-8";
		reply->text_len = out.len;
		reply->text = buf_steal(&out);
	}
	buf_finish(&out);
	report_draft_finish(&draft);
	return ok;
}

static bool api_gate(struct req *req, struct reply *reply, struct err *err)
{
	struct gate_asked asked = { .format = NULL };
	struct gate_loaded *l = calloc(1, sizeof(*l));
	json_t *json = req_json(req, err), *listed = json_array();
	bool ok = l && json && read_options(json, &asked, err) && collect(req, json, &asked, err) &&
		  load_all(req, &asked, l, listed, err);

	if (ok && asked.waiting) {
		reply->status = 202;
		reply->json = json_pack("{s:s, s:O}", "status", "running", "runs", listed);
	} else if (ok) {
		ok = answer(&asked, l, reply, err);
	}
	for (int i = 0; l && i < l->n; i++)
		loaded_finish(&l->runs[i]);
	free(l);
	json_decref(json);
	json_decref(listed);
	return ok || (err->code == ERR_NONE ? err_set(err, ERR_MEMORY, "out of memory for a gate")
					    : false);
}

handler_fn *const gate_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
