/* profiler/fields/json.c -- values of JSON objects that no table describes. */
#include "profiler/fields/json.h"

const char *text_field_or(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : otherwise;
}

const char *text_field(const json_t *object, const char *key)
{
	return text_field_or(object, key, "");
}

json_int_t whole_field(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}
