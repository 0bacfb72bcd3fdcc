/* server/cli/cli.h -- the commands of `breakeven`.
 *
 * Each takes argc and argv from its own name on, without --plugin, and what the
 * engine has with those plugins; it returns the exit status:
 * 0 done, 1 the work failed, 2 wrong flags, 130 ended by Ctrl-C.  Results go to stdout, messages to
 * stderr.  Only main() ends the process.
 */
#ifndef SERVER_CLI_CLI_H
#define SERVER_CLI_CLI_H

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

struct registry;

#define COMMAND(name, args, line)                                                                  \
	int cmd_##name(int argc, char **argv, const struct registry *registry);
#include "server/cli/commands.def"
#undef COMMAND

#endif
