/* fusion/source.h -- the text of a program: where it is wrong, and how it could be written.
 *
 * Any thread may call these; nothing is kept but by a rewriter, which belongs to one.
 */
#ifndef FUSION_SOURCE_H
#define FUSION_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct buf; /* fusion/base/buf.h */
struct err; /* fusion/base/err.h */

/* ---- a place of the source, for people ---- */

/* The message with its source line and a caret below the column:
 *
 *	model.py:4:9: the op torch.sinn is unknown; did you mean torch.sin?
 *	    4 |     x = torch.sinn(x)
 *	      |         ^
 *
 * `source` is NUL terminated, and may be anything: control characters and
 * bytes that are not UTF-8 show as ?, a long line is cut around the column.
 * Without a line or column in *err, or past the end, only the message.
 */
void lang_caret(struct buf *out, const char *file, const char *source, const struct err *err);

/* The line, and below it ^~~~ from `column` up to, not including, `end_column`
 * (0: the caret alone), as lang_caret() shows it.  Nothing where `source`, NUL
 * terminated, has no such line. */
void lang_underline(struct buf *out, const char *source, int line, int column, int end_column);

/* ---- changes that take a graph break away ----
 *
 * They are mechanical and careful, not proved: whoever offers one runs both
 * programs and compares what they return, print and write.
 */

enum lang_rewrite {
	REWRITE_WHERE,  /* a branch on a tensor: torch.where over both sides */
	REWRITE_TENSOR, /* .item() or float() dropped: the tensor itself computes */
	REWRITE_PRINT,  /* a print moved to after the computation of the return value */
	REWRITE_DROP,   /* graph_break(), or a print, left out: the text is missing then */
};

/* A source that is read once for all its changes; borrowed.  NULL where it does not
 * parse, or out of memory. */
struct lang_rewriter *lang_rewriter_create(const char *source, size_t len);
void lang_rewriter_destroy(struct lang_rewriter *w); /* NULL is fine */

/* Appends the whole source with the statement at `line` changed.  False, with
 * nothing appended, where it does not have the form that the change is for. */
bool lang_rewrite(const struct lang_rewriter *w, enum lang_rewrite kind, int line, struct buf *out);

#endif
