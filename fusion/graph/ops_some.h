/* fusion/graph/ops_some.h -- some kinds of rows of ops.def.
 *
 * Define the macros of the kinds that you want, include this: rows of all other
 * kinds are passed over, and the macros are undefined afterwards.
 */
#ifndef UNARY
#define UNARY(...)
#endif
#ifndef BINARY
#define BINARY(...)
#endif
#ifndef TERNARY
#define TERNARY(...)
#endif
#ifndef REDUCE
#define REDUCE(...)
#endif
#ifndef COMPOSITE
#define COMPOSITE(...)
#endif
#ifndef CAST
#define CAST(...)
#endif
#ifndef CONSTANT
#define CONSTANT(...)
#endif
#ifndef CREATE
#define CREATE(...)
#endif
#ifndef VIEW
#define VIEW(...)
#endif
#ifndef JOIN
#define JOIN(...)
#endif
#ifndef INDEX
#define INDEX(...)
#endif
#ifndef LIBRARY
#define LIBRARY(...)
#endif
#ifndef CONTROL
#define CONTROL(...)
#endif
#ifndef INTERNAL
#define INTERNAL(...)
#endif
#include "fusion/graph/ops.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef REDUCE
#undef COMPOSITE
#undef CAST
#undef CONSTANT
#undef CREATE
#undef VIEW
#undef JOIN
#undef INDEX
#undef LIBRARY
#undef CONTROL
#undef INTERNAL
