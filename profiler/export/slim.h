/* profiler/export/slim.h -- private: a report without its bulk, for the head of a trace. */
#ifndef PROFILER_EXPORT_SLIM_H
#define PROFILER_EXPORT_SLIM_H

#include <jansson.h>
#include <stdbool.h>

/* Our importer keeps a head of 8 MiB: the report goes with it up to so much. */
enum { SLIM_BYTES = 4 << 20 };

/* All of it where it fits; else breaks, recompiles, latencies, graphs by their ops, and no
 * values, code, nodes and samples: "slimmed" then.  Where even that is too much nothing.  New. */
json_t *slim_report(const json_t *report);

/* The facts of a recording without the extents, which the events tell.  New. */
json_t *slim_facts(const json_t *facts);

#endif
