/* server/queue/worker.c -- starts, feeds and reaps a worker process. */
#include "server/queue/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/spawn.h"
#include "server/queue/cgroup.h"
#include "server/queue/sandbox.h"

extern char **environ;

enum { MAX_ARGV = 22 + 2 * REGISTRY_MAX_PLUGINS };

/* What a job needs that a worker is not given otherwise. */
struct job_needs {
	bool compiles, device, torch, second;
};

static struct job_needs needs_of(enum message_type job, const char *workload,
				 const struct worker_options *options)
{
	bool runs = job == MESSAGE_WORKLOAD || job == MESSAGE_CHECK || job == MESSAGE_AGAIN;
	json_t *whole = runs ? json_loads(workload, 0, NULL) : NULL;
	json_t *json = job == MESSAGE_AGAIN ? json_object_get(whole, "workload") : whole;
	const char *device = json_string_value(json_object_get(json, "device"));
	struct job_needs needs = { .compiles = job == MESSAGE_WORKLOAD || job == MESSAGE_AGAIN,
				   .second = job == MESSAGE_AGAIN,
				   .device = device && strncmp(device, "cuda", 4) == 0 &&
					     sandbox_has_gpu() };
	json_t *engine;
	size_t i;

	json_array_foreach(json_object_get(json, "engines"), i, engine)
		needs.torch |= options->torch_python && json_is_string(engine) &&
			       strcmp(json_string_value(engine), "torch") == 0;
	json_decref(whole);
	return needs;
}

static void make_argv(const struct worker *w, const struct worker_options *options,
		      const struct job_needs *needs, char *cpu_s, const char *argv[MAX_ARGV + 1])
{
	int n = 0;

	argv[n++] = "breakeven";
	argv[n++] = "worker";
	argv[n++] = "--tmp";
	argv[n++] = w->folder.path;
	argv[n++] = "--cpu-seconds";
	argv[n++] = cpu_s;
	for (int i = 0; registry_plugin_path(options->registry, i); i++) {
		argv[n++] = "--plugin";
		argv[n++] = registry_plugin_path(options->registry, i);
	}
	if (needs->compiles)
		argv[n++] = "--compiles";
	if (needs->device)
		argv[n++] = "--device";
	if (needs->torch)
		argv[n++] = "--torch";
	if (needs->second)
		argv[n++] = "--second";
	if (options->torch_python) {
		argv[n++] = "--torch-python";
		argv[n++] = options->torch_python;
	}
	if (options->files_folder) {
		argv[n++] = "--files";
		argv[n++] = options->files_folder;
	}
	if (options->torch_host) {
		argv[n++] = "--torch-host";
		argv[n++] = options->torch_host;
	}
	if (options->blocking)
		argv[n++] = "--blocking";
	if (options->yields)
		argv[n++] = "--yield";
	if (options->cache_dir) {
		argv[n++] = "--cache";
		argv[n++] = options->cache_dir;
	}
	argv[n] = NULL;
}

/* The environment, by an allow-list: it may hold what a program must not read.  The list is
 * malloc'd. */
static char **environment_of_worker(void)
{
	/* by name, or where it ends in _ by how a name begins */
	static const char *const kept[] = {
		"PATH=",       "HOME=",           "LANG=",      "LC_",
		"TZ=",         "TMPDIR=",         "USER=",      "LD_LIBRARY_PATH=",
		"LD_PRELOAD=", "XDG_CACHE_HOME=", "BREAKEVEN_", "CUDA_",
		"NVIDIA_",     "OPENBLAS_",       "OMP_",       "MKL_",
		"TORCH_",      "TORCHINDUCTOR_",  "TRITON_",    "ASAN_",
		"UBSAN_",      "LSAN_",           "TSAN_",      "MALLOC_",
		"GLIBC_",      "PYTHON",          "CUBLAS",     "CUDNN_",
		"CUPTI_",      "NVRTC_",          "NV_",
	};
	size_t n = 0, taken = 0;
	char **list;

	while (environ[n])
		n++;
	list = calloc(n + 1, sizeof(*list));
	for (size_t i = 0; list && i < n; i++)
		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			if (strncmp(environ[i], kept[k], strlen(kept[k])) == 0) {
				list[taken++] = environ[i];
				break;
			}
	return list;
}

