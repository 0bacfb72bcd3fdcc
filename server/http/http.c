/* server/http/http.c -- libmicrohttpd: listen, receive, find the route, handle, answer.
 *
 * The library calls answer() several times for one request: with the headers,
 * with each part of the body, at the end.  An epoll thread of libmicrohttpd
 * 0.9.75 stalls when exactly 128 of its connections are ready at once, so the
 * connection limit keeps every thread of the pool below that.
 */
#include "server/http/http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/hash.h"
#include "fusion/base/log.h"
#include "fusion/base/refused.h"
#include "server/http/exchange.h"
#include "server/http/listen.h"
#include "server/http/metrics.h"
#include "server/http/once.h"
#include "server/http/pages.h"

enum {
	THREADS = 4,
	SLOW_THREADS = 8,        /* all that may be checked, read and written at once */
	MEMORY_BYTES = 12 << 10, /* headers of one connection, beside the query; all of it is
				  * written over with each request */
	REQUEST_BYTES = 64 << 20,
	SWALLOW_BYTES = 64 << 20, /* of a body that is too large */
	REQUEST_ID_LEAST = 4,
	SPARE_ADDRESS_BYTES = 512, /* of an address with its query, as most are */
};

struct framing {
	int lengths, codings, hosts; /* headers of each kind */
	bool chunked;                /* the last coding is "chunked" and nothing else */
};

static enum MHD_Result count_framing(void *self, enum MHD_ValueKind kind, const char *key,
				     const char *value)
{
	struct framing *f = self;

	(void)kind;
	f->lengths += strcasecmp(key, "Content-Length") == 0;
	f->hosts += strcasecmp(key, "Host") == 0;
	if (strcasecmp(key, "Transfer-Encoding") == 0) {
		f->codings++;
		f->chunked = value && strcasecmp(value, "chunked") == 0;
	}
	return MHD_YES;
}

/* Two readers of the same bytes must not differ over where a request ends, or
 * a second one can be hidden in its body, nor over whom it is for: the library takes one of
 * several headers and ignores codings that it does not know, so we refuse them. */
static bool is_framed(struct MHD_Connection *c)
{
	struct framing f = { 0 };

	MHD_get_connection_values(c, MHD_HEADER_KIND, count_framing, &f);
	return f.lengths + f.codings <= 1 && f.hosts <= 1 && (f.codings == 0 || f.chunked);
}

/* Whether the body's type is one of `types`, whatever parameters follow it. */
static bool has_type(struct MHD_Connection *c, const char *const *types)
{
	const char *value = header(c, "Content-Type");
	size_t len = value ? strcspn(value, "; \t") : 0;

	for (int i = 0; len && types[i]; i++)
		if (strlen(types[i]) == len && strncasecmp(value, types[i], len) == 0)
			return true;
	return false;
}

/* What a body may have: as much as its route takes, and the server. */
static size_t body_limit(const struct exchange *x)
{
	size_t most = (size_t)x->req.app->bounds.body_mib << 20;

	return x->route && x->route->body_limit < most ? x->route->body_limit : most;
}

/* What can be refused before the body is read. */
static void check_head(struct exchange *x, struct MHD_Connection *c, const char *method)
{
	const char *length = header(c, "Content-Length");

	x->announced = length ? strtoull(length, NULL, 10) : 0;
	x->head = strcmp(method, "HEAD") == 0;
	x->unframed = !is_framed(c);
	x->body.limit = 1; /* where no body is taken, one byte tells that there was one */
	if (x->unframed)
		err_set(&x->err, ERR_BAD_REQUEST,
			"send one Host, and one Content-Length or Transfer-Encoding: chunked, not "
			"both");
	if (!x->route || x->err.code)
		return;
	if (x->announced > body_limit(x))
		err_set(&x->err, ERR_TOO_LARGE, "the body has %s bytes; %s %s takes at most %zu",
			length, method, x->route->path, body_limit(x));
	else if (x->route->body_limit && !has_type(c, route_types(x->route))) {
		/* A form of another site cannot send these types without being asked. */
		x->wrong_type = true;
		err_set(&x->err, ERR_BAD_REQUEST, "send the body as Content-Type: %s",
			route_types(x->route)[0]);
	} else if (x->route->body_limit)
		x->body.limit = body_limit(x);
}

