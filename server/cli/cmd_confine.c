/* server/cli/cmd_confine.c -- engine torch's Python with few rights: what posted programs do there
 * they do with no more. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/spawn.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/queue/sandbox.h"

/* Its standard input is a pipe that who started us holds: closed, nobody wants it. */
static int run_confined(const struct torch_places *at, char **argv)
{
	struct err err = { 0 };
	pid_t pid = sandbox_fork_torch(at, &err);
	int status = 0;

	if (pid == 0) {
		end_with_parent(STDIN_FILENO);
		execvp(argv[0], argv);
		fprintf(stderr, "breakeven confine: %.200s: %s\n", argv[0], strerror(errno));
		_exit(EXIT_FAILED);
	}
	if (pid < 0) {
		fprintf(stderr, "breakeven confine: %s\n", err.message);
		return EXIT_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cmd_confine(int argc, char **argv, const struct registry *registry)
{
	struct flags none = { .command = "confine" };
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
	end_with_parent(STDIN_FILENO);
	return run_confined(&(struct torch_places){ .folder = argv[1],
						    .files = argv[2],
						    .read = (const char *const *)argv + 3 },
			    argv + at + 1);
}
