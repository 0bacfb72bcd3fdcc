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

/* What was packed, of so many bytes, unpacked.  STORAGE, MEMORY. */
static inline bool packed_unpack(int codec, size_t decoded, const void *bytes, size_t len,
				 struct buf *out, struct err *err)
{
	size_t n;

	buf_clear(out);
	if (codec == CODEC_PLAIN) {
		buf_add(out, bytes, len);
		return !out->failed ||
		       err_set(err, ERR_MEMORY, "out of memory while reading a report");
	}
	if (codec != CODEC_ZSTD)
		return err_set(err, ERR_STORAGE, "a stored report has the unknown codec %d", codec);
	if (!buf_grow(out, decoded))
		return err_set(err, ERR_MEMORY, "out of memory while reading a report of %zu bytes",
			       decoded);
	n = ZSTD_decompress(out->data, decoded, bytes, len);
	if (ZSTD_isError(n) || n != decoded)
		return err_set(err, ERR_STORAGE, "a stored report is damaged: %s",
			       ZSTD_isError(n) ? ZSTD_getErrorName(n) : "its length differs");
	out->len = n;
	out->data[n] = '\0';
	return true;
}

/* The same of three columns: codec, bytes and data. */
static inline bool packed_read(struct sql_statement *s, int column, struct buf *out,
			       struct err *err)
{
	int64_t decoded = sql_int64(s, column + 1);

	return packed_unpack(sql_int(s, column), decoded < 0 ? SIZE_MAX : (size_t)decoded,
			     sql_blob(s, column + 2), sql_bytes(s, column + 2), out, err);
}

#endif
