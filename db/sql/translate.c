/* db/sql/translate.c -- a statement of db/ in the words of PostgreSQL. */
#include "db/sql/translate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word, *as;
} words[] = {
	{ "char", "chr" },
	{ "group_concat", "string_agg" },
	{ "ifnull", "coalesce" },
	{ "instr", "strpos" },
};

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* A text or a name in quotes, as it is; `at` is at the first quote. */
static const char *take_quoted(const char *at, struct buf *out)
{
	const char *end = strchr(at + 1, *at);

	end = end ? end + 1 : at + strlen(at);
	buf_add(out, at, (size_t)(end - at));
	return end;
}

/* "?12" or "?", the one after the last. */
static const char *take_parameter(const char *at, struct buf *out, int *last, int *most)
{
	char *end;
	long n = strtol(at + 1, &end, 10);

	*last = end == at + 1 ? *last + 1 : (int)n;
	*most = *last > *most ? *last : *most;
	buf_printf(out, "$%d", *last);
	return end;
}

/* "INDEXED BY name" is left out, with the name. */
static const char *skip_index(const char *at)
{
	at += strlen("INDEXED BY ");
	while (is_of_name(*at))
		at++;
	return at;
}

static const char *take_word(const char *at, struct buf *out)
{
	size_t len = 0;

	if (strncmp(at, "INDEXED BY ", strlen("INDEXED BY ")) == 0)
		return skip_index(at);
	while (is_of_name(at[len]))
		len++;
	for (size_t i = 0; at[len] == '(' && i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == len && strncmp(at, words[i].word, len) == 0) {
			buf_puts(out, words[i].as);
			return at + len;
		}
	buf_add(out, at, len);
	return at + len;
}

bool sql_translate(const char *text, struct buf *out, int *parameters)
{
	int last = 0;

	*parameters = 0;
	while (*text)
		if (*text == '\'' || *text == '"')
			text = take_quoted(text, out);
		else if (*text == '?')
			text = take_parameter(text, out, &last, parameters);
		else if (is_of_name(*text))
			text = take_word(text, out);
		else
			buf_add(out, text++, 1);
	return !out->failed;
}
