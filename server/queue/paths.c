/* server/queue/paths.c -- see paths.h. */
#include "server/queue/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool default_cache_dir(char *out, size_t out_bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len;

	if (cache && *cache == '/') {
		mkdir(cache, 0700); /* an error shows when the cache is used */
		len = snprintf(out, out_bytes, "%s/breakeven", cache);
	} else if (home && *home == '/') {
		char parent[4096];

		snprintf(parent, sizeof(parent), "%s/.cache", home);
		mkdir(parent, 0700);
		len = snprintf(out, out_bytes, "%s/.cache/breakeven", home);
	} else {
		return false;
	}
	return len > 0 && (size_t)len < out_bytes;
}
