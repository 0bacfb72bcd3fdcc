/* profiler/fields/json.h -- memory for Jansson, taken ahead. */
#ifndef PROFILER_FIELDS_JSON_H
#define PROFILER_FIELDS_JSON_H

#include <stdbool.h>

/* Takes it once, before there are threads: Jansson crashes where it gets none.  False where not
 * all could be had. */
bool json_reserve(void);

#endif
