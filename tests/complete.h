/* tests/complete.h -- reports of tests that say only what they are about. */
#ifndef TESTS_COMPLETE_H
#define TESTS_COMPLETE_H

#include "profiler/fields/fields.h"

static inline json_t *complete(const struct report_record *record, json_t *json);

/* The least that the table allows there. */
static inline json_t *least_value(const struct report_field *field)
{
	switch (field->type) {
	case REPORT_INTEGER:
		return json_integer(0);
	case REPORT_REAL:
	case REPORT_NUMBER:
	case REPORT_FLOAT:
		return json_real(0);
	case REPORT_FLAG:
		return json_false();
	case REPORT_TEXT:
		return json_string("");
	case REPORT_VALUE:
		return json_null();
	case REPORT_INTERVAL:
	case REPORT_PAIR:
		return json_pack("[f, f]", 0.0, 0.0);
	case REPORT_COUNTS:
		return json_pack("[i, i]", 0, 0);
	case REPORT_NUMBERS:
	case REPORT_NAMES:
	case REPORT_MAP:
		return json_object();
	case REPORT_ONE:
		return complete(field->of, json_object());
	default:
		return json_array();
	}
}

/* Adds the fields that every report has, to `json` and the records in it; returns it. */
static inline json_t *complete(const struct report_record *record, json_t *json)
{
	for (int i = 0; i < record->n_fields; i++) {
		const struct report_field *field = &record->fields[i];
		json_t *value = json_object_get(json, field->name), *item;
		const char *key;
		size_t k;

		if (!value && field->presence == REPORT_ALWAYS)
			json_object_set_new(json, field->name, least_value(field));
		if (field->type == REPORT_ONE && json_is_object(value))
			complete(field->of, value);
		if (field->type == REPORT_LIST)
			json_array_foreach(value, k, item) complete(field->of, item);
		if (field->type == REPORT_MAP)
			json_object_foreach(value, key, item) complete(field->of, item);
	}
	return json;
}

#endif
