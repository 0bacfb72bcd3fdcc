/* server/cli/cache_log.h -- what a run found wrong with the cache of kernels. */
#ifndef SERVER_CLI_CACHE_LOG_H
#define SERVER_CLI_CACHE_LOG_H

#include <jansson.h>

/* A line on stderr for each fault that the report's graphs tell of, once. */
void cache_log(const json_t *report);

#endif
