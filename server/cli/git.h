/* server/cli/git.h -- which commit of the user's repository a run is of. */
#ifndef SERVER_GIT_H
#define SERVER_GIT_H

#include <jansson.h>

/* Adds `commit` and `branch` to a workload that says neither, where `git` is there and the
 * current folder is in a repository: the full id, with "-dirty" behind it where tracked
 * files differ from it; no branch where none is checked out.  Else nothing. */
void git_describe(json_t *workload);

#endif
