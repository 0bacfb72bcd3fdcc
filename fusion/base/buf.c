/* fusion/base/buf.c -- a string of bytes that grows, up to a ceiling. */
#include "fusion/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 256 };
static const size_t DEFAULT_LIMIT = (size_t)1 << 30;

void buf_finish(struct buf *buf)
{
	if (!buf)
		return;
	free(buf->data);
	*buf = (struct buf){ .limit = buf->limit };
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

static bool reserve(struct buf *buf, size_t more)
{
	size_t limit = buf->limit ? buf->limit : DEFAULT_LIMIT;
	size_t cap = buf->cap ? buf->cap : FIRST_CAP;
	char *data;

	if (buf->failed || more > limit || buf->len > limit - more) {
		buf->failed = true;
		return false;
	}
	while (cap < buf->len + more + 1)
		cap *= 2;
	if (cap == buf->cap && buf->data)
		return true;
	data = realloc(buf->data, cap);
	if (!data) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->cap = cap;
	return true;
}

bool buf_grow(struct buf *buf, size_t bytes)
{
	return bytes <= buf->len || reserve(buf, bytes - buf->len);
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
	if (!reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_add_text(struct buf *buf, const char *text, size_t len)
{
	static const char shown[] = "\xe2\x90\x80";
	const char *zero;

	for (; len && (zero = memchr(text, '\0', len)); text = zero + 1) {
		buf_add(buf, text, (size_t)(zero - text));
		buf_puts(buf, shown);
		len -= (size_t)(zero - text) + 1;
	}
	if (len)
		buf_add(buf, text, len);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	bool ready = !buf->failed && reserve(buf, 0);
	size_t room = ready ? buf->cap - buf->len : 0;
	va_list args;
	int len;

	va_start(args, format); /* most often it fits at once */
	len = vsnprintf(ready ? buf->data + buf->len : NULL, room, format, args);
	va_end(args);
	if (len < 0 || !reserve(buf, (size_t)len)) {
		buf->failed = true;
		if (buf->data)
			buf->data[buf->len] = '\0';
		return;
	}
	if ((size_t)len < room) {
		buf->len += (size_t)len;
		return;
	}
	va_start(args, format);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
	va_end(args);
	buf->len += (size_t)len;
}

char *buf_steal(struct buf *buf)
{
	char *data;

	if (!buf->data)
		buf_add(buf, "", 0);
	if (buf->failed) {
		buf_finish(buf);
		return NULL;
	}
	data = buf->data;
	*buf = (struct buf){ .limit = buf->limit };
	return data;
}

/* A spreadsheet takes a text that begins so for a formula. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@\t\r", *text);
}

void buf_csv(struct buf *buf, const char *text)
{
	text = text ? text : "";
	if (!is_formula(text) && !strpbrk(text, ",\"\r\n")) {
		buf_puts(buf, text);
		return;
	}
	buf_puts(buf, is_formula(text) ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(buf, '"');
		buf_putc(buf, *text);
	}
	buf_putc(buf, '"');
}
