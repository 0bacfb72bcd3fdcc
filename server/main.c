/* server/main.c -- finds the command and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/commands.h"

static const struct {
	const char *name, *args, *line;
	int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, args, line) { #name, args, line, cmd_##name },
#include "server/commands.def"
#undef COMMAND
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *out)
{
	fprintf(out, "breakeven: see when compiling a model function pays\n\nusage: breakeven "
		     "COMMAND ...\n\n");
	for (int i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-8s %-44s %s\n", commands[i].name, commands[i].args,
			commands[i].line);
	fprintf(out, "\nbreakeven COMMAND --help says more of each.\n");
}

int main(int argc, char **argv)
{
	/* The engine's pool shares products out: OpenBLAS's own threads would only
	 * take memory. */
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0)
		return cmd_version(1, argv);
	for (int i = 0; i < N_COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "breakeven: '%s' is not a command; `breakeven --help` lists them\n",
		argv[1]);
	return EXIT_USAGE;
}
