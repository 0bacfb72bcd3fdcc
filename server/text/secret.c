/* server/text/secret.c -- see secret.h. */
#include "server/text/secret.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char *const prefixes[] = { [SECRET_TOKEN] = "bk_", [SECRET_JOB] = "bj_" };

static void write_hex(const uint8_t *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

bool secret_make(enum secret_kind kind, char out[SECRET_CHARS + 1], struct err *err)
{
	uint8_t bits[32];

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return err_set(err, ERR_IO, "the system gives no random bits for a token");
	memcpy(out, prefixes[kind], 3);
	write_hex(bits, sizeof(bits), out + 3);
	return true;
}

bool secret_is(enum secret_kind kind, const char *text)
{
	return strncmp(text, prefixes[kind], 3) == 0;
}

static void sha256(const char *prefix, const char *text, uint8_t hash[SECRET_HASH_BYTES])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, strlen(prefix), (const uint8_t *)prefix);
	sha256_update(&ctx, strlen(text), (const uint8_t *)text);
	sha256_digest(&ctx, SECRET_HASH_BYTES, hash);
}

void secret_hash(const char *text, uint8_t hash[SECRET_HASH_BYTES])
{
	sha256("", text, hash);
}

void secret_csrf(const char *text, char out[CSRF_CHARS + 1])
{
	uint8_t hash[SECRET_HASH_BYTES];

	sha256("csrf:", text, hash);
	write_hex(hash, sizeof(hash), out);
}