/* ---- the query ---- */

/* Whether `word` is among the words of a list. */
static bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; len && (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static enum MHD_Result check_parameter(void *self, enum MHD_ValueKind kind, const char *key,
				       const char *value)
{
	struct exchange *x = self;
	const char *known = x->route->query;

	(void)kind;
	(void)value;
	if (x->err.code || strcmp(known, "*") == 0 || is_listed(known, key))
		return MHD_YES;
	if (*known)
		err_set(&x->err, ERR_BAD_REQUEST,
			"there is no parameter %.60s=; %s %s takes, each followed by =: %s", key,
			x->route->method, x->route->path, known);
	else
		err_set(&x->err, ERR_BAD_REQUEST, "there is no parameter %.60s=; %s %s takes none",
			key, x->route->method, x->route->path);
	return MHD_NO;
}

/* What a handler would not look at is refused: who sent it expects something of it. */
static void check_query(struct exchange *x, struct MHD_Connection *c)
{
	const char *query = strchr(x->address, '?');
	int64_t most = x->req.app->bounds.query_bytes;

	if (query && (int64_t)strlen(query + 1) > most) {
		err_set(&x->err, ERR_TOO_LARGE,
			"the parameters have over %lld bytes, the limit of this server",
			(long long)most);
		return;
	}
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, check_parameter, x);
}

