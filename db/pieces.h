/* db/pieces.h -- a file is read once, piece by piece: hashed, and copied where it is to go.  For
 * db/check.c and db/backup.c.
 */
#ifndef DB_PIECES_H
#define DB_PIECES_H

#include <errno.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/internal.h"
#include "fusion/base/err.h"
#include "fusion/base/write.h"

enum { PIECE_BYTES = 256 << 10, SHA_HEX_BYTES = 2 * SHA256_DIGEST_SIZE + 1 };

/* Hashes the next `bytes` of a descriptor (-1: all to its end), and writes them to `to` (-1:
 * nowhere).  False, with errno (0: it ended before), where one of them cannot be done. */
static inline bool piece_pass(int from, int64_t bytes, int to, struct sha256_ctx *sha)
{
	static _Thread_local char piece[PIECE_BYTES];

	while (bytes != 0) {
		size_t want = bytes > 0 && bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES;
		ssize_t n = read(from, piece, want);

		if (db_stopped()) {
			errno = ECANCELED;
			return false;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = 0;
		if (n <= 0)
			return n == 0 && bytes < 0;
		sha256_update(sha, (size_t)n, (const uint8_t *)piece);
		if (to >= 0 && !write_all(to, piece, (size_t)n))
			return false;
		if (bytes > 0)
			bytes -= n;
	}
	return true;
}

static inline void piece_hex(struct sha256_ctx *sha, char out[SHA_HEX_BYTES])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(sha, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* A file of the folder beside a store is named for its own SHA-256. */
static inline bool piece_is_hash(const char *name)
{
	return strlen(name) == SHA_HEX_BYTES - 1 &&
	       strspn(name, "0123456789abcdef") == SHA_HEX_BYTES - 1;
}

/* STORAGE, or FULL where there is no room, with errno. */
static inline bool piece_failed(const char *path, const char *what, struct err *err)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	return err_set(err, full ? ERR_FULL : ERR_STORAGE, "%.300s %s: %s", path, what,
		       errno ? strerror(errno) : "it is shorter than it was");
}

#endif
