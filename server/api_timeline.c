/* server/api_timeline.c -- /api/v1/runs/{id}/timeline. */
#include <stdlib.h>

#include "server/routes.h"
#include "server/timeline_answer.h"

/* What is asked for, from the address; times are ns since the first event. */
static bool read_query(struct req *req, struct timeline_query *q, struct err *err)
{
	int64_t px;

	q->mode = req_query(req, "mode");
	if (q->mode && !*q->mode)
		q->mode = NULL;
	q->has_n = req_query(req, "n") != NULL;
	if (!req_query_int(req, "n", INT64_MIN / 2, INT64_MAX / 2, 0, &q->n, err) ||
	    !req_query_int(req, "t0", 0, TIMELINE_MAX_NS, 0, &q->t0_ns, err) ||
	    !req_query_int(req, "t1", 0, TIMELINE_MAX_NS, -1, &q->t1_ns, err) ||
	    !req_query_int(req, "px", 1, TIMELINE_MOST_PX, TIMELINE_DEFAULT_PX, &px, err))
		return false;
	q->px = (int)px;
	return (q->t1_ns < 0 || q->t0_ns <= q->t1_ns) ||
	       err_set(err, ERR_BAD_REQUEST, "t0=%lld is behind t1=%lld", (long long)q->t0_ns,
		       (long long)q->t1_ns);
}

bool api_run_timeline(struct req *req, struct reply *reply, struct err *err)
{
	struct timeline_query q = { 0 };
	struct buf out = { 0 };
	struct run run;
	int64_t id;
	bool ok;

	ok = req_id(req, 0, &id, err) && db_run_get(req->app->db, id, req->arena, &run, err) &&
	     read_query(req, &q, err) && timeline_answer(req->app->db, &run, &q, &out, err);
	reply->text_len = out.len;
	reply->text = ok ? buf_steal(&out) : NULL;
	buf_finish(&out);
	reply->content_type = "application/octet-stream";
	return ok;
}