static bool reads(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static bool check_site(const struct http *http, struct MHD_Connection *c, const char *method,
		       struct err *err)
{
	const struct site_headers h = {
		.host = header(c, "Host"),
		.origin = header(c, "Origin"),
		.fetch_site = header(c, "Sec-Fetch-Site"),
		.fetch_mode = header(c, "Sec-Fetch-Mode"),
		.fetch_dest = header(c, "Sec-Fetch-Dest"),
	};

	return sites_check(&http->sites, &h, reads(method), err);
}

/* A connection, for as long as it is there. */
struct peer {
	struct patient *patient;
	struct exchange *spare;         /* of its last request, for the next; NULL: none */
	char address[INET6_ADDRSTRLEN]; /* as text; "" where there is none */
};

/* NULL where there was no memory for it. */
static struct peer *peer_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* What patience.h knows of a connection. */
static struct patient *patient_of(struct MHD_Connection *c)
{
	const struct peer *peer = peer_of(c);

	return peer ? peer->patient : NULL;
}

static bool find_caller(const struct http *http, struct exchange *x, struct MHD_Connection *c)
{
	const struct peer *peer = peer_of(c);
	const struct credentials given = {
		.peer = peer ? peer->address : NULL,
		.authorization = header(c, "Authorization"),
		.cookie = header(c, "Cookie"),
		.user = http->user_header ? header(c, http->user_header) : NULL,
		.forwarded_for = header(c, "X-Forwarded-For"),
		.forwarded_proto = header(c, "X-Forwarded-Proto"),
	};

	return access_find(http->access, &given, &x->arena, &x->req.caller, &x->err);
}

/* Whether who asks may have this route. */
static bool check_caller(const struct http *http, struct exchange *x, struct MHD_Connection *c,
			 const char *method)
{
	const struct caller *who = &x->req.caller;
	const char *csrf = header(c, "X-CSRF-Token");

	if (who->scope < x->route->scope && !*who->name)
		return err_set(&x->err, ERR_UNAUTHORIZED,
			       "%s %s needs a token for %s: send Authorization: Bearer TOKEN, or "
			       "sign in on the page; `breakeven token add` makes one",
			       method, x->route->path, scope_name(x->route->scope));
	if (who->scope < x->route->scope)
		return err_set(
		    &x->err, ERR_FORBIDDEN, "%s %s needs a token for %s; '%.64s' is for %s", method,
		    x->route->path, scope_name(x->route->scope), who->name, scope_name(who->scope));
	if (*who->csrf && !reads(method) && x->route->scope > SCOPE_OPEN &&
	    !(csrf && strcmp(csrf, who->csrf) == 0))
		return err_set(&x->err, ERR_FORBIDDEN,
			       "a browser that signed in writes with the header X-CSRF-Token: csrf "
			       "of GET /api/v1/session");
	return !*who->project || http->routes->is_of_project(&x->req, x->route, &x->err);
}

/* What follows the base path in a path, "/" where nothing does; NULL: it is not below it. */
static const char *path_below(const char *base, const char *path)
{
	size_t len = strlen(base);

	if (strncmp(path, base, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len : "/";
}

/* All zero, with room for an address: the one before of its connection, where that has it. */
static struct exchange *exchange_new(struct peer *peer, size_t address_bytes)
{
	struct exchange *x = peer && address_bytes <= SPARE_ADDRESS_BYTES ? peer->spare : NULL;
	size_t room = address_bytes < SPARE_ADDRESS_BYTES ? SPARE_ADDRESS_BYTES : address_bytes;

	if (!x)
		return calloc(1, sizeof(*x) + room);
	peer->spare = NULL;
	memset(x, 0, sizeof(*x) + address_bytes);
	return x;
}

/* The library tells the address before it takes it apart; what is made here is the request's
 * state. */
static void *note_address(void *self, const char *uri, struct MHD_Connection *c)
{
	struct http *http = self;
	struct peer *peer = peer_of(c);
	size_t len = strlen(uri);
	struct exchange *x = exchange_new(peer, len + 1);

	if (!x)
		return NULL;
	memcpy(x->address, uri, len);
	arena_init(&x->arena, REQUEST_BYTES);
	x->http = http;
	x->req = (struct req){ .app = http->app,
			       .arena = &x->arena,
			       .connection = c,
			       .caller = { .name = "", .project = "", .address = "" } };
	return x;
}

/* The row for the address: that of what is kept for it, or what the table has. */
static void find_route(struct http *http, struct exchange *x, const char *method)
{
	struct app *app = x->req.app;

	if (reads(method)) {
		x->version = (struct answers_version){ db_version(app->db),
						       events_count(app->events) };
		x->kept = answers_find(http->answers, x->address, x->version);
	}
	x->route = x->kept ? x->kept->route
			   : route_find(http->routes, method, x->req.path, &x->arena,
					x->req.path_args, &x->err);
}

/* Who asks, whether they may, and what the query has.  What is kept is of those who see all
 * projects, and its query was looked at. */
static void check_asked(struct http *http, struct exchange *x, struct MHD_Connection *c,
			const char *method)
{
	if (!find_caller(http, x, c))
		return;
	if (x->kept && *x->req.caller.project) {
		answer_release(http->answers, x->kept, NULL);
		x->kept = NULL;
		x->route = route_find(http->routes, method, x->req.path, &x->arena,
				      x->req.path_args, &x->err);
	}
	if (check_caller(http, x, c, method) && !x->kept)
		check_query(x, c);
}

/* Sixteen digits; printf() takes as long as all else that is done for a kept answer. */
static void write_hex(uint64_t n, char out[17])
{
	for (int i = 15; i >= 0; i--, n >>= 4)
		out[i] = "0123456789abcdef"[n & 15];
	out[16] = '\0';
}

/* The id that who asks gave it, where it is plain; else one of its own. */
static void name_request(struct exchange *x, struct MHD_Connection *c)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	static _Atomic uint64_t count;
	const char *given = header(c, "X-Request-Id");
	size_t len = given ? strlen(given) : 0;
	uint64_t parts[2] = { count++, (uint64_t)x->req.app->started_ns };

	if (len >= REQUEST_ID_LEAST && len <= REQUEST_ID_CHARS && strspn(given, plain) == len)
		memcpy(x->id, given, len + 1);
	else
		write_hex(hash_bytes(parts, sizeof(parts), 0), x->id);
}

static void begin(struct http *http, struct exchange *x, struct MHD_Connection *c,
		  const char *method, const char *url)
{
	const char *below = path_below(http->app->base_path, url);

	x->begun = true;
	x->began_ns = clock_ns();
	x->method = method; /* the library has both until the request is over */
	x->req.path = below ? below : "";
	name_request(x, c);
	if (!check_site(http, c, method, &x->err))
		;
	else if (!below)
		err_set(&x->err, ERR_NOT_FOUND,
			"there is nothing at %.200s; the paths of this server begin at %s/", url,
			http->app->base_path);
	else if (strncmp(below, "/assets/", 8) != 0)
		find_route(http, x, method);
	else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		err_set(&x->err, ERR_METHOD, "%.200s takes GET, not %.20s", url, method);
	if (x->route)
		check_asked(http, x, c, method);
	if (x->err.code == ERR_METHOD)
		x->allow = routes_allow(http->routes, x->req.path, &x->arena);
	check_head(x, c, method);
}

/* What made, changed or removed something is kept with who did it. */
static void audit(struct exchange *x)
{
	const struct route *r = x->route;
	const char *path = x->req.path_args[0];
	struct audit_row row = { .who = x->req.caller.name,
				 .address = x->req.caller.address,
				 .route = arena_printf(&x->arena, "%s %s", r->method, r->path) };
	struct err err = { 0 };
	bool made = x->reply.status == 201 || x->reply.status == 202;

	if (r->scope < SCOPE_SUBMIT ||
	    !(made || strcmp(r->method, "PATCH") == 0 || strcmp(r->method, "DELETE") == 0))
		return;
	row.subject = path ? strtoll(path, NULL, 10)
			   : json_integer_value(json_object_get(x->reply.json, "id"));
	if (!row.route || !db_audit_add(x->req.app->db, &row, &err))
		log_line(LOG_ERROR, "%s %s by '%s' is not in the audit log: %s", r->method, r->path,
			 row.who, err.message);
}

static void handle(struct exchange *x)
{
	uint64_t refused = memory_refused_here();

	x->req.body = x->body.data ? x->body.data : "";
	x->req.body_len = x->body.len;
	x->seen = events_count(x->req.app->events);
	if (!x->route->slow)
		req_join(&x->req);
	x->ok = (*x->route->handler)(&x->req, &x->reply, &x->err);
	x->handled = true;
	if (x->ok)
		audit(x);
	if (x->ok && memory_refused_here() != refused)
		x->ok = memory_refused_error(&x->err, "the answer");
	once_end(x);
	if (x->ok && x->reply.news_run)
		events_publish(x->req.app->events, x->reply.news_run);
}

/* Whether who asks would wait on for the run that was answered. */
static bool is_to_wait(struct exchange *x, struct MHD_Connection *c)
{
	const struct reply *reply = &x->reply;
	const struct app *app = x->req.app;

	/* A client that has closed its sending side may have gone: it is told at once what there
	 * is. */
	if (!x->ok || !reply->wait_run || app->stopping || app->draining || peer_is_gone(c))
		return false;
	if (!x->waits)
		x->wait = (struct event_wait){ .connection = c,
					       .run = reply->wait_run,
					       .until_ns = clock_ns() + reply->wait_ns };
	x->waits = true;
	return clock_ns() < x->wait.until_ns;
}

/* Has an answer that may be kept be so; without memory it is an error. */
static void keep_made(struct exchange *x)
{
	struct reply *reply = &x->reply;
	const struct answer_made made = { .address = x->address,
					  .route = x->route,
					  .version = x->version,
					  .keep = reply->keep,
					  .table = !*x->req.caller.project };

	if (!x->ok || !reply->keep || x->kept)
		return;
	if (!reply->text && reply->json) {
		reply->text = json_dumps(reply->json, JSON_COMPACT | JSON_ENSURE_ASCII);
		reply->text_len = reply->text ? strlen(reply->text) : 0;
	}
	if (reply->text)
		x->kept = answers_keep(x->http->answers, &made, reply, &x->err);
	else
		memory_refused_error(&x->err, "the answer");
	x->ok = x->kept != NULL;
}

/* What was handled is kept, and who waits for the same goes on with it. */
static void note_made(struct exchange *x)
{
	bool waits = x->ok && x->reply.wait_run; /* the next one waits again */

	if (!reads(x->method))
		return;
	if (!waits)
		keep_made(x);
	if (x->making.route)
		answers_over(x->http->answers, &x->making, x->kept, x->ok && !waits);
}

static void pause_connection(void *self)
{
	MHD_suspend_connection(self);
}

static void resume_connection(void *self)
{
	MHD_resume_connection(self);
}

/* Whether another request has the same made; else this one makes it. */
static bool waits_for_same(struct exchange *x, struct MHD_Connection *c)
{
	struct http *http = x->http;

	x->making = (struct making){ .route = x->route,
				     .address = x->address,
				     .version = x->version,
				     .self = c,
				     .pause = pause_connection,
				     .go_on = resume_connection };
	/* What is open to all is quick. */
	if (!reads(x->method) || *x->req.caller.project || x->route->scope == SCOPE_OPEN)
		return false;
	x->shares = true; /* it may be resumed at once */
	if (answers_waits(http->answers, &x->making))
		return true;
	x->shares = false;
	if (x->making.makes) { /* it may just have been */
		x->version = (struct answers_version){ db_version(x->req.app->db),
						       events_count(x->req.app->events) };
		x->kept = answers_find(http->answers, x->address, x->version);
	}
	if (x->kept)
		answers_over(http->answers, &x->making, x->kept, false);
	return false;
}

/* Looks at the run again; after a post, where the run is. */
static void handle_again(struct http *http, struct exchange *x)
{
	struct arena *arena = &x->arena;
	bool posted = !reads(x->method);

	reply_finish(&x->reply);
	x->version = (struct answers_version){ db_version(x->req.app->db),
					       events_count(x->req.app->events) };
	if (posted && !x->waited)
		x->route = route_find(
		    http->routes, "GET",
		    arena_printf(arena, "/api/v1/runs/%lld", (long long)x->wait.run), arena,
		    x->req.path_args, &x->err);
	x->waited = true;
	if (!x->route)
		return;
	handle(x);
	if (!posted)
		note_made(x);
	if (!posted || !x->ok)
		return;
	x->reply.status = x->reply.wait_run ? MHD_HTTP_ACCEPTED : MHD_HTTP_OK;
	x->reply.location = x->reply.wait_run ? req_location(&x->req, "runs", x->wait.run) : NULL;
}

static void handle_slowly(struct slow_task *task)
{
	struct exchange *x = (void *)((char *)task - offsetof(struct exchange, task));

	handle(x);
	note_made(x);
	MHD_resume_connection(x->req.connection); /* x is finish()'s again */
}

/* Whether something new begins with it; a post to what is there goes on with that. */
static bool begins_work(const struct exchange *x)
{
	return x->route->scope == SCOPE_SUBMIT && strcmp(x->route->method, "POST") == 0 &&
	       !x->req.path_args[0];
}

static enum MHD_Result finish_handled(struct http *http, struct exchange *x,
				      struct MHD_Connection *c)
{
	enum wait_result waits = WAIT_NEWS;

	while (waits == WAIT_NEWS && is_to_wait(x, c)) {
		waits = events_wait(x->req.app->events, &x->wait, x->seen);
		if (waits == WAIT_BEGUN)
			jobs_wake(x->req.app->jobs); /* whose thread looks at the clock */
		if (waits == WAIT_BEGUN)
			return MHD_YES;
		if (waits == WAIT_NEWS)
			handle_again(http, x);
	}
	x->waited_out = x->waits;
	return exchange_send(http, x, c);
}

/* Has the handler make what is not kept. */
static enum MHD_Result make(struct http *http, struct exchange *x, struct MHD_Connection *c)
{
	if (x->kept) {
		x->ok = x->handled = true;
	} else if (!x->route) {
		x->ok = page_unrouted(&x->req, &x->reply, &x->err);
	} else if (!x->handled && !x->route->slow) {
		handle(x);
		note_made(x);
	} else if (!x->handled) {
		if (exchange_run_slowly(http, x, c, handle_slowly))
			return MHD_YES; /* x is the slow thread's meanwhile */
		x->handled = true;      /* it will not be done */
		once_end(x);
		note_made(x);
		return MHD_YES;
	}
	return finish_handled(http, x, c);
}

/* What is found wrong once the whole request is there is its error. */
static void receive_all(struct exchange *x, struct MHD_Connection *c)
{
	x->received_all = true;
	patient_sends(patient_of(c), 0, true);
	x->req.app->requests++;
	if (x->err.code == ERR_NONE && x->route && x->req.app->draining && begins_work(x))
		err_set(&x->err, ERR_BUSY,
			"the server is to end, and takes no new work; ask again in a while");
	if (x->err.code == ERR_NONE && x->body.failed && x->route && x->received <= body_limit(x))
		err_set(&x->err, ERR_MEMORY, "out of memory for the body");
	if (x->err.code == ERR_NONE && x->body.failed)
		err_set(&x->err, ERR_TOO_LARGE,
			"the body is over %zu bytes, the limit of this route",
			x->route ? body_limit(x) : 0);
}

/* Whether its connection may have to be paused until the answer is made. */
static bool may_pause(const struct exchange *x)
{
	return x->route && !x->kept && (x->route->slow || x->route->scope != SCOPE_OPEN);
}

/* The whole request is there.  Called again once a slow handler has run, or what another has made
 * is there. */
static enum MHD_Result finish(struct http *http, struct exchange *x, struct MHD_Connection *c)
{
	if (x->waits && !x->waited_out) {
		handle_again(http, x);
		return finish_handled(http, x, c);
	}
	if (x->handled)
		return exchange_send(http, x, c);
	if (x->shares) {
		x->shares = false;
		x->kept = x->making.answer;
		return make(http, x, c);
	}
	if (!x->received_all)
		receive_all(x, c);
	if (x->err.code != ERR_NONE &&
	    !(x->err.code == ERR_NOT_FOUND && header_has(c, "Accept", "text/html")))
		return exchange_send(http, x, c);
	if (may_pause(x) && exchange_ask_again(x))
		return MHD_YES;
	if (!x->kept && x->route && once_begin(x, c) && waits_for_same(x, c))
		return MHD_YES;
	return make(http, x, c);
}

static struct peer *peer_come(struct http *http, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *fd = MHD_get_connection_info(
	    c, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *from = MHD_get_connection_info(
	    c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *at = from ? from->client_addr : NULL;
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->patient = fd ? patient_enter(http->patience, fd->connect_fd) : NULL;
	if (at && at->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)at)->sin_addr, peer->address,
			  sizeof(peer->address));
	else if (at && at->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)at)->sin6_addr, peer->address,
			  sizeof(peer->address));
	return peer;
}

