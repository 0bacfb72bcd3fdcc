/* fusion/vm/letters.h -- what Python knows of characters: letters, case, digits, blanks.
 *
 * ASCII and Latin-1 in full, Cyrillic, and scripts without case (kana, han, hangul);
 * of other characters nothing is known, and a method that must know refuses them. */
#ifndef FUSION_VM_LETTERS_H
#define FUSION_VM_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CHAR_ALPHA = 1,
	CHAR_UPPER = 2,
	CHAR_LOWER = 4,
	CHAR_DECIMAL = 8,
	CHAR_DIGIT = 16,   /* superscripts, too */
	CHAR_NUMERIC = 32, /* fractions, too */
	CHAR_BLANK = 64,
	CHAR_PRINTABLE = 128,
	CHAR_UNKNOWN = 256,
	CHAR_CASED = CHAR_UPPER | CHAR_LOWER,
};

unsigned char_kind(uint32_t c);

/* The character at `at` of valid UTF-8, and how many bytes it has. */
uint32_t char_at(const char *at, const char *end, size_t *bytes);

#endif
