/* profiler/fields/json.h -- values of JSON objects that no table describes: answers, plans, rows.
 *
 * What is missing, or of another type, reads as the value that is named here.  Texts are the
 * object's.  A report is read by profiler/fields/fields.h.
 */
#ifndef PROFILER_FIELDS_JSON_H
#define PROFILER_FIELDS_JSON_H

#include <jansson.h>
#include <stdbool.h>

/* Otherwise "". */
const char *text_field(const json_t *object, const char *key);
const char *text_field_or(const json_t *object, const char *key, const char *otherwise);

/* Otherwise 0; of a real number too. */
json_int_t whole_field(const json_t *object, const char *key);

/* reserve.c: takes memory ahead for Jansson, once, before there are threads: it crashes where it
 * gets none.  False where not all could be had. */
bool json_reserve(void);

#endif
