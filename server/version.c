/* server/version.c -- the one file that is rebuilt when the version changes. */
#include <stdio.h>

#include "server/commands.h"

const char *breakeven_version(void)
{
	return BREAKEVEN_VERSION;
}

int cmd_version(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		fprintf(stderr, "usage: breakeven version\n");
		return EXIT_USAGE;
	}
	printf("breakeven %s\n", breakeven_version());
	return EXIT_DONE;
}
