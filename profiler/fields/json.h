/* profiler/fields/json.h -- memory for Jansson, taken ahead; texts of objects. */
#ifndef PROFILER_FIELDS_JSON_H
#define PROFILER_FIELDS_JSON_H

#include <stdbool.h>

#include <jansson.h>

/* Takes it once, before there are threads: Jansson crashes where it gets none.  False where not
 * all could be had. */
bool json_reserve(void);

/* What an object has as `key`; "" where that is no text. */
static inline const char *json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

#endif
