/* fusion/base/log.h -- one line per event on stderr.
 *
 * Only commands and the server log; libraries return errors instead.
 */
#ifndef FUSION_BASE_LOG_H
#define FUSION_BASE_LOG_H

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

/* Writes "2026-11-21T07:00:00Z info message\n" with one write(2), so that
 * lines of several threads or processes never mix.  Thread-safe.
 *
 * Where BREAKEVEN_LOG_FORMAT is "json" when the first line is written, each is an object: {"time",
 * "level", "message"}.  In both what others named begins no line: control characters are "?" or
 * escaped. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A fact of an event; text NULL: the number. */
struct log_field {
	const char *name; /* letters and _ */
	const char *text;
	double number;
};

/* The same with up to 16 facts: "... info message name=text name=\"a b\" name=3\n", of JSON members
 * of the object.  Texts with a blank, = or " are quoted. */
void log_event(enum log_level level, const char *message, const struct log_field *fields, int n);

#endif
