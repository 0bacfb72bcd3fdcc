/* profiler/import/flows.h -- private: which flows begin, and which end.
 *
 * Two bits for each id, in pages: some 0.25 byte a flow where ids are dense, as
 * correlation ids are.
 */
#ifndef PROFILER_IMPORT_FLOWS_H
#define PROFILER_IMPORT_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

enum { FLOW_STARTS = 1, FLOW_ENDS = 2, FLOW_PAGE_IDS = 1 << 14, FLOW_MAX_PAGES = 1 << 13 };

struct flow_page {
	uint64_t number;
	uint8_t *bits; /* NULL: free slot */
};

/* Zeroed is empty. */
struct flows {
	struct flow_page *pages; /* 2 * FLOW_MAX_PAGES slots */
	int n_pages;
};

void flows_finish(struct flows *f);

/* Notes that a flow begins or ends; false: no room. */
bool flows_note(struct flows *f, uint64_t id, int bits);

/* What was noted of an id. */
int flows_have(const struct flows *f, uint64_t id);

/* How many have begun and not ended, ended and not begun, and both. */
void flows_count(const struct flows *f, int64_t *open, int64_t *orphans, int64_t *whole);

#endif
