/* server/api/api_session.c -- /api/v1/session and /api/v1/audit: who asks, signing in and out, who
 * did what; what a token of one project sees. */
#define HANDLER_session(name) name
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "server/api/routes.h"

enum { AUDIT_DEFAULT = 100, AUDIT_MOST = 1000 };

static const int64_t SESSION_S = 7 * 86400, NS = 1000000000;

static bool api_session(struct req *req, struct reply *reply, struct err *err)
{
	const struct caller *who = &req->caller;

	reply->json = json_pack("{s:b, s:b, s:s, s:s, s:s, s:s}", "accounts", who->accounts,
				"insecure", req->app->insecure, "user", who->name, "scope",
				scope_name(who->scope), "project", who->project, "csrf", who->csrf);
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for the answer");
}

/* Not for scripts, not for other sites, and over TLS where the browser came so. */
static const char *cookie_of(struct req *req, const char *value, int64_t seconds)
{
	return arena_printf(
	    req->arena, "breakeven_session=%s; Path=%s; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
	    value, *req->app->base_path ? req->app->base_path : "/", (long long)seconds,
	    req->caller.https ? "; Secure" : "");
}

static bool api_session_begin(struct req *req, struct reply *reply, struct err *err)
{
	const struct caller *who = &req->caller;
	char cookie[SECRET_CHARS + 1];
	uint8_t hash[SECRET_HASH_BYTES];

	if (!who->token)
		return err_set(err, ERR_UNAUTHORIZED,
			       "to sign in, send a token: Authorization: Bearer TOKEN");
	if (!secret_make(cookie, err))
		return false;
	secret_hash(cookie, hash);
	if (!db_session_add(req->app->db, hash, who->token, clock_wall_ns() + SESSION_S * NS, err))
		return false;
	reply->cookie = cookie_of(req, cookie, SESSION_S);
	reply->json = json_pack("{s:s, s:s}", "user", who->name, "scope", scope_name(who->scope));
	return (reply->cookie && reply->json) ||
	       err_set(err, ERR_MEMORY, "out of memory for the answer");
}

static bool api_session_end(struct req *req, struct reply *reply, struct err *err)
{
	uint8_t hash[SECRET_HASH_BYTES];
	const char *cookie = req_session_cookie(req);

	if (cookie) {
		secret_hash(cookie, hash);
		if (!db_session_end(req->app->db, hash, err))
			return false;
	}
	reply->cookie = cookie_of(req, "", 0);
	reply->json = json_pack("{s:s}", "user", "");
	return (reply->cookie && reply->json) ||
	       err_set(err, ERR_MEMORY, "out of memory for the answer");
}

json_t *audit_json(const struct audit_row *row)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:o}", "at_ns", (json_int_t)row->at_ns, "who",
			 row->who, "address", row->address, "route", row->route, "id",
			 row->subject ? json_integer(row->subject) : json_null());
}

static bool api_audit(struct req *req, struct reply *reply, struct err *err)
{
	struct audit_row *rows;
	int64_t limit;
	json_t *list;
	int n;

	if (!req_query_int(req, "limit", (struct req_range){ 1, AUDIT_MOST, AUDIT_DEFAULT }, &limit,
			   err) ||
	    !db_audit_list(req->app->db, (int)limit, req->arena, &rows, &n, err))
		return false;
	list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, audit_json(&rows[i]));
	reply->json = json_pack("{s:o}", "audit", list);
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for the answer");
}

/* ---- what a token of one project sees ---- */

static bool run_is_of(struct req *req, int64_t id, struct err *err)
{
	struct err none = { 0 };
	struct run_row run;

	/* One that was removed is its project's too. */
	return (db_run_removed(req->app->db, id, req->arena, &run, &none) ||
		db_run_get(req->app->db, id, req->arena, &run, err)) &&
	       (strcmp(run.project, req->caller.project) == 0 ||
		err_set(err, ERR_NOT_FOUND, "there is no run %lld", (long long)id));
}

static bool suite_is_of(struct req *req, int64_t id, struct err *err)
{
	struct suite suite;

	return db_suite_get(req->app->db, id, req->arena, &suite, err) &&
	       (strcmp(suite.project, req->caller.project) == 0 ||
		err_set(err, ERR_NOT_FOUND, "there is no suite %lld", (long long)id));
}

/* Numbers of runs, or of suites, in the query. */
static bool query_is_of(struct req *req, const char *name,
			bool (*is_of)(struct req *req, int64_t id, struct err *err),
			struct err *err)
{
	const char *values[COMPARE_MAX_RUNS + 1];
	int n = req_query_all(req, name, values, COMPARE_MAX_RUNS + 1);

	for (int i = 0; i < n; i++) {
		int64_t id = strtoll(values[i], NULL, 10); /* else the handler says what it is */

		if (id > 0 && !is_of(req, id, err))
			return false;
	}
	return true;
}

bool is_of_project(struct req *req, const struct route *r, struct err *err)
{
	static const char runs[] = "/api/v1/runs/{id}", suites[] = "/api/v1/suites/{id}",
			  traces[] = "/api/v1/traces/{id}";
	int64_t id;

	if (r->sees == SEES_ALL || (r->sees == SEES_WORKLOAD && !req_query(req, "workload")))
		return err_set(err, ERR_FORBIDDEN,
			       "%s shows more than one project; the token '%.64s' is for '%.100s' "
			       "alone",
			       r->path, req->caller.name, req->caller.project);
	if (strncmp(r->path, runs, sizeof(runs) - 1) == 0 ||
	    strncmp(r->path, traces, sizeof(traces) - 1) == 0)
		return req_id(req, 0, &id, err) && run_is_of(req, id, err);
	if (strncmp(r->path, suites, sizeof(suites) - 1) == 0)
		return req_id(req, 0, &id, err) && suite_is_of(req, id, err) &&
		       query_is_of(req, "base", suite_is_of, err);
	for (char name[] = "a"; r->sees == SEES_RUNS && *name <= 'h'; ++*name)
		if (!query_is_of(req, name, run_is_of, err))
			return false;
	return true;
}

bool req_take_project(struct req *req, json_t *json, struct err *err)
{
	const char *mine = req->caller.project;
	json_t *given = json_object_get(json, "project");

	if (!*mine || !json_is_object(json))
		return true;
	if (!given || json_is_null(given) ||
	    (json_is_string(given) && json_string_length(given) == 0))
		return json_object_set_new(json, "project", json_string(mine)) == 0 ||
		       err_set(err, ERR_MEMORY, "out of memory for the request");
	return (json_is_string(given) && strcmp(json_string_value(given), mine) == 0) ||
	       err_set(err, ERR_FORBIDDEN, "the token '%.64s' posts to project '%.100s' alone",
		       req->caller.name, mine);
}

bool req_may_remove(struct req *req, const char *what, const char *author, struct err *err)
{
	return req->caller.scope == SCOPE_ADMIN || strcmp(author, req->caller.name) == 0 ||
	       err_set(err, ERR_FORBIDDEN, "%s is of %s%.64s%s: a token for admin removes it", what,
		       *author ? "'" : "somebody unknown", author, *author ? "'" : "");
}

handler_fn *const session_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
