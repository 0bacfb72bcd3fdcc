/* profiler/export/redact_words.c -- see redact_words.h. */
#include "profiler/export/redact_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fusion/registry.h"

enum {
	MAX_SECRETS = 20000,
	MAX_WORD = 200,
	ANYWHERE = 4, /* letters from which on a name is found within another */
	IN_STRING = 2,
	WORDS_BYTES = 64 << 20,
};

/* Of Python, torch and our own messages; names of ops come from the table of ops. */
static const char open_words[] =
    "False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while "
    "with yield match case self cls super object print len range int float bool str list dict "
    "tuple set type zip map filter enumerate sorted reversed isinstance getattr setattr hasattr "
    "property staticmethod classmethod Exception ValueError TypeError RuntimeError KeyError "
    "IndexError StopIteration NotImplementedError torch nn functional F Tensor Module Parameter "
    "Sequential ModuleList forward backward item tolist numpy cpu cuda dtype shape size device "
    "data grad no_grad autocast math sys float16 bfloat16 float32 float64 int8 int16 int32 int64 "
    "uint8 __init__ __call__ fused an the of to it its be by at on no so this that";

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The next word at or behind *at, which becomes its end; NULL: there is none. */
static const char *next_word(const char **at)
{
	const char *begin = *at;

	while (*begin && !is_letter(*begin))
		begin++;
	*at = begin;
	while (is_letter(**at))
		++*at;
	return *begin ? begin : NULL;
}

static void add_open(struct words *w, const char *text)
{
	for (const char *word, *at = text; (word = next_word(&at));)
		json_object_setn_new(w->open, word, (size_t)(at - word), json_true());
}

bool words_init(struct words *w)
{
	*w = (struct words){ .known = json_object(),
			     .open = json_object(),
			     .wholes = json_object() };
	arena_init(&w->arena, WORDS_BYTES);
	add_open(w, open_words);
	for (int i = 0; i < fusion_op_count(NULL); i++) {
		struct fusion_op op = fusion_op(NULL, i);

		add_open(w, op.name);
		add_open(w, op.fx);
		add_open(w, op.spellings);
	}
	return w->known && w->open && w->wholes;
}

void words_finish(struct words *w)
{
	json_decref(w->known);
	json_decref(w->open);
	json_decref(w->wholes);
	VEC_FREE(&w->secrets);
	arena_finish(&w->arena);
}

void words_add(struct words *w, const char *name, size_t len)
{
	struct secret s = { .len = len, .number = (int)w->secrets.len + 1 };

	if (len == 0 || len > MAX_WORD || isdigit((unsigned char)*name) ||
	    w->secrets.len >= MAX_SECRETS || json_object_getn(w->open, name, len) ||
	    json_object_getn(w->known, name, len))
		return;
	s.word = arena_strndup(&w->arena, name, len);
	if (s.word && VEC_PUSH(&w->secrets, s))
		json_object_setn_new(w->known, name, len,
				     json_integer((json_int_t)w->secrets.len - 1));
}

/* Words of a string constant; short ones are of prose, mostly. */
static void add_string(struct words *w, const char *text, const char *end)
{
	const char *at = text, *word;

	while ((word = next_word(&at)) && word < end) {
		const char *stop = at < end ? at : end;

		if (stop - word >= IN_STRING)
			words_add(w, word, (size_t)(stop - word));
	}
}

/* Where a string that begins at its quote ends; its quotes are one or three. */
static const char *end_of_string(const char *at, size_t *quotes)
{
	char quote[4] = { at[0], at[0], at[0], 0 };

	*quotes = strncmp(at, quote, 3) == 0 ? 3 : 1;
	for (at += *quotes; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (strncmp(at, quote, *quotes) == 0 || (*at == '\n' && *quotes == 1))
			break;
	}
	return at;
}

void words_add_source(struct words *w, const char *source)
{
	const char *at = source;

	while (*at) {
		if (*at == '#') {
			at += strcspn(at, "\n");
		} else if (*at == '"' || *at == '\'') {
			size_t quotes;
			const char *end = end_of_string(at, &quotes);

			add_string(w, at + quotes, end);
			at = *end == '\n' || !*end ? end : end + quotes;
		} else if (is_letter(*at)) {
			const char *word = next_word(&at);

			words_add(w, word, (size_t)(at - word));
		} else {
			at++;
		}
	}
}

/* The longest secret at `at` of a word of `len` letters, from `i` on; NULL: none. */
static const struct secret *secret_at(const struct words *w, const char *word, size_t len, size_t i)
{
	const struct secret *best = NULL;

	for (size_t k = 0; k < w->secrets.len; k++) {
		const struct secret *s = &w->secrets.at[k];
		bool parted = (i == 0 || word[i - 1] == '_') &&
			      (i + s->len == len || (i + s->len < len && word[i + s->len] == '_'));

		if (s->len <= len - i && (parted || s->len >= ANYWHERE) &&
		    (!best || s->len > best->len) && strncasecmp(word + i, s->word, s->len) == 0)
			best = s;
	}
	return best;
}

static void redact_word(const struct words *w, const char *word, size_t len, struct buf *out)
{
	const json_t *known = json_object_getn(w->known, word, len);

	if (known) {
		buf_printf(out, "name%d", (int)json_integer_value(known) + 1);
		return;
	}
	if (json_object_getn(w->open, word, len)) {
		buf_add(out, word, len);
		return;
	}
	for (size_t i = 0; i < len;) {
		const struct secret *s = secret_at(w, word, len, i);

		if (s)
			buf_printf(out, "name%d", s->number);
		else
			buf_putc(out, word[i]);
		i += s ? s->len : 1;
	}
}

json_t *words_redact(const struct words *w, const char *text)
{
	const char *at = text, *from = text, *word;
	struct buf out;
	json_t *json;

	buf_init(&out, 0);
	while ((word = next_word(&at))) {
		buf_add(&out, from, (size_t)(word - from));
		redact_word(w, word, (size_t)(at - word), &out);
		from = at;
	}
	buf_puts(&out, from);
	json = json_string(out.data ? out.data : "");
	buf_finish(&out);
	return json ? json : json_string("?");
}

json_t *words_whole(struct words *w, const char *text, const char *kind)
{
	json_t *known = json_object_get(w->wholes, text);

	if (!known) {
		known = json_sprintf("%s%zu", kind, json_object_size(w->wholes) + 1);
		json_object_set_new(w->wholes, text, known);
	}
	return json_incref(known);
}
