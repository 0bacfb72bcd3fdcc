/* fusion/backends/words.c -- writes an expression of ops.def for a compute type. */
#include "fusion/backends/words.h"

#include <ctype.h>
#include <string.h>

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

void words_put(struct buf *out, const char *text, const char *type, bool bools,
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
