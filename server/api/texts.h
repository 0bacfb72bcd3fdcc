/* server/api/texts.h -- the texts of an imported log, as the store has them. */
#ifndef SERVER_API_TEXTS_H
#define SERVER_API_TEXTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"

enum { TEXTS_LIST_MOST = 10000 /* rows of an answer */, TEXTS_MOST_BYTES = 64 << 20 };

/* Which texts, and which of their rows. */
struct texts_asked {
	const char *compile, *kind, *group; /* NULL: any; compile "none": of no compilation */
	int64_t process, resets;            /* -1: any */
	int64_t from, limit;                /* rows */
	const char *q;                      /* those that have it; NULL: all */
};

/* The answer of GET /runs/{id}/artifacts; new.  NULL with BAD_REQUEST, TIMELINE (damaged),
 * TOO_LARGE, STORAGE or MEMORY. */
json_t *texts_list(struct db *db, int64_t run, const struct texts_asked *asked, struct err *err);

struct text_asked {
	int64_t n;          /* of its row */
	int64_t from, most; /* bytes */
};

/* A part of a text into *out, which the caller finishes in any case.  False with NOT_FOUND,
 * BAD_REQUEST (`from` is after its end), TIMELINE, STORAGE or MEMORY. */
bool text_of_run(struct db *db, int64_t run, const struct text_asked *asked, struct buf *out,
		 struct err *err);

#endif
