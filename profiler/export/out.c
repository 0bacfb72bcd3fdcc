/* profiler/export/out.c -- what is written, in pieces, gzip or plain. */
#include "profiler/export/out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PIECE_BYTES = 256 << 10, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8, GZIP_LEVEL = 6 };

bool out_init(struct out *o, export_put_fn *put, void *self, bool gzip, struct err *err)
{
	z_stream *z = gzip ? calloc(1, sizeof(*z)) : NULL;

	*o = (struct out){ .put = put, .self = self };
	buf_init(&o->pending, 0);
	if (!gzip)
		return true;
	if (z && deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			      Z_DEFAULT_STRATEGY) == Z_OK) {
		o->deflate = z;
		return true;
	}
	free(z);
	return err_set(err, ERR_MEMORY, "out of memory for gzip");
}

static void give(struct out *o, const void *bytes, size_t len)
{
	if (!o->failed && len > 0)
		o->failed = !o->put(o->self, bytes, len, &o->fault);
}

static void pack(struct out *o, int flush)
{
	unsigned char packed[16384];
	z_stream *z = o->deflate;

	z->next_in = (unsigned char *)o->pending.data;
	z->avail_in = (unsigned)o->pending.len;
	do {
		z->next_out = packed;
		z->avail_out = sizeof(packed);
		deflate(z, flush);
		give(o, packed, sizeof(packed) - z->avail_out);
	} while (z->avail_out == 0);
}

static void flush(struct out *o, bool last)
{
	if (o->pending.failed && !o->failed)
		o->failed = !err_set(&o->fault, ERR_MEMORY, "out of memory for an export");
	if (o->deflate)
		pack(o, last ? Z_FINISH : Z_NO_FLUSH);
	else
		give(o, o->pending.data, o->pending.len);
	buf_clear(&o->pending);
}

bool out_finish(struct out *o, bool ok, struct err *err)
{
	if (ok)
		flush(o, true);
	if (o->deflate)
		deflateEnd(o->deflate);
	free(o->deflate);
	buf_finish(&o->pending);
	if (ok && o->failed && err)
		*err = o->fault;
	return ok && !o->failed;
}

/* Once enough has gathered. */
static void settle(struct out *o)
{
	if (o->pending.len >= PIECE_BYTES)
		flush(o, false);
}

void out_add(struct out *o, const char *bytes, size_t len)
{
	buf_add(&o->pending, bytes, len);
	settle(o);
}

void out_printf(struct out *o, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	out_add(o, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void out_json(struct out *o, const json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	out_puts(o, text ? text : "null");
	free(text);
}

void out_text(struct out *o, const char *text)
{
	json_t *json = text ? json_string(text) : NULL;

	out_json(o, json);
	json_decref(json);
}

void out_xml(struct out *o, const char *text)
{
	for (; text && *text; text++) {
		switch (*text) {
		case '&':
			buf_puts(&o->pending, "&amp;");
			break;
		case '<':
			buf_puts(&o->pending, "&lt;");
			break;
		case '>':
			buf_puts(&o->pending, "&gt;");
			break;
		case '"':
			buf_puts(&o->pending, "&quot;");
			break;
		case '\'':
			buf_puts(&o->pending, "&#39;");
			break;
		default:
			/* XML has no other control characters, not even by number. */
			if ((unsigned char)*text >= ' ' || strchr("\t\n\r", *text))
				buf_putc(&o->pending, *text);
			else
				buf_puts(&o->pending, "\xef\xbf\xbd");
		}
	}
	settle(o);
}

void out_us(struct out *o, int64_t ns)
{
	uint64_t whole = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	out_printf(o, "%s%" PRIu64 ".%03d", ns < 0 ? "-" : "", whole / 1000, (int)(whole % 1000));
}
