/* server/api/api_timeline.c -- /api/v1/runs/{id}/timeline, and what is found in it. */
#include <stdlib.h>
#include <string.h>

#include "fusion/fusion.h"
#include "server/api/routes.h"
#include "server/api/timeline_answer.h"

/* A mode's own name, or none at all. */
static bool read_mode(struct req *req, const char **mode, struct err *err)
{
	enum fusion_mode known;
	char names[128] = "";

	*mode = req_query(req, "mode");
	if (*mode && !**mode)
		*mode = NULL;
	if (!*mode || fusion_mode_from_name(*mode, &known))
		return true;
	for (int i = 0; i < FUSION_MODE_COUNT; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", fusion_mode_name((enum fusion_mode)i));
	return err_set(err, ERR_BAD_REQUEST, "mode=%.40s: one of %s is needed", *mode, names);
}

/* The lanes, and what is looked for in their names. */
static bool read_lanes(struct req *req, struct timeline_query *q, struct err *err)
{
	if (!read_mode(req, &q->mode, err))
		return false;
	q->has_n = req_query(req, "n") != NULL;
	q->find = req_query(req, "q");
	if (q->find && !*q->find)
		q->find = NULL;
	if (q->find && strlen(q->find) > TIMELINE_FIND_CHARS)
		return err_set(err, ERR_BAD_REQUEST, "q= has %zu bytes; at most %d are looked for",
			       strlen(q->find), TIMELINE_FIND_CHARS);
	return req_query_int(req, "n", INT64_MIN / 2, INT64_MAX / 2, 0, &q->n, err);
}

/* The part of the time, ns since the first event. */
static bool read_span(struct req *req, struct timeline_query *q, struct err *err)
{
	if (!req_query_int(req, "t0", 0, TIMELINE_MAX_NS, 0, &q->t0_ns, err) ||
	    !req_query_int(req, "t1", 0, TIMELINE_MAX_NS, -1, &q->t1_ns, err))
		return false;
	return (q->t1_ns < 0 || q->t0_ns <= q->t1_ns) ||
	       err_set(err, ERR_BAD_REQUEST, "t0=%lld is behind t1=%lld", (long long)q->t0_ns,
		       (long long)q->t1_ns);
}

/* What is asked for, from the address. */
static bool read_window(struct req *req, struct timeline_query *q, struct err *err)
{
	int64_t px;

	if (!read_lanes(req, q, err) || !read_span(req, q, err) ||
	    !req_query_int(req, "px", 1, TIMELINE_MOST_PX, TIMELINE_DEFAULT_PX, &px, err))
		return false;
	q->px = (int)px;
	return true;
}

/* From where to look: an event that was found before, or a time. */
static bool read_seek(struct req *req, struct timeline_query *q, struct err *err)
{
	struct timeline_seek *s = &q->seek;
	int64_t back, correlation;

	*q = timeline_whole(NULL);
	if (!read_lanes(req, q, err) || !read_span(req, q, err) ||
	    !req_query_int(req, "at", 0, TIMELINE_MAX_NS, 0, &s->at_ns, err) ||
	    !req_query_int(req, "lane", -1, TIMELINE_MAX_LANES - 1, -1, &s->lane, err) ||
	    !req_query_int(req, "duration", 0, TIMELINE_MAX_NS, 0, &s->duration_ns, err) ||
	    !req_query_int(req, "name", 0, TIMELINE_MAX_NAMES, 0, &s->name, err) ||
	    !req_query_int(req, "correlation", 0, UINT32_MAX, 0, &correlation, err) ||
	    !req_query_int(req, "back", 0, 1, 0, &back, err))
		return false;
	s->wanted = true;
	s->back = back != 0;
	s->correlation = (uint32_t)correlation;
	return q->find || correlation ||
	       err_set(err, ERR_BAD_REQUEST,
		       "say what to look for: q=, a part of a name, or correlation=, of a launch");
}

bool api_run_timeline(struct req *req, struct reply *reply, struct err *err)
{
	struct timeline_query q = { 0 };
	struct buf out = { 0 };
	struct run run;
	int64_t id;
	bool ok;

	ok = req_id(req, 0, &id, err) && db_run_get(req->app->db, id, req->arena, &run, err) &&
	     read_window(req, &q, err) && timeline_answer(req->app->db, &run, &q, &out, err);
	reply->text_len = out.len;
	reply->text = ok ? buf_steal(&out) : NULL;
	buf_finish(&out);
	reply->content_type = "application/octet-stream";
	return ok;
}

bool api_run_timeline_find(struct req *req, struct reply *reply, struct err *err)
{
	struct timeline_query q;
	struct run run;
	int64_t id;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err) ||
	    !read_seek(req, &q, err))
		return false;
	reply->json = timeline_found(req->app->db, &run, &q, err);
	return reply->json != NULL;
}
