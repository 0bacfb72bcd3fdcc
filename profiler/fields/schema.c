/* profiler/fields/schema.c -- the table of reports as JSON Schema, in its dialect of 2020-12. */
#include "profiler/fields/schema.h"

#include <stdio.h>

#include "profiler/fields/fields.h"

/* "pass_part": "ReportPassPart" */
static void schema_name(char *out, size_t bytes, const char *record)
{
	size_t len = (size_t)snprintf(out, bytes, "Report");

	for (bool begins = true; *record && len + 1 < bytes; record++) {
		if (*record != '_')
			out[len++] = begins ? (char)(*record & ~0x20) : *record;
		begins = *record == '_';
	}
	out[len] = '\0';
}

static json_t *reference(const struct report_record *record)
{
	char name[80];

	schema_name(name, sizeof(name), record->name);
	return json_pack("{s:s+}", "$ref", "#/components/schemas/", name);
}

static json_t *plain(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static json_t *list_of(json_t *items)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", items);
}

static json_t *two_of(const char *type)
{
	return json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items", plain(type), "minItems",
			 2, "maxItems", 2);
}

static json_t *object_of(json_t *values)
{
	return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", values);
}

static json_t *type_schema(const struct report_field *field)
{
	switch (field->type) {
	case REPORT_INTEGER:
		return plain("integer");
	case REPORT_REAL:
	case REPORT_NUMBER:
		return plain("number");
	case REPORT_FLOAT:
		return json_pack("{s:[{s:s}, {s:[s, s, s]}]}", "anyOf", "type", "number", "enum",
				 "nan", "inf", "-inf");
	case REPORT_FLAG:
		return plain("boolean");
	case REPORT_TEXT:
		return plain("string");
	case REPORT_INTEGERS:
		return list_of(plain("integer"));
	case REPORT_REALS:
		return list_of(plain("number"));
	case REPORT_TEXTS:
		return list_of(plain("string"));
	case REPORT_INTERVAL:
	case REPORT_PAIR:
		return two_of("number");
	case REPORT_INTERVALS:
		return list_of(two_of("number"));
	case REPORT_COUNTS:
		return two_of("integer");
	case REPORT_NUMBERS:
		return object_of(plain("number"));
	case REPORT_NAMES:
		return object_of(plain("string"));
	case REPORT_LISTS:
		return object_of(list_of(plain("string")));
	case REPORT_ONE:
		return reference(field->of);
	case REPORT_LIST:
		return list_of(reference(field->of));
	case REPORT_MAP:
		return object_of(reference(field->of));
	default:
		return json_object();
	}
}

/* Its type, or null where the table allows that, with unit and meaning. */
static json_t *field_schema(const struct report_field *field)
{
	bool or_null = field->presence == REPORT_OR_NULL || field->presence == REPORT_EITHER;
	json_t *type = type_schema(field), *schema = type;

	if (or_null && field->type != REPORT_VALUE)
		schema = json_pack("{s:[o, o]}", "anyOf", type, plain("null"));
	json_object_set_new(schema, "description",
			    *field->unit ? json_sprintf("%s (%s)", field->meaning, field->unit)
					 : json_string(field->meaning));
	return schema;
}

static json_t *record_schema(const struct report_record *record)
{
	json_t *properties = json_object(), *required = json_array();

	for (int i = 0; i < record->n_fields; i++) {
		const struct report_field *field = &record->fields[i];

		json_object_set_new(properties, field->name, field_schema(field));
		if (field->presence == REPORT_ALWAYS || field->presence == REPORT_OR_NULL)
			json_array_append_new(required, json_string(field->name));
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "type", "object", "description", record->meaning,
			 "properties", properties, "required", required);
}

json_t *report_schemas(void)
{
	json_t *schemas = json_object();

	for (int i = 0; i < REPORT_RECORDS; i++) {
		char name[80];

		schema_name(name, sizeof(name), report_records[i].name);
		if (json_object_set_new(schemas, name, record_schema(&report_records[i])) != 0) {
			json_decref(schemas);
			return NULL;
		}
	}
	return schemas;
}
