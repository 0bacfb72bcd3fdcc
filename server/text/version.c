/* server/text/version.c -- the one file that is rebuilt when the version changes. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fusion/fusion.h"
#include "server/cli/commands.h"
#include "server/text/help.h"

const char *breakeven_version(void)
{
	return BREAKEVEN_VERSION;
}

int cmd_version(int argc, char **argv, const struct registry *registry)
{
	struct err err = { 0 };
	struct fusion *f;
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

	(void)registry;
	if (argc > 1) {
		help_print(help ? stdout : stderr, "version");
		return help ? EXIT_DONE : EXIT_USAGE;
	}
	printf("breakeven %s\n", breakeven_version());
	f = fusion_create(&(struct fusion_options){ .threads = 1 }, &err);
	if (f)
		printf("products of matrices: %s\n", fusion_blas_note(f));
	fusion_destroy(f);
	return EXIT_DONE;
}
