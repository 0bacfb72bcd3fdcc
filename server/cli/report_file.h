/* server/cli/report_file.h -- files with a run, for commands that compare. */
#ifndef SERVER_CLI_REPORT_FILE_H
#define SERVER_CLI_REPORT_FILE_H

#include <stdio.h>
#include <string.h>

#include "server/api/api.h"

/* A file as JSON, which is said to be no `what` ("run") of the store where there is no such
 * file.  New; NULL with IO, TOO_LARGE or JSON. */
json_t *report_file_read(const char *path, const char *what, struct err *err);

/* Says which file an error is of, where its message does not. */
static inline void report_file_name(const char *path, struct err *err)
{
	char message[ERR_MESSAGE_BYTES];

	snprintf(message, sizeof(message), "%s", err->message);
	if (!strstr(message, path))
		err_set(err, err->code, "%.300s: %s", path, message);
}

/* What `breakeven run --json` prints, `export --format json` writes, or GET /runs/{id} answers; of
 * a baseline (profiler/gate/baseline.h) the workload `name`, NOT_FOUND where it has none.  `name`
 * NULL: a baseline is refused.  Errors name the file. */
bool report_file_add(struct loaded_runs *l, const char *path, const char *name, struct err *err);

#endif
