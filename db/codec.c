/* db/codec.c -- compressed blobs.
 *
 * The decoded length comes from the row, never from the frame, and bounds what
 * is written: a frame that claims more fails.
 */
#include <string.h>
#include <zstd.h>

#include "db/internal.h"

enum { LEVEL = 3, SMALLEST_BYTES = 512 }; /* level 9 takes three times as long for 1 % less */

bool codec_encode(const void *bytes, size_t len, struct buf *out, int *codec, struct err *err)
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

bool codec_decode(int codec, const void *bytes, size_t len, size_t decoded_bytes, struct buf *out,
		  struct err *err)
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
	if (!buf_grow(out, decoded_bytes))
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
