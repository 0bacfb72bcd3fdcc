/* profiler/torch/child.c -- see child.h. */
#include "profiler/torch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/buf.h"
#include "fusion/base/clock.h"

extern char **environ;
extern const char torch_worker_text[]; /* worker.py, NUL terminated */

enum { TICK_MS = 100, READ_BYTES = 64 << 10, MAX_ENV = 32, LIMITS_BYTES = 160 };

/* ---- the folder */

static bool write_file(const char *folder, const char *name, const char *text, struct err *err)
{
	char path[320];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wxe");
	ok = file && fputs(text, file) != EOF;
	if (file)
		ok = fclose(file) == 0 && ok;
	return ok || err_set(err, ERR_IO, "%s cannot be written: %s", path, strerror(errno));
}

bool torch_folder_create(struct torch_folder *f, const char *script, struct err *err)
{
	const char *base = getenv("TMPDIR");
	int len = snprintf(f->path, sizeof(f->path), "%s/breakeven-torch-XXXXXX",
			   base && *base == '/' ? base : "/tmp");

	if (len < 0 || (size_t)len >= sizeof(f->path) || !mkdtemp(f->path)) {
		f->path[0] = '\0';
		return err_set(err, ERR_IO, "no temporary folder for torch: %s", strerror(errno));
	}
	if (write_file(f->path, "worker.py", torch_worker_text, err) &&
	    (!script || write_file(f->path, "experiment.py", script, err)))
		return true;
	torch_folder_destroy(f);
	return false;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info, (void)kind, (void)at;
	remove(path); /* what is left over is in the system's folder for such things */
	return 0;
}

void torch_folder_destroy(struct torch_folder *f)
{
	if (f->path[0])
		nftw(f->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	f->path[0] = '\0';
}

/* ---- the process */

struct running {
	const struct torch_child *c;
	pid_t pid;
	int in, out, errors; /* ours: its input is held open, the others are read */
	struct buf lines, tail;
	bool done; /* it said that it is */
};

/* What it needs of our environment, and nothing else: an operator's secrets are not for
 * posted programs.  The entries of ours are in `own`, which `env` points into. */
static void make_environment(const struct torch_child *c, char own[][320], const char *env[])
{
	static const char *const kept[] = {
		"PATH",
		"LD_LIBRARY_PATH",
		"LIBRARY_PATH",
		"CPATH",
		"LANG",
		"LC_ALL",
		"CC",
		"CXX",
		"CUDA_HOME",
		"CUDA_PATH",
		"CUDA_VISIBLE_DEVICES",
		"VIRTUAL_ENV",
		"PYTHONPATH",
		"OMP_NUM_THREADS",
	};
	static const char *const folders[] = { "HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR",
					       "TRITON_CACHE_DIR" };
	int n = 0, n_own = 0;

	for (char **e = environ; *e && n < MAX_ENV - 8; e++)
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (strncmp(*e, kept[i], strlen(kept[i])) == 0 &&
			    (*e)[strlen(kept[i])] == '=')
				env[n++] = *e;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++, n_own++) {
		snprintf(own[n_own], sizeof(own[n_own]), "%s=%s%s", folders[i], c->folder->path,
			 strstr(folders[i], "CACHE") ? "/cache" : "");
		env[n++] = own[n_own];
	}
	env[n++] = "PYTHONDONTWRITEBYTECODE=1";
	if (c->log) {
		snprintf(own[n_own], sizeof(own[n_own]), "TORCH_TRACE=%s/torch_trace",
			 c->folder->path);
		env[n++] = own[n_own];
	}
	env[n] = NULL;
}

/* Its three descriptors are the ends of pipes that it has of `theirs`. */
static int spawn(struct running *r, const int theirs[3], const char *limits, const char *options)
{
	const struct torch_child *c = r->c;
	char script[320], own[8][320];
	const char *env[MAX_ENV],
	    *argv[] = { c->python, script, "guard", limits, c->role, options, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, defaults;
	int code;

	snprintf(script, sizeof(script), "%s/worker.py", c->folder->path);
	make_environment(c, own, env);
	sigemptyset(&none);
	sigemptyset(&defaults);
	for (size_t i = 0; i < 3; i++)
		sigaddset(&defaults, ((int[]){ SIGPIPE, SIGXFSZ, SIGINT })[i]);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
					    POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_adddup2(&actions, theirs[fd], fd);
	code = posix_spawnp(&r->pid, c->python, &actions, &attr, (char *const *)argv,
			    (char *const *)env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return code;
}

/* A pipe whose ends lie above the standard descriptors. */
static bool make_pipe(int ends[2])
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		close(low[i]);
	}
	return ends[0] >= 0 && ends[1] >= 0;
}

static bool start(struct running *r, struct err *err)
{
	const struct torch_limits *l = r->c->limits;
	char limits[LIMITS_BYTES];
	char *options = r->c->options ? json_dumps(r->c->options, JSON_COMPACT) : NULL;
	int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } }, theirs[3], code = 0;
	bool ok = true;

	snprintf(limits, sizeof(limits),
		 "{\"cpu_s\": %d, \"memory_bytes\": %lld, \"file_bytes\": %lld}", l->cpu_s,
		 (long long)l->memory_bytes, (long long)l->file_bytes);
	for (int i = 0; ok && i < 3; i++)
		ok = make_pipe(pipes[i]);
	for (int i = 0; i < 3; i++)
		theirs[i] = pipes[i][i == 0 ? 0 : 1];
	if (ok)
		code = spawn(r, theirs, limits, options);
	free(options);
	for (int i = 0; i < 3; i++)
		if (theirs[i] >= 0)
			close(theirs[i]);
	r->in = pipes[0][1];
	r->out = pipes[1][0];
	r->errors = pipes[2][0];
	if (!ok)
		return err_set(err, ERR_IO, "no pipes for torch: %s", strerror(errno));
	if (code == 0)
		return true;
	r->pid = 0;
	return err_set(err, ERR_IO,
		       "%.200s cannot be started: %s; --torch-python takes the path of a Python "
		       "that has torch 2.5 or newer",
		       r->c->python, strerror(code));
}

