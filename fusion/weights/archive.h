/* fusion/weights/archive.h -- private to weights/: the entries of a zip archive that lies in
 * memory.
 *
 * A library for archives copies what it reads; here an entry is used where it lies, which is why
 * its place is all that is asked.  Only entries that are stored, as torch.save stores them.
 */
#ifndef FUSION_WEIGHTS_ARCHIVE_H
#define FUSION_WEIGHTS_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fusion/base/err.h"

struct archive_entry {
	const char *name; /* within the archive; not terminated */
	size_t name_len;
	uint64_t header; /* where its own header is */
	uint64_t bytes;
	bool stored; /* else compressed or encrypted */
};
struct archive {
	const unsigned char *data;
	size_t bytes;
	struct archive_entry *entries; /* by name */
	size_t n;
};

/* Reads the directory at the end of the archive; OP.  *a is to be closed in either case. */
bool archive_open(struct archive *a, const void *data, size_t bytes, struct err *err);

static inline void archive_close(struct archive *a)
{
	free(a->entries);
	*a = (struct archive){ 0 };
}

/* NULL: there is none. */
const struct archive_entry *archive_find(const struct archive *a, const char *name);

/* Where its bytes begin in the archive, which has all of them; OP. */
bool archive_place(const struct archive *a, const struct archive_entry *e, size_t *at,
		   struct err *err);

#endif
