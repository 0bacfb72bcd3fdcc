/* server/cli/cmd_confine.c -- engine torch's Python with few rights: what posted programs do there
 * they do with no more. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/spawn.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/queue/sandbox.h"

/* Its standard input is a pipe that who started us holds: closed, nobody wants it. */
static int run_confined(char **argv)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		end_with_parent(STDIN_FILENO);
		execvp(argv[0], argv);
		fprintf(stderr, "breakeven confine: %.200s: %s\n", argv[0], strerror(errno));
		_exit(EXIT_FAILED);
	}
	if (pid < 0) {
		fprintf(stderr, "breakeven confine: no process: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cmd_confine(int argc, char **argv, const struct registry *registry)
{
	struct flags none = { .command = "confine" };
	struct err err = { 0 };
	int status, at = 3, writes;
	char number[16];

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
	end_with_parent(STDIN_FILENO);
	if (!sandbox_torch(argv[1], argv[2], (const char *const *)argv + 3, &writes, &err)) {
		fprintf(stderr, "breakeven confine: %s\n", err.message);
		return EXIT_FAILED;
	}
	snprintf(number, sizeof(number), "%d", writes);
	if (writes >= 0 && setenv("BREAKEVEN_WRITES", number, 1) != 0)
		return EXIT_FAILED;
	return run_confined(argv + at + 1);
}
