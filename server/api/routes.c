/* server/api/routes.c -- the table of routes.def, and the same as OpenAPI. */
#define HANDLER_routes(name) name
#include "server/api/routes.h"

#include <ctype.h>
#include <string.h>

#include "profiler/fields/schema.h"
#include "server/http/pages.h"
#include "server/text/text.h"

static handler_fn *const pages[] = { page_index, page_docs, page_client };
enum { AT_page_index, AT_page_docs, AT_page_client };

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

/* What openapi.json says of each row beside it. */
static const struct described {
	const char *operation, *tag;
} described[] = {
#define ROUTE(file, method, path, handler, ...) { #handler, #file },
#define PAGE(path, handler, summary) { #handler, "pages" },
#include "server/api/routes_some.h"
};

static const struct {
	const char *name, *shape;
} shapes[] = {
#define SHAPE(name, shape) { #name, shape },
#define ANSWER(...)
#define ANSWER_OTHER(...)
#include "server/api/answers.def"
#undef SHAPE
#undef ANSWER
#undef ANSWER_OTHER
};

/* `type` is of what is no JSON, and has no shape. */
static const struct {
	const char *operation, *status, *shape, *type;
} answers[] = {
#define SHAPE(...)
#define ANSWER(handler, status, shape) { #handler, #status, shape, NULL },
#define ANSWER_OTHER(handler, type) { #handler, "200", NULL, type },
#include "server/api/answers.def"
#undef SHAPE
#undef ANSWER
#undef ANSWER_OTHER
};

/* ---- shapes: the notation of answers.def as JSON Schema ---- */

static json_t *read_shape(const char **at);

static size_t word_at(const char **at)
{
	size_t n = 0;

	*at += strspn(*at, " ");
	while (isalnum((unsigned char)(*at)[n]) || (*at)[n] == '_' || (*at)[n] == '*')
		n++;
	return n;
}

/* Takes a sign, where it is next. */
static bool takes(const char **at, char sign)
{
	*at += strspn(*at, " ");
	if (**at != sign)
		return false;
	++*at;
	return true;
}

/* {name: shape, name?: shape} or {*: shape}, after its brace. */
static json_t *read_object(const char **at)
{
	json_t *properties = json_object(), *required = json_array(), *rest = NULL, *out;

	do {
		size_t n = word_at(at);
		const char *name = *at;
		bool lacks;

		*at += n;
		lacks = takes(at, '?');
		takes(at, ':');
		if (*name == '*') {
			rest = read_shape(at);
		} else {
			if (!lacks)
				json_array_append_new(required, json_stringn(name, n));
			json_object_setn_new(properties, name, n, read_shape(at));
		}
	} while (takes(at, ','));
	takes(at, '}');
	out = json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required",
			required);
	if (rest)
		json_object_set_new(out, "additionalProperties", rest);
	return out;
}

static json_t *read_one(const char **at)
{
	const char *word;
	size_t n;

	if (takes(at, '['))
		return json_pack("{s:s, s:o}", "type", "array", "items", read_shape(at));
	if (takes(at, '{'))
		return read_object(at);
	if (takes(at, '(')) {
		json_t *inner = read_shape(at);

		takes(at, ')');
		return inner;
	}
	if (takes(at, '"')) {
		word = *at;
		n = strcspn(word, "\"");
		*at += n + 1;
		return json_pack("{s:s, s:[s%]}", "type", "string", "enum", word, n);
	}
	n = word_at(at);
	word = *at;
	*at += n;
	if (n == 3 && strncmp(word, "any", n) == 0)
		return json_object();
	if (isupper((unsigned char)*word))
		return json_pack("{s:o}", "$ref",
				 json_sprintf("#/components/schemas/%.*s", (int)n, word));
	return json_pack("{s:s%}", "type", word, n);
}

/* One, or several with & between them. */
static json_t *read_joined(const char **at)
{
	json_t *first = read_one(at), *all = NULL;

	while (takes(at, '&')) {
		if (!all)
			all = json_pack("[o]", first);
		json_array_append_new(all, read_one(at));
	}
	return all ? json_pack("{s:o}", "allOf", all) : first;
}

/* A shape, or several with | between them; texts become one enum. */
static json_t *read_shape(const char **at)
{
	json_t *first = read_joined(at), *all = NULL, *words = json_object_get(first, "enum");

	while (takes(at, '|')) {
		json_t *next = read_joined(at), *more = json_object_get(next, "enum");

		if (words && more && !all) {
			json_array_extend(words, more);
			json_decref(next);
			continue;
		}
		if (!all)
			all = json_pack("[o]", first);
		json_array_append_new(all, next);
	}
	takes(at, ']');
	return all ? json_pack("{s:o}", "anyOf", all) : first;
}

static json_t *shape_json(const char *shape)
{
	return read_shape(&shape);
}

/* ---- openapi.json ---- */

/* Parameters that are whole numbers; others are texts. */
static bool is_whole(const char *name, size_t len)
{
	static const char numbers[] = " limit cursor offset hours px from bytes base wait ";
	const char *at = memmem(numbers, sizeof(numbers) - 1, name, len);

	return at && at[-1] == ' ' && at[len] == ' ';
}

