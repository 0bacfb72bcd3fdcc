/* server/api/routes.h -- the table of routes.def. */
#ifndef SERVER_API_ROUTES_H
#define SERVER_API_ROUTES_H

#include "server/http/route.h"

extern const struct route_table routes;

/* The handlers, by the file that has them. */
#define ROUTE(method, path, handler, limit, summary) handler_fn handler;
#define ROUTE_SLOW ROUTE
#include "server/api/routes.def"
#undef ROUTE
#undef ROUTE_SLOW

#endif
