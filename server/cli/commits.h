/* server/cli/commits.h -- tells a server of the commits that the current folder is of. */
#ifndef SERVER_CLI_COMMITS_H
#define SERVER_CLI_COMMITS_H

#include "server/cli/post.h"

/* What git says of the newest commits here: a list, the caller's; empty where the folder is in no
 * repository.  To be asked for before the process confines itself. */
json_t *commits_here(void);

/* Posts them, for runs of a project ("": of none).  False with why the server did not take them. */
bool commits_post(struct post *p, const char *project, json_t *commits, struct err *err);

#endif
