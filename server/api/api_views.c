/* server/api/api_views.c -- /api/v1/views: filters of a list or a history that people keep under a
 * name. */
#define HANDLER_views(name) name
#include <string.h>

#include "db/archive.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum { NAME_MOST = 80, QUERY_MOST = 4000, BODY_KEYS = 4 };

static const struct {
	const char *page;
	const char *params[16];
} pages[] = {
	{ "runs",
	  { "q", "project", "tag", "device", "status", "verdict", "speedup", "breaks", "median",
	    "name", "branch", "commit", "pinned", "baseline", "sort" } },
	{ "history", { "workload", "metric", "mode", "n", "source", "settings", "project" } },
};
enum { N_PAGES = sizeof(pages) / sizeof(pages[0]) };

static int page_at(const char *name)
{
	int i = 0;

	while (i < N_PAGES && (!name || strcmp(pages[i].page, name) != 0))
		i++;
	return i;
}

static bool is_param(int page, const char *key)
{
	for (int i = 0; pages[page].params[i]; i++)
		if (strcmp(pages[page].params[i], key) == 0)
			return true;
	return false;
}

static json_t *view_json(const struct saved_view *v)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:o, s:s, s:I}", "id", (json_int_t)v->id, "project",
			 v->project, "name", v->name, "page", v->page, "query",
			 json_loads(v->query, 0, NULL), "author", v->author, "created_ns",
			 (json_int_t)v->created_ns);
}

static bool api_views_list(struct req *req, struct reply *reply, struct err *err)
{
	const char *page = req_query(req, "page");
	struct view_query query = { .project = req_query(req, "project"),
				    .name = req_query(req, "name"),
				    .common = !*req->caller.project,
				    .page = page };
	struct saved_view *rows;
	json_t *list;
	int n;

	if (page && *page && page_at(page) == N_PAGES)
		return err_set(err, ERR_BAD_REQUEST, "page=%.40s: runs or history is needed", page);
	if (!db_view_list(req->app->db, &query, req->arena, &rows, &n, err))
		return false;
	list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, view_json(&rows[i]));
	reply->json = json_pack("{s:o}", "views", list);
	reply->keep = KEEP_STORE;
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for views");
}

/* A name without blanks around it; NULL with why it is none. */
static const char *read_name(const json_t *json, struct arena *arena, struct err *err)
{
	const char *text = json_string_value(json), *at = text ? text + strspn(text, " \t") : "";
	size_t len = strlen(at);

	while (len > 0 && strchr(" \t", at[len - 1]))
		len--;
	if (len > 0 && len <= NAME_MOST)
		return arena_strndup(arena, at, len);
	err_set(err, ERR_BAD_REQUEST, "name: a text of 1 to %d bytes is needed", NAME_MOST);
	return NULL;
}

/* {"verdict": "slower"} as it is stored; NULL with what is wrong. */
static const char *read_filter(const json_t *json, int page, struct arena *arena, struct err *err)
{
	const char *key, *text;
	json_t *value;

	if (!json_is_object(json)) {
		err_set(err, ERR_BAD_REQUEST, "query: an object of texts by parameter is needed");
		return NULL;
	}
	json_object_foreach((json_t *)json, key, value) {
		if (is_param(page, key) && json_is_string(value))
			continue;
		if (is_param(page, key))
			err_set(err, ERR_BAD_REQUEST, "query.%.40s is a text", key);
		else
			err_set(err, ERR_BAD_REQUEST,
				"query.%.40s is no filter of %s; see the parameters of GET "
				"/api/v1/%s",
				key, pages[page].page, pages[page].page);
		return NULL;
	}
	text = row_text(arena, json_incref((json_t *)json));
	if (!text)
		err_set(err, ERR_MEMORY, "out of memory for a view");
	else if (strlen(text) > QUERY_MOST)
		err_set(err, ERR_BAD_REQUEST, "query has %zu bytes; the limit is %d", strlen(text),
			QUERY_MOST);
	else
		return text;
	return NULL;
}

