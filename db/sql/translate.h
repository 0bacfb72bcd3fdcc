/* db/sql/translate.h -- a statement of db/ in the words of PostgreSQL.
 *
 * db/ writes what both engines understand, and where there is no such word SQLite's: parameters as
 * ?N (or ?, the next), char(N), instr(), ifnull(), group_concat(), and INDEXED BY, which PostgreSQL
 * has no need of.  Texts and names in quotes stay as they are.
 */
#ifndef DB_SQL_TRANSLATE_H
#define DB_SQL_TRANSLATE_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

static const struct {
	const char *word, *as;
} translate_words[] = {
	{ "char", "chr" },
	{ "group_concat", "string_agg" },
	{ "ifnull", "coalesce" },
	{ "instr", "strpos" },
};

static inline bool translate_is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* A text or a name in quotes, as it is; `at` is at the first quote. */
static inline const char *translate_quoted(const char *at, struct buf *out)
{
	const char *end = strchr(at + 1, *at);

	end = end ? end + 1 : at + strlen(at);
	buf_add(out, at, (size_t)(end - at));
	return end;
}

/* "?12" or "?", the one after the last. */
static inline const char *translate_parameter(const char *at, struct buf *out, int *last, int *most)
{
	char *end;
	long n = strtol(at + 1, &end, 10);

	*last = end == at + 1 ? *last + 1 : (int)n;
	*most = *last > *most ? *last : *most;
	buf_printf(out, "$%d", *last);
	return end;
}

/* "INDEXED BY name" is left out, with the name. */
static inline const char *translate_skip_index(const char *at)
{
	at += strlen("INDEXED BY ");
	while (translate_is_of_name(*at))
		at++;
	return at;
}

static inline const char *translate_word(const char *at, struct buf *out)
{
	size_t len = 0;

	if (strncmp(at, "INDEXED BY ", strlen("INDEXED BY ")) == 0)
		return translate_skip_index(at);
	while (translate_is_of_name(at[len]))
		len++;
	for (size_t i = 0;
	     at[len] == '(' && i < sizeof(translate_words) / sizeof(translate_words[0]); i++)
		if (strlen(translate_words[i].word) == len &&
		    strncmp(at, translate_words[i].word, len) == 0) {
			buf_puts(out, translate_words[i].as);
			return at + len;
		}
	buf_add(out, at, len);
	return at + len;
}

/* Appends; *parameters is the highest number.  False where there is no memory. */
static inline bool sql_translate(const char *text, struct buf *out, int *parameters)
{
	int last = 0;

	*parameters = 0;
	while (*text)
		if (*text == '\'' || *text == '"')
			text = translate_quoted(text, out);
		else if (*text == '?')
			text = translate_parameter(text, out, &last, parameters);
		else if (translate_is_of_name(*text))
			text = translate_word(text, out);
		else
			buf_add(out, text++, 1);
	return !out->failed;
}

#endif