static bool spawn_child(struct worker *w, int child_fd, const struct worker_options *options,
			const struct job_needs *needs)
{
	char cpu_s[16];
	const char *argv[MAX_ARGV + 1];
	char **environment = environment_of_worker();
	posix_spawn_file_actions_t actions;
	int code = environment ? 0 : ENOMEM;

	snprintf(cpu_s, sizeof(cpu_s), "%d", w->cpu_s);
	make_argv(w, options, needs, cpu_s, argv);
	posix_spawn_file_actions_init(&actions);
	if (code == 0)
		code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
							O_RDONLY, 0);
	if (code == 0)
		code = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	if (code == 0)
		code = posix_spawn_file_actions_adddup2(&actions, child_fd, WORKER_FD);
	if (code == 0)
		code = spawn_apart(&w->pid, "/proc/self/exe", &actions, argv,
				   (const char *const *)environment);
	free(environment);
	posix_spawn_file_actions_destroy(&actions);
	errno = code;
	return code == 0;
}

bool worker_start(struct worker *w, const struct worker_options *options, enum message_type job,
		  const char *workload, struct err *err)
{
	const struct timeval send_limit = { .tv_sec = WORKER_SEND_S };
	const struct job_needs needs = needs_of(job, workload, options);
	int pair[2];
	int child_fd;

	*w = (struct worker){ .fd = -1, .cpu_s = options->cpu_seconds };
	/* A worker that is killed cannot tidy up, so its files lie in a folder that the server
	 * made. */
	if (!scratch_create(&w->folder, "a worker", err))
		return false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		scratch_destroy(&w->folder);
		return err_set(err, ERR_WORKER, "no socket for a worker: %s", strerror(errno));
	}
	/* dup2 of a descriptor onto itself would keep close-on-exec. */
	child_fd = fcntl(pair[1], F_DUPFD_CLOEXEC, WORKER_FD + 1);
	close(pair[1]);
	if (child_fd < 0 || !spawn_child(w, child_fd, options, &needs)) {
		err_set(err, ERR_WORKER, "no worker process: %s", strerror(errno));
		w->pid = 0;
		scratch_destroy(&w->folder);
		close(pair[0]);
		if (child_fd >= 0)
			close(child_fd);
		return false;
	}
	close(child_fd);
	w->fd = pair[0];
	/* A worker that was stopped must not stop the queue. */
	setsockopt(w->fd, SOL_SOCKET, SO_SNDTIMEO, &send_limit, sizeof(send_limit));
	errno = 0;
	if (!message_send(w->fd, job, workload, strlen(workload), err) ||
	    (options->log &&
	     !message_send(w->fd, MESSAGE_LOG, options->log, options->log_bytes, err))) {
		bool gone = errno == EPIPE || errno == ECONNRESET, clean;
		struct err end = { 0 };

		worker_reap(w, true, &clean, &end);
		if (err && gone && !clean)
			*err = end; /* that says why */
		return false;
	}
	fcntl(w->fd, F_SETFL, fcntl(w->fd, F_GETFL) | O_NONBLOCK);
	return true;
}

static void word_end(int status, int cpu_s, struct err *err)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (sig == SIGXCPU)
		err_set(err, ERR_WORKER,
			"the worker used %d s of processor time, the limit of one run; measure "
			"fewer points or smaller inputs, or start the server with a larger "
			"--run-seconds",
			cpu_s);
	else if (sig == SIGKILL)
		err_set(err, ERR_WORKER,
			"the worker was killed (signal 9), by the system for lack of memory or by "
			"an operator; run it again, or with smaller inputs");
	else if (sig)
		err_set(err, ERR_WORKER,
			"the worker crashed (signal %d, %s); the server is not affected, and the "
			"run can be repeated",
			sig, strsignal(sig));
	else
		err_set(err, ERR_WORKER, "the worker ended with status %d and no report",
			WEXITSTATUS(status));
}

void worker_reap(struct worker *w, bool kill_first, bool *clean, struct err *err)
{
	siginfo_t info;
	int status = 0;

	*clean = true;
	if (w->pid == 0)
		return;
	if (kill_first)
		kill(-w->pid, SIGKILL); /* its compiler too */
	/* Of one that ended by itself a compiler may be left.  Its number is not given
	 * away until it is reaped, so that no other group can have it. */
	while (waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	kill(-w->pid, SIGKILL);
	cgroup_remove(w->pid);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	*clean = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
	if (!*clean)
		word_end(status, w->cpu_s, err);
	close(w->fd);
	scratch_destroy(&w->folder);
	*w = (struct worker){ .fd = -1 };
}
