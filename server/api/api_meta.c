/* server/api/api_meta.c -- what the server says of itself. */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "server/text/assets.h"
#include "server/cli/commands.h"
#include "server/queue/queue.h"
#include "server/api/examples.h"
#include "server/api/routes.h"

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

bool api_examples(struct req *req, struct reply *reply, struct err *err)
{
	(void)req;
	reply->json = examples_json(err);
	return reply->json != NULL;
}

/* The {segments} of a path as OpenAPI parameters. */
static json_t *parameters_json(const char *path)
{
	json_t *list = json_array();

	while ((path = strchr(path, '{')) != NULL) {
		const char *end = strchr(path, '}');

		json_array_append_new(list, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", path + 1,
						      (size_t)(end - path - 1), "in", "path",
						      "required", 1, "schema", "type", "string"));
		path = end;
	}
	return list;
}

static json_t *types_json(const struct route *r)
{
	const char *const *types = routes.body_types(r);
	json_t *content = json_object();

	for (int i = 0; types[i]; i++)
		json_object_set_new(content, types[i], json_object());
	return content;
}

bool api_openapi(struct req *req, struct reply *reply, struct err *err)
{
	json_t *paths = json_object();

	(void)req;
	(void)err;
	for (int i = 0; i < routes.n; i++) {
		const struct route *r = &routes.rows[i];
		json_t *path = json_object_get(paths, r->path);
		json_t *operation = json_pack(
		    "{s:s, s:o, s:{s:{s:s}, s:{s:s}}}", "summary", r->summary, "parameters",
		    parameters_json(r->path), "responses", "200", "description", "done", "default",
		    "description", "an error: {\"error\": {code, message, line, column}}");
		char method[8] = "";

		for (size_t k = 0; r->method[k] && k < sizeof(method) - 1; k++)
			method[k] = (char)(r->method[k] | 0x20);
		if (r->body_limit)
			json_object_set_new(
			    operation, "requestBody",
			    json_pack("{s:b, s:o, s:o}", "required", 1, "content", types_json(r),
				      "description",
				      json_sprintf("at most %zu KiB", r->body_limit >> 10)));
		if (!path) {
			path = json_object();
			json_object_set_new(paths, r->path, path);
		}
		json_object_set_new(path, method, operation);
	}
	reply->json = json_pack("{s:s, s:{s:s, s:s}, s:o}", "openapi", "3.1.0", "info", "title",
				"Breakeven", "version", breakeven_version(), "paths", paths);
	return true;
}
