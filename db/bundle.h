/* db/bundle.h -- what bundle.c, which writes bundles, and bundle_take.c share. */
#ifndef DB_BUNDLE_H
#define DB_BUNDLE_H

#include "db/internal.h"
#include "db/pieces.h"
#include "fusion/base/buf.h"

#define BUNDLE_MAGIC "breakeven-bundle 1\n"
#define BUNDLE_SHA "sha256 "

enum {
#define BUNDLE(table, rows) BUNDLE_AT_##table,
#include "db/bundle.def"
#undef BUNDLE
	BUNDLE_TABLES
};

enum {
	BUNDLE_VERSION = 1,
	BUNDLE_LAST_BYTES = sizeof(BUNDLE_SHA) - 1 + SHA_HEX_BYTES, /* its last line */
	BUNDLE_TEXT_BYTES = 64 << 10,                               /* of a cell */
	BUNDLE_LINE_BYTES = 64 << 20,
	BUNDLE_REPORT_BYTES = 256 << 20, /* when it is unpacked */
};

int bundle_table(const char *name); /* a BUNDLE_AT; -1: a bundle has no rows of it */
bool bundle_omits(const char *table, const char *column);

#endif
