/* server/http/listen.h -- "HOST:PORT" to a listening socket. */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include <stddef.h>

#include "fusion/base/err.h"

/* Whether it reads as HOST:PORT; BAD_REQUEST, worded for the command line. */
bool listen_check(const char *address, struct err *err);

/* The socket, and its URL with the port that it got; -1 with IO or
 * BAD_REQUEST, worded for the command line. */
int listen_on(const char *address, char *url, size_t url_bytes, struct err *err);

#endif
