/* server/http/route.h -- a row of the table of routes, and the search in the table. */
#ifndef SERVER_HTTP_ROUTE_H
#define SERVER_HTTP_ROUTE_H

#include "server/http/request.h"

struct route {
	const char *method, *path;
	handler_fn *handler;
	size_t body_limit;
	const char *summary;
	bool slow; /* may take seconds: no thread of HTTP waits for it */
};

/* What a server answers; it outlives the server. */
struct route_table {
	const struct route *rows;
	int n;
	/* The types that a route's body may have, the first the one to advise; ends with NULL. */
	const char *const *(*body_types)(const struct route *r);
};

/* The row for a method and a path; fills args from the arena.  NULL with
 * NOT_FOUND, or METHOD naming what the path takes.  HEAD finds GET. */
const struct route *route_find(const struct route_table *table, const char *method,
			       const char *path, struct arena *arena,
			       const char *args[MAX_PATH_ARGS], struct err *err);

#endif
