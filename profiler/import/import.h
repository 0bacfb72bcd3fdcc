/* profiler/import/import.h -- logs of PyTorch, read: one import of one or several files.
 *
 * Part of the profiler's public header.
 *
 *	struct import *im = import_create(put, self, 0, &err);
 *	import_begin(im, "trace.json.gz", &err);
 *	while (n = read(...))
 *		import_feed(im, bytes, n, &err);
 *	import_end(im, &err);
 *	json_t *report = import_finish(im, &err);
 *
 * A file's kind is reported by how it begins (readers of profiler/import/model.h); gzip is
 * undone, and a .tar or .zip is read file by file, of which those that are no log are listed
 * with the reason.  Files of one import are joined: a compile log and the trace of the same
 * process by compile id.  Memory does not grow with a file's size.  One thread each.
 */
#ifndef PROFILER_IMPORT_IMPORT_H
#define PROFILER_IMPORT_IMPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "profiler/timeline/timeline.h"

struct import;

/* `put` takes the blocks of a timeline of what the files hold; NULL: none is made.
 * `most_bytes`: of all files together once gzip is undone (0: any number).  NULL with
 * MEMORY. */
struct import *import_create(timeline_block_fn *put, void *self, size_t most_bytes,
			     struct err *err);
void import_destroy(struct import *im); /* NULL is fine */

/* The next file. */
bool import_begin(struct import *im, const char *name, struct err *err);

/* Its next bytes, of any number.  False with UNSUPPORTED where the file is no log of a
 * known kind, TOO_LARGE, MEMORY, or an error of `put`; damage within a log is no error,
 * it is counted. */
bool import_feed(struct import *im, const void *bytes, size_t len, struct err *err);
bool import_end(struct import *im, struct err *err);

/* All three for what `fd` holds to its end; it stays open. */
bool import_fd(struct import *im, const char *name, int fd, struct err *err);

/* The same for a file, and for all in a folder that were written since then; an empty one
 * is passed over (a process that compiled nothing leaves one), and so is a folder that
 * is not there. */
bool import_named(struct import *im, const char *path, const char *name, struct err *err);
bool import_folder(struct import *im, const char *folder, int64_t since_s, struct err *err);

/* What `breakeven import --json` prints (design, section 5), and more: kind, files,
 * graphs, breaks, recompiles, kernels, ledger, ...  Ends the timeline, whose facts are
 * the ledger.  The caller owns it; NULL with an error. */
json_t *import_finish(struct import *im, struct err *err);

#endif
