/* server/cli/post.h -- posts to a Breakeven server, by libcurl, which is loaded when wanted. */
#ifndef SERVER_CLI_POST_H
#define SERVER_CLI_POST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"

struct post;

/* `url` is the server's, "http://host:8080".  NULL with IO: there is no libcurl, or the
 * URL is none.  One thread at a time. */
struct post *post_open(const char *url, struct err *err);
void post_close(struct post *p); /* NULL is fine */

/* POST of the bytes to a path below /api/v1, on one connection.  *answer (NULL: nobody
 * wants it) is the caller's.  False with IO where the server could not be reached, else
 * with the server's own code and message. */
struct post_body {
	const char *type;  /* "application/json" */
	const void *bytes; /* NULL: nothing is posted, it is a GET */
	size_t len;
	const char *key; /* an Idempotency-Key, at most 200 bytes; NULL: none */
};
bool post_send(struct post *p, const char *path, struct post_body body, json_t **answer,
	       struct err *err);

/* The same; *id is that of what it made there. */
bool post_create(struct post *p, const char *path, struct post_body body, int64_t *id,
		 struct err *err);

/* POST /files of the file at `path` whose id is `id`, in pieces; a file that the server has is not
 * sent.  A piece that fails on the way is asked for again, a few times.  False as post_send(), or
 * with IO where the file cannot be read. */
bool post_weights(struct post *p, const char *path, const char *id, struct err *err);

#endif
