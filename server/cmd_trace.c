/* server/cmd_trace.c -- `breakeven trace -- COMMAND`: an unmodified CUDA program's timeline.
 *
 * The program runs with an injection library (profiler/cupti/inject.c) that sends what
 * CUPTI records to a socket of ours; its children too.  The file is written as chunks
 * fill up, so memory does not grow with the recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "profiler/traced.h"
#include "server/commands.h"

enum { GRACE_NS = 2 * 1000 * 1000 * 1000u, POLL_MS = 50 };

struct trace_flags {
	const char *out, *cupti, *inject;
	bool api;
	char **command;
};

static void print_help(void)
{
	printf(
	    "usage: breakeven trace [-o FILE] [--api] [--cupti LIB] -- COMMAND ARGUMENT...\n\n"
	    "Runs COMMAND and records what it, and the processes that it starts, run on\n"
	    "NVIDIA GPUs: kernels, copies and sets, by CUPTI.  The exit status is COMMAND's.\n\n"
	    "  -o FILE       the timeline (breakeven.trace), blocks of profiler/timeline.h; beside "
	    "it\n"
	    "                FILE.torch/ with TORCH_TRACE of a PyTorch program\n"
	    "  --api         calls of the driver and the runtime too; 0.2 us more a launch\n"
	    "  --cupti LIB   a libcupti.so; else the program's own or an installed one\n"
	    "  --inject LIB  libbreakeven_inject.so, where it does not lie beside this program\n");
}

static bool parse_flags(int argc, char **argv, struct trace_flags *f)
{
	int i = 1;

	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char **value = strcmp(argv[i], "-o") == 0         ? &f->out
				     : strcmp(argv[i], "--cupti") == 0  ? &f->cupti
				     : strcmp(argv[i], "--inject") == 0 ? &f->inject
									: NULL;

		if (strcmp(argv[i], "--api") == 0) {
			f->api = true;
		} else if (!value || i + 1 >= argc) {
			fprintf(stderr,
				"breakeven trace: '%s' is not understood; write breakeven "
				"trace [-o FILE] -- COMMAND\n",
				argv[i]);
			return false;
		} else {
			*value = argv[++i];
		}
	}
	f->command = argv + i + 1;
	if (i + 1 < argc)
		return true;
	fprintf(stderr,
		"breakeven trace: a command is missing; write breakeven trace -- COMMAND\n");
	return false;
}

/* The library beside this program. */
static bool find_library(const struct trace_flags *f, char path[4096])
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (f->inject) {
		if (!realpath(f->inject, path))
			path[0] = '\0';
	} else if (n > 0) {
		self[n] = '\0';
		snprintf(path, 4096, "%.4000s/libbreakeven_inject.so", dirname(self));
	}
	if (access(path, R_OK) == 0)
		return true;
	fprintf(stderr,
		"breakeven trace: there is no %s; it is built where the headers of the CUDA "
		"Toolkit are\n",
		path[0] ? path : "libbreakeven_inject.so");
	return false;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, 64) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static pid_t start(const struct trace_flags *f, const char *library, const char *socket_path)
{
	pid_t pid = fork();
	char torch[4096];

	if (pid != 0)
		return pid;
	setenv("CUDA_INJECTION64_PATH", library, 1);
	setenv(WIRE_SOCKET, socket_path, 1);
	setenv(WIRE_OPTIONS, f->api ? "a" : "", 1);
	if (f->cupti)
		setenv(WIRE_CUPTI, f->cupti, 1);
	snprintf(torch, sizeof(torch), "%.4000s.torch", f->out);
	setenv("TORCH_TRACE", torch, 0);
	execvp(f->command[0], f->command);
	fprintf(stderr, "breakeven trace: %s: %s\n", f->command[0], strerror(errno));
	_exit(127);
}

/* Takes in what comes until the program, and whoever it left behind, has ended. */
static int attend(int listener, pid_t child, struct traced *t, struct err *err)
{
	struct pollfd fds[TRACED_MAX_PROCESSES + 1];
	int64_t ended_ns = 0;
	int status = 0;

	for (;;) {
		int n = traced_poll(t, fds);

		fds[n] = (struct pollfd){ .fd = listener, .events = POLLIN };
		if (poll(fds, (nfds_t)n + 1, POLL_MS) < 0 && errno != EINTR)
			break;
		for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
			traced_accept(t, fd);
		if (!traced_read(t, err))
			break;
		if (!ended_ns && waitpid(child, &status, WNOHANG) == child)
			ended_ns = clock_ns();
		if (ended_ns && (traced_poll(t, fds) == 0 || clock_ns() - ended_ns > GRACE_NS))
			return status;
	}
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	return status;
}

static int trace(const struct trace_flags *f, const char *library)
{
	char folder[] = "/tmp/breakeven-trace-XXXXXX", path[64];
	struct err err = { 0 };
	struct traced *t = traced_create(f->out, &err);
	int listener = -1, status = -1;

	if (t && mkdtemp(folder)) {
		snprintf(path, sizeof(path), "%s/socket", folder);
		listener = listen_at(path);
	}
	if (listener >= 0) {
		pid_t child = start(f, library, path);

		signal(SIGINT, SIG_IGN); /* the program's to handle; then we finish */
		status = attend(listener, child, t, &err);
		close(listener);
		unlink(path);
		rmdir(folder);
	} else if (t) {
		err_set(&err, ERR_IO, "no socket for the program in %s: %s", folder,
			strerror(errno));
	}
	if (t && traced_finish(t, stderr, &err) && err.code == ERR_NONE)
		fprintf(stderr, "breakeven trace: written to %s\n", f->out);
	else
		fprintf(stderr, "breakeven trace: %s\n", err.message);
	traced_destroy(t);
	if (listener < 0)
		return EXIT_FAILED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int cmd_trace(int argc, char **argv, const struct registry *registry)
{
	struct trace_flags f = { .out = "breakeven.trace" };
	char library[4096] = "";

	(void)registry;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help();
			return EXIT_DONE;
		}
	if (!parse_flags(argc, argv, &f))
		return EXIT_USAGE;
	return find_library(&f, library) ? trace(&f, library) : EXIT_FAILED;
}
