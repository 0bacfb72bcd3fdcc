/* server/text/secret.h -- tokens and cookies: made of random bits, kept as their SHA-256.
 *
 * "bk_" and 64 hex digits of 256 random bits; "bj_" is that of a job, which posts of its own runs
 * alone.  Safe in several threads at once.
 */
#ifndef SERVER_TEXT_SECRET_H
#define SERVER_TEXT_SECRET_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "fusion/base/err.h"

enum {
	SECRET_CHARS = 3 + 64,
	CSRF_CHARS = 64,
};

enum secret_kind { SECRET_TOKEN, SECRET_JOB };

/* A new one with its NUL.  IO where the system gives no random bits. */
bool secret_make(enum secret_kind kind, char out[SECRET_CHARS + 1], struct err *err);

/* Whether a text is meant as one of that kind, whatever it is worth. */
bool secret_is(enum secret_kind kind, const char *text);

void secret_hash(const char *text, uint8_t hash[SECRET_HASH_BYTES]);

/* What a browser that has the cookie `text` proves itself with when it writes: hex digits. */
void secret_csrf(const char *text, char out[CSRF_CHARS + 1]);

#endif
