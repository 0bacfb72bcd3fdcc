/* fusion/lang/rewrite.h -- changes of a program that take a graph break away.
 *
 * They are mechanical and careful, not proved: whoever offers one runs both
 * programs and compares what they return, print and write.
 */
#ifndef FUSION_LANG_REWRITE_H
#define FUSION_LANG_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/buf.h"

enum lang_rewrite {
	REWRITE_WHERE,  /* a branch on a tensor: torch.where over both sides */
	REWRITE_TENSOR, /* .item() or float() dropped: the tensor itself computes */
	REWRITE_PRINT,  /* a print moved behind the computation of the return value */
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
