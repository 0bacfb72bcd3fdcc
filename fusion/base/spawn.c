/* fusion/base/spawn.c -- programs that are started apart from Breakeven. */
#include "fusion/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

/* Between fork() and exec(): calls alone that a process of many threads may make there.  What
 * failed is written to `report`. */
static _Noreturn void become(const struct spawn_bound *s, pid_t parent, int report)
{
	enum { ABOVE = 64 };
	sigset_t none;
	int code = 0, kept[8];

	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it ended before that */
		_exit(0);
	setpgid(0, 0);
	report = fcntl(report, F_DUPFD_CLOEXEC, ABOVE);
	for (int fd = 0; fd < s->n_fds; fd++)
		if ((kept[fd] = fcntl(s->fds[fd], F_DUPFD_CLOEXEC, ABOVE)) < 0)
			code = errno;
	for (int fd = 0; code == 0 && fd < s->n_fds; fd++)
		if (dup2(kept[fd], fd) < 0)
			code = errno;
	if (code == 0) {
		execvpe(s->path, (char *const *)s->argv, (char *const *)s->env);
		code = errno;
	}
	if (write(report, &code, sizeof(code)) < 0)
		_exit(1);
	_exit(127);
}

int spawn_bound(pid_t *pid, const struct spawn_bound *s)
{
	const pid_t parent = getpid();
	int report[2], code = 0;

	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	*pid = fork();
	if (*pid == 0)
		become(s, parent, report[1]);
	if (*pid < 0)
		code = errno;
	close(report[1]);
	if (*pid > 0 && read(report[0], &code, sizeof(code)) == sizeof(code))
		while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
			;
	close(report[0]);
	return code;
}

void end_with_parent(int fd)
{
	struct pollfd other = { .fd = fd };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&other, 1, 0) == 1 && other.revents & (POLLHUP | POLLERR))
		_exit(0); /* before that: no signal comes */
}
