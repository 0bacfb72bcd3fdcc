/* profiler/import/decimal.h -- private: numbers of a log, from their digits. */
#ifndef PROFILER_IMPORT_DECIMAL_H
#define PROFILER_IMPORT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "4379411508918.460" with `places` 3 is 4379411508918460: microseconds as nanoseconds,
 * exactly (a double would lose some).  Further digits are rounded.  False: no number, or
 * one beyond 64 bits. */
bool decimal_scaled(const char *text, size_t len, int places, int64_t *out);

#endif
