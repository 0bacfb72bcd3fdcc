/* server/cli/run_post.h -- a run that was measured here, posted to a server as a run of its own. */
#ifndef SERVER_RUN_POST_H
#define SERVER_RUN_POST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"

struct run_post;

/* For the server at `url`; NULL with IO where that is none.  One thread. */
struct run_post *run_post_create(const char *url, struct err *err);
void run_post_destroy(struct run_post *p); /* NULL is fine */

/* Keeps a block of the run's timeline (struct profiler_options); self is the run_post. */
bool run_post_block(void *self, const void *block, size_t len, struct err *err);

/* Posts the report with what was kept; the run's number there.  False with IO where the server
 * was not reached, else with its own code and message. */
bool run_post_send(struct run_post *p, const json_t *report, int64_t *id, struct err *err);

#endif
