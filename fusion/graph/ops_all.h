/* fusion/graph/ops_all.h -- every row of ops.def through one macro.
 *
 * Define OP_ANY(id), include this, undefine it.  Readers that need a kind's own
 * columns define that kind's macro and include ops.def instead (op.c).
 */
#define UNARY(id, heavy, rule, spellings, value, ...) OP_ANY(id)
#define BINARY(id, heavy, rule, spellings, value, ...) OP_ANY(id)
#define TERNARY(id, heavy, spellings, signature, value, ...) OP_ANY(id)
#define REDUCE(id, rule, spellings, first, step, signature, ...) OP_ANY(id)
#define COMPOSITE(id, spellings, signature, ...) OP_ANY(id)
#define CAST(id, spellings, signature, ...) OP_ANY(id)
#define CONSTANT(id, spellings, doc) OP_ANY(id)
#define CREATE(id, spellings, signature, ...) OP_ANY(id)
#define LIBRARY(id, spellings, signature, ...) OP_ANY(id)
#define VIEW(id, spellings, signature, ...) OP_ANY(id)
#define JOIN(id, spellings, signature, ...) OP_ANY(id)
#define CONTROL(id, signature, ...) OP_ANY(id)
#define INTERNAL(id, kind, doc) OP_ANY(id)
#include "fusion/graph/ops.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef REDUCE
#undef COMPOSITE
#undef CAST
#undef CONSTANT
#undef CREATE
#undef LIBRARY
#undef VIEW
#undef JOIN
#undef CONTROL
#undef INTERNAL