static bool takes_keys(const json_t *json, const char *const known[BODY_KEYS], struct err *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return err_set(err, ERR_BAD_REQUEST, "a view is an object");
	json_object_foreach((json_t *)json, key, value) {
		int k = 0;

		while (k < BODY_KEYS && known[k] && strcmp(known[k], key) != 0)
			k++;
		if (k == BODY_KEYS || !known[k])
			return err_set(err, ERR_BAD_REQUEST, "%.40s is not taken here", key);
	}
	return true;
}

static bool read_view(struct req *req, json_t *json, struct saved_view *out, struct err *err)
{
	static const char *const known[BODY_KEYS] = { "name", "project", "page", "query" };
	const json_t *project = json_object_get(json, "project");
	const char *page = json_string_value(json_object_get(json, "page"));
	int at = page_at(page);

	if (!takes_keys(json, known, err) || !req_take_project(req, json, err))
		return false;
	project = json_object_get(json, "project");
	if (project && !json_is_string(project))
		return err_set(err, ERR_BAD_REQUEST, "project is a text");
	if (json_string_length(project) > 200)
		return err_set(err, ERR_BAD_REQUEST, "a project has up to 200 bytes");
	if (at == N_PAGES)
		return err_set(err, ERR_BAD_REQUEST, "page must be runs or history");
	*out = (struct saved_view){ .project = project ? json_string_value(project) : "",
				    .page = pages[at].page,
				    .author = req->caller.name };
	out->name = read_name(json_object_get(json, "name"), req->arena, err);
	out->query = out->name ? read_filter(json_object_get(json, "query"), at, req->arena, err)
			       : NULL;
	return out->query != NULL;
}

static bool api_views_post(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	struct saved_view view;
	bool ok = json && read_view(req, json, &view, err) && db_view_add(req->app->db, &view, err);

	if (ok) {
		reply->status = 201;
		reply->json = view_json(&view);
	}
	json_decref(json);
	return ok;
}

/* The one, of a project that who asks may see. */
static bool find_view(struct req *req, struct saved_view *out, struct err *err)
{
	struct view_query query = { .project = req->caller.project };
	struct saved_view *found;
	int n;

	if (!req_id(req, 0, &query.id, err) ||
	    !db_view_list(req->app->db, &query, req->arena, &found, &n, err))
		return false;
	if (n > 0)
		*out = found[0];
	return n > 0 || err_set(err, ERR_NOT_FOUND, "there is no view %lld", (long long)query.id);
}

static bool api_view_patch(struct req *req, struct reply *reply, struct err *err)
{
	static const char *const known[BODY_KEYS] = { "name", "query" };
	struct saved_view view;
	json_t *json, *name, *query;
	bool ok;

	if (!find_view(req, &view, err) || !req_may_remove(req, "the view", view.author, err))
		return false;
	json = req_json(req, err);
	name = json_object_get(json, "name");
	query = json_object_get(json, "query");
	ok = json && takes_keys(json, known, err);
	if (ok && name)
		ok = (view.name = read_name(name, req->arena, err)) != NULL;
	if (ok && query)
		ok = (view.query = read_filter(query, page_at(view.page), req->arena, err)) != NULL;
	ok = ok && db_view_change(req->app->db, &view, err);
	json_decref(json);
	if (ok)
		reply->json = view_json(&view);
	return ok;
}

static bool api_view_delete(struct req *req, struct reply *reply, struct err *err)
{
	struct saved_view view;

	if (!find_view(req, &view, err) || !req_may_remove(req, "the view", view.author, err) ||
	    !db_view_remove(req->app->db, view.id, err))
		return false;
	reply->json = json_pack("{s:I, s:b}", "id", (json_int_t)view.id, "removed", 1);
	return true;
}

handler_fn *const views_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
