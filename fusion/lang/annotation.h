/* fusion/lang/annotation.h -- annotations as text, for they are not evaluated before they are asked
 * for.  Private to fusion/lang. */
#ifndef FUSION_LANG_ANNOTATION_H
#define FUSION_LANG_ANNOTATION_H

#include "fusion/base/buf.h"
#include "fusion/lang/ast.h"

/* The expression as ast.unparse() writes it; where `as_text` holds, which is what `from __future__
 * import annotations` asks for, the literal of that text. */
void annotation_write(struct buf *out, const struct ast_node *node, bool as_text);

#endif
