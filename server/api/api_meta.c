/* server/api/api_meta.c -- what the server says of itself: health, counters, ops, backends and
 * passes, examples to start from. */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/lists/lists.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

bool api_health(struct req *req, struct reply *reply, struct err *err)
{
	int64_t counts[RUN_STATUS_COUNT];

	if (!db_run_counts(req->app->db, counts, err))
		return false;
	reply->json = json_pack("{s:s, s:s}", "status", "ok", "version", breakeven_version());
	return true;
}

bool api_metrics(struct req *req, struct reply *reply, struct err *err)
{
	int64_t counts[RUN_STATUS_COUNT];
	struct buf out = { 0 };

	if (!db_run_counts(req->app->db, counts, err))
		return false;
	buf_puts(
	    &out,
	    "# HELP breakeven_runs Runs in the store, by status.\n# TYPE breakeven_runs gauge\n");
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		buf_printf(&out, "breakeven_runs{status=\"%s\"} %lld\n",
			   run_status_name((enum run_status)i), (long long)counts[i]);
	buf_printf(&out,
		   "# HELP breakeven_http_requests_total Requests answered.\n"
		   "# TYPE breakeven_http_requests_total counter\n"
		   "breakeven_http_requests_total %lld\n"
		   "# HELP breakeven_event_streams Open event streams.\n"
		   "# TYPE breakeven_event_streams gauge\n"
		   "breakeven_event_streams %d\n"
		   "# HELP breakeven_slow_requests Under way, of those that may take seconds.\n"
		   "# TYPE breakeven_slow_requests gauge\n"
		   "breakeven_slow_requests{kind=\"check\"} %d\n"
		   "breakeven_slow_requests{kind=\"export\"} %d\n"
		   "breakeven_slow_requests{kind=\"import\"} %d\n"
		   "# HELP breakeven_uptime_seconds Since the server started.\n"
		   "# TYPE breakeven_uptime_seconds gauge\n"
		   "breakeven_uptime_seconds %lld\n",
		   (long long)req->app->requests, events_open_count(req->app->events),
		   req->app->checks, req->app->exports, req->app->imports,
		   (long long)((clock_ns() - req->app->started_ns) / 1000000000));
	reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	reply->text_len = out.len;
	reply->text = buf_steal(&out);
	return reply->text || err_set(err, ERR_MEMORY, "out of memory for the counters");
}

/* ---- lists ---- */

bool api_ops(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_ops(req->app->registry, req_query(req, "name"), err);
	if (!reply->json && err->code == ERR_NAME)
		err->code = ERR_NOT_FOUND;
	return reply->json != NULL;
}

bool api_backends(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_backends(req->app->registry, err);
	if (reply->json && req->app->torch)
		json_object_set_new(reply->json, "engines", json_pack("[O]", req->app->torch));
	return reply->json != NULL;
}

bool api_passes(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_passes(req->app->registry, err);
	return reply->json != NULL;
}

/* ---- examples: workloads to start from.
 *
 * A file of web/examples/ is a workload that also says "title" about itself;
 * they are listed in the order of their names, and the first one is run when a
 * server starts with an empty store.  Models in published style and the blocks of the
 * suite, both Python programs, follow in groups of their own. ---- */

static const char examples_start[] = "/assets/examples/";

static json_t *example_at(const struct asset *a, struct err *err)
{
	json_error_t at;
	json_t *workload = json_loadb((const char *)a->data, a->len, 0, &at);
	json_t *title, *example;

	if (!workload) {
		err_set(err, ERR_INTERNAL, "example %s, line %d: %s", a->path, at.line, at.text);
		return NULL;
	}
	title = json_incref(json_object_get(workload, "title"));
	json_object_del(workload, "title");
	example = json_pack("{s:O, s:o, s:o}", "name", json_object_get(workload, "name"), "title",
			    title, "workload", workload);
	if (!example)
		err_set(err, ERR_INTERNAL, "example %s has no name or title", a->path);
	return example;
}

/* The first line of a program's own description, without its full stop; NULL: it has none. */
static json_t *described(const json_t *workload)
{
	static const char quotes[] = "\"\"\"";
	const char *source = json_string_value(json_object_get(workload, "source"));
	const char *at = source ? strstr(source, quotes) : NULL;
	size_t len;

	if (!at)
		return NULL;
	at += strlen(quotes);
	len = strcspn(at, "\"\n");
	len -= len && at[len - 1] == '.';
	return len ? json_stringn(at, len) : NULL;
}

/* The programs of a folder, as examples of a group; their titles are their names, or what they
 * say of themselves. */
static bool add_programs(json_t *list, const char *folder, const char *group, bool described_ones,
			 struct err *err)
{
	json_t *programs = embedded_programs(folder, err), *workload;
	size_t i;

	json_array_foreach(programs, i, workload) {
		json_t *name = json_object_get(workload, "name");
		json_t *title = described_ones ? described(workload) : NULL;

		json_array_append_new(list, json_pack("{s:O, s:o, s:s, s:O}", "name", name, "title",
						      title ? title : json_incref(name), "group",
						      group, "workload", workload));
	}
	json_decref(programs);
	return programs != NULL;
}

/* {"examples": [{"name", "title", "workload"}]}; the programs have a "group"; new. */
static json_t *examples_json(struct err *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n_assets; i++) {
		json_t *example;

		if (strncmp(assets[i].path, examples_start, sizeof(examples_start) - 1) != 0)
			continue;
		example = example_at(&assets[i], err);
		if (!example) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, example);
	}
	if (!add_programs(list, "models", "Models in published style", true, err) ||
	    !add_programs(list, "suite", "Model blocks", false, err)) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o}", "examples", list);
}

json_t *examples_first(struct err *err)
{
	json_t *all = examples_json(err);
	json_t *first = json_array_get(json_object_get(all, "examples"), 0);
	json_t *workload = json_incref(json_object_get(first, "workload"));

	json_decref(all);
	if (!workload)
		err_set(err, ERR_INTERNAL, "this build has no examples");
	return workload;
}

bool api_examples(struct req *req, struct reply *reply, struct err *err)
{
	(void)req;
	reply->json = examples_json(err);
	return reply->json != NULL;
}
