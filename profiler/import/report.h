/* profiler/import/report.h -- private: an import as JSON. */
#ifndef PROFILER_IMPORT_REPORT_H
#define PROFILER_IMPORT_REPORT_H

#include "profiler/import/model.h"

/* See import_finish(); `files` is borrowed.  New; NULL without memory. */
json_t *import_report(struct model *m, json_t *files);

#endif
