/* profiler/recorder/traced.h -- processes that send what CUPTI records, as one timeline.
 *
 * Part of the profiler's public header; used by `breakeven trace`.  One thread.
 */
#ifndef PROFILER_RECORDER_TRACED_H
#define PROFILER_RECORDER_TRACED_H

#include <jansson.h>
#include <poll.h>
#include <stdio.h>

#include "fusion/base/err.h"
#include "profiler/cupti/wire.h"

enum { TRACED_MAX_PROCESSES = 256 };

struct traced;

/* Writes to the file at `path`, which is overwritten. */
struct traced *traced_create(const char *path, struct err *err);
void traced_destroy(struct traced *t); /* NULL is fine */

/* Takes over the socket of a process that has connected. */
void traced_accept(struct traced *t, int fd);

/* Fills in what to wait for, at most TRACED_MAX_PROCESSES; how many. */
int traced_poll(const struct traced *t, struct pollfd *fds);

/* Reads what is there without waiting. */
bool traced_read(struct traced *t, struct err *err);

/* Writes out what has come, for whoever watches the file. */
bool traced_flush(struct traced *t, struct err *err);

/* Adds the files of a folder (TORCH_TRACE's) that were written since then, in pieces.
 * How many bytes; those past TRACED_FILE_BYTES are left out, and said in the facts. */
enum { TRACED_FILE_BYTES = 128 << 20 };
bool traced_add_files(struct traced *t, const char *folder, int64_t since_s, struct err *err);

/* Adds blocks of another timeline that are no events: the texts of the logs in that folder.  Of the
 * type of a sink, with a traced as `self`. */
bool traced_put_texts(void *traced, const void *block, size_t len, struct err *err);

/* The last blocks; then says on `out` what was recorded and what was lost.  *facts gets the same,
 * as the file has it: a new object, which may be NULL without memory. */
bool traced_finish(struct traced *t, FILE *out, json_t **facts, struct err *err);

#endif
