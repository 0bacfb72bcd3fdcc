/* profiler/gather.h -- the files of a program, as they come from a folder or an archive.
 *
 * What is taken of either, and its bounds, are the same: .py files, without those that no
 * program is meant by (hidden ones, __pycache__). */
#ifndef PROFILER_GATHER_H
#define PROFILER_GATHER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"

struct gather {
	const char *from; /* what messages call the folder or archive; borrowed */
	json_t *files;    /* {path: text}; begins as NULL */
	size_t bytes;
};

/* Whether an entry of this name, and what is below it, is no part of a program. */
bool gather_skips(const char *name);
bool gather_is_python(const char *name);

/* Asked before the bytes are read: whether a file of that path and size may be one more.  BOUND
 * or WORKLOAD. */
bool gather_admits(struct gather *g, const char *path, size_t bytes, struct err *err);

/* Keeps an admitted file.  SYNTAX where it is no UTF-8 text, WORKLOAD where its path came before.
 */
bool gather_keep(struct gather *g, const char *path, const char *text, size_t len, struct err *err);

/* The files in the order of their paths, a new object; NULL with WORKLOAD where there is none.
 * Forgets them in either case. */
json_t *gather_finish(struct gather *g, struct err *err);
void gather_drop(struct gather *g);

/* The program in a .zip: what is in its only folder where that is no package, else what is in it.
 * A new object {path: text}.  NULL with WORKLOAD or BOUND: no archive, encrypted, a symbolic
 * link, a path out of it, more than a program may have. */
json_t *gather_zip(const void *bytes, size_t len, const char *name, struct err *err);

/* Whether the bytes begin as those of a .zip do. */
bool gather_is_zip(const void *bytes, size_t len);

#endif
