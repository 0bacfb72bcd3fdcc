/* fusion/base/buf.h -- a string of bytes that grows, up to a ceiling.
 *
 * Writers do not check each append: the first one that fails sets `failed`
 * and the rest do nothing, so a check at the end is enough.
 */
#ifndef FUSION_BASE_BUF_H
#define FUSION_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf {
	char *data; /* always NUL terminated once anything was appended */
	size_t len;
	size_t cap;
	size_t limit; /* largest len allowed; 0: 1 GiB */
	bool failed;  /* an append was dropped: out of memory or over the limit */
};

static inline void buf_init(struct buf *buf, size_t limit)
{
	*buf = (struct buf){ .limit = limit };
}

void buf_finish(struct buf *buf); /* frees; NULL and zeroed are fine */
void buf_clear(struct buf *buf);  /* empties, keeps the memory */

void buf_add(struct buf *buf, const void *bytes, size_t len);

static inline void buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

static inline void buf_putc(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

/* Text whose zero bytes, at which C's texts end, become the character that shows one: U+2400. */
void buf_add_text(struct buf *buf, const char *text, size_t len);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A cell of a CSV table (RFC 4180), quoted where it has to be; what a spreadsheet would take for a
 * formula has an apostrophe in front.  NULL: an empty one. */
void buf_csv(struct buf *buf, const char *text);

/* Makes room for `bytes` in all without changing len, for callers that write
 * into data themselves.  False (and `failed`) when that cannot be had. */
bool buf_grow(struct buf *buf, size_t bytes);

/* Gives the bytes away, NUL terminated; the caller frees.  NULL if failed. */
char *buf_steal(struct buf *buf);

#endif
