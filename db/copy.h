/* db/copy.h -- a store into another one, of the same kind or not. */
#ifndef DB_COPY_H
#define DB_COPY_H

#include <jansson.h>

#include "fusion/base/err.h"

/* Two stores, each a file or postgresql://..., with the folder of the files that programs read. */
struct store_copy {
	const char *from, *to;
	const char *from_files, *to_files;
};

/* Makes `to`, which must have neither runs nor tokens, what `from` is, with the same ids: all of
 * its rows in one transaction, of one moment, whoever writes to `from`.  No server may have `to`,
 * where it is a file.  Answers {"from", "to", "tables": rows by name, "files": bytes by SHA-256};
 * the caller owns it.  NULL with STORAGE, CONFLICT, CANCELLED. */
json_t *db_copy(const struct store_copy *copy, struct err *err);

#endif
