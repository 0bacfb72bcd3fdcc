/* server/cli/cmd_confine.c -- engine torch's Python with few rights: what posted programs do there
 * they do with no more. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/queue/sandbox.h"

int cmd_confine(int argc, char **argv, const struct registry *registry)
{
	struct flags none = { .command = "confine" };
	struct err err = { 0 };
	int status, at = 3;

	(void)registry;
	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	if (at + 1 >= argc) {
		status = flags_read(&none, argc < 2 ? argc : 2, argv);
		if (status < 0)
			flags_refuse("confine", "it takes two folders, paths, -- and a program",
				     "");
		return status < 0 ? EXIT_USAGE : status;
	}
	argv[at] = NULL;
	if (!sandbox_torch(argv[1], argv[2], (const char *const *)argv + 3, &err)) {
		fprintf(stderr, "breakeven confine: %s\n", err.message);
		return EXIT_FAILED;
	}
	execvp(argv[at + 1], argv + at + 1);
	fprintf(stderr, "breakeven confine: %.200s: %s\n", argv[at + 1], strerror(errno));
	return EXIT_FAILED;
}