/* One line; what is no JSON is left out. */
static bool hear_line(struct running *r, const char *line, size_t len, struct err *err)
{
	json_t *message = json_loadb(line, len, JSON_DECODE_ANY, NULL);
	const json_t *error = json_object_get(message, "error");
	const char *text = json_string_value(json_object_get(error, "message"));
	const char *code = json_string_value(json_object_get(error, "code"));
	bool ok = true;

	if (text)
		ok = err_set(err,
			     code && strcmp(code, "no-device") == 0 ? ERR_NO_DEVICE : ERR_WORKER,
			     "%.*s", ERR_MESSAGE_BYTES - 1, text);
	else if (json_object_get(message, "done"))
		r->done = true;
	if (ok && json_is_object(message))
		ok = r->c->hear(r->c->self, message, err);
	json_decref(message);
	return ok;
}

/* Whole lines are heard, the rest waits.  False with *err; *over at the end. */
static bool read_lines(struct running *r, bool *over, struct err *err)
{
	char bytes[READ_BYTES], *end;
	ssize_t n = read(r->out, bytes, sizeof(bytes));
	size_t taken = 0;

	*over = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
	if (n <= 0)
		return true;
	buf_add(&r->lines, bytes, (size_t)n);
	if (r->lines.failed)
		return err_set(err, ERR_WORKER, "torch's process sent a message over %d MiB",
			       TORCH_LINE_BYTES >> 20);
	while ((end = memchr(r->lines.data + taken, '\n', r->lines.len - taken))) {
		size_t len = (size_t)(end - r->lines.data) - taken;

		if (len && !hear_line(r, r->lines.data + taken, len, err))
			return false;
		taken += len + 1;
	}
	memmove(r->lines.data, r->lines.data + taken, r->lines.len - taken);
	r->lines.len -= taken;
	return true;
}

/* The last of what it says on its standard error. */
static bool read_errors(struct running *r)
{
	char bytes[READ_BYTES];
	ssize_t n = read(r->errors, bytes, sizeof(bytes));
	size_t most = TORCH_STDERR_BYTES;

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	buf_add(&r->tail, bytes, (size_t)n);
	if (r->tail.len > most) {
		memmove(r->tail.data, r->tail.data + r->tail.len - most, most);
		r->tail.len = most;
	}
	return true;
}

/* With the last line that it said. */
static bool ended_early(const struct running *r, struct err *err)
{
	size_t end = r->tail.len, begin;

	while (end > 0 && r->tail.data[end - 1] == '\n')
		end--;
	for (begin = end; begin > 0 && r->tail.data[begin - 1] != '\n';)
		begin--;
	return err_set(err, ERR_WORKER, "%.200s ended before it was done%s%.*s", r->c->python,
		       end > begin ? ": " : "", (int)(end - begin < 250 ? end - begin : 250),
		       end > begin ? r->tail.data + begin : "");
}

static bool attend(struct running *r, struct err *err)
{
	int64_t deadline_ns = clock_ns() + (int64_t)r->c->limits->wall_s * 1000000000;
	struct pollfd fds[2] = { { .fd = r->out, .events = POLLIN },
				 { .fd = r->errors, .events = POLLIN } };
	bool over = false;

	while (!over) {
		if (poll(fds, 2, TICK_MS) < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "poll: %s", strerror(errno));
		if (fds[1].revents && !read_errors(r))
			fds[1].fd = -1;
		if (fds[0].revents && !read_lines(r, &over, err))
			return false;
		if (r->c->tick && !r->c->tick(r->c->self))
			return err_set(err, ERR_CANCELLED, "the run was cancelled");
		if (!over && clock_ns() > deadline_ns)
			return err_set(err, ERR_WORKER,
				       "torch took over %d s, its limit: measure fewer points or "
				       "fewer modes",
				       r->c->limits->wall_s);
	}
	return r->done || ended_early(r, err);
}

bool torch_child_run(const struct torch_child *c, struct err *err)
{
	struct running r = { .c = c, .in = -1, .out = -1, .errors = -1 };
	bool ok;

	buf_init(&r.lines, TORCH_LINE_BYTES);
	buf_init(&r.tail, 0);
	ok = start(&r, err) && attend(&r, err);
	if (r.pid) {
		kill(-r.pid, SIGKILL); /* its number is ours until it is reaped */
		while (waitpid(r.pid, NULL, 0) < 0 && errno == EINTR)
			;
		while (r.errors >= 0 && poll(&(struct pollfd){ r.errors, POLLIN, 0 }, 1, 0) > 0 &&
		       read_errors(&r))
			;
	}
	if (c->stderr_text) {
		memcpy(c->stderr_text, r.tail.len ? r.tail.data : "", r.tail.len);
		c->stderr_text[r.tail.len] = '\0';
	}
	for (int i = 0; i < 3; i++)
		if (((int[]){ r.in, r.out, r.errors })[i] >= 0)
			close(((int[]){ r.in, r.out, r.errors })[i]);
	buf_finish(&r.lines);
	buf_finish(&r.tail);
	return ok;
}
