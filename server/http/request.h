/* server/http/request.h -- a request and its answer, as handlers see them.
 *
 * Handlers never see libmicrohttpd: http.c collects the request, calls the
 * route's handler, and sends what it left in the reply or the error.  All
 * memory of a request is in its arena.
 */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"

struct jobs;
struct events;
struct registry;

/* What the server is made of; borrowed by every request. */
struct app {
	struct db *db;
	struct jobs *jobs;
	struct events *events;
	const struct registry *registry; /* what the engine has */
	json_t *torch;                   /* engine torch, as lists_torch() found it at the start */
	int64_t started_ns;
	int check_seconds;        /* wall time, and CPU time, of one POST /check */
	_Atomic bool stopping;    /* what is under way is to be given up */
	_Atomic int64_t requests; /* answered since the start */
	_Atomic int checks;       /* processes of POST /check under way */
	_Atomic int imports;      /* logs of POST /imports that are read */
	_Atomic int exports;      /* runs that are being written */
};

enum { MAX_PATH_ARGS = 2 };

struct req {
	struct app *app;
	struct arena *arena;
	const char *path;
	const char *path_args[MAX_PATH_ARGS]; /* what stood for {id}, in order */
	const char *body;                     /* NUL terminated */
	size_t body_len;
	void *connection; /* http.c's */
};

/* One kind of answer is filled in. */
struct reply {
	int status;               /* 0: 200 */
	const char *content_type; /* NULL: application/json */
	json_t *json;             /* taken over */
	char *text;               /* malloc'd, taken over */
	size_t text_len;
	int file;            /* an open file, taken over; 0: none */
	uint64_t file_bytes; /* in it */
	const struct asset *asset;
	const char *link;   /* with an asset: what comes with it, the header Link; NULL: nothing */
	int64_t stream_run; /* events of this run; 0: none */
	const char *filename; /* offered for download; NULL: shown */
};

typedef bool handler_fn(struct req *req, struct reply *reply, struct err *err);

/* A query parameter, decoded; NULL where it is absent. */
const char *req_query(struct req *req, const char *name);

/* Every value of a parameter that may stand more than once, in order, up to `most`;
 * returns how many. */
int req_query_all(struct req *req, const char *name, const char **values, int most);

/* path_args[index] as an id; BAD_REQUEST otherwise. */
bool req_id(struct req *req, int index, int64_t *id, struct err *err);

/* A query parameter as an integer within bounds; `fallback` where absent. */
bool req_query_int(struct req *req, const char *name, int64_t low, int64_t high, int64_t fallback,
		   int64_t *out, struct err *err);

/* The body as JSON; JSON error with line and column. */
json_t *req_json(struct req *req, struct err *err);

/* The message as a JSON string, whatever bytes it was cut at. */
json_t *json_message(const struct err *err);

/* {"error": {"code", "message", "line", "column"}} */
json_t *error_json(const struct err *err);

#endif
