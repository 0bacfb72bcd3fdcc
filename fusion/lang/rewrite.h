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
};

/* Appends the whole source with the statement at `line` changed.  False, with
 * nothing appended, where it does not have the form that the change is for. */
bool lang_rewrite(const char *source, size_t len, enum lang_rewrite kind, int line,
		  struct buf *out);

#endif
