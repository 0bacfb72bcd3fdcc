/* fusion/base/err.h -- how a function says what went wrong.
 *
 * A function that can fail takes `struct err *err` last and returns false or
 * NULL.  *err is untouched on success.  The message is complete: it names the
 * thing, the place and the remedy, and can be shown to a user as it is.
 * It begins in lower case unless a name begins it, clauses are apart by "; ",
 * and no full stop ends it, so that it also fits after "breakeven: ".
 *
 *	struct err err = { 0 };
 *	if (!lang_parse(..., &err))
 *		fprintf(stderr, "%s\n", err.message);
 */
#ifndef FUSION_BASE_ERR_H
#define FUSION_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

enum err_code {
	ERR_NONE = 0,
#define ERROR(id, status, name) ERR_##id,
#include "fusion/base/errors.def"
#undef ERROR
	ERR_COUNT
};

enum { ERR_MESSAGE_BYTES = 512, ERR_FILE_BYTES = 128 };

struct err {
	enum err_code code;
	int line;                  /* 1-based line in the user's source, 0 where there is none */
	int column;                /* 1-based column, 0 where there is none */
	char file[ERR_FILE_BYTES]; /* that the line is of, in a program of several; "" */
	char message[ERR_MESSAGE_BYTES];
};

/* Fills *err; a message that is too long is cut.  err may be NULL.  Always
 * returns false, so that `return err_set(err, ...)` reads well. */
bool err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a place in the user's source. */
bool err_at(struct err *err, enum err_code code, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The HTTP status and the JSON code of a row of errors.def. */
int err_status(enum err_code code);
const char *err_name(enum err_code code);

/* The row whose JSON code is `name`; ERR_INTERNAL where there is none (an
 * error that crossed a process boundary). */
enum err_code err_from_name(const char *name);

#endif
