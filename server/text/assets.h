/* server/text/assets.h -- the page's files, embedded in the program.
 *
 * Made by web/embed.sh from web/ and the vendored npm files.  `path` is the
 * path of the URL ("/assets/css/base.css"); the page itself, which every view's
 * URL answers with, stands under "/index.html".
 */
#ifndef SERVER_ASSETS_H
#define SERVER_ASSETS_H

#include <stddef.h>

struct asset {
	const char *path;
	const char *type;    /* Content-Type, with its charset */
	const char *etag;    /* quoted, as it goes into the header */
	const char *imports; /* paths of all that a script imports, parted by a space */
	const unsigned char *gzip_data;
	size_t gzip_len;
	const unsigned char *data;
	size_t len;
};

/* Sorted by strcmp of `path`, for bsearch; constant, so free to all threads. */
extern const struct asset assets[];
extern const size_t n_assets;

#endif
