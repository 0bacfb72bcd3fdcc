/* fusion/backends/host/toolchain.c -- finds the system compiler and runs it in a cage.
 *
 * An argument vector, never a shell; a fixed environment; limits on processor
 * time, memory and file size; a deadline, after which its process group is
 * killed.  Never -ffast-math: gcc 12 would link crtfastmath.o, and loading the
 * kernel would then flush denormals in the whole thread.
 */
#include "fusion/backends/host/toolchain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/spawn.h"

enum { MAX_ARGUMENTS = 48, OUTPUT_BYTES = 4096, DEFAULT_TIMEOUT_MS = 300000 };

static const char missing[] =
    "No C compiler was found on PATH (gcc, cc or clang). Install one, for example with "
    "\"apt install gcc\", or use the interpreter (backend \"interp\").";

static bool identify(struct toolchain *t)
{
	char real[PATH_MAX];
	struct stat st;

	if (access(t->path, X_OK) != 0 || stat(t->path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	snprintf(t->identity, sizeof(t->identity), "%s %lld %lld", t->path, (long long)st.st_size,
		 (long long)st.st_mtim.tv_sec);
	t->clang = realpath(t->path, real) && strstr(strrchr(real, '/'), "clang");
	return true;
}

static bool find_on_path(struct toolchain *t, const char *name)
{
	const char *path = getenv("PATH"), *end;

	for (path = path ? path : "/usr/bin:/bin"; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		if (*path != '/') /* never the current folder */
			continue;
		if (snprintf(t->path, sizeof(t->path), "%.*s/%s", (int)(end - path), path, name) <
			(int)sizeof(t->path) &&
		    identify(t))
			return true;
	}
	return false;
}

bool toolchain_find(struct toolchain *t, const char *wanted, struct err *err)
{
	static const char *const names[] = { "gcc", "cc", "clang" };

	if (wanted) {
		if (strlen(wanted) < sizeof(t->path)) {
			strcpy(t->path, wanted);
			if (identify(t))
				return true;
		}
		return err_set(err, ERR_COMPILER,
			       "The C compiler %.200s cannot be run. Install it, name another, or "
			       "use the interpreter (backend \"interp\").",
			       wanted);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (find_on_path(t, names[i]))
			return true;
	return err_set(err, ERR_COMPILER, "%s", missing);
}

/* Passes of gcc -O1 that find nothing in straight vector loops: without them the
 * same machine code comes a fifth sooner. */
#define LEAN                                                                                       \
	"-fno-tree-sra -fno-tree-pta -fno-tree-sink -fno-tree-slsr -fno-ssa-phiopt "               \
	"-fno-tree-bit-ccp -fno-tree-dse -fno-tree-phiprop -fno-tree-dominator-opts "              \
	"-fno-tree-scev-cprop -fno-tree-loop-ivcanon -fno-ivopts "
#define COMMON                                                                                     \
	"-std=gnu11 -O1 -w -pipe -fPIC -shared -nostdlib -ffp-contract=off "                       \
	"-fno-math-errno -fwrapv -fno-plt -fno-asynchronous-unwind-tables "                        \
	"-fno-stack-protector -fcf-protection=none -fno-ident "

const char *toolchain_flags(const struct toolchain *t, int vector_bytes)
{
	static const char *const flags[2][3] = {
		{ COMMON LEAN "-msse4.2", COMMON LEAN "-mavx2 -mfma",
		  COMMON LEAN "-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma" },
		{ COMMON "-msse4.2", COMMON "-mavx2 -mfma",
		  COMMON "-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma" },
	};

	return flags[t->clang][vector_bytes == 64 ? 2 : vector_bytes == 32];
}

/* A child that hangs or grows is stopped by the system even if we are gone. */
static void limit(pid_t pid, int timeout_ms)
{
	const struct rlimit cpu = { (rlim_t)timeout_ms / 1000 + 2, (rlim_t)timeout_ms / 1000 + 2 };
	const struct rlimit memory = { (rlim_t)4 << 30, (rlim_t)4 << 30 };
	const struct rlimit file = { 256 << 20, 256 << 20 };

	prlimit(pid, RLIMIT_CPU, &cpu, NULL);
	prlimit(pid, RLIMIT_AS, &memory, NULL);
	prlimit(pid, RLIMIT_FSIZE, &file, NULL);
}

static bool spawn(pid_t *pid, const char *path, char *const argv[], char *const env[],
		  const char *folder, int output)
{
	posix_spawn_file_actions_t files;
	int status;

	posix_spawn_file_actions_init(&files);
	status = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	if (status == 0)
		status = posix_spawn_file_actions_adddup2(&files, output, 1);
	if (status == 0)
		status = posix_spawn_file_actions_adddup2(&files, output, 2);
	if (status == 0)
		status = posix_spawn_file_actions_addclosefrom_np(&files, 3);
	if (status == 0)
		status = posix_spawn_file_actions_addchdir_np(&files, folder);
	if (status == 0)
		status = spawn_apart(pid, path, &files, (const char *const *)argv,
				     (const char *const *)env);
	posix_spawn_file_actions_destroy(&files);
	errno = status;
	return status == 0;
}

static int left_ms(int64_t deadline_ns)
{
	int64_t left = (deadline_ns - clock_ns()) / 1000000;

	return left > 0 ? (int)left : 0;
}

/* Reads what the child prints until it closes its end.  False: out of time. */
static bool read_output(int fd, char text[OUTPUT_BYTES], int64_t deadline_ns)
{
	size_t len = 0;
	char rest[512];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		size_t room = OUTPUT_BYTES - 1 - len;
		ssize_t n;
		int ready = poll(&p, 1, left_ms(deadline_ns));

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		n = room ? read(fd, text + len, room) : read(fd, rest, sizeof(rest));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		len += room ? (size_t)n : 0;
		text[len] = '\0';
	}
}

/* Waits for the end of the child.  False: out of time, and it is killed. */
static bool reap(pid_t pid, bool in_time, int64_t deadline_ns, int *status)
{
	int fd = in_time ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0) {
		in_time = poll(&p, 1, left_ms(deadline_ns)) != 0;
		close(fd);
	}
	if (!in_time)
		kill(-pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR) { /* someone else reaps: the output decides */
			*status = 0;
			break;
		}
	return in_time;
}

/* The first line that says "error", else the first line. */
static void first_error(const char *text, char line[256])
{
	const char *at = strstr(text, "error");

	while (at && at > text && at[-1] != '\n')
		at--;
	at = at ? at : text;
	snprintf(line, 256, "%.*s", (int)strcspn(at, "\n"), at);
}

static bool run(const struct toolchain *t, char *const argv[], char *const env[],
		const char *folder, int timeout_ms, struct err *err)
{
	int64_t deadline = clock_ns() + (int64_t)timeout_ms * 1000000;
	char text[OUTPUT_BYTES] = "", line[256];
	int ends[2], status = 0;
	bool in_time, ok;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set(err, ERR_COMPILER, "No pipe for the C compiler: %s.",
			       strerror(errno));
	ok = spawn(&pid, t->path, argv, env, folder, ends[1]);
	close(ends[1]);
	if (!ok) {
		close(ends[0]);
		return err_set(err, ERR_COMPILER, "The C compiler %.200s does not start: %s.",
			       t->path, strerror(errno));
	}
	limit(pid, timeout_ms);
	in_time = read_output(ends[0], text, deadline);
	in_time = reap(pid, in_time, deadline, &status);
	close(ends[0]);
	if (!in_time)
		return err_set(err, ERR_COMPILER,
			       "The C compiler %.200s took longer than %d ms and was stopped.",
			       t->path, timeout_ms);
	if (WIFSIGNALED(status))
		return err_set(err, ERR_COMPILER,
			       "The C compiler %.200s was ended by signal %d (%s).", t->path,
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	first_error(text, line);
	if (status != 0)
		return err_set(err, ERR_COMPILER, "The C compiler %.200s failed: %s", t->path,
			       line);
	return true;
}

bool toolchain_compile(const struct toolchain *t, const char *folder, int vector_bytes,
		       int timeout_ms, struct err *err)
{
	char flags[1024], search[PATH_MAX + 64], temporary[PATH_MAX + 16];
	char *argv[MAX_ARGUMENTS], *save = NULL;
	char *env[] = { search, temporary, (char[]){ "LC_ALL=C" }, NULL };
	int n = 0;

	/* The compiler looks for as and ld where it lives itself. */
	snprintf(search, sizeof(search), "PATH=%.*s:/usr/local/bin:/usr/bin:/bin",
		 (int)(strrchr(t->path, '/') ? strrchr(t->path, '/') - t->path : 0), t->path);
	snprintf(temporary, sizeof(temporary), "TMPDIR=%s", folder);
	snprintf(flags, sizeof(flags), "%s", toolchain_flags(t, vector_bytes));
	argv[n++] = (char *)(uintptr_t)t->path;
	for (char *f = strtok_r(flags, " ", &save); f; f = strtok_r(NULL, " ", &save))
		argv[n++] = f;
	argv[n++] = (char[]){ "kernel.c" };
	argv[n++] = (char[]){ "-o" };
	argv[n++] = (char[]){ "kernel.so" };
	argv[n] = NULL;
	return run(t, argv, env, folder, timeout_ms > 0 ? timeout_ms : DEFAULT_TIMEOUT_MS, err);
}
