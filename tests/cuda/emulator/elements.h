/* tests/cuda/emulator/elements.h -- elements of matrices of any dtype, as doubles. */
#ifndef TESTS_CUDA_EMULATOR_ELEMENTS_H
#define TESTS_CUDA_EMULATOR_ELEMENTS_H

#include <library_types.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double half_value(uint16_t half)
{
	const int exponent = half >> 10 & 31, fraction = half & 1023;
	const double sign = half >> 15 ? -1 : 1;

	if (exponent == 31)
		return fraction ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* To nearest, ties to even. */
static inline uint16_t half_of(double x)
{
	const uint16_t sign = signbit(x) ? 0x8000 : 0;
	int exponent;

	x = fabs(x);
	if (x != x)
		return 0x7e00;
	if (x >= 65520)
		return sign | 0x7c00;
	if (x < 0x1p-14)
		return (uint16_t)(sign | lrint(ldexp(x, 24)));
	frexp(x, &exponent);
	return (uint16_t)(sign | (((exponent + 14) << 10) + lrint(ldexp(x, 11 - exponent)) - 1024));
}

static inline double get(const void *from, long long at, cudaDataType type)
{
	uint32_t bits;
	float wide;

	if (type == CUDA_R_64F)
		return ((const double *)from)[at];
	if (type == CUDA_R_32F)
		return (double)((const float *)from)[at];
	if (type == CUDA_R_16F)
		return half_value(((const uint16_t *)from)[at]);
	bits = (uint32_t)((const uint16_t *)from)[at] << 16;
	memcpy(&wide, &bits, sizeof(wide));
	return (double)wide;
}

static inline void put(void *to, long long at, cudaDataType type, double x)
{
	float wide = (float)x;
	uint32_t bits;

	memcpy(&bits, &wide, sizeof(bits));
	if (type == CUDA_R_64F)
		((double *)to)[at] = x;
	else if (type == CUDA_R_32F)
		((float *)to)[at] = wide;
	else if (type == CUDA_R_16F)
		((uint16_t *)to)[at] = half_of((double)wide);
	else
		((uint16_t *)to)[at] = wide != wide
					   ? 0x7fc0
					   : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
