/* server/api/routes.c -- the table of routes.def, and the same as OpenAPI. */
#define HANDLER_routes(name) name
#include "server/api/routes.h"

#include <string.h>

#include "profiler/fields/schema.h"
#include "server/http/pages.h"
#include "server/text/text.h"

static handler_fn *const pages[] = { page_index, page_docs };
enum { AT_page_index, AT_page_docs };

static const struct route table[] = {
#define ROW(file, method, path, handler, body, limit, scope, sees, query, summary, slow)           \
	{ method,      path,  &file##_handlers[AT_##handler],                                      \
	  BODY_##body, limit, SCOPE_##scope,                                                       \
	  SEES_##sees, query, summary,                                                             \
	  slow },
#define ROUTE(...) ROW(__VA_ARGS__, false)
#define ROUTE_SLOW(...) ROW(__VA_ARGS__, true)
#define PAGE(path, handler, summary)                                                               \
	{                                                                                          \
		"GET",   path, &pages[AT_##handler], BODY_NONE, 0, SCOPE_OPEN, SEES_OWN, "*",      \
		summary, false                                                                     \
	},
#include "server/api/routes_some.h"
};

const struct route_table routes = {
	.rows = table,
	.n = sizeof(table) / sizeof(table[0]),
	.is_of_project = is_of_project,
};

/* The {segments} of a path and what its query takes, as OpenAPI parameters. */
static json_t *parameters_json(const struct route *r)
{
	json_t *list = json_array();
	const char *path = r->path, *query = strcmp(r->query, "*") == 0 ? "" : r->query;

	while ((path = strchr(path, '{')) != NULL) {
		const char *end = strchr(path, '}');

		json_array_append_new(list, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", path + 1,
						      (size_t)(end - path - 1), "in", "path",
						      "required", 1, "schema", "type", "string"));
		path = end;
	}
	for (size_t len; *query; query += len + (query[len] == ' ')) {
		len = strcspn(query, " ");
		json_array_append_new(list, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", query,
						      len, "in", "query", "required", 0, "schema",
						      "type", "string"));
	}
	return list;
}

static json_t *types_json(const struct route *r)
{
	const char *const *types = route_types(r);
	json_t *content = json_object();

	for (int i = 0; types[i]; i++)
		json_object_set_new(content, types[i], json_object());
	return content;
}

/* The form of what a route answers, where the table of reports describes it; NULL: it does not. */
static json_t *answer_schema(const struct route *r)
{
	static const char report[] = "#/components/schemas/ReportRun",
			  findings[] = "#/components/schemas/ReportFindings";

	if (strcmp(r->path, "/api/v1/runs/{id}/report.json") == 0)
		return json_pack("{s:s}", "$ref", report);
	if (strcmp(r->path, "/api/v1/runs/{id}") == 0 && strcmp(r->method, "GET") == 0)
		return json_pack("{s:s, s:{s:{s:[{s:s}, {s:s}]}, s:{s:[{s:s}, {s:s}]}}}", "type",
				 "object", "properties", "report", "anyOf", "$ref", report, "type",
				 "null", "findings", "anyOf", "$ref", findings, "type", "null");
	return NULL;
}

static json_t *answer_json(const struct route *r)
{
	json_t *schema = answer_schema(r);

	return schema ? json_pack("{s:{s:o}}", "application/json", "schema", schema) : NULL;
}

static bool api_openapi(struct req *req, struct reply *reply, struct err *err)
{
	json_t *paths = json_object();
	const char *base = req->app->base_path;

	(void)err;
	for (int i = 0; i < routes.n; i++) {
		const struct route *r = &routes.rows[i];
		json_t *path = json_object_get(paths, r->path);
		json_t *operation = json_pack(
		    "{s:s, s:o, s:{s:{s:s, s:o*}, s:{s:s}}}", "summary", r->summary, "parameters",
		    parameters_json(r), "responses", "200", "description", "done", "content",
		    answer_json(r), "default", "description",
		    "an error: {\"error\": {code, message, line, column}}");
		char method[8] = "";

		for (size_t k = 0; r->method[k] && k < sizeof(method) - 1; k++)
			method[k] = (char)(r->method[k] | 0x20);
		json_object_set_new(operation, "x-scope", json_string(scope_name(r->scope)));
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
	reply->json = json_pack("{s:s, s:{s:s, s:s}, s:[{s:s}], s:o, s:{s:o}}", "openapi", "3.1.0",
				"info", "title", "Breakeven", "version", breakeven_version(),
				"servers", "url", *base ? base : "/", "paths", paths, "components",
				"schemas", report_schemas());
	reply->keep = KEEP_STORE;
	return true;
}

handler_fn *const routes_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
