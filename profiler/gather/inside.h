/* profiler/gather/inside.h -- private to gather/: the files of a program, as they come. */
#ifndef PROFILER_GATHER_INSIDE_H
#define PROFILER_GATHER_INSIDE_H

#include <string.h>

#include "profiler/gather/gather.h"

enum { GATHER_MAX_ENTRIES = 100000 }; /* of a folder or archive, skipped ones too */

struct gather {
	const char *from; /* what messages call the folder or archive; borrowed */
	json_t *files;    /* {path: text}; begins as NULL */
	size_t bytes;
};

/* Whether an entry of this name, and what is below it, is no part of a program. */
static inline bool gather_skips(const char *name)
{
	return name[0] == '.' || strcmp(name, "__pycache__") == 0 || strcmp(name, "__MACOSX") == 0;
}

/* Asked before the bytes are read: whether a file of that path and size may be one more.  BOUND
 * or WORKLOAD. */
bool gather_admits(struct gather *g, const char *path, size_t bytes, struct err *err);

/* Keeps an admitted file.  SYNTAX where it is no UTF-8 text, WORKLOAD where its path came before.
 */
bool gather_keep(struct gather *g, const char *path, const char *text, size_t len, struct err *err);

/* The files in order; NULL with WORKLOAD where there is none.  Forgets them in either case. */
json_t *gather_finish(struct gather *g, struct err *err);

static inline void gather_drop(struct gather *g)
{
	json_decref(g->files);
	g->files = NULL;
}

#endif
