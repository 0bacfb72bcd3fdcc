/* db/found.h -- what a search finds, for db/list.c. */
#ifndef DB_FOUND_H
#define DB_FOUND_H

#include "db/internal.h"

struct search_query;

/* Lives in the arena of found_look(). */
struct found {
	bool asked;    /* false: there is no word, and every run is found */
	uint8_t *bits; /* a bit for each run by its number, from the lowest of a byte on */
	size_t bytes;
	int64_t n; /* runs */
	const struct search_query *query;
};

/* `text` NULL is an empty one.  BAD_REQUEST says what is wrong in it; STORAGE, MEMORY. */
bool found_look(sqlite3 *h, const char *text, struct arena *arena, struct found *out,
		struct err *err);

/* Appends " AND ...": run.id is one of them; `parameter` binds the bits, as "?4". */
void found_write(const struct found *f, const char *parameter, struct buf *sql);

/* Fills in `found` of the rows: where what was looked for is, outside of their names. */
bool found_show(sqlite3 *h, const struct found *f, struct arena *arena, struct run_page *page,
		struct err *err);

/* What found_write() asks of a connection. */
bool found_prepare(sqlite3 *h, struct err *err);

#endif
