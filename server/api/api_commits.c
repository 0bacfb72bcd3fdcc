/* server/api/api_commits.c -- POST /api/v1/commits: what git says of commits of a project. */
#define HANDLER_commits(name) name
#include <string.h>

#include "server/api/routes.h"

enum { MOST_COMMITS = 1000, PROJECT_MOST = 100, ID_LEAST = 7, ID_MOST = 64, TEXT_MOST = 500 };

static bool is_id(const json_t *json)
{
	size_t len = json_string_length(json);

	return len >= ID_LEAST && len <= ID_MOST &&
	       strspn(json_string_value(json), "0123456789abcdef") == len;
}

static bool is_text(const json_t *json)
{
	return json_is_string(json) && json_string_length(json) <= TEXT_MOST;
}

static bool read_parents(const json_t *json, struct known_commit *to)
{
	size_t i;
	json_t *parent;

	if (!json_is_array(json) || json_array_size(json) > COMMIT_PARENTS)
		return false;
	json_array_foreach((json_t *)json, i, parent) {
		if (!is_id(parent))
			return false;
		to->parents[to->n_parents++] = json_string_value(parent);
	}
	return true;
}

/* Borrows the texts of the JSON. */
static bool read_commit(const json_t *json, size_t at, struct known_commit *to, struct err *err)
{
	const json_t *id = json_object_get(json, "id"), *parents = json_object_get(json, "parents"),
		     *subject = json_object_get(json, "subject"),
		     *author = json_object_get(json, "author"),
		     *committed = json_object_get(json, "committed_ns");

	*to = (struct known_commit){ .id = json_string_value(id),
				     .subject = json_string_value(subject),
				     .author = json_string_value(author),
				     .committed_ns = json_integer_value(committed) };
	if (json_object_size(json) == 5 && is_id(id) && read_parents(parents, to) &&
	    is_text(subject) && is_text(author) && json_is_integer(committed) &&
	    to->committed_ns >= 0)
		return true;
	return err_set(
	    err, ERR_BAD_REQUEST,
	    "commits[%zu]: {id, parents, subject, author, committed_ns} is needed: ids of "
	    "%d to %d hex digits, at most %d parents, texts of up to %d bytes",
	    at, ID_LEAST, ID_MOST, COMMIT_PARENTS, TEXT_MOST);
}

static bool read_all(const json_t *list, struct arena *arena, struct known_commit **out,
		     struct err *err)
{
	size_t i, n = json_array_size(list);
	json_t *one;

	if (!json_is_array(list) || n == 0 || n > MOST_COMMITS)
		return err_set(err, ERR_BAD_REQUEST, "commits: a list of 1 to %d is needed",
			       MOST_COMMITS);
	*out = ARENA_ARRAY(arena, struct known_commit, n);
	if (!*out)
		return err_set(err, ERR_MEMORY, "out of memory for commits");
	json_array_foreach((json_t *)list, i, one)
		if (!read_commit(one, i, &(*out)[i], err))
			return false;
	return true;
}

static bool check_fields(const json_t *json, struct err *err)
{
	const json_t *project = json_object_get(json, "project");
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return err_set(err, ERR_BAD_REQUEST, "an object with commits is needed");
	if (project && (!json_is_string(project) || json_string_length(project) > PROJECT_MOST))
		return err_set(err, ERR_BAD_REQUEST, "project: a text of up to %d bytes is needed",
			       PROJECT_MOST);
	json_object_foreach((json_t *)json, key, value)
		if (strcmp(key, "project") != 0 && strcmp(key, "commits") != 0)
			return err_set(err, ERR_BAD_REQUEST,
				       "%.40s is no field here; project and commits are", key);
	return true;
}

static bool api_commits_post(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err), *list = json_object_get(json, "commits");
	struct known_commit *commits = NULL;
	int added = 0;
	bool ok = json && check_fields(json, err) && req_take_project(req, json, err) &&
		  read_all(list, req->arena, &commits, err) &&
		  db_commits_put(req->app->db,
				 json_string_length(json_object_get(json, "project"))
				     ? json_string_value(json_object_get(json, "project"))
				     : "",
				 commits, (int)json_array_size(list), &added, err);

	if (ok)
		reply->json = json_pack("{s:i}", "added", added);
	json_decref(json);
	return ok && (reply->json || err_set(err, ERR_MEMORY, "out of memory for an answer"));
}

handler_fn *const commits_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
