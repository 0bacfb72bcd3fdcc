/* fusion/backends/simd/order.h -- floats as numbers in whose order they are; kernels.c
 * includes it once.
 */
typedef unsigned u4 __attribute__((vector_size(VECTOR_BYTES)));
typedef unsigned u4u __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

static inline u4 order_least(u4 a, u4 b)
{
	u4 first = (u4)(a < b);

	return (a & first) | (b & ~first);
}

static unsigned keys_f32(const float *in, long n, unsigned turn, unsigned add, unsigned *key)
{
	const u4 top = (u4){ 0 } + (1u << 31);
	u4 least = ~(u4){ 0 };
	unsigned found = ~0u;
	float some[KEY_BLOCK];

	if (n < KEY_BLOCK) {
		__builtin_memset(some, 0, sizeof(some));
		__builtin_memcpy(some, in, (size_t)n * sizeof(*in));
		in = some;
	}
	for (long i = 0; i < KEY_BLOCK; i += L4) {
		f32 x = LOAD(f32, in, i) + K_f32(0); /* -0 is 0 */
		m4 bits = (m4)x;
		u4 at = (u4)bits ^ ((u4)(bits >> 31) | top);

		at = ((at | (u4)(x != x)) ^ turn) + add;
		SAVE(u4, key, i, at);
		least = order_least(least, at);
	}
	if (n < KEY_BLOCK) {
		least = ~(u4){ 0 };
		for (long i = n; i < KEY_BLOCK; i++)
			key[i] = ~0u;
		for (long i = 0; i < KEY_BLOCK; i += L4)
			least = order_least(least, LOAD(u4, key, i));
	}
	for (int i = 0; i < L4; i++)
		found = least[i] < found ? least[i] : found;
	DONE();
	return found;
}
