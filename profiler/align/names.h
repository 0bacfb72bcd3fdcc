/* profiler/align/names.h -- private: when two names mean the same.
 *
 * What a compiler counts or hashes is in a name, and another compilation counts from elsewhere:
 * triton_poi_fused_add_0 and _1, Step#3 and #4, 0x7f12, fused_add_9f3c01ab.  Such parts are written
 * as "#"; so are numbers among the arguments of a template.  A rule, no list of names.
 */
#ifndef PROFILER_ALIGN_NAMES_H
#define PROFILER_ALIGN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/vec.h"

enum { NAMES_NONE = 0, NAMES_MOST_WORDS = 48 };

/* Texts with a number each, from 1; zeroed is empty. */
struct name_ids {
	struct arena arena;
	VEC(const char *) texts; /* by number - 1 */
	uint32_t *slots;         /* numbers; 0: free */
	size_t n_slots;
};
void name_ids_finish(struct name_ids *t);

/* The number of a name as it counts here; NAMES_NONE: out of memory. */
uint32_t name_ids_find(struct name_ids *t, const char *name);

/* The first words of a name, arguments of templates and numbers apart: hashes, rising. */
struct name_words {
	int n;
	uint32_t hash[NAMES_MOST_WORDS];
};
void name_words_of(struct name_words *to, const char *name);

/* How alike two names are by their words: 0 to 1. */
double name_likeness(const struct name_words *a, const struct name_words *b);

#endif
