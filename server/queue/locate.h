/* server/queue/locate.h -- which kernel it was that failed.
 *
 * A GPU says that a kernel has failed when others have been launched behind it, and
 * the process that did so can ask it nothing more.  So the job is done once more, by
 * a worker that waits for each launch.
 */
#ifndef SERVER_LOCATE_H
#define SERVER_LOCATE_H

#include <jansson.h>

#include "fusion/base/err.h"
#include "fusion/session/registry.h"

/* Where *err is a failure of the device without a line: runs the workload once more,
 * untimed, and takes over what is said then, if that is a failure of the device too.
 * `cache_dir` and `registry` may be NULL. */
void locate_fault(const json_t *workload, const char *cache_dir, const struct registry *registry,
		  struct err *err);

#endif
