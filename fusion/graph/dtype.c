/* fusion/graph/dtype.c -- the rows of dtypes.def as data. */
#include "fusion/dtype.h"

#include <string.h>

#include "fusion/base/narrow.h"

struct dtype_row {
	const char *name;
	size_t bytes;
	enum dtype_category category;
};

static const struct dtype_row rows[DTYPE_COUNT] = {
#define DTYPE(id, text, c_type, kind)                                                              \
	[DTYPE_##id] = { .name = text, .bytes = sizeof(c_type), .category = CATEGORY_##kind },
#include "fusion/dtypes.def"
#undef DTYPE
};

static const struct {
	const char *name;
	enum dtype dtype;
} aliases[] = {
	{ "float", DTYPE_F32 }, { "double", DTYPE_F64 }, { "long", DTYPE_I64 },
	{ "half", DTYPE_F16 },  { "int", DTYPE_I32 },    { "short", DTYPE_I16 },
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
	enum dtype low = a < b ? a : b, high = a < b ? b : a;

	if (low == DTYPE_U8 && high == DTYPE_I8) /* neither holds the other */
		return DTYPE_I16;
	if (low == DTYPE_F16 && high == DTYPE_BF16)
		return DTYPE_F32;
	return high; /* dtypes.def is in order of promotion */
}

enum dtype dtype_wide(enum dtype dtype)
{
	if (dtype == DTYPE_F16 || dtype == DTYPE_BF16)
		return DTYPE_F32;
	return rows[dtype].category == CATEGORY_INT ? DTYPE_I64 : dtype;
}

/* As the processor converts: what does not fit becomes the lowest int. */
static int64_t to_int(double f)
{
	return f >= -0x1p63 && f < 0x1p63 ? (int64_t)f : INT64_MIN;
}

double dtype_get_double(enum dtype dtype, const void *data, int64_t i)
{
	switch (dtype) {
	case DTYPE_F64:
		return ((const double *)data)[i];
	case DTYPE_F32:
		return ((const float *)data)[i];
	case DTYPE_F16:
		return half_to_float(((const uint16_t *)data)[i]);
	case DTYPE_BF16:
		return bfloat_to_float(((const uint16_t *)data)[i]);
	default:
		return (double)dtype_get_int(dtype, data, i);
	}
}

int64_t dtype_get_int(enum dtype dtype, const void *data, int64_t i)
{
	switch (dtype) {
	case DTYPE_BOOL:
	case DTYPE_U8:
		return ((const uint8_t *)data)[i];
	case DTYPE_I8:
		return ((const int8_t *)data)[i];
	case DTYPE_I16:
		return ((const int16_t *)data)[i];
	case DTYPE_I32:
		return ((const int32_t *)data)[i];
	case DTYPE_I64:
		return ((const int64_t *)data)[i];
	default:
		return to_int(dtype_get_double(dtype, data, i));
	}
}

void dtype_put_double(enum dtype dtype, void *data, int64_t i, double value)
{
	switch (dtype) {
	case DTYPE_F64:
		((double *)data)[i] = value;
		return;
	case DTYPE_F32:
		((float *)data)[i] = (float)value;
		return;
	case DTYPE_F16:
		((uint16_t *)data)[i] = float_to_half((float)value);
		return;
	case DTYPE_BF16:
		((uint16_t *)data)[i] = float_to_bfloat((float)value);
		return;
	case DTYPE_BOOL:
		((uint8_t *)data)[i] = value != 0;
		return;
	default:
		dtype_put_int(dtype, data, i, to_int(value));
	}
}

void dtype_put_int(enum dtype dtype, void *data, int64_t i, int64_t value)
{
	switch (dtype) {
	case DTYPE_BOOL:
		((uint8_t *)data)[i] = value != 0;
		return;
	case DTYPE_U8:
		((uint8_t *)data)[i] = (uint8_t)value;
		return;
	case DTYPE_I8:
		((int8_t *)data)[i] = (int8_t)value;
		return;
	case DTYPE_I16:
		((int16_t *)data)[i] = (int16_t)value;
		return;
	case DTYPE_I32:
		((int32_t *)data)[i] = (int32_t)value;
		return;
	case DTYPE_I64:
		((int64_t *)data)[i] = value;
		return;
	case DTYPE_F32: /* rounded once */
		((float *)data)[i] = (float)value;
		return;
	case DTYPE_F16:
	case DTYPE_BF16:
		dtype_put_double(dtype, data, i, (double)(float)value);
		return;
	default:
		dtype_put_double(dtype, data, i, (double)value);
	}
}