static void come_or_go(void *self, struct MHD_Connection *c, void **context,
		       enum MHD_ConnectionNotificationCode code)
{
	struct http *http = self;
	struct peer *peer = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = peer_come(http, c);
	} else if (peer) {
		patient_leave(http->patience, peer->patient);
		free(peer->spare);
		free(peer);
		*context = NULL;
	}
}

static enum MHD_Result answer(void *self, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_len, void **state)
{
	struct exchange *x = *state;
	struct http *http = self;

	(void)version;
	if (!x)
		return MHD_NO; /* there is no memory for it */
	if (!x->begun) {
		begin(http, x, c, method, url);
		/* The library closes after an answer to a POST that comes before its body;
		 * other methods it would go on reading, so those get none. */
		if ((x->unframed || x->announced > SWALLOW_BYTES) && strcmp(method, "POST") != 0)
			return MHD_NO;
		/* A body that is refused is still read, within reason: closing on a client
		 * that sends would reset the connection and lose our answer. */
		return x->unframed || x->announced > SWALLOW_BYTES ? finish(http, x, c) : MHD_YES;
	}
	if (*upload_len > 0) {
		x->received += *upload_len;
		patient_sends(patient_of(c), *upload_len, false);
		if (x->received > SWALLOW_BYTES)
			return MHD_NO; /* it does not end: close */
		if (x->err.code == ERR_NONE)
			buf_add(&x->body, upload, *upload_len);
		*upload_len = 0;
		return MHD_YES;
	}
	return finish(http, x, c);
}

