/* server/http/route.h -- the table of what a server answers, and the row that is for a request.
 */
#ifndef SERVER_HTTP_ROUTE_H
#define SERVER_HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "server/http/http.h"

enum route_body {
	BODY_NONE,
	BODY_JSON,
	BODY_BYTES,
	BODY_PROGRAM, /* a workload: JSON, or a .zip */
	BODY_ZIP,
	BODY_LOG,    /* of PyTorch: bytes, gzip or JSON */
	BODY_RESULTS /* of other tools: bytes, JSON or CSV */
};

/* What a token of one project may have of a route. */
enum route_sees {
	SEES_OWN,      /* the answer, or the run or suite of the path where it is its project's */
	SEES_RUNS,     /* likewise the runs a= to h= of the query */
	SEES_WORKLOAD, /* the answer where the query names a workload= */
	SEES_ALL       /* nothing: it shows more than one project */
};

struct route {
	const char *method, *path;
	handler_fn *const *handler; /* where the file that has it keeps it */
	enum route_body body;
	size_t body_limit;
	enum token_scope scope; /* what who asks must be able to do */
	enum route_sees sees;
	const char *query; /* the parameters that it takes, by blanks; "*": any */
	const char *summary;
	bool slow; /* may take seconds: no thread of HTTP waits for it */
};

/* What a server answers; it outlives the server. */
struct route_table {
	const struct route *rows;
	int n;
	/* Whether a token of one project may have this answer; NOT_FOUND or FORBIDDEN. */
	bool (*is_of_project)(struct req *req, const struct route *r, struct err *err);
};

/* The types that a route's body may have, the first the one to advise; ends with NULL. */
const char *const *route_types(const struct route *r);

/* "DELETE, GET, HEAD": what a path takes, for the header Allow; "" where there is no such path. */
const char *routes_allow(const struct route_table *table, const char *path, struct arena *arena);

/* The row for a method and a path; fills args from the arena.  NULL with
 * NOT_FOUND, or METHOD naming what the path takes.  HEAD finds GET. */
const struct route *route_find(const struct route_table *table, const char *method,
			       const char *path, struct arena *arena,
			       const char *args[MAX_PATH_ARGS], struct err *err);

#endif
