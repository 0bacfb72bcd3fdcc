/* fusion/base/log.c -- one line per event on stderr. */
#include "fusion/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void log_line(enum log_level level, const char *format, ...)
{
	static const char *const names[] = { "info", "warn", "error" };
	char line[1024];
	time_t now = time(NULL);
	struct tm utc;
	size_t len;
	va_list args;

	gmtime_r(&now, &utc);
	len = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%SZ ", &utc);
	len += (size_t)snprintf(line + len, sizeof(line) - len, "%s ", names[level]);
	va_start(args, format);
	vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	/* What others named must not begin a line of its own. */
	for (char *c = line + len; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	len = strlen(line);
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) < 0)
		return; /* nowhere left to say so */
}
