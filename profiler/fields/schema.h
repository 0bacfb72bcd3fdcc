/* profiler/fields/schema.h -- the table of reports as JSON Schema. */
#ifndef PROFILER_FIELDS_SCHEMA_H
#define PROFILER_FIELDS_SCHEMA_H

#include <jansson.h>

/* A schema for each record, by its name in JSON Schema and TypeScript ("ReportMode" of record
 * mode), as `components.schemas` of OpenAPI 3.1 has them.  New; NULL when out of memory. */
json_t *report_schemas(void);

#endif
