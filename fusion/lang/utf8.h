/* fusion/lang/utf8.h -- characters of the source.  Private to fusion/lang. */
#ifndef FUSION_LANG_UTF8_H
#define FUSION_LANG_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `text` (1..4) and its code point; 0 where they
 * are not UTF-8 (cut short, overlong, a surrogate, above U+10FFFF). */
int utf8_decode(const char *text, size_t len, uint32_t *point);

/* Characters between two places of valid UTF-8. */
int utf8_count(const char *from, const char *to);

/* May start, or continue, a name.  Letters of the scripts that programs are
 * written in; names are compared as they stand, without normalization. */
bool utf8_starts_name(uint32_t point);
bool utf8_continues_name(uint32_t point);

/* What to type instead of a character that only looks like Python: "\"" for a
 * curly quote.  NULL where nothing comes to mind. */
const char *utf8_lookalike(uint32_t point);

#endif
