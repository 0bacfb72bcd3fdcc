/* server/api/api_unpack.c -- programs that are posted as a .zip. */
#define HANDLER_unpack(name) name
#include <string.h>

#include "profiler/profiler.h"
#include "profiler/gather/gather.h"
#include "server/api/routes.h"

enum { MOST_INPUTS = 256 };

/* "a,b" of a query as an array; NULL where it is absent. */
static json_t *names_json(const char *text)
{
	json_t *list = text ? json_array() : NULL;

	while (text && *text) {
		size_t n = strcspn(text, ",");

		json_array_append_new(list, json_stringn(text, n));
		text += n + (text[n] == ',');
	}
	return list;
}

/* The settings of a .zip's workload are in the query. */
static json_t *workload_of_zip(struct req *req, struct err *err)
{
	const char *entry = req_query(req, "entry"), *name = req_query(req, "name"), *text;
	const char *inputs[MOST_INPUTS];
	int n = req_query_all(req, "input", inputs, MOST_INPUTS);
	json_t *files, *json, *modes;

	if (!entry || !*entry) {
		err_set(err, ERR_BAD_REQUEST,
			"entry= is missing: the file of the .zip and what it defines, as "
			"?entry=train.py:model");
		return NULL;
	}
	files = gather_zip(req->body, req->body_len, "the .zip", err);
	text = files ? workload_entry_text(files, entry) : NULL;
	json = files ? workload_from_python(name ? name : "program", text ? text : "", entry,
					    inputs, n, err)
		     : NULL;
	if (!json) {
		json_decref(files);
		return NULL;
	}
	workload_set_files(json, files, entry);
	modes = names_json(req_query(req, "modes"));
	if (modes)
		json_object_set_new(json, "modes", modes);
	return json;
}

/* No JSON begins so. */
static bool is_zip(const struct req *req)
{
	return req->body_len >= 2 && memcmp(req->body, "PK", 2) == 0;
}

json_t *req_workload(struct req *req, struct err *err)
{
	json_t *json = is_zip(req) ? workload_of_zip(req, err) : req_json(req, err);

	if (json && !json_is_array(json) && !req_take_project(req, json, err)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static bool api_unpack(struct req *req, struct reply *reply, struct err *err)
{
	json_t *files = gather_zip(req->body, req->body_len, "the .zip", err);

	if (files)
		reply->json = json_pack("{s:o}", "files", files);
	return files != NULL;
}

handler_fn *const unpack_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
