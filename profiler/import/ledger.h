/* profiler/import/ledger.h -- private: counts of what was lost, mended or doubtful. */
#ifndef PROFILER_IMPORT_LEDGER_H
#define PROFILER_IMPORT_LEDGER_H

#include <jansson.h>
#include <stdint.h>

enum ledger_row {
#define LEDGER(id, fate, name, what) LEDGER_##id,
#include "profiler/import/ledger.def"
#undef LEDGER
	LEDGER_COUNT
};

struct ledger {
	int64_t n[LEDGER_COUNT];
};

/* {"kept": {name: count}, "repaired": ..., "dropped": ..., "what": {name: text}}; the
 * texts of those that are not zero.  New. */
json_t *ledger_json(const struct ledger *l);

/* How many were dropped, and how many are kept although doubtful. */
void ledger_sums(const struct ledger *l, int64_t *dropped, int64_t *doubtful);

#endif
