/* db/bundle.h -- what bundle.c, which writes bundles, and bundle_take.c share. */
#ifndef DB_BUNDLE_H
#define DB_BUNDLE_H

#include "db/archive.h"
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

/* By BUNDLE_AT. */
static const char *const bundle_names[] = {
#define BUNDLE(table, rows) #table,
#include "db/bundle.def"
#undef BUNDLE
};

/* What a bundle has not. */
static inline bool bundle_omits(const char *table, const char *column)
{
	static const char *const omitted[][2] = {
#define BUNDLE_OMIT(table, column) { #table, #column },
#include "db/bundle.def"
#undef BUNDLE_OMIT
	};

	for (size_t i = 0; i < sizeof(omitted) / sizeof(omitted[0]); i++)
		if (strcmp(table, omitted[i][0]) == 0 && strcmp(column, omitted[i][1]) == 0)
			return true;
	return false;
}

#endif
