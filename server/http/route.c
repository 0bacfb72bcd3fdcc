/* server/http/route.c -- see route.h: paths are compared row by row.
 */
#include "server/http/route.h"

#include <string.h>

/* Walks both paths segment by segment; "{...}" takes any one that is not empty. */
static bool matches(const char *pattern, const char *path, struct arena *arena,
		    const char *args[MAX_PATH_ARGS])
{
	int n = 0;

	while (*pattern && *path) {
		if (*pattern == '{') {
			size_t len = strcspn(path, "/");

			if (len == 0 || n == MAX_PATH_ARGS)
				return false;
			args[n++] = arena_strndup(arena, path, len);
			path += len;
			pattern = strchr(pattern, '}') + 1;
		} else if (*pattern++ != *path++) {
			return false;
		}
	}
	return *pattern == *path;
}

const char *const *route_types(const struct route *r)
{
	static const char *const types[][6] = {
		[BODY_NONE] = { NULL },
		[BODY_JSON] = { "application/json" },
		[BODY_BYTES] = { "application/octet-stream" },
		[BODY_PROGRAM] = { "application/json", "application/zip" },
		[BODY_ZIP] = { "application/zip" },
		[BODY_LOG] = { "application/octet-stream", "application/gzip", "application/json",
			       "application/zip", "application/x-tar" },
		[BODY_RESULTS] = { "application/octet-stream", "application/json", "text/csv" },
	};

	return types[r->body];
}

const char *routes_allow(const struct route_table *table, const char *path, struct arena *arena)
{
	const char *args[MAX_PATH_ARGS], *allowed = "";

	if (strncmp(path, "/assets/", 8) == 0)
		return "GET, HEAD";
	for (int i = 0; allowed && i < table->n; i++)
		if (matches(table->rows[i].path, path, arena, args))
			allowed = arena_printf(
			    arena, "%s%s%s%s", allowed, *allowed ? ", " : "", table->rows[i].method,
			    strcmp(table->rows[i].method, "GET") == 0 ? ", HEAD" : "");
	return allowed ? allowed : "";
}

const struct route *route_find(const struct route_table *table, const char *method,
			       const char *path, struct arena *arena,
			       const char *args[MAX_PATH_ARGS], struct err *err)
{
	const char *allowed;
	const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;

	for (int i = 0; i < table->n; i++) {
		if (!matches(table->rows[i].path, path, arena, args))
			continue;
		if (strcmp(table->rows[i].method, wanted) == 0)
			return &table->rows[i];
	}
	allowed = routes_allow(table, path, arena);
	if (*allowed)
		err_set(err, ERR_METHOD, "%s takes %s, not %s", path, allowed, method);
	else
		err_set(err, ERR_NOT_FOUND, "there is nothing at %.200s; /api lists what there is",
			path);
	return NULL;
}
