/* profiler/workload/settings.h -- private: how a workload is to be run. */
#ifndef PROFILER_WORKLOAD_SETTINGS_H
#define PROFILER_WORKLOAD_SETTINGS_H

#include "profiler/workload/workload.h"

/* Neither missing nor null. */
bool field_given(const json_t *value);

/* A string field of at most `most` bytes, or `otherwise`; borrowed. */
bool field_string(const json_t *json, const char *field, const char *otherwise, size_t most,
		  const char **out, struct err *err);

/* Reads from w->json where and how it is run and what it is filed under: labels, backend,
 * device, policy, modes, engines, passes, and flags.  WORKLOAD or BOUND. */
bool settings_read(struct workload *w, struct err *err);

#endif
