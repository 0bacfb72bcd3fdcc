/* server/routes.c -- see routes.h. */
#include "server/routes.h"

#include <stdio.h>
#include <string.h>

static const struct route table[] = {
#define ROW(method, path, handler, limit, summary, slow)                                           \
	{ method, path, handler, limit, summary, slow },
#define ROUTE(...) ROW(__VA_ARGS__, false)
#define ROUTE_SLOW(...) ROW(__VA_ARGS__, true)
#include "server/routes.def"
#undef ROUTE
#undef ROUTE_SLOW
#undef ROW
};

int routes_count(void)
{
	return sizeof(table) / sizeof(table[0]);
}

const struct route *routes_at(int index)
{
	return &table[index];
}

const char *const *routes_body_types(const struct route *r)
{
	static const char *const json[] = { "application/json", NULL },
				 *const bytes[] = { "application/octet-stream", NULL },
				 *const logs[] = { "application/octet-stream", "application/gzip",
						   "application/json", NULL };

	return r->handler == api_imports_post   ? logs
	       : r->handler == api_trace_blocks ? bytes
						: json;
}

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

const struct route *routes_find(const char *method, const char *path, struct arena *arena,
				const char *args[MAX_PATH_ARGS], struct err *err)
{
	char allowed[64] = "";
	const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;

	for (int i = 0; i < routes_count(); i++) {
		if (!matches(table[i].path, path, arena, args))
			continue;
		if (strcmp(table[i].method, wanted) == 0)
			return &table[i];
		snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s",
			 *allowed ? ", " : "", table[i].method);
	}
	if (*allowed)
		err_set(err, ERR_METHOD, "%s takes %s, not %s", path, allowed, method);
	else
		err_set(err, ERR_NOT_FOUND, "there is nothing at %.200s; /api lists what there is",
			path);
	return NULL;
}
