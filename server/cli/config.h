/* server/cli/config.h -- flags that may stand in the environment and in a file too.
 *
 * A flag counts before BREAKEVEN_NAME of the environment, and that before the file, which
 * --config names: /etc/breakeven.conf, where it is there.  Its lines are `name = value`, the name
 * that of the flag without its dashes; a flag without a value is yes or no; what may be given often
 * has a line for each, and blanks between in the environment.  `#` begins a comment.
 */
#ifndef SERVER_CLI_CONFIG_H
#define SERVER_CLI_CONFIG_H

#include "fusion/base/arena.h"
#include "server/cli/flags.h"

enum { CONFIG_MOST = 64 };

/* Where each row of the table has its value from: "flag", "BREAKEVEN_DB", "FILE:3" or "default". */
struct config {
	const char *file; /* NULL: there is none */
	const char *from[CONFIG_MOST];
};

/* As flags_read(), with the defaults in the table's places before.  The table has a row --config
 * and at most CONFIG_MOST rows.  Texts live in the arena. */
int config_read(struct flags *f, int argc, char **argv, struct config *out, struct arena *arena);

#endif
