/* profiler/import/names.h -- private: names that come again, each once, with its totals. */
#ifndef PROFILER_IMPORT_NAMES_H
#define PROFILER_IMPORT_NAMES_H

#include <jansson.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/vec.h"
#include "profiler/import/ledger.h"
#include "profiler/timeline/timeline.h"

/* Names are kept up to so many bytes in all, those after count as "others". */
enum { NAMES_MAX_BYTES = 32 << 20 };

/* Totals are kept apart by what has the name. */
enum name_group {
	GROUP_KERNEL,
	GROUP_COPY,
	GROUP_SET,
	GROUP_OP,
	GROUP_ANNOTATION,
	GROUP_API,
	GROUP_OTHER,
	GROUP_COUNT
};

struct name_total {
	enum name_group group;
	uint32_t timeline; /* its number in the writer's table */
	const char *text;
	size_t len;
	uint64_t hash;
	int64_t count, total_ns, bytes;
};

/* Zeroed is empty. */
struct names {
	struct arena arena;
	VEC(struct name_total) rows;
	uint32_t *slots; /* row + 1; 0: free */
	size_t n_slots;
	struct name_total others[GROUP_COUNT];
};

void names_finish(struct names *n);

/* The row of a name in a group, new where it is not known; good until the next call.
 * `writer` may be NULL. */
struct name_total *names_find(struct names *n, struct timeline_writer *writer,
			      enum name_group group, const char *text, size_t len,
			      struct ledger *ledger);

/* {"count", "total_us", "bytes", "by_name": [{"name", "count", "total_us"}]}, the longest
 * first, of one group.  New. */
json_t *names_json(const struct names *n, enum name_group group);

/* A text as JSON, whatever its bytes; *bad is set where some were no UTF-8. */
json_t *json_of_text(const char *text, size_t len, bool *bad);

#endif
