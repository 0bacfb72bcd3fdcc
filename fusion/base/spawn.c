/* fusion/base/spawn.c -- programs that are started apart from Breakeven. */
#include "fusion/base/spawn.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int spawn_apart(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
		const char *const argv[], const char *const env[])
{
	posix_spawnattr_t attr;
	sigset_t none, all;
	int code;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
					    POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	code = posix_spawnp(pid, path, files, &attr, (char *const *)argv, (char *const *)env);
	posix_spawnattr_destroy(&attr);
	return code;
}

void end_with_parent(int fd)
{
	struct pollfd other = { .fd = fd };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&other, 1, 0) == 1 && other.revents & (POLLHUP | POLLERR))
		_exit(0); /* before that: no signal comes */
}
