/* profiler/import/archive.h -- private: the files in a .tar or a .zip, as they come.
 *
 * Read from its beginning on, in pieces of any size; nothing but the head of a member is held.
 */
#ifndef PROFILER_IMPORT_ARCHIVE_H
#define PROFILER_IMPORT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"

enum { ARCHIVE_START_BYTES = 512, ARCHIVE_NAME_CHARS = 255 };

/* What is done with its members, in order; false ends it with the error. */
struct archive_sink {
	void *self;
	bool (*begin)(void *self, const char *name, struct err *err);
	bool (*feed)(void *self, const char *bytes, size_t len, struct err *err);
	bool (*end)(void *self, struct err *err);
};

struct log_archive;

struct archive_reader {
	/* Whether a file that begins so is one; `len` is at least ARCHIVE_START_BYTES, or all. */
	bool (*recognises)(const char *bytes, size_t len);
	struct log_archive *(*create)(const struct archive_sink *sink,
				      struct err *err); /* NULL with MEMORY */
	void (*destroy)(struct log_archive *a);         /* NULL is fine */
	/* The next bytes.  False with UNSUPPORTED (encrypted, packed in a way that is not known,
	 * damaged) or an error of the sink. */
	bool (*feed)(struct log_archive *a, const char *bytes, size_t len, struct err *err);
	bool (*is_cut)(const struct log_archive *a); /* it ended within a member, or a head */
};
extern const struct archive_reader reader_archive;

#endif
