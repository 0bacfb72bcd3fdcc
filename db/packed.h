/* db/packed.h -- blobs that are compressed where that pays: reports, findings, answers.
 *
 * The decoded length comes from the row, never from the frame, and bounds what is written: a frame
 * that claims more fails.
 */
#ifndef DB_PACKED_H
#define DB_PACKED_H

#include <zstd.h>

#include "db/internal.h"
#include "fusion/base/buf.h"

enum { CODEC_PLAIN = 0, CODEC_ZSTD = 1 }; /* of a blob, in a column of its own */
enum { LEVEL = 3, SMALLEST_BYTES = 512 }; /* level 9 takes three times as long for 1 % less */

/* Appends nothing: `out` becomes the bytes as they are to be stored, *codec how.  MEMORY, STORAGE.
 */
static inline bool packed_make(const void *bytes, size_t len, struct buf *out, int *codec,
			       struct err *err)
{
	size_t n;

	buf_clear(out);
	*codec = CODEC_PLAIN;
	if (len < SMALLEST_BYTES) {
		buf_add(out, bytes, len);
	} else {
		size_t bound = ZSTD_compressBound(len);

		if (buf_grow(out, bound)) {
			n = ZSTD_compress(out->data, bound, bytes, len, LEVEL);
			if (ZSTD_isError(n))
				return err_set(err, ERR_STORAGE, "compress: %s",
					       ZSTD_getErrorName(n));
			out->len = n;
			*codec = CODEC_ZSTD;
		}
	}
	return !out->failed ||
	       err_set(err, ERR_MEMORY, "out of memory while compressing %zu bytes", len);
}

/* What three columns, codec, bytes and data, have, unpacked.  STORAGE, MEMORY. */
static inline bool packed_read(struct sql_statement *s, int column, struct buf *out,
			       struct err *err)
{
	int codec = sql_int(s, column);
	int64_t decoded = sql_int64(s, column + 1);
	const void *bytes = sql_blob(s, column + 2);
	size_t len = sql_bytes(s, column + 2);
	size_t decoded_bytes = (size_t)decoded;
	size_t n;

	buf_clear(out);
	if (codec == CODEC_PLAIN) {
		buf_add(out, bytes, len);
		return !out->failed ||
		       err_set(err, ERR_MEMORY, "out of memory while reading a report");
	}
	if (codec != CODEC_ZSTD)
		return err_set(err, ERR_STORAGE, "a stored report has the unknown codec %d", codec);
	if (decoded < 0 || !buf_grow(out, decoded_bytes))
		return err_set(err, ERR_MEMORY, "out of memory while reading a report of %zu bytes",
			       decoded_bytes);
	n = ZSTD_decompress(out->data, decoded_bytes, bytes, len);
	if (ZSTD_isError(n) || n != decoded_bytes)
		return err_set(err, ERR_STORAGE, "a stored report is damaged: %s",
			       ZSTD_isError(n) ? ZSTD_getErrorName(n) : "its length differs");
	out->len = n;
	out->data[n] = '\0';
	return true;
}

#endif
