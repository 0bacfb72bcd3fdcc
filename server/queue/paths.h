/* server/queue/paths.h -- where commands keep files when no flag says so. */
#ifndef SERVER_PATHS_H
#define SERVER_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* $XDG_CACHE_HOME/breakeven, else ~/.cache/breakeven; makes its parent.
 * False where there is no home. */
bool default_cache_dir(char *out, size_t out_bytes);

#endif
