/* profiler/import/kineto_base.h -- private: where the clock's zero of a trace lies.
 *
 * "baseTimeNanoseconds" comes before the events since 2.9 or so, and after them in older files.
 */
#ifndef PROFILER_IMPORT_KINETO_BASE_H
#define PROFILER_IMPORT_KINETO_BASE_H

#include <stdbool.h>
#include <stdint.h>

/* As the text of a trace's head says it; *ns is not touched where it does not. */
bool kineto_base(const char *text, int64_t *ns);

/* The same of the last bytes of a file that can be looked at out of turn; its place stays. */
bool kineto_base_at_end(int fd, int64_t *ns);

#endif
