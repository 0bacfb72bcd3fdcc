/* server/routes.h -- the table of routes.def, and the search in it. */
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include "server/request.h"

struct route {
	const char *method, *path;
	handler_fn *handler;
	size_t body_limit;
	const char *summary;
	bool slow; /* may take seconds */
};

int routes_count(void);
const struct route *routes_at(int index);

/* The row for a method and a path; fills args from the arena.  NULL with
 * NOT_FOUND, or METHOD naming what the path takes.  HEAD finds GET. */
const struct route *routes_find(const char *method, const char *path, struct arena *arena,
				const char *args[MAX_PATH_ARGS], struct err *err);

/* The types that a route's body may have, the first the one to advise: JSON, blocks of bytes, or
 * of a log what it is.  Ends with NULL. */
const char *const *routes_body_types(const struct route *r);

/* The handlers, by the file that has them. */
#define ROUTE(method, path, handler, limit, summary) handler_fn handler;
#define ROUTE_SLOW ROUTE
#include "server/routes.def"
#undef ROUTE
#undef ROUTE_SLOW

#endif
