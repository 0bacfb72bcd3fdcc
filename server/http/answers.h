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

struct answers;
struct route;

/* One answer; whoever has it from here gives it back by answer_release(). */
struct kept_answer {
	const struct route *route; /* that it is of */
	const char *type;          /* of its content */
	const char *text;
	size_t len;
	const char *filename; /* offered for download; NULL: shown */
	char etag[48];        /* without its quotes, of the plain one */
};

enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD, CODING_COUNT };

/* How often what answers are made from has changed. */
struct answers_version {
	uint64_t store; /* something was written */
	uint64_t live;  /* a job said how far it is */
};

/* NULL with MEMORY. */
struct answers *answers_create(struct err *err);
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
void answer_release(struct answers *all, struct kept_answer *a);

/* One more who has it. */
struct kept_answer *answer_share(struct answers *all, struct kept_answer *a);

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
const char *coding_name(enum coding coding);

/* What is best of a header Accept-Encoding; NULL is fine. */
enum coding coding_of(const char *accept);

#endif
