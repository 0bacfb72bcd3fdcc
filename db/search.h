/* db/search.h -- what runs are found by: their names, notes, sources and reasons of breaks, each
 * distinct text once in an index of FTS5, or
 * of pg_trgm where the store is shared.
 */
#ifndef DB_SEARCH_H
#define DB_SEARCH_H

#include "db/internal.h"

/* Within a turn of the writer: what names the run, its note, its source and, unless NULL, the
 * reasons of its breaks, a line each, are what it is found by. */
bool search_put(struct db *db, int64_t run, const char *reasons, struct err *err);

/* Likewise, after something that a run was found by went: texts that no run has go. */
static inline bool search_forget(struct db *db, struct err *err)
{
	const char *statements[] = {
		"DELETE FROM search_gone WHERE EXISTS (SELECT 1 FROM search_run WHERE"
		" search_run.text = search_gone.text)",
		db->is_shared ? NULL /* its index is in step with the texts */
			      : "INSERT INTO search(search, rowid, body) SELECT 'delete', id, body"
				" FROM search_text WHERE id IN (SELECT text FROM search_gone)",
		"DELETE FROM search_text WHERE id IN (SELECT text FROM search_gone)",
		"DELETE FROM search_gone",
	};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(statements) / sizeof(statements[0]); i++)
		ok = !statements[i] ||
		     db_step_once(db->writer, db_prepare(db->writer, err, statements[i], ""),
				  "forget what no run is found by", err);
	return ok;
}

#endif
