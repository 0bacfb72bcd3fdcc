/* fusion/base/utf8.h -- characters of UTF-8. */
#ifndef FUSION_BASE_UTF8_H
#define FUSION_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `text` (1..4) and its code point; 0 where they
 * are not UTF-8 (cut short, overlong, a surrogate, above U+10FFFF). */
int utf8_decode(const char *text, size_t len, uint32_t *point);

/* Whether all of it is such characters. */
bool utf8_valid(const char *text, size_t len);

/* The bytes of a character, which are written to `out`. */
int utf8_encode(uint32_t point, char out[4]);

/* Whether it is a letter, beyond ASCII, of the scripts that programs are written in. */
bool utf8_is_letter(uint32_t point);

/* Characters between two places of valid UTF-8. */
int utf8_count(const char *from, const char *to);

#endif
