/* server/api/api_bundles.c -- runs and suites as one file, for another server: /api/v1/bundles. */
#define HANDLER_bundles(name) name
#include <unistd.h>

#include "db/archive.h"
#include "fusion/base/hash.h"
#include "fusion/base/scratch.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

/* The bundle as a file to download; who has a part of it can ask for the rest. */
static bool answer(struct req *req, const struct bundle_of *of, const char *name,
		   struct reply *reply, struct err *err)
{
	int fd = scratch_file("the bundle", err);
	json_t *said = fd >= 0 ? db_bundle_write(req->app->db, of, fd, err) : NULL;
	const char *sha256 = json_string_value(json_object_get(said, "sha256"));

	if (!said) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	reply->file = fd;
	reply->file_bytes = (uint64_t)json_integer_value(json_object_get(said, "bytes"));
	reply->etag = arena_strndup(req->arena, sha256, HASH_HEX_BYTES - 1);
	reply->content_type = "application/octet-stream";
	reply->filename = arena_printf(req->arena, "breakeven-%s.bundle", name);
	json_decref(said);
	return true;
}

static bool api_bundle_of_run(struct req *req, struct reply *reply, struct err *err)
{
	struct bundle_of of = { 0 };

	return req_id(req, 0, &of.run, err) &&
	       answer(req, &of, arena_printf(req->arena, "run-%lld", (long long)of.run), reply,
		      err);
}

static bool api_bundle_of_suite(struct req *req, struct reply *reply, struct err *err)
{
	struct bundle_of of = { 0 };

	return req_id(req, 0, &of.suite, err) &&
	       answer(req, &of, arena_printf(req->arena, "suite-%lld", (long long)of.suite), reply,
		      err);
}

static bool api_bundle_of_project(struct req *req, struct reply *reply, struct err *err)
{
	const struct bundle_of of = { .project = req_query(req, "project") };

	return answer(req, &of, "project", reply, err);
}

static bool api_bundles_post(struct req *req, struct reply *reply, struct err *err)
{
	const char *asked = req_query(req, "project"); /* that of the token, where it is for one */
	const struct bundle_take as = { .author = req->caller.name,
					.project = asked && *asked ? asked : NULL,
					.reasons = reasons_of_report,
					.block = bundle_block };

	if (!store_has_room(req->app, err))
		return false;
	req_join(req);
	reply->json = db_bundle_take(req->app->db, req->body, req->body_len, &as, err);
	reply->status = 201;
	return reply->json != NULL;
}

handler_fn *const bundles_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
