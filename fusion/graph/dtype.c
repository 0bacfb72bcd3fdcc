/* fusion/graph/dtype.c -- the rows of dtypes.def as data. */
#include "fusion/graph/dtype.h"

#include <string.h>

struct row {
	const char *name;
	size_t bytes;
	enum dtype_category category;
};

static const struct row rows[DTYPE_COUNT] = {
#define DTYPE(id, text, c_type, kind)                                                              \
	[DTYPE_##id] = { .name = text, .bytes = sizeof(c_type), .category = CATEGORY_##kind },
#include "fusion/graph/dtypes.def"
#undef DTYPE
};

static const struct {
	const char *name;
	enum dtype dtype;
} aliases[] = {
	{ "float", DTYPE_F32 },
	{ "double", DTYPE_F64 },
	{ "long", DTYPE_I64 },
};

const char *dtype_name(enum dtype dtype)
{
	return rows[dtype].name;
}

size_t dtype_bytes(enum dtype dtype)
{
	return rows[dtype].bytes;
}

enum dtype_category dtype_category(enum dtype dtype)
{
	return rows[dtype].category;
}

bool dtype_from_name(const char *name, enum dtype *out)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!strcmp(rows[i].name, name)) {
			*out = (enum dtype)i;
			return true;
		}
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].name, name)) {
			*out = aliases[i].dtype;
			return true;
		}
	return false;
}

enum dtype dtype_promote(enum dtype a, enum dtype b)
{
	return a > b ? a : b; /* dtypes.def is in order of promotion */
}
