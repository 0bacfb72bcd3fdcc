/* fusion/base/narrow.h -- float16 and bfloat16 as bits; rounds to nearest, ties to even. */
#ifndef FUSION_BASE_NARROW_H
#define FUSION_BASE_NARROW_H

#include <stdint.h>
#include <string.h>

static inline float bits_to_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint32_t float_to_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline float half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;

	if (rest < 0x400) /* 0, or below the normal ones */
		return bits_to_float(float_to_bits((float)rest * 0x1p-24f) | sign);
	return bits_to_float(sign | ((rest << 13) + (rest >= 0x7c00 ? 0x70000000u : 0x38000000u)));
}

static inline uint16_t float_to_half(float f)
{
	uint32_t bits = float_to_bits(f), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;

	if (rest > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (rest >= 0x47800000)
		return (uint16_t)(sign | 0x7c00);
	if (rest < 0x38800000) /* the sum rounds to a multiple of 2^-24 */
		return (uint16_t)(sign | (float_to_bits(bits_to_float(rest) + 0.5f) - 0x3f000000));
	return (uint16_t)(sign | ((rest + 0xfff + (rest >> 13 & 1) - 0x38000000) >> 13));
}

static inline float bfloat_to_float(uint16_t bfloat)
{
	return bits_to_float((uint32_t)bfloat << 16);
}

static inline uint16_t float_to_bfloat(float f)
{
	uint32_t bits = float_to_bits(f);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
