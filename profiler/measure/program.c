/* profiler/measure/program.c -- a program, run once and timed. */
#include "profiler/measure/program.h"

#include <fcntl.h>
#include <poll.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/scratch.h"
#include "fusion/base/spawn.h"

extern char **environ;

/* What the kernel has counted of a thread: on a core, and ready to run without one. */
struct core_time {
	double on_s, wait_s;
};

/* Of /proc/NAME/schedstat; zeros where there is none. */
static struct core_time core_time_of(const char *name)
{
	struct core_time t = { 0 };
	double on_ns, wait_ns;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/schedstat", name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%lf %lf", &on_ns, &wait_ns) == 2)
		t = (struct core_time){ on_ns / 1e9, wait_ns / 1e9 };
	if (file)
		fclose(file);
	return t;
}

/* Whether a process has ended; it stays until wait4(), with what the kernel knows of it. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid == pid;
}

/* Part of its time that its first thread alone has to have run, so that what this waited for is
 * what the program waited for: the rest is the clock's grain. */
static const double nearly_all = 0.95, grain_s = 0.002;

/* `first`: of its first thread; `wake_s`: what this process waited when it ended. */
static double wait_of(const struct timed_program_end *end, const struct core_time *first,
		      double wake_s)
{
	if (first->on_s < nearly_all * end->cpu_s - grain_s)
		return 0;
	return fmin(first->wait_s + fmax(wake_s, 0), end->wall_s - first->on_s);
}

/* Until it ends, is stopped or takes too long: poll() on the process wakes at its end, so that
 * its time holds no sleep of this one. */
static void wait_for(pid_t pid, const struct timed_program *p, int64_t begin_ns,
		     struct timed_program_end *end)
{
	struct pollfd fd = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	struct core_time ours = { 0 }, first = { 0 };
	struct rusage used = { 0 };
	char name[24];
	int status = 0;
	bool ended = false;

	snprintf(name, sizeof(name), "%d", (int)pid);
	while (!ended) {
		double left_s = p->timeout_s - (double)(clock_ns() - begin_ns) / 1e9;

		end->stopped = p->stop && *p->stop;
		end->timed_out = left_s <= 0;
		if (end->stopped || end->timed_out)
			break;
		ours = core_time_of("thread-self");
		/* Without a descriptor (an old kernel), a look each millisecond. */
		poll(&fd, 1, fd.fd < 0 ? 1 : left_s < 0.1 ? 1 + (int)(left_s * 1e3) : 100);
		ended = has_ended(pid);
	}
	end->wall_s = (double)(clock_ns() - begin_ns) / 1e9;
	if (ended) {
		ours.wait_s = core_time_of("thread-self").wait_s - ours.wait_s;
		first = core_time_of(name);
	}
	kill(-pid, SIGKILL); /* and what it started, where that still runs */
	wait4(pid, &status, 0, &used);
	if (fd.fd >= 0)
		close(fd.fd);
	end->cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (ended)
		end->wait_s = wait_of(end, &first, ours.wait_s);
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
