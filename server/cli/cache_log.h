/* server/cli/cache_log.h -- what a run found wrong with the cache of kernels. */
#ifndef SERVER_CLI_CACHE_LOG_H
#define SERVER_CLI_CACHE_LOG_H

struct report_run;

/* A line on stderr for each fault that the report's graphs tell of, once. */
void cache_log(const struct report_run *run);

#endif
