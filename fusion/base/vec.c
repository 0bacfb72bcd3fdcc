/* fusion/base/vec.c -- doubling growth for VEC_PUSH. */
#include "fusion/base/vec.h"

#include <stdlib.h>

bool vec_grow(void **at, size_t *cap, size_t len, size_t element_bytes)
{
	size_t want = len ? len * 2 : 8;
	size_t bytes;
	void *grown;

	if (__builtin_mul_overflow(want, element_bytes, &bytes))
		return false;
	grown = realloc(*at, bytes);
	if (!grown)
		return false;
	*at = grown;
	*cap = want;
	return true;
}
