/* server/queue/outgoing.h -- posts to addresses of others by libcurl, which is loaded when wanted.
 *
 * No redirect is followed, no proxy is used that nobody named, and nothing but HTTP and HTTPS is
 * spoken.  One thread at a time uses one. */
#ifndef SERVER_QUEUE_OUTGOING_H
#define SERVER_QUEUE_OUTGOING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "fusion/base/err.h"

struct outgoing;

struct outgoing_options {
	long connect_ms, send_ms;
	size_t answer_bytes; /* of an answer at most */
	bool cut;            /* a longer one is cut; else it is an error */
	bool outside;        /* addresses of this machine and of its network are refused */
	const atomic_bool
	    *stopping; /* when set, what is under way is given up; NULL: nothing sets it */
};

/* NULL with IO: there is no libcurl, or this program was built without it. */
struct outgoing *outgoing_open(const struct outgoing_options *options, struct err *err);
void outgoing_close(struct outgoing *o); /* NULL is fine */

struct outgoing_post {
	const char *url;
	const char *const *headers; /* "Name: value", the last NULL */
	const void *bytes;          /* NULL: it is a GET */
	size_t len;
	bool inside; /* its host was named: whatever its address is */
};

/* The answer, valid until the next post. */
struct outgoing_answer {
	long status;
	const char *bytes; /* NUL terminated */
	size_t len;
};

/* False with IO where there was no answer: the message says why.  Whether the status is good is the
 * caller's business. */
bool outgoing_post(struct outgoing *o, const struct outgoing_post *post,
		   struct outgoing_answer *answer, struct err *err);

/* Whether an address is of this machine, of a network that no route leads to from outside, or of
 * none: loopback, private, link-local, shared, multicast and the like, also within IPv6. */
bool outgoing_is_inside(const struct sockaddr *address);

#endif
