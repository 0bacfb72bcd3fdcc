/* profiler/measure/program.c -- a program, run once and timed. */
#include "profiler/measure/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/scratch.h"
#include "fusion/base/spawn.h"

extern char **environ;

/* Until it ends, is stopped or takes too long: poll() on the process wakes at its end, so that
 * its time holds no sleep of this one. */
static void wait_for(pid_t pid, const struct timed_program *p, int64_t begin_ns,
		     struct timed_program_end *end)
{
	struct pollfd fd = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	struct rusage used = { 0 };
	int status = 0;
	pid_t ended = 0;

	while (ended == 0) {
		double left_s = p->timeout_s - (double)(clock_ns() - begin_ns) / 1e9;

		end->stopped = p->stop && *p->stop;
		end->timed_out = left_s <= 0;
		if (end->stopped || end->timed_out)
			break;
		/* Without a descriptor (an old kernel), a look each millisecond. */
		poll(&fd, 1, fd.fd < 0 ? 1 : left_s < 0.1 ? 1 + (int)(left_s * 1e3) : 100);
		ended = wait4(pid, &status, WNOHANG, &used);
	}
	end->wall_s = (double)(clock_ns() - begin_ns) / 1e9;
	if (ended == 0 || !p->leaves)
		kill(-pid, SIGKILL); /* and what it started, where that still runs */
	if (ended == 0)
		wait4(pid, &status, 0, &used);
	if (fd.fd >= 0)
		close(fd.fd);
	end->cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void take_output(int fd, struct buf *out)
{
	char block[65536];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while (!out->failed && (n = read(fd, block, sizeof(block))) > 0)
		buf_add(out, block, (size_t)n);
}

bool program_run(const struct timed_program *p, struct buf *out, struct timed_program_end *end,
		 struct err *err)
{
	int fd = scratch_file("the output of a program", err), code;
	posix_spawn_file_actions_t files;
	int64_t begin_ns;
	pid_t pid;

	*end = (struct timed_program_end){ 0 };
	if (fd < 0)
		return false;
	posix_spawn_file_actions_init(&files);
	code = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (code == 0)
		code = posix_spawn_file_actions_adddup2(&files, fd, STDOUT_FILENO);
	if (code == 0 && p->errors_too)
		code = posix_spawn_file_actions_adddup2(&files, fd, STDERR_FILENO);
	if (code == 0)
		code = posix_spawn_file_actions_addchdir_np(&files, p->folder);
	begin_ns = clock_ns();
	if (code == 0)
		code = spawn_apart(&pid, p->argv[0], &files, p->argv, (const char *const *)environ);
	posix_spawn_file_actions_destroy(&files);
	if (code == 0) {
		wait_for(pid, p, begin_ns, end);
		take_output(fd, out);
	}
	close(fd);
	return code == 0 ||
	       err_set(err, ERR_IO, "%.200s cannot be started: %s", p->argv[0], strerror(code));
}
