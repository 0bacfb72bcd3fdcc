/* server/pages.c -- see pages.h.
 *
 * Every view of the page has its own URL and is answered with the same HTML;
 * the view is chosen in the browser.
 */
#include "server/pages.h"

#include <stdlib.h>
#include <string.h>

#include "server/assets.h"
#include "server/routes.h"

static int compare_path(const void *key, const void *row)
{
	return strcmp(key, ((const struct asset *)row)->path);
}

const struct asset *asset_find(const char *path)
{
	return bsearch(path, assets, n_assets, sizeof(assets[0]), compare_path);
}

bool page_asset(struct req *req, struct reply *reply, struct err *err)
{
	reply->asset = asset_find(req->path);
	return reply->asset || err_set(err, ERR_NOT_FOUND, "there is no file %.200s", req->path);
}

bool page_index(struct req *req, struct reply *reply, struct err *err)
{
	(void)req;
	reply->asset = asset_find("/index.html");
	return reply->asset || err_set(err, ERR_INTERNAL, "the page is not part of this build");
}

bool page_not_found(struct req *req, struct reply *reply, struct err *err)
{
	reply->status = 404;
	return page_index(req, reply, err);
}