static void add_parameter(json_t *list, const char *name, size_t len, const char *in)
{
	bool path = strcmp(in, "path") == 0;

	json_array_append_new(list, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", name, len, "in",
					      in, "required", path, "schema", "type",
					      is_whole(name, len) ? "integer" : "string"));
}

/* The {segments} of a path and what its query takes, as OpenAPI parameters. */
static json_t *parameters_json(const struct route *r)
{
	json_t *list = json_array();
	const char *path = r->path;
	const char *query = strcmp(r->query, "*") == 0 ? "" : r->query;

	while ((path = strchr(path, '{')) != NULL) {
		add_parameter(list, path + 1, strcspn(path + 1, "}"), "path");
		path = strchr(path, '}');
	}
	for (size_t len; *query; query += len + (query[len] == ' ')) {
		len = strcspn(query, " ");
		add_parameter(list, query, len, "query");
	}
	return list;
}

/* A body's types; a workload's JSON is as report.def has it. */
static json_t *types_json(const struct route *r)
{
	const char *const *types = route_types(r);
	json_t *content = json_object();

	for (int i = 0; types[i]; i++) {
		bool workload = r->body == BODY_PROGRAM && i == 0;
		bool bytes = strcmp(types[i], "application/json") != 0;

		json_object_set_new(content, types[i],
				    workload
					? json_pack("{s:{s:s}, s:o*}", "schema", "$ref",
						    "#/components/schemas/ReportWorkload",
						    "example", examples_first(&(struct err){ 0 }))
				    : bytes ? json_pack("{s:{s:s, s:s}}", "schema", "type",
							"string", "format", "binary")
					    : json_pack("{s:{s:s}}", "schema", "type", "object"));
	}
	return content;
}

/* A page's HTML, or JSON as answers.def has it. */
static json_t *responses_json(const struct route *r, const struct described *of)
{
	json_t *all = json_object();

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (strcmp(answers[i].operation, of->operation) == 0)
			json_object_set_new(
			    all, answers[i].status,
			    json_pack("{s:s, s:{s:{s:o}}}", "description", "done", "content",
				      answers[i].type ? answers[i].type : "application/json",
				      "schema",
				      answers[i].type ? json_pack("{s:s}", "type", "string")
						      : shape_json(answers[i].shape)));
	if (json_object_size(all) == 0 && r->scope == SCOPE_OPEN && strcmp(of->tag, "pages") == 0)
		json_object_set_new(all, "200",
				    json_pack("{s:s, s:{s:{}}}", "description", "the page",
					      "content", "text/html"));
	else if (json_object_size(all) == 0)
		json_object_set_new(all, "200", json_pack("{s:s}", "description", "done"));
	json_object_set_new(all, "default",
			    json_pack("{s:s, s:{s:{s:o}}}", "description", "an error", "content",
				      "application/json", "schema", shape_json("Refused")));
	return all;
}

/* "runs_post" of its handler; a page has its path's name. */
static json_t *operation_id(const struct route *r, const struct described *of)
{
	json_t *id;
	char name[128] = "page", *out = name + 4;

	if (strcmp(of->tag, "pages") != 0)
		return json_string(of->operation + strlen("api_"));
	for (const char *c = r->path; *c && out < name + sizeof(name) - 1; c++)
		if (isalnum((unsigned char)*c) || (*c == '/' && c[1]))
			*out++ = *c == '/' ? '_' : *c;
	*out = '\0';
	id = json_string(name);
	return id;
}

static json_t *operation_json(const struct route *r, const struct described *of)
{
	json_t *operation = json_pack("{s:o, s:s, s:[s], s:o, s:o, s:s}", "operationId",
				      operation_id(r, of), "summary", r->summary, "tags", of->tag,
				      "parameters", parameters_json(r), "responses",
				      responses_json(r, of), "x-scope", scope_name(r->scope));

	if (r->body_limit)
		json_object_set_new(
		    operation, "requestBody",
		    json_pack("{s:b, s:o, s:o}", "required", 1, "content", types_json(r),
			      "description", json_sprintf("at most %zu KiB", r->body_limit >> 10)));
	return operation;
}

static bool api_openapi(struct req *req, struct reply *reply, struct err *err)
{
	json_t *paths = json_object(), *schemas = report_schemas();
	const char *base = req->app->base_path;

	(void)err;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		json_object_set_new(schemas, shapes[i].name, shape_json(shapes[i].shape));
	for (int i = 0; i < routes.n; i++) {
		const struct route *r = &routes.rows[i];
		json_t *path = json_object_get(paths, r->path);
		char method[8] = "";

		for (size_t k = 0; r->method[k] && k < sizeof(method) - 1; k++)
			method[k] = (char)(r->method[k] | 0x20);
		if (!path) {
			path = json_object();
			json_object_set_new(paths, r->path, path);
		}
		json_object_set_new(path, method, operation_json(r, &described[i]));
	}
	reply->json = json_pack("{s:s, s:{s:s, s:s}, s:[{s:s}], s:o, s:{s:o}}", "openapi", "3.1.0",
				"info", "title", "Breakeven", "version", breakeven_version(),
				"servers", "url", *base ? base : "/", "paths", paths, "components",
				"schemas", schemas);
	reply->keep = KEEP_STORE;
	return true;
}

handler_fn *const routes_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
