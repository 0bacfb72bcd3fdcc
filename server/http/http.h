/* server/http/http.h -- requests, their answers, and the server that carries them.
 *
 * Handlers never see libmicrohttpd: http.c collects the request, calls the
 * route's handler, and sends what it left in the reply or the error.  All
 * memory of a request is in its arena.
 */
#ifndef SERVER_HTTP_HTTP_H
#define SERVER_HTTP_HTTP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "server/http/access.h"
#include "server/queue/bounds.h"

struct events;
struct exports;
struct hooks;
struct hosts;
struct metrics;
struct asset;
struct http;
struct jobs;
struct registry;
struct route_table;

/* What the server is made of; borrowed by every request. */
struct app {
	struct db *db;
	const char *store; /* the file of db */
	struct jobs *jobs;
	struct events *events;
	struct hosts *hosts;
	struct hooks *hooks;             /* NULL: none are sent, as where no server runs */
	const struct registry *registry; /* what the engine has */
	json_t *torch;                   /* engine torch, as lists_torch() found it at the start */
	const char *no_torch;            /* why it does not work here; NULL: it does */
	json_t *sandbox;                 /* what confines workers here: sandbox_parts() */
	int64_t started_ns;
	const char *files_folder;   /* of files that programs read */
	struct serve_bounds bounds; /* what is taken from outside */
	const char *base_path;      /* where its paths begin, as "/breakeven"; "": at / */
	const struct asset *page;   /* page_below(base_path) */
	bool insecure;              /* anybody who reaches it may do anything: --insecure */
	_Atomic int64_t well_ns;    /* when a look at the disks last found nothing */
	_Atomic bool stopping;      /* what is under way is to be given up */
	_Atomic int64_t requests;   /* answered since the start */
	_Atomic int checks;         /* processes of POST /check under way */
	_Atomic int imports;        /* logs of POST /imports that are read */
	struct exports *exports;    /* runs that are being written for others */
	struct metrics *metrics;    /* NULL: nothing is counted, as where no server runs */
	_Atomic bool draining;      /* nothing new is begun: the server is to end */
	bool log_requests;          /* each is a line of the log: --log-requests */
};

enum { MAX_PATH_ARGS = 2 };

struct req {
	struct app *app;
	struct arena *arena;
	const char *path;                     /* what follows the base path */
	const char *path_args[MAX_PATH_ARGS]; /* what the path has for {id}, in order */
	const char *body;                     /* NUL terminated */
	size_t body_len;
	struct caller caller; /* who asks */
	bool once;            /* its answer is kept under its Idempotency-Key */
	void *connection;     /* http.c's */
};

/* How long an answer is what would be made now: of a caller who sees all projects it depends on the
 * address alone, and ... */
enum keep {
	KEEP_NOT,   /* on more: it is made each time */
	KEEP_STORE, /* on what is in the store */
	KEEP_LIVE   /* likewise, and on how far jobs are */
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
	const char *etag;    /* of the file, in the request's arena; NULL: no part of it is sent */
	const struct asset *asset;
	bool immutable;     /* of an asset: its address has it for ever */
	const char *link;   /* with an asset: what comes with it, the header Link; NULL: nothing */
	int64_t stream_run; /* events of this run; 0: none */
	const char *filename; /* offered for download; NULL: shown */
	const char *location; /* of what was made, in the request's arena; NULL: nothing */
	int64_t news_run;     /* who listens to this run is told, once all is stored; 0: nobody */
	int64_t wait_run;     /* the answer is another once this run has ended; 0: it is not ... */
	int64_t wait_ns; /* ... and who asks would wait so long for it, from the first answer on */
	enum keep keep;  /* of json or text with status 200 */
	const char *cookie; /* the header Set-Cookie, in the request's arena; NULL: none */
};

typedef bool handler_fn(struct req *req, struct reply *reply, struct err *err);

/* A query parameter, decoded; NULL where it is absent.  "project" is that of the token, where it is
 * for one. */
const char *req_query(struct req *req, const char *name);

/* Every value of a parameter that may be given more than once, in order, up to `most`;
 * returns how many. */
int req_query_all(struct req *req, const char *name, const char **values, int most);

/* path_args[index] as an id; BAD_REQUEST otherwise. */
bool req_id(struct req *req, int index, int64_t *id, struct err *err);

/* A query parameter as an integer within a range; `fallback` where it is absent. */
struct req_range {
	int64_t low, high, fallback;
};
bool req_query_int(struct req *req, const char *name, struct req_range range, int64_t *out,
		   struct err *err);

/* The cookie of a browser that signed in; NULL: it did not. */
const char *req_session_cookie(struct req *req);

/* wait=: how long who asks would wait for a run, in ns; 0: not at all. */
bool req_wait(struct req *req, int64_t *ns, struct err *err);

/* What a handler writes from here on is stored with its answer where that is kept under an
 * Idempotency-Key, both or neither (db_join()).  Those of fast routes are called so; one that may
 * take seconds calls it before its last writes, as others wait for them. */
void req_join(struct req *req);

/* Where what was made is: "/api/v1/runs/12" below the base path, in the request's arena. */
const char *req_location(struct req *req, const char *path, int64_t id);

/* The body as JSON; JSON error with line and column. */
json_t *req_json(struct req *req, struct err *err);

/* The message as a JSON string, whatever bytes it was cut at. */
json_t *json_message(const struct err *err);

/* {"code", "message", "line", "column"} and, of a program of several, "file" */
json_t *error_fields(const struct err *err);

/* {"error": the same} */
static inline json_t *error_json(const struct err *err)
{
	return json_pack("{s:o}", "error", error_fields(err));
}

/* ---- the server ---- */

/* The page for a server whose paths begin at `base`: what it links to is below that.  Lives in the
 * arena, or for good; NULL with MEMORY or INTERNAL. */
const struct asset *page_below(const char *base, struct arena *arena, struct err *err);

/* Texts and lists are borrowed for as long as the server runs. */
struct http_options {
	const char *listen;             /* "HOST:PORT"; "[::1]:0" and port 0 work */
	const char *const *allow_hosts; /* names of it beside those of loopback: see sites.h */
	int n_allow_hosts;
	struct access_options access;
};

/* Answers from a few threads until http_stop().  IO error naming the address and the remedy;
 * BAD_REQUEST where others than this machine could reach it, there are no accounts, and
 * app->insecure is not set. */
struct http *http_start(struct app *app, const struct route_table *routes,
			const struct http_options *options, struct err *err);

/* "http://127.0.0.1:8080", with the port that it got and the base path. */
const char *http_url(const struct http *http);

/* Event streams must have been stopped. */
void http_stop(struct http *http); /* NULL is fine */

#endif
