/* server/http/http.h -- the only place, with events.c, that knows libmicrohttpd. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <stddef.h>

#include "server/http/route.h"

struct http;

/* Listens on "HOST:PORT" ("[::1]:0" and port 0 work) and answers from a few
 * threads until http_stop().  IO error naming the address and the remedy. */
struct http *http_start(struct app *app, const struct route_table *routes, const char *listen,
			struct err *err);

/* "http://127.0.0.1:8080", with the port that it got. */
const char *http_url(const struct http *http);

/* Event streams must have been stopped. */
void http_stop(struct http *http); /* NULL is fine */

#endif
