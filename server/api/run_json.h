/* server/api/run_json.h -- runs as the API shows them. */
#ifndef SERVER_RUN_JSON_H
#define SERVER_RUN_JSON_H

#include "server/http/request.h"

/* A row of the list; with the live state where a worker has it in hand. */
json_t *run_list_json(struct app *app, const struct run *run);

/* One run without its report: the row, the workload, error and dates. */
json_t *run_head_json(struct app *app, const struct run *run);

/* events_describe_fn: the run's state as a server-sent event; `self` is the
 * struct app. */
size_t run_event(void *self, int64_t id, char *out, size_t size, bool *last);

#endif
