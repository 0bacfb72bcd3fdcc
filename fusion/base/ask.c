/* fusion/base/ask.c -- the first line that a command prints. */
#include "fusion/base/ask.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool ask_command(const char *const *argv, char *line, size_t bytes)
{
	posix_spawn_file_actions_t actions;
	int fds[2], status = 1;
	size_t len = 0;
	ssize_t n;
	bool started;
	pid_t pid;

	line[0] = '\0';
	if (pipe2(fds, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	/* Else it would print among what we print. */
	started = posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO) == 0 &&
		  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
						   0) == 0 &&
		  posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	while (started && len < bytes - 1 && (n = read(fds[0], line + len, bytes - 1 - len)) > 0)
		len += (size_t)n;
	for (char rest[4096]; started && read(fds[0], rest, sizeof(rest)) > 0;)
		; /* closing on a command that still prints would end it with SIGPIPE */
	close(fds[0]);
	if (started)
		waitpid(pid, &status, 0);
	line[len] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return status == 0 && line[0];
}
