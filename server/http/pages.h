/* server/http/pages.h -- the page and its files. */
#ifndef SERVER_PAGES_H
#define SERVER_PAGES_H

#include "server/http/request.h"

/* "/assets/...": an embedded file. */
bool page_asset(struct req *req, struct reply *reply, struct err *err);

/* The page with status 404, for people; programs get the error as JSON. */
handler_fn page_index, page_docs; /* of routes.def */
bool page_not_found(struct req *req, struct reply *reply, struct err *err);

/* An embedded file by its URL path; NULL where there is none. */
const struct asset *asset_find(const char *path);

#endif
