/* server/cli/folder.h -- a folder with a program of several files. */
#ifndef SERVER_CLI_FOLDER_H
#define SERVER_CLI_FOLDER_H

#include <jansson.h>

#include "fusion/base/err.h"

/* The .py files below it, {path: text}; without hidden folders, __pycache__ and virtual
 * environments.  NULL with IO, or BOUND or WORKLOAD for what no program may have. */
json_t *folder_read(const char *folder, struct err *err);

#endif
