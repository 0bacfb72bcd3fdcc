/* fusion/graph/infer_rules.h -- the rules of one file, by op; private to the files of rules.
 *
 * Column `infer` of ops.def is file(word).  Define RULE_<file>(word), include this within
 * the braces of a table: the ops of other files have NULL.
 */
#ifndef RULE_einsum
#define RULE_einsum(word) NULL
#endif
#ifndef RULE_index
#define RULE_index(word) NULL
#endif
#ifndef RULE_infer
#define RULE_infer(word) NULL
#endif
#ifndef RULE_library
#define RULE_library(word) NULL
#endif
#ifndef RULE_loop
#define RULE_loop(word) NULL
#endif
#ifndef RULE_loss
#define RULE_loss(word) NULL
#endif
#ifndef RULE_view
#define RULE_view(word) NULL
#endif
#ifndef RULE_window
#define RULE_window(word) NULL
#endif
#define TERNARY(id, heavy, spellings, signature, value, doc, infer, ...) [OP_##id] = RULE_##infer,
#define COMPOSITE(id, spellings, signature, doc, infer, ...) [OP_##id] = RULE_##infer,
#define CAST(id, spellings, signature, doc, infer, ...) [OP_##id] = RULE_##infer,
#define CREATE(id, spellings, signature, doc, infer, ...) [OP_##id] = RULE_##infer,
#define LIBRARY(id, spellings, signature, doc, infer, ...) [OP_##id] = RULE_##infer,
#define VIEW(id, spellings, signature, doc, infer, ...) [OP_##id] = RULE_##infer,
#define JOIN(id, spellings, signature, doc, infer) [OP_##id] = RULE_##infer,
#define CONTROL(id, signature, doc, infer) [OP_##id] = RULE_##infer,
#include "fusion/graph/ops_some.h"
#undef RULE_einsum
#undef RULE_index
#undef RULE_infer
#undef RULE_library
#undef RULE_loop
#undef RULE_loss
#undef RULE_view
#undef RULE_window
