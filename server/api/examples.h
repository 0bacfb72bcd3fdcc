/* server/api/examples.h -- workloads to start from: web/examples/, embedded. */
#ifndef SERVER_EXAMPLES_H
#define SERVER_EXAMPLES_H

#include <jansson.h>

#include "fusion/base/err.h"

/* {"examples": [{"name", "title", "workload"}]}: those of web/examples/, then the models of
 * web/models/ and the blocks of the suite that comes with the program, with a "group"; new. */
json_t *examples_json(struct err *err);

/* The workload that a first start runs; new. */
json_t *examples_first(struct err *err);

#endif
