/* fusion/base/err.c -- error values; the rows come from errors.def. */
#include "fusion/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int status;
	const char *name;
} rows[ERR_COUNT] = {
	[ERR_NONE] = { 200, "none" },
#define ERROR(id, status, name) [ERR_##id] = { status, name },
#include "fusion/base/errors.def"
#undef ERROR
};

__attribute__((format(printf, 5, 0))) static void
fill(struct err *err, enum err_code code, int line, int column, const char *format, va_list args)
{
	if (!err)
		return;
	err->code = code;
	err->line = line;
	err->column = column;
	err->file[0] = '\0';
	vsnprintf(err->message, sizeof(err->message), format, args);
}

#undef err_set /* the words of tests/analyzer.h for it */
#undef err_at
bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(err, code, 0, 0, format, args);
	va_end(args);
	return false;
}

bool err_at(struct err *err, enum err_code code, int line, int column, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(err, code, line, column, format, args);
	va_end(args);
	return false;
}

int err_status(enum err_code code)
{
	return code >= 0 && code < ERR_COUNT ? rows[code].status : 500;
}

const char *err_name(enum err_code code)
{
	return code >= 0 && code < ERR_COUNT ? rows[code].name : "internal";
}

enum err_code err_from_name(const char *name)
{
	for (int i = 1; i < ERR_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (enum err_code)i;
	return ERR_INTERNAL;
}
