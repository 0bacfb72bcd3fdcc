/* server/text/break_text.h -- breaks of a report as text, with their source lines. */
#ifndef SERVER_BREAK_TEXT_H
#define SERVER_BREAK_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* Each break: its place under the name `place`, kind, outcome, the line with
 * the expression underlined, the reason, what to write instead, the stack.
 * `source` may be NULL. */
void break_text_print(struct buf *out, const json_t *breaks, const char *place, const char *source);

/* "2 graph breaks; the first, line 4: ..." of a mode M; nothing without. */
void break_text_short(struct buf *out, const char *mode, const json_t *m);

#endif
