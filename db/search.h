/* db/search.h -- what runs are found by: their names, notes, sources and reasons of breaks, each
 * distinct text once in an index of FTS5.
 *
 * A search is words with blanks between them, of which a run must have each, somewhere: a part of a
 * word is enough, and case does not matter.  "in quotes" blanks count; -word: it must not have it;
 * source:word, note:word, reason:word: there alone.  #7 or 7 is also the run itself, and a word
 * also the begin of its commit.
 */
#ifndef DB_SEARCH_H
#define DB_SEARCH_H

#include "db/internal.h"

enum {
	SEARCH_BYTES = 400,
	SEARCH_WORDS = 8,
	SEARCH_INDEXED = 3, /* characters; shorter words are looked for in names and notes alone */
};

struct search_word {
	bool without;
	const char *kind; /* of a text; NULL: any */
	const char *text; /* never "" */
	bool is_phrase;   /* it was in quotes */
};

struct search {
	struct search_word at[SEARCH_WORDS];
	int n; /* 0: everything is found */
	const char *json; /* what the statement binds, where it has any */
};

/* Texts live in the arena; `text` NULL is an empty one.  BAD_REQUEST says what is wrong. */
bool search_parse(const char *text, struct arena *arena, struct search *out, struct err *err);

/* "found(run) AS MATERIALIZED (...)": the runs that have each word; `json` is the parameter that
 * binds search.json, as "?4". */
void search_write(struct buf *sql, const struct search *s, const char *json);

/* Fills in `found` of the rows: where what was looked for is, outside of their names. */
bool search_show(sqlite3 *h, const struct search *s, struct arena *arena, struct run_page *page,
		 struct err *err);

/* Within a turn of the writer: what names the run, its note and its source are as they are now; the
 * reasons of its breaks, a line each, NULL: not known. */
bool search_put(struct db *db, int64_t run, struct err *err);
bool search_put_reasons(struct db *db, int64_t run, const char *reasons, struct err *err);

/* Likewise, after runs were removed for good: texts that no run has go. */
bool search_forget(struct db *db, struct err *err);

#endif
