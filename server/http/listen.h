/* server/http/listen.h -- where a server is found: HOST:PORT, and the path that its paths begin
 * with.
 *
 * Errors are worded for the command line.  Any thread may call these.
 */
#ifndef SERVER_HTTP_LISTEN_H
#define SERVER_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"

enum { BASE_PATH_CHARS = 100 }; /* of --base-path, at most */

/* Whether it reads as HOST:PORT; BAD_REQUEST. */
bool listen_check(const char *address, struct err *err);

/* The socket that listens, which the caller closes, and its URL with the port that it got; -1 with
 * IO or BAD_REQUEST. */
int listen_on(const char *address, char *url, size_t url_bytes, struct err *err);

/* Whether this machine alone reaches the socket; fills its port. */
bool listen_is_local(int fd, int *port);

#endif