/* What fails in the server is a line of the log; with --log-requests so is each request. */
static void log_request(const struct exchange *x, int status, int64_t ns)
{
	const struct caller *who = &x->req.caller;
	const struct log_field fields[] = {
		{ "request", .text = x->id },
		{ "method", .text = x->method },
		{ "path", .text = x->req.path },
		{ "status", .number = status },
		{ "ms", .number = (double)ns / 1e6 },
		{ "user", .text = *who->name ? who->name : "-" },
		{ "address", .text = *who->address ? who->address : "-" },
		{ "error", .text = x->err.message },
	};
	int n = sizeof(fields) / sizeof(fields[0]) - (x->err.code == ERR_NONE);

	if (x->method && x->req.path && (x->req.app->log_requests || status >= 500))
		log_event(status >= 500 ? LOG_WARN : LOG_INFO, "request", fields, n);
}

static void note_end(const struct exchange *x, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    c, MHD_CONNECTION_INFO_HTTP_STATUS);
	int status = info ? (int)info->http_status : 0;
	int64_t ns = clock_ns() - x->began_ns;

	if (!x->begun)
		return;
	if (x->req.app->metrics)
		metrics_note(x->req.app->metrics, x->route, status, ns);
	if (x->req.app->metrics && x->kept)
		metrics_note_kept(x->req.app->metrics, x->making.answer ? ANSWER_SHARED
						       : x->reply.keep  ? ANSWER_MADE
									: ANSWER_KEPT);
	log_request(x, status, ns);
}

