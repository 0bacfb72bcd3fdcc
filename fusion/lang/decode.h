/* fusion/lang/decode.h -- what a string literal says.  Private to fusion/lang. */
#ifndef FUSION_LANG_DECODE_H
#define FUSION_LANG_DECODE_H

#include "fusion/lang/token.h"

/* Writes the text of a STRING or FSTRING_MIDDLE token, UTF-8 and not
 * terminated, to `out`, which has room for token->len bytes.  False with a
 * message at the token when an escape is wrong. */
bool decode_string(const struct token *token, const char *source, char *out, size_t *len,
		   struct err *err);

#endif
