/* server/cli/suite_files.h -- the workloads of a folder, of files and of lists of files. */
#ifndef SERVER_SUITE_FILES_H
#define SERVER_SUITE_FILES_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"

/* Adds to `list` the workloads of `path`: a folder's .json and .py files by name, one
 * such file, "blocks" (those that come with the program, where no file has that name), or
 * any other file, which names such files, one a line (# begins a comment; names are as
 * seen from the file's folder).  A file that is no workload is {"name", "error"}.  False
 * where the path itself cannot be read, or has none. */
bool suite_files_add(json_t *list, const char *path, struct err *err);

#endif
