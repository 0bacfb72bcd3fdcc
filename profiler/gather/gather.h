/* profiler/gather/gather.h -- the program in a folder or a .zip: {path: text} of its .py files.
 *
 * A new object, in the order of the paths, without what no program is meant by: hidden files,
 * __pycache__, virtual environments.  NULL with WORKLOAD or BOUND for what no program may have
 * (web/docs/workloads.md), symbolic links among them; SYNTAX for what is no UTF-8. */
#ifndef PROFILER_GATHER_GATHER_H
#define PROFILER_GATHER_GATHER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"

/* IO where it cannot be read. */
json_t *gather_folder(const char *folder, struct err *err);

/* What is in its only folder, where that is no package; else what is in it.  Messages call it
 * `name`. */
json_t *gather_zip(const void *bytes, size_t len, const char *name, struct err *err);

/* Whether the name ends in .py. */
bool gather_is_python(const char *name);

#endif
