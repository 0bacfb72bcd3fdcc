/* fusion/base/log.h -- one line per event on stderr.
 *
 * Only commands and the server log; libraries return errors instead.
 */
#ifndef FUSION_BASE_LOG_H
#define FUSION_BASE_LOG_H

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

/* Writes "2026-11-21T07:00:00Z info message\n" with one write(2), so that
 * lines of several threads or processes never mix.  Thread-safe. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
