/* profiler/import/repair.h -- private: JSON as profilers have been seen to write it, mended. */
#ifndef PROFILER_IMPORT_REPAIR_H
#define PROFILER_IMPORT_REPAIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/buf.h"

struct repairs {
	bool control, escape, not_finite, comma; /* what was mended */
};

/* The text with bare control characters and unknown escapes escaped, nan and inf as
 * null, commas that nothing follows dropped and missing ones before an item put in
 * (pytorch issues 113001, 130622, 146900).  False where nothing was to be mended. */
bool repair_json(const char *text, size_t len, struct buf *out, struct repairs *done);

/* The value of a text, mended where it must be: then what was mended is counted (NULL: by
 * nobody).  U+FFFD stands for NUL, and integers over 64 bits are reals.  New; NULL. */
struct ledger;
json_t *json_of_log(const char *text, size_t len, struct ledger *ledger);

#endif
