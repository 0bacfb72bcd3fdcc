/* server/version.c -- the one file that is rebuilt when the version changes. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "server/commands.h"

const char *breakeven_version(void)
{
	return BREAKEVEN_VERSION;
}

int cmd_version(int argc, char **argv)
{
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

	if (argc > 1) {
		fprintf(help ? stdout : stderr, "usage: breakeven version\n");
		return help ? EXIT_DONE : EXIT_USAGE;
	}
	printf("breakeven %s\n", breakeven_version());
	return EXIT_DONE;
}
