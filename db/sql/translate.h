/* db/sql/translate.h -- a statement of db/ in the words of PostgreSQL.
 *
 * db/ writes what both engines understand, and where there is no such word SQLite's: parameters as
 * ?N (or ?, the next), char(N), instr(), ifnull(), group_concat(), and INDEXED BY, which PostgreSQL
 * has no need of.  Texts and names in quotes stay as they are.
 */
#ifndef DB_SQL_TRANSLATE_H
#define DB_SQL_TRANSLATE_H

#include "fusion/base/buf.h"

/* Appends; *parameters is the highest number.  False where there is no memory. */
bool sql_translate(const char *text, struct buf *out, int *parameters);

#endif
