/* profiler/import/unzip.h -- private: gzip undone as it comes (zlib). */
#ifndef PROFILER_IMPORT_UNZIP_H
#define PROFILER_IMPORT_UNZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"

struct unzip;

/* Takes what was unpacked; false ends it with its error. */
typedef bool unzip_fn(void *self, const char *bytes, size_t len, struct err *err);

struct unzip *unzip_create(unzip_fn *out, void *self, struct err *err);
void unzip_destroy(struct unzip *u); /* NULL is fine */

/* The next bytes of the stream, or of several one behind the other.  Behind damage the
 * rest is passed over: see unzip_is_broken(). */
bool unzip_feed(struct unzip *u, const void *bytes, size_t len, struct err *err);
bool unzip_is_broken(const struct unzip *u);

/* Whether the last stream has ended. */
bool unzip_is_whole(const struct unzip *u);

#endif
