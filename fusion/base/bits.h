/* fusion/base/bits.h -- numbers as they are stored. */
#ifndef FUSION_BASE_BITS_H
#define FUSION_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Whether both are one number to every program: 0.0 is not -0.0, and a NaN is itself. */
static inline bool same_double(double a, double b)
{
	uint64_t x, y;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	return x == y;
}

#endif
