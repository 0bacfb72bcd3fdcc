/* server/http/making.h -- one answer is made once, however many ask for it meanwhile.
 *
 * Whoever is the first to ask for an address makes its answer; who asks for it until it is made,
 * and of the same version, waits and gets that one.  Nobody waits for what is not kept: a route
 * whose last answer was not, or, before its first, one that may take seconds.  Thread-safe.
 */
#ifndef SERVER_HTTP_MAKING_H
#define SERVER_HTTP_MAKING_H

#include "server/http/answers.h"

struct MHD_Connection;
struct makings;
struct route_table;

/* The part of one request in it; zero, then of the functions below. */
struct making {
	const struct route *route;
	const char *address; /* borrowed until it is over */
	struct answers_version version;
	struct MHD_Connection *connection; /* suspended while it waits */
	struct kept_answer *answer; /* of one that waited: what it waited for, which it gives back;
				     * NULL: that cannot be kept, and it makes its own */
	bool makes, waits;
	struct making *next;
};

/* NULL with MEMORY. */
struct makings *makings_create(struct answers *answers, const struct route_table *routes,
			       struct err *err);
void makings_destroy(struct makings *m); /* none is under way; NULL is fine */

/* Whether another makes it: then the connection is suspended until making_over() of that.  Else
 * this one does (once makings_stop() was called: on its own), and calls making_over() in any case. */
bool making_waits(struct makings *m, struct making *mine);

/* The answer is there (NULL: none that others can have), and who waits for it goes on.  `is_usual`:
 * it tells whether the answers of its route are kept; an error does not. */
void making_over(struct makings *m, struct making *mine, struct kept_answer *answer, bool is_usual);

/* Nobody waits from now on. */
void makings_stop(struct makings *m);

#endif