/* What a client sent for a request without a body; -1: it is not known, or there may be one. */
static int64_t request_bytes(const struct exchange *x, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    c, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	if (!x || !x->begun || !info || x->announced || header(c, "Transfer-Encoding"))
		return -1;
	return (int64_t)info->header_size;
}

static void complete(void *self, struct MHD_Connection *c, void **state,
		     enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *state;
	struct peer *peer = peer_of(c);
	struct http *http = self;

	(void)code;
	patient_waits(patient_of(c), request_bytes(x, c));
	if (!x)
		return;
	note_end(x, c);
	reply_finish(&x->reply); /* whoever waited for it may have gone */
	buf_finish(&x->body);
	arena_finish(&x->arena);
	answers_over(http->answers, &x->making, NULL, false);
	if (!x->kept)
		x->kept = x->making.answer; /* that nobody sent */
	if (x->kept)
		answer_release(http->answers, x->kept, x->ready);
	if (peer && !peer->spare && strlen(x->address) < SPARE_ADDRESS_BYTES)
		peer->spare = x;
	else
		free(x);
	*state = NULL;
}

const char *req_query(struct req *req, const char *name)
{
	if (*req->caller.project && strcmp(name, "project") == 0)
		return req->caller.project;
	return MHD_lookup_connection_value(req->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *req_session_cookie(struct req *req)
{
	return session_cookie(header(req->connection, "Cookie"), req->arena);
}

struct query_values {
	const char *name, **values;
	int n, most;
};

static enum MHD_Result keep_value(void *self, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	struct query_values *w = self;

	(void)kind;
	if (value && w->n < w->most && strcmp(key, w->name) == 0)
		w->values[w->n++] = value;
	return MHD_YES;
}

int req_query_all(struct req *req, const char *name, const char **values, int most)
{
	struct query_values w = { .name = name, .values = values, .most = most };

	MHD_get_connection_values(req->connection, MHD_GET_ARGUMENT_KIND, keep_value, &w);
	return w.n;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes %XX in place, but leaves %00 as it is: a NUL would cut the path,
 * and what follows it would go unseen. */
static size_t unescape(void *self, struct MHD_Connection *c, char *text)
{
	char *out = text;

	(void)self;
	(void)c;
	for (const char *in = text; *in; in++) {
		int high = *in == '%' ? hex_value(in[1]) : -1;
		int low = high >= 0 ? hex_value(in[2]) : -1;

		if (low >= 0 && (high | low)) {
			*out++ = (char)(high << 4 | low);
			in += 2;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
	return (size_t)(out - text);
}

static void end(struct http *http)
{
	slow_pool_destroy(http->slow_pool);
	access_destroy(http->access);
	patience_destroy(http->patience);
	answers_destroy(http->answers);
	free(http);
}

/* Who may ask, of those who reach the socket; what nobody has said may not be open. */
static bool admit(struct http *http, const struct http_options *o, int fd, struct err *err)
{
	bool loopback = listen_is_local(fd, &http->sites.port);
	bool accounts = access_has_accounts(http->access, err);

	http->sites.more = o->allow_hosts;
	http->sites.n_more = o->n_allow_hosts;
	http->sites.any_host = (!loopback || accounts) && o->n_allow_hosts == 0;
	return loopback || accounts || http->app->insecure ||
	       err_set(
		   err, ERR_BAD_REQUEST,
		   "--listen %.100s: whoever reaches this address could read and remove every "
		   "run and have programs executed; listen on 127.0.0.1, with a reverse proxy or "
		   "an SSH tunnel before it, or say --insecure if that is wanted",
		   o->listen);
}

struct http *http_start(struct app *app, const struct route_table *routes,
			const struct http_options *options, struct err *err)
{
	const struct serve_bounds *most = &app->bounds;
	struct http *http = calloc(1, sizeof(*http));
	int fd;

	if (!http) {
		err_set(err, ERR_MEMORY, "out of memory for the server");
		return NULL;
	}
	http->app = app;
	http->routes = routes;
	http->user_header = options->access.user_header;
	http->access = access_create(app->db, &options->access, err);
	http->patience = http->access ? patience_create((int)most->connections * 2 / 3,
							(int)most->request_seconds, err)
				      : NULL;
	http->answers = http->patience ? answers_create(routes, err) : NULL;
	http->slow_pool = http->answers ? slow_pool_create(SLOW_THREADS, err) : NULL;
	fd = http->slow_pool
		 ? listen_on(options->listen, http->url, sizeof(http->url) - BASE_PATH_CHARS, err)
		 : -1;
	strcat(http->url, app->base_path); /* base_path_check() has looked at it */
	if (fd < 0 || !admit(http, options, fd, err)) {
		if (fd >= 0)
			close(fd);
		end(http);
		return NULL;
	}
	http->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, http,
	    MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)most->connections,
	    MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)most->address_connections,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)most->idle_seconds,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_BYTES + (size_t)most->query_bytes,
	    MHD_OPTION_NOTIFY_COMPLETED, complete, http, MHD_OPTION_NOTIFY_CONNECTION, come_or_go,
	    http, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_URI_LOG_CALLBACK,
	    note_address, http, MHD_OPTION_END);
	if (!http->daemon) {
		err_set(err, ERR_IO, "the HTTP server on %s did not start", options->listen);
		close(fd);
		end(http);
		return NULL;
	}
	return http;
}

const char *http_url(const struct http *http)
{
	return http->url;
}

void http_stop(struct http *http)
{
	if (!http)
		return;
	/* a suspended connection must not meet the daemon's end */
	slow_pool_stop(http->slow_pool);
	answers_stop(http->answers);
	MHD_stop_daemon(http->daemon);
	end(http);
}
