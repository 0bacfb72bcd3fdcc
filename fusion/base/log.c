/* fusion/base/log.c -- one line per event on stderr. */
#include "fusion/base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024, PART_BYTES = 1500, FIELDS_MOST = 16, LINE_BYTES = 32 << 10 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool as_json; /* set once, before the first line */

static void read_form(void)
{
	const char *form = getenv("BREAKEVEN_LOG_FORMAT");

	as_json = form && strcmp(form, "json") == 0;
}

struct log_text {
	char at[LINE_BYTES];
	size_t len;
};

static void put(struct log_text *l, const char *text, size_t n)
{
	if (l->len + n < LINE_BYTES - 2) { /* room for the end */
		memcpy(l->at + l->len, text, n);
		l->len += n;
	}
}

/* How many bytes of a UTF-8 character begin here; 0: none does. */
static size_t character(const unsigned char *c)
{
	size_t n = c[0] < 0x80                   ? 1
		   : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
		   : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
		   : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return n;
}

/* What others named must not begin a line of its own, nor end what is quoted. */
static void put_text(struct log_text *l, const char *text, bool quoted)
{
	const size_t end = l->len + PART_BYTES; /* the rest is left out */
	char escape[8];

	for (const unsigned char *c = (const unsigned char *)text; *c && l->len < end;) {
		size_t n = character(c);
		bool control = *c < 0x20 || *c == 0x7f;

		if (n == 1 && ((as_json && control) || (quoted && (*c == '"' || *c == '\\')))) {
			snprintf(escape, sizeof(escape), control ? "\\u%04x" : "\\%c", *c);
			put(l, escape, strlen(escape));
		} else if (control || (as_json && n == 0)) {
			put(l, "?", 1);
		} else {
			n = n ? n : 1;
			put(l, (const char *)c, n);
		}
		c += n ? n : 1;
	}
}

static void begin(struct log_text *l, enum log_level level, const char *message)
{
	static const char *const names[] = { "info", "warn", "error" };
	time_t now = time(NULL);
	struct tm utc;
	char when[32];

	pthread_once(&once, read_form);
	l->len = 0;
	gmtime_r(&now, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	l->len = (size_t)snprintf(l->at, LINE_BYTES,
				  as_json ? "{\"time\":\"%s\",\"level\":\"%s\",\"message\":\""
					  : "%s %s ",
				  when, names[level]);
	put_text(l, message, as_json);
	if (as_json)
		put(l, "\"", 1);
}

static void put_field(struct log_text *l, const struct log_field *f)
{
	char part[80];

	snprintf(part, sizeof(part), as_json ? ",\"%s\":" : " %s=", f->name);
	put(l, part, strlen(part));
	if (f->text) {
		bool quoted = as_json || !*f->text || strpbrk(f->text, " =\"");

		put(l, "\"", quoted);
		put_text(l, f->text, quoted);
		put(l, "\"", quoted);
	} else {
		snprintf(part, sizeof(part), "%.6g", f->number);
		put(l, part, strlen(part));
	}
}

static void end(struct log_text *l)
{
	if (as_json)
		l->at[l->len++] = '}';
	l->at[l->len++] = '\n';
	if (write(STDERR_FILENO, l->at, l->len) < 0)
		return; /* nowhere left to say so */
}

void log_event(enum log_level level, const char *message, const struct log_field *fields, int n)
{
	struct log_text l;

	begin(&l, level, message);
	for (int i = 0; i < n && i < FIELDS_MOST; i++)
		put_field(&l, &fields[i]);
	end(&l);
}

void log_line(enum log_level level, const char *format, ...)
{
	char message[TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	log_event(level, message, NULL, 0);
}
