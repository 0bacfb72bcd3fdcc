/* profiler/import/unzip.c -- see unzip.h. */
#include "profiler/import/unzip.h"

#include <stdlib.h>
#include <zlib.h>

enum { OUT_BYTES = 256 << 10, GZIP_WINDOW = 15 + 16 };

struct unzip {
	z_stream z;
	unzip_fn *out;
	void *self;
	bool broken, whole;
	char bytes[OUT_BYTES];
};

struct unzip *unzip_create(unzip_fn *out, void *self, struct err *err)
{
	struct unzip *u = calloc(1, sizeof(*u));

	if (u && inflateInit2(&u->z, GZIP_WINDOW) == Z_OK) {
		u->out = out;
		u->self = self;
		return u;
	}
	free(u);
	err_set(err, ERR_MEMORY, "out of memory for gzip");
	return NULL;
}

void unzip_destroy(struct unzip *u)
{
	if (!u)
		return;
	inflateEnd(&u->z);
	free(u);
}

bool unzip_feed(struct unzip *u, const void *bytes, size_t len, struct err *err)
{
	int code = Z_OK;

	u->z.next_in = (Bytef *)bytes;
	u->z.avail_in = (uInt)len;
	while (!u->broken && (u->z.avail_in > 0 || u->z.avail_out == 0) && code != Z_BUF_ERROR) {
		size_t n;

		if (u->whole && u->z.avail_in > 0) { /* another stream behind the last */
			inflateReset(&u->z);
			u->whole = false;
		}
		u->z.next_out = (Bytef *)u->bytes;
		u->z.avail_out = OUT_BYTES;
		code = inflate(&u->z, Z_NO_FLUSH);
		n = OUT_BYTES - u->z.avail_out;
		u->whole = code == Z_STREAM_END;
		u->broken = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
		if (n > 0 && !u->out(u->self, u->bytes, n, err))
			return false;
		if (u->whole && u->z.avail_in == 0)
			break;
	}
	return true;
}

bool unzip_is_broken(const struct unzip *u)
{
	return u->broken;
}

bool unzip_is_whole(const struct unzip *u)
{
	return u->whole;
}
