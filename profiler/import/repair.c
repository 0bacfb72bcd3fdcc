/* profiler/import/repair.c -- JSON as profilers have been seen to write it, mended. */
#include "profiler/import/repair.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "profiler/import/ledger.h"

/* The length of the escape at text, which begins with a backslash; 0: there is no such. */
static size_t escape_length(const char *text, size_t len)
{
	if (len >= 2 && text[1] && strchr("\"\\/bfnrt", text[1]))
		return 2;
	if (len < 6 || text[1] != 'u')
		return 0;
	for (int i = 2; i < 6; i++)
		if (!isxdigit((unsigned char)text[i]))
			return 0;
	return 6;
}

/* Whether the escape stands for NUL, at which a text would end: U+FFFD stands for it. */
static bool is_nul(const char *escape, size_t n)
{
	return n == 6 && memcmp(escape, "\\u0000", 6) == 0;
}

/* A string with its quotes; how long it was. */
static size_t mend_string(const char *text, size_t len, struct buf *out, struct repairs *done)
{
	size_t at = 1;

	buf_putc(out, '"');
	while (at < len && text[at] != '"') {
		size_t n = 1;

		if (text[at] == '\\') {
			n = escape_length(text + at, len - at);
			if (n == 0) { /* the backslash itself was meant */
				done->escape = true;
				buf_puts(out, "\\\\");
				at++;
				continue;
			}
			done->control = done->control || is_nul(text + at, n);
			buf_add(out, is_nul(text + at, n) ? "\\ufffd" : text + at, n);
		} else if ((unsigned char)text[at] < 0x20) {
			done->control = true;
			buf_printf(out, "\\u%04x", text[at] ? text[at] : 0xfffd);
		} else {
			buf_putc(out, text[at]);
		}
		at += n;
	}
	buf_putc(out, '"');
	return at < len ? at + 1 : len;
}

/* The length of nan, inf and their spellings at text; 0: none. */
static size_t not_finite(const char *text, size_t len)
{
	static const char *const words[] = {
		"-infinity", "infinity", "-inf", "-nan", "inf", "nan"
	};

	if (!*text || !strchr("-iInN", *text))
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if (len >= n && strncasecmp(text, words[i], n) == 0 &&
		    (len == n || !isalnum((unsigned char)text[n])))
			return n;
	}
	return 0;
}

/* Takes back the comma at the end of `out`, spaces aside. */
static bool drop_comma(struct buf *out)
{
	size_t at = out->len;

	while (at > 0 && isspace((unsigned char)out->data[at - 1]))
		at--;
	if (at == 0 || out->data[at - 1] != ',')
		return false;
	out->data[at - 1] = ' ';
	return true;
}

/* Whether an item is at the end of `out`, so that another wants a comma before it. */
static bool behind_item(const struct buf *out)
{
	size_t at = out->len;

	while (at > 0 && isspace((unsigned char)out->data[at - 1]))
		at--;
	return at > 0 && strchr("\"}]0123456789el", out->data[at - 1]);
}

bool repair_json(const char *text, size_t len, struct buf *out, struct repairs *done)
{
	size_t at = 0;

	*done = (struct repairs){ 0 };
	while (at < len && !out->failed) {
		size_t n = not_finite(text + at, len - at);

		if (n > 0) {
			done->not_finite = true;
			buf_puts(out, "null");
			at += n;
			continue;
		}
		if (strchr("\"{[", text[at]) && text[at] && behind_item(out)) {
			done->comma = true;
			buf_putc(out, ',');
		}
		if (text[at] == '"') {
			at += mend_string(text + at, len - at, out, done);
			continue;
		}
		if ((text[at] == '}' || text[at] == ']' || text[at] == ',') && drop_comma(out))
			done->comma = true;
		buf_putc(out, text[at++]);
	}
	return !out->failed && (done->control || done->escape || done->not_finite || done->comma);
}

static json_t *read_json(const char *text, size_t len)
{
	const size_t flags = JSON_DECODE_ANY;
	json_error_t why;
	json_t *json = json_loadb(text, len, flags, &why);

	if (!json && json_error_code(&why) == json_error_numeric_overflow)
		json = json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, NULL);
	return json;
}

json_t *json_of_log(const char *text, size_t len, struct ledger *ledger)
{
	json_t *json = read_json(text, len);
	struct repairs done;
	struct buf mended;

	if (json)
		return json;
	buf_init(&mended, 0);
	if (repair_json(text, len, &mended, &done))
		json = read_json(mended.data, mended.len);
	buf_finish(&mended);
	if (json && ledger) {
		ledger->n[LEDGER_CONTROL] += done.control;
		ledger->n[LEDGER_ESCAPE] += done.escape;
		ledger->n[LEDGER_NOT_FINITE] += done.not_finite;
		ledger->n[LEDGER_COMMA] += done.comma;
	}
	return json;
}
