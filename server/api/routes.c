/* server/api/routes.c -- the table of routes.def. */
#include "server/api/routes.h"

static const struct route table[] = {
#define ROW(method, path, handler, limit, summary, slow)                                           \
	{ method, path, handler, limit, summary, slow },
#define ROUTE(...) ROW(__VA_ARGS__, false)
#define ROUTE_SLOW(...) ROW(__VA_ARGS__, true)
#include "server/api/routes.def"
#undef ROUTE
#undef ROUTE_SLOW
#undef ROW
};

/* JSON, blocks of bytes, or of a log what it is. */
static const char *const *body_types(const struct route *r)
{
	static const char *const json[] = { "application/json", NULL },
				 *const bytes[] = { "application/octet-stream", NULL },
				 *const logs[] = { "application/octet-stream", "application/gzip",
						   "application/json", NULL };

	return r->handler == api_imports_post   ? logs
	       : r->handler == api_trace_blocks ? bytes
						: json;
}

const struct route_table routes = {
	.rows = table,
	.n = sizeof(table) / sizeof(table[0]),
	.body_types = body_types,
};
