/* server/cli/poster.h -- a timeline's file, posted to a server while it grows.
 *
 * The file is the queue: a server that is slow or away for a while holds nobody up and
 * takes no memory here.
 */
#ifndef SERVER_CLI_POSTER_H
#define SERVER_CLI_POSTER_H

#include <jansson.h>
#include <stdint.h>

#include "fusion/base/err.h"

struct poster;

/* Begins a run on the server with `begin` ({name, command, ...}; taken over), and posts
 * the blocks of `file` from a thread of its own.  NULL with why not. */
struct poster *poster_start(const char *url, const char *file, json_t *begin, struct err *err);

/* The run's number there. */
int64_t poster_run(const struct poster *p);

/* What the run is an import of: goes with its end.  Takes over `imported`. */
void poster_set_import(struct poster *p, json_t *imported);

/* The file is whole: posts the rest and ends the run, as failed where `error` is not
 * NULL.  Frees the poster; false with what was not posted. */
bool poster_finish(struct poster *p, const char *error, struct err *err);

#endif
