/* server/api/api_lists.c -- GET /api/v1/ops, /backends and /passes. */
#include "profiler/lists.h"
#include "server/api/routes.h"

bool api_ops(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_ops(req->app->registry, req_query(req, "name"), err);
	if (!reply->json && err->code == ERR_NAME)
		err->code = ERR_NOT_FOUND;
	return reply->json != NULL;
}

bool api_backends(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_backends(req->app->registry, err);
	if (reply->json && req->app->torch)
		json_object_set_new(reply->json, "engines", json_pack("[O]", req->app->torch));
	return reply->json != NULL;
}

bool api_passes(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_passes(req->app->registry, err);
	return reply->json != NULL;
}
