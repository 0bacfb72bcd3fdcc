/* fusion/lang/caret.h -- a line of the source with a part of it underlined. */
#ifndef FUSION_LANG_CARET_H
#define FUSION_LANG_CARET_H

#include "fusion/base/buf.h"

/* The line, and below it ^~~~ from `column` up to, not including, `end_column`
 * (0: the caret alone), as lang_caret() shows it.  Nothing where `source`, NUL
 * terminated, has no such line. */
void lang_underline(struct buf *out, const char *source, int line, int column, int end_column);

#endif
