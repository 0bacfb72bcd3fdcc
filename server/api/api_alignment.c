/* server/api/api_alignment.c -- /api/v1/compare/timelines: what ran in two runs, aligned. */
#define HANDLER_alignment(name) name
#include <stdlib.h>
#include <string.h>

#include "fusion/fusion.h"
#include "server/api/routes.h"
#include "server/api/timelines.h"

/* A mode's own name; NULL where none is said. */
static bool read_mode(struct req *req, const char *key, const char **mode, struct err *err)
{
	enum fusion_mode known;

	*mode = req_query(req, key);
	if (*mode && !**mode)
		*mode = NULL;
	return !*mode || fusion_mode_from_name(*mode, &known) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "%s=%.40s is no mode; GET /api/v1/runs/{id} has those of a run", key, *mode);
}

/* mode= and n= are of both sides, mode_b= and n_b= of B alone. */
static bool read_lanes(struct req *req, struct timelines_asked *to, struct err *err)
{
	static const char *const modes[] = { "mode", "mode_b" }, *const points[] = { "n", "n_b" };
	struct req_range any = { INT64_MIN / 2, INT64_MAX / 2, 0 };

	for (int i = 0; i < 2; i++) {
		if (!read_mode(req, modes[i], &to->mode[i], err) ||
		    !req_query_int(req, points[i], any, &to->n[i], err))
			return false;
		to->has_n[i] = req_query(req, points[i]) != NULL;
	}
	if (!to->mode[1])
		to->mode[1] = to->mode[0];
	if (!to->has_n[1]) {
		to->has_n[1] = to->has_n[0];
		to->n[1] = to->n[0];
	}
	return true;
}

/* a= and b=: runs, of which one may be both. */
static bool load(struct req *req, struct loaded_timeline t[2], struct err *err)
{
	static const char *const names[] = { "a", "b" };

	for (int i = 0; i < 2; i++) {
		int64_t id;

		if (!req_query(req, names[i]))
			return err_set(
			    err, ERR_BAD_REQUEST,
			    "%s= is missing: /compare/timelines?a=1&b=2 aligns run 2 with run 1",
			    names[i]);
		if (!req_query_int(req, names[i], (struct req_range){ 1, INT64_MAX, 1 }, &id,
				   err) ||
		    !loaded_timeline_of_run(&t[i], req->app->db, id, err))
			return false;
	}
	return true;
}

static bool api_alignment(struct req *req, struct reply *reply, struct err *err)
{
	struct loaded_timeline t[2] = { LOADED_TIMELINE, LOADED_TIMELINE };
	struct timelines_asked asked = { 0 };

	if (read_lanes(req, &asked, err) && load(req, t, err))
		reply->json = loaded_timelines_align(t, &asked, err);
	loaded_timeline_finish(&t[0]);
	loaded_timeline_finish(&t[1]);
	return reply->json != NULL;
}

handler_fn *const alignment_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
