/* server/api/api_hosts.c -- /api/v1/hosts and /api/v1/jobs: machines that run jobs for this server,
 * and what the processes there post. */
#define HANDLER_hosts(name) name
#include "server/api/routes.h"
#include "server/queue/hosts.h"

static bool api_hosts(struct req *req, struct reply *reply, struct err *err)
{
	const struct report_hosts *all = hosts_list(req->app->hosts, req->arena, err);

	reply->json = all ? report_write_hosts(all) : NULL;
	return reply->json || (err->code == ERR_NONE && err_set(err, ERR_MEMORY, "out of memory"));
}

/* Who asks, and for which run. */
static bool read_claim(struct req *req, const char *attempt, struct job_claim *claim,
		       struct err *err)
{
	*claim = (struct job_claim){ .hash = req->caller.job_hash, .attempt = attempt };
	if (!req->caller.job)
		return err_set(err, ERR_UNAUTHORIZED,
			       "only the process that was handed this run may ask: send its token, "
			       "Authorization: Bearer bj_...");
	return req_id(req, 0, &claim->run, err) &&
	       (attempt || err_set(err, ERR_BAD_REQUEST,
				   "attempt= is missing: what the process "
				   "calls itself"));
}

static bool api_job_take(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	const struct report_job_take *asked = json ? report_read_job_take(json, req->arena, err)
						   : NULL;
	struct report_job_taken taken = { 0 };
	int64_t run_seconds = 0;
	struct job_claim claim;
	const char *workload;
	json_t *whole = NULL;
	bool ok = asked && read_claim(req, asked->attempt, &claim, err) &&
		  hosts_job_take(req->app->hosts, &claim, req->arena, &workload, &run_seconds, err);

	if (err->code == ERR_WORKLOAD)
		err->code = ERR_JSON;
	if (ok && !(whole = json_loads(workload, 0, NULL)))
		ok = err_set(err, ERR_MEMORY, "out of memory for the workload");
	if (ok) {
		REPORT_SET(&taken, run, claim.run);
		REPORT_SET(&taken, workload, whole);
		REPORT_SET(&taken, run_seconds, run_seconds);
		reply->json = report_write_job_taken(&taken);
	}
	json_decref(whole);
	json_decref(json);
	return ok;
}

static bool api_job_messages(struct req *req, struct reply *reply, struct err *err)
{
	struct report_job_received got = { 0 };
	struct job_claim claim;
	int64_t at;
	bool ok = read_claim(req, req_query(req, "attempt"), &claim, err) &&
		  req_query_int(req, "at", (struct req_range){ 0, INT64_C(1) << 40, 0 }, &at, err);

	ok = ok && hosts_job_messages(
		       req->app->hosts, &claim,
		       &(struct job_bytes){ .at = at, .bytes = req->body, .len = req->body_len },
		       &got, err);
	if (ok)
		reply->json = report_write_job_received(&got);
	return ok;
}

handler_fn *const hosts_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
