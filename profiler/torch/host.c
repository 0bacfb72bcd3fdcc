/* profiler/torch/host.c -- the operator's Python, which keeps torch loaded between jobs. */
#include "profiler/torch/host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/spawn.h"
#include "profiler/torch/child.h"

extern char **environ;
extern const char torch_host_text[], torch_worker_text[]; /* host.py, worker.py */

enum { MAX_ENV = 32, LISTEN_FD = 3, BACKLOG = 8 };

struct torch_host {
	struct scratch folder;
	char socket[320];
	pid_t pid; /* 0: it has ended */
	int in;    /* held open; closed it ends */
};

/* What it needs of our environment, and nothing else: an operator's secrets are not for
 * posted programs.  The entries that are added are in `own`, which `env` points into. */
static void make_environment(const struct torch_host *h, char own[][320], const char *env[])
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
	static const char *const folders[] = { "HOME", "TMPDIR" };
	int n = 0, n_own = 0;

	for (char **e = environ; *e && n < MAX_ENV - 8; e++)
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (strncmp(*e, kept[i], strlen(kept[i])) == 0 &&
			    (*e)[strlen(kept[i])] == '=')
				env[n++] = *e;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++, n_own++) {
		snprintf(own[n_own], sizeof(own[n_own]), "%s=%s", folders[i], h->folder.path);
		env[n++] = own[n_own];
	}
	env[n++] = "PYTHONDONTWRITEBYTECODE=1";
	env[n++] = "USER=breakeven"; /* else compilers look for it in /etc/passwd */
	env[n] = NULL;
}

/* What python does where it is to be confined: it hands this program, which confines itself and is
 * python again, the places of its modules. */
static const char confine_text[] =
    "import os, sys\n"
    "own = [sys.executable, sys.prefix, sys.exec_prefix, sys.base_prefix, *sys.path]\n"
    "own = dict.fromkeys(f(p) for p in own if p for f in (os.path.abspath, os.path.realpath))\n"
    "os.execv(sys.argv[1], ['breakeven', 'confine', *sys.argv[3:], *own, '--', sys.executable, "
    "'-u', "
    "sys.argv[2]])\n";

/* argv of a confined one, of malloc: the folder, that of files, weights; python adds its own. */
static const char **confining(const char *const begin[6], const struct torch_reads *reads)
{
	const char **argv = calloc((size_t)reads->n_weights + 8, sizeof(*argv));

	if (!argv)
		return NULL;
	memcpy(argv, begin, 6 * sizeof(*argv));
	argv[6] = reads->files ? reads->files : "";
	for (int i = 0; i < reads->n_weights; i++)
		argv[7 + i] = reads->weights[i].path;
	return argv;
}

/* Its descriptors are `theirs` and no others. */
static int spawn(struct torch_host *h, const char *python, const struct torch_reads *reads,
		 const int theirs[LISTEN_FD + 1])
{
	char script[320], self[32], own[8][320];
	const char *env[MAX_ENV], *plain[] = { python, "-u", script, NULL };
	const char *begin[] = { python, "-c", confine_text, self, script, h->folder.path };
	const char **argv = reads ? confining(begin, reads) : plain;
	struct spawn_bound made = { python, argv, env, theirs, LISTEN_FD + 1 };
	int code;

	if (!argv)
		return ENOMEM;
	snprintf(script, sizeof(script), "%s/host.py", h->folder.path);
	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	make_environment(h, own, env);
	code = spawn_bound(&h->pid, &made);
	if (reads)
		free(argv);
	return code;
}

/* The socket of the folder; -1 with *err. */
static int listen_at(struct torch_host *h, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int low, fd = -1;

	snprintf(h->socket, sizeof(h->socket), "%s/jobs", h->folder.path);
	if (strlen(h->socket) >= sizeof(address.sun_path)) {
		err_set(err, ERR_IO, "the path of the temporary folder is too long: %.120s",
			h->folder.path);
		return -1;
	}
	strcpy(address.sun_path, h->socket);
	low = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (low >= 0 && bind(low, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(low, BACKLOG) == 0)
		fd = fcntl(low, F_DUPFD_CLOEXEC, LISTEN_FD + 1);
	if (fd < 0)
		err_set(err, ERR_IO, "no socket for torch: %s", strerror(errno));
	if (low >= 0)
		close(low);
	return fd;
}

static bool start(struct torch_host *h, const char *python, const struct torch_reads *reads,
		  struct err *err)
{
	int listener = listen_at(h, err), in[2] = { -1, -1 }, none, code;

	if (listener < 0)
		return false;
	none = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (none < 0 || !torch_pipe(in)) {
		code = errno;
		close(listener);
		if (none >= 0)
			close(none);
		return err_set(err, ERR_IO, "no pipe for torch: %s", strerror(code));
	}
	/* What goes wrong in a job is reported there. */
	code = spawn(h, python, reads, (int[]){ in[0], none, none, listener });
	close(listener);
	close(none);
	close(in[0]);
	h->in = in[1];
	if (code == 0)
		return true;
	h->pid = 0;
	return err_set(err, ERR_IO,
		       "%.200s cannot be started: %s; --torch-python takes the path of a Python "
		       "that has torch 2.5 or newer",
		       python, strerror(code));
}

struct torch_host *torch_host_start(const char *python, const struct torch_reads *reads,
				    struct err *err)
{
	struct torch_host *h = calloc(1, sizeof(*h));

	if (!h) {
		err_set(err, ERR_MEMORY, "out of memory for torch");
		return NULL;
	}
	h->in = -1;
	if (scratch_create(&h->folder, "torch", err) &&
	    torch_folder_write(&h->folder, "host.py", torch_host_text, err) &&
	    torch_folder_write(&h->folder, "worker.py", torch_worker_text, err) &&
	    start(h, python, reads, err))
		return h;
	torch_host_stop(h);
	return NULL;
}

bool torch_host_alive(struct torch_host *h)
{
	int status;

	if (h->pid && waitpid(h->pid, &status, WNOHANG) != 0)
		h->pid = 0;
	return h->pid != 0;
}

/* Ends by itself, having ended its jobs; one that does not is ended. */
static void await_end(struct torch_host *h)
{
	enum { TRIES = 500, WAIT_US = 10 * 1000 };

	for (int i = 0; i < TRIES && torch_host_alive(h); i++)
		usleep(WAIT_US);
	if (!h->pid)
		return;
	kill(-h->pid, SIGKILL);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void torch_host_stop(struct torch_host *h)
{
	if (!h)
		return;
	if (h->in >= 0)
		close(h->in);
	await_end(h);
	scratch_destroy(&h->folder);
	free(h);
}

const char *torch_host_socket(const struct torch_host *h)
{
	return h->socket;
}
