/* server/http/answers.h -- answers that are kept until what they say may have changed.
 *
 * An answer is kept by the address that was asked for, with its query, and by the versions of what
 * it was made from (answers_version), plain, and squeezed for who takes that, which is done when
 * that is asked for first.  Thread-safe.
 */
#ifndef SERVER_HTTP_ANSWERS_H
#define SERVER_HTTP_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "server/http/http.h"
#include "server/http/ready.h"

struct answers;
struct route;
struct route_table;

/* One answer; whoever has it from here gives it back by answer_release(). */
struct kept_answer {
	const struct route *route; /* that it is of */
	const char *type;          /* of its content */
	const char *text;
	size_t len;
	const char *filename;     /* offered for download; NULL: shown */
	char etag[48];            /* without its quotes, of the plain one */
	struct ready_shelf ready; /* responses that have it: answer_release() */
};

enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD, CODING_COUNT };

/* How often what answers are made from has changed. */
struct answers_version {
	uint64_t store; /* something was written */
	uint64_t live;  /* a job said how far it is */
};

/* NULL with MEMORY. */
struct answers *answers_create(const struct route_table *routes, struct err *err);
void answers_destroy(struct answers *all); /* no answer is in use; NULL is fine */

/* The answer at an address, if it is still what would be made now; NULL: none is kept. */
struct kept_answer *answers_find(struct answers *all, const char *address,
				 struct answers_version now);

/* Keeps an answer that was made from `version` or what came later.  Takes over reply->text, which
 * is then the answer's.  NULL with MEMORY; then nothing is taken over. */
struct answer_made {
	const char *address;
	const struct route *route;
	struct answers_version version;
	enum keep keep; /* KEEP_STORE: it says nothing of jobs */
	bool table;     /* others who ask for the address get it too */
};
struct kept_answer *answers_keep(struct answers *all, const struct answer_made *made,
				 struct reply *reply, struct err *err);

/* And leaves a response of it for the next who asks; NULL: there is none. */
void answer_release(struct answers *all, struct kept_answer *a, struct ready_response *r);

/* Whether answer_text() has but to hand it out, or makes it at once as it is small. */
bool answer_is_quick(const struct kept_answer *a, enum coding coding);

/* Its bytes in a coding, the answer's: those in *coding, plain where squeezing makes it no smaller
 * or there is no memory for it. */
struct answer_bytes {
	const char *at;
	size_t len;
};
struct answer_bytes answer_text(struct answers *all, struct kept_answer *a, enum coding *coding);

/* As in Content-Encoding; "" of CODING_PLAIN. */
static inline const char *coding_name(enum coding coding)
{
	return coding == CODING_GZIP ? "gzip" : coding == CODING_ZSTD ? "zstd" : "";
}

/* What is best of a header Accept-Encoding; NULL is fine. */
enum coding coding_of(const char *accept);

/* ---- what is made once, however many ask for it meanwhile ----
 *
 * Whoever is the first to ask for an address makes its answer; who asks for it until it is made,
 * and of the same version, waits and gets that one.  Nobody waits for what is not kept: a route
 * whose last answer was not, or, before its first, one that may take seconds. */

/* The part of one request in it; zero, then of the functions below. */
struct making {
	const struct route *route;
	const char *address; /* borrowed until it is over */
	struct answers_version version;
	void *self; /* pause(self) is called where it has to wait ... */
	void (*pause)(void *),
	    (*go_on)(void *);       /* ... and go_on(self) once it need not, from any thread */
	struct kept_answer *answer; /* of one that waited: what it waited for, which it gives back;
				     * NULL: that cannot be kept, and it makes its own */
	bool makes, waits;
	struct making *next;
};

/* Whether another makes it: then it is paused until answers_over() of that.  Else
 * this one does (once answers_stop() was called: on its own), and calls answers_over() in any case.
 */
bool answers_waits(struct answers *all, struct making *mine);

/* The answer is there (NULL: none that others can have), and who waits for it goes on.  `is_usual`:
 * it tells whether the answers of its route are kept; an error does not. */
void answers_over(struct answers *all, struct making *mine, struct kept_answer *answer,
		  bool is_usual);

/* Nobody waits from now on. */
void answers_stop(struct answers *all);

#endif
