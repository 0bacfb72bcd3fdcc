/* fusion/base/vec.h -- a typed array that grows.
 *
 *	VEC(int) ids = { 0 };
 *	if (!VEC_PUSH(&ids, 7))
 *		... out of memory
 *	for (size_t i = 0; i < ids.len; i++)
 *		use(ids.at[i]);
 *	VEC_FREE(&ids);
 */
#ifndef FUSION_BASE_VEC_H
#define FUSION_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t len, cap;                                                                   \
	}

/* Makes room for one more element; used by VEC_PUSH alone. */
bool vec_grow(void **at, size_t *cap, size_t len, size_t element_bytes);

/* False when there is no memory; the array is then unchanged. */
#define VEC_PUSH(v, ...)                                                                           \
	(((v)->len < (v)->cap ||                                                                   \
	  vec_grow((void **)&(v)->at, &(v)->cap, (v)->len, sizeof(*(v)->at))) &&                   \
	 ((v)->at[(v)->len++] = (__VA_ARGS__), true))

#define VEC_FREE(v) (free((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)

#endif
