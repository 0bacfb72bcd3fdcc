/* fusion/backends/simd/simd.c -- which vector unit this machine has, and how
 * generated code spells the intrinsics of ops.def. */
#include "fusion/backends/simd/simd.h"

#include <ctype.h>
#include <string.h>

const char *intrinsics_element(enum dtype dtype)
{
	static const char *const names[DTYPE_COUNT] = { [DTYPE_F32] = "float",
							[DTYPE_F64] = "double",
							[DTYPE_I64] = "long",
							[DTYPE_BOOL] = "unsigned char",
							[DTYPE_F16] = "unsigned short",
							[DTYPE_BF16] = "unsigned short",
							[DTYPE_I32] = "int",
							[DTYPE_I16] = "short",
							[DTYPE_I8] = "signed char",
							[DTYPE_U8] = "unsigned char" };
	return names[dtype];
}

static void put_word(struct buf *out, const char *word, size_t len, const char *type, bool bools)
{
	static const char *const typed[] = { "K", "LOWEST", "HIGHEST", "sel" };
	bool vector = len > 2 && word[0] == 'v' && word[1] == '_';

	buf_add(out, word, len);
	if (vector && bools) {
		buf_puts(out, "_mask");
		return;
	}
	for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++)
		vector |= strlen(typed[i]) == len && !memcmp(typed[i], word, len);
	if (vector)
		buf_printf(out, "_%s", type);
}

void intrinsics_put(struct buf *out, const char *text, const char *type, bool bools,
		    const char *const args[3])
{
	while (*text) {
		const char *end = text;

		while (isalnum((unsigned char)*end) || *end == '_')
			end++;
		if (end == text)
			buf_putc(out, *text++);
		else if (end == text + 1 && *text >= 'a' && *text <= 'c')
			buf_puts(out, args[*text - 'a']);
		else if (isdigit((unsigned char)*text))
			buf_add(out, text, (size_t)(end - text));
		else
			put_word(out, text, (size_t)(end - text), type, bools);
		text = end > text ? end : text;
	}
}

/* What the flags that simd/kernels.c is compiled with (Makefile) ask for. */
const struct kernel_table *kernels_named(const char *unit)
{
	bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
		      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
		      __builtin_cpu_supports("avx512vl");

	if (avx512 && (!unit || !strcmp(unit, kernels_avx512.unit)))
		return &kernels_avx512;
	if (avx2 && (!unit || !strcmp(unit, kernels_avx2.unit)))
		return &kernels_avx2;
	return !unit || !strcmp(unit, kernels_sse.unit) ? &kernels_sse : NULL;
}
