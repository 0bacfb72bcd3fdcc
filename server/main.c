/* server/main.c -- loads the plugins, finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/refused.h"
#include "fusion/registry.h"
#include "profiler/fields/json.h"
#include "server/cli/cli.h"
#include "server/text/text.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv, const struct registry *registry);
} commands[] = {
#define COMMAND(name, args, line) { #name, cmd_##name },
#include "server/cli/commands.def"
#undef COMMAND
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* Takes `--plugin FILE` and `--plugin=FILE` out of argv and loads each; the exit
 * status, or -1 to go on. */
static int load_plugins(int *argc, char **argv, struct registry *registry)
{
	int kept = 0;

	for (int i = 0; i < *argc; i++) {
		bool inside = strncmp(argv[i], "--plugin=", 9) == 0;
		struct err err = { 0 };

		if (!inside && strcmp(argv[i], "--plugin") != 0) {
			argv[kept++] = argv[i];
			continue;
		}
		if (!inside && i + 1 == *argc) {
			fprintf(stderr, "breakeven: a file is missing after --plugin\n");
			return EXIT_USAGE;
		}
		if (!registry_load(registry, inside ? argv[i] + 9 : argv[++i], &err)) {
			fprintf(stderr, "breakeven: %s\n", err.message);
			return EXIT_FAILED;
		}
	}
	argv[kept] = NULL;
	*argc = kept;
	return -1;
}

/* What a command printed is done where it lies where it was meant to: a full disk is a failure.
 * A command that failed has said why. */
static int settle(int status)
{
	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status != EXIT_DONE)
		return status;
	fprintf(stderr, "breakeven: the result could not be written: %s\n",
		strerror(errno ? errno : EIO));
	return EXIT_FAILED;
}

static int run_command(int index, int argc, char **argv)
{
	struct err err = { 0 };
	struct registry *registry = registry_create(&err);
	int status;

	if (!registry) {
		fprintf(stderr, "breakeven: %s\n", err.message);
		return EXIT_FAILED;
	}
	status = load_plugins(&argc, argv, registry);
	if (status < 0)
		status = commands[index].run(argc, argv, registry);
	registry_destroy(registry);
	if (status == EXIT_DONE && memory_refused() && commands[index].run != cmd_serve) {
		memory_refused_error(&err, "the result");
		fprintf(stderr, "breakeven %s: %s\n", commands[index].name, err.message);
		return EXIT_FAILED;
	}
	return status;
}

/* A standard stream that is closed takes and gives nothing, and no file or socket that is opened
 * later has its number: what is printed would go there. */
static void keep_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	keep_standard_streams();
	/* The engine's pool shares products out: OpenBLAS's own threads would only
	 * take memory. */
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	json_reserve();
	if (argc < 2) {
		help_print_all(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		help_print_all(stdout);
		return settle(EXIT_DONE);
	}
	if (strcmp(argv[1], "--version") == 0)
		return settle(cmd_version(1, argv, NULL));
	for (int i = 0; i < N_COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return settle(run_command(i, argc - 1, argv + 1));
	fprintf(stderr, "breakeven: '%s' is not a command; `breakeven --help` lists them\n",
		argv[1]);
	return EXIT_USAGE;
}
