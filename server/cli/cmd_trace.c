/* server/cli/cmd_trace.c -- `breakeven trace -- COMMAND`: an unmodified CUDA program's timeline.
 *
 * The program runs with an injection library (profiler/cupti/inject) that sends what
 * CUPTI records to a socket of this process; its children too.  The file is written as chunks
 * fill up, so memory does not grow with the recording, and posted from there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "profiler/fields/fields.h"
#include "profiler/import/import.h"
#include "profiler/import/joined.h"
#include "profiler/timeline/format.h"
#include "profiler/recorder/traced.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/poster.h"

/* A process of a job step of several, as Slurm says; ranks 0: it is none.  Each records into the
 * folder, and the first rank makes one recording of all. */
struct trace_job {
	int64_t rank, ranks;
	char folder[2048], own[2100], whole[2100]; /* recording: of this rank, and of all */
};
enum { JOB_WAIT_S = 60, JOB_LOOK_MS = 100 };

enum { GRACE_NS = 2 * 1000 * 1000 * 1000u, POLL_MS = 50 };
static const int64_t live_ns = 1000 * 1000 * 1000;

struct trace_flags {
	const char *out, *post, *from, *name, *cupti, *inject;
	bool api, kernels_only, json;
	char **command;
};

/* Where the program reaches us; all of it goes at the end. */
struct trace_meeting {
	char folder[40], socket[64], torch[4096];
	bool own_torch; /* TORCH_TRACE was set here, not by the user */
	int listener;
	time_t began;
};

static int read_flags(int argc, char **argv, struct trace_flags *f)
{
	const struct flag table[] = {
		{ "-o", .value = &f->out },        { "--post", .value = &f->post },
		{ "--from", .value = &f->from },   { "--name", .value = &f->name },
		{ "--cupti", .value = &f->cupti }, { "--inject", .value = &f->inject },
		{ "--api", .on = &f->api },        { "--kernels-only", .on = &f->kernels_only },
		{ "--json", .on = &f->json },
	};
	struct flags flags = {
		.command = "trace",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .over = "-- stands before the command, so before " },
		.rest = &f->command,
	};
	int status = flags_read(&flags, argc, argv);

	if (status >= 0)
		return status;
	if (f->from ? !f->post || f->command : !f->command || !f->command[0]) {
		flags_refuse("trace",
			     f->from ? "--from posts a file: it wants --post URL and no command"
				     : "a command is missing",
			     "");
		return EXIT_USAGE;
	}
	return -1;
}

/* The library beside this program, or where `make install` puts it. */
static bool find_library(const struct trace_flags *f, char path[4096])
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (f->inject) {
		if (!realpath(f->inject, path))
			path[0] = '\0';
	} else if (n > 0) {
		const char *folder;

		self[n] = '\0';
		folder = dirname(self);
		snprintf(path, 4096, "%.4000s/libbreakeven_inject.so", folder);
		if (access(path, R_OK) != 0)
			snprintf(path, 4096, "%.4000s/../lib/breakeven/libbreakeven_inject.so",
				 folder);
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

/* Says to the program, and what it starts, where we are. */
static bool set_environment(const struct trace_flags *f, const char *library,
			    const struct trace_meeting *m)
{
	const char *options = f->api && f->kernels_only ? "aq"
			      : f->api                  ? "a"
			      : f->kernels_only         ? "q"
							: "";

	return setenv("CUDA_INJECTION64_PATH", library, 1) == 0 &&
	       (f->kernels_only || setenv("NVTX_INJECTION64_PATH", library, 1) == 0) &&
	       setenv(WIRE_SOCKET, m->socket, 1) == 0 && setenv(WIRE_OPTIONS, options, 1) == 0 &&
	       (!f->cupti || setenv(WIRE_CUPTI, f->cupti, 1) == 0) &&
	       setenv("TORCH_TRACE", m->torch, 1) == 0;
}

/* A program that cannot be told of us is not started. */
static pid_t start(const struct trace_flags *f, const char *library, const struct trace_meeting *m)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (f->json) /* ours has one document */
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (set_environment(f, library, m))
		execvp(f->command[0], f->command);
	fprintf(stderr, "breakeven trace: %s: %s\n", f->command[0], strerror(errno));
	_exit(127);
}

/* Takes in what comes until the program, and every process that it left, has ended. */
static int attend(int listener, pid_t child, struct traced *t, struct err *err)
{
	struct pollfd fds[TRACED_MAX_PROCESSES + 1];
	int64_t ended_ns = 0, flushed_ns = clock_ns();
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
		if (clock_ns() - flushed_ns > live_ns) {
			if (!traced_flush(t, err))
				break;
			flushed_ns = clock_ns();
		}
		if (!ended_ns && waitpid(child, &status, WNOHANG) == child)
			ended_ns = clock_ns();
		if (ended_ns && (traced_poll(t, fds) == 0 || clock_ns() - ended_ns > GRACE_NS))
			return status;
	}
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	return status;
}

static int exit_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool meet(struct trace_meeting *m, struct err *err)
{
	const char *torch = getenv("TORCH_TRACE");

	strcpy(m->folder, "/tmp/breakeven-trace-XXXXXX");
	m->began = time(NULL);
	m->listener = -1;
	if (mkdtemp(m->folder)) {
		snprintf(m->socket, sizeof(m->socket), "%s/socket", m->folder);
		m->own_torch = !torch || !*torch;
		snprintf(m->torch, sizeof(m->torch), "%.4000s%s", m->own_torch ? m->folder : torch,
			 m->own_torch ? "/torch" : "");
		m->listener = listen_at(m->socket);
	}
	return m->listener >= 0 || err_set(err, ERR_IO, "no socket for the program in %s: %s",
					   m->folder, strerror(errno));
}

static void part(const struct trace_meeting *m)
{
	DIR *dir = m->own_torch ? opendir(m->torch) : NULL;

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	if (m->own_torch)
		rmdir(m->torch);
	if (m->listener >= 0)
		close(m->listener);
	unlink(m->socket);
	rmdir(m->folder);
}

/* "python train.py", as a JSON text may hold it. */
static json_t *command_text(char **command)
{
	struct buf text;
	json_t *json;

	buf_init(&text, 4096);
	for (; command && *command && text.len < 400; command++)
		buf_printf(&text, "%s%.200s", text.len ? " " : "", *command);
	json = json_string(text.data ? text.data : "");
	buf_finish(&text);
	return json ? json : json_string("a command that is no UTF-8");
}

/* Of what is in a file. */
static struct poster *begin_post(const struct trace_flags *f, const char *file, struct err *err)
{
	json_t *command = f->from ? json_string(f->from) : command_text(f->command);
	const char *name = f->name ? f->name : json_string_value(command);
	struct poster *p;

	p = poster_start(
	    f->post, file,
	    json_pack("{s:o, s:o}", "name", json_sprintf("%.180s", name), "command", command), err);
	if (p)
		fprintf(stderr, "breakeven trace: run %lld of %s\n", (long long)poster_run(p),
			f->post);
	return p;
}

/* What was read, to the run's end where it is posted; a log that cannot be read is said, and fails
 * nothing. */
static void set_import(struct import *im, bool ok, struct poster *p, const struct err *why)
{
	struct err err = { 0 };
	struct arena arena = { 0 };
	json_t *imported = ok ? import_finish(im, &err) : NULL;
	const struct report_import *found = imported ? report_read_import(imported, &arena, &err)
						     : NULL;

	if (p && found && found->files.n > 0)
		poster_set_import(p, json_incref(imported));
	if (!ok || err.code != ERR_NONE)
		fprintf(stderr, "breakeven trace: TORCH_TRACE is not read: %s\n",
			ok ? err.message : why->message);
	arena_finish(&arena);
	json_decref(imported);
	import_destroy(im);
}

/* What a PyTorch child compiled, read as `breakeven import` reads it: its breaks are
 * shown with its kernels, and its texts are kept with the recording. */
static void add_import(const struct trace_meeting *m, struct traced *t, struct poster *p)
{
	struct err err = { 0 };
	struct import *im = import_create(traced_put_texts, t, 0, &err);

	set_import(im, im && import_folder(im, m->torch, m->began, &err), p, &err);
}

/* The logs in blocks, one after the other: pieces of a file follow each other. */
static bool read_kept(struct import *im, const char *bytes, size_t len, struct err *err)
{
	char open[TIMELINE_FILE_NAME_CHARS + 1] = "", name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_block b;
	struct buf piece;
	bool ok = true, any = false;

	buf_init(&piece, TIMELINE_PIECE_BYTES + 1);
	for (size_t at = 0; ok && at < len; at += b.block_bytes) {
		ok = timeline_block_read(bytes + at, len - at, &b, err);
		if (!ok || b.kind != TIMELINE_FILE)
			continue;
		buf_clear(&piece);
		ok = timeline_file_read(&b, name, &piece, err);
		if (ok && (!any || strcmp(name, open) != 0))
			ok = (!any || import_end(im, err)) && import_begin(im, name, err);
		ok = ok && import_feed(im, piece.data, piece.len, err);
		strcpy(open, name);
		any = true;
	}
	buf_finish(&piece);
	return ok && (!any || import_end(im, err));
}

/* The same of a recording whose program has ended: its logs are kept in the file. */
static void add_kept(const char *path, struct poster *p)
{
	struct err err = { 0 };
	struct import *im = import_create(NULL, NULL, 0, &err);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info = { 0 };
	char *bytes = MAP_FAILED;
	bool ok;

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
		bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ok = bytes != MAP_FAILED || err_set(&err, ERR_IO, "%.300s cannot be read", path);
	set_import(im, im && ok && read_kept(im, bytes, (size_t)info.st_size, &err), p, &err);
	if (bytes != MAP_FAILED)
		munmap(bytes, (size_t)info.st_size);
	if (fd >= 0)
		close(fd);
}

/* ---- a job of several ranks ---- */

static int64_t number_in(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text)
		   ? atoll(text)
		   : -1;
}

/* `out`: where -o says that the recordings go; NULL: to a folder of the step. */
static bool read_job(const char *out, struct trace_job *job, struct err *err)
{
	int64_t ranks = number_in("SLURM_STEP_NUM_TASKS"), rank = number_in("SLURM_PROCID"),
		step = number_in("SLURM_STEP_ID"), number = number_in("SLURM_JOB_ID");

	*job = (struct trace_job){ 0 };
	if (ranks < 2 || ranks > JOINED_MAX_RANKS || rank < 0 || rank >= ranks || step < 0 ||
	    number < 0)
		return true;
	job->rank = rank;
	job->ranks = ranks;
	if (out)
		snprintf(job->folder, sizeof(job->folder), "%.2000s", out);
	else
		snprintf(job->folder, sizeof(job->folder), "breakeven-%lld.%lld", (long long)number,
			 (long long)step);
	snprintf(job->own, sizeof(job->own), "%s/rank-%lld.part", job->folder, (long long)rank);
	snprintf(job->whole, sizeof(job->whole), "%s/job.trace", job->folder);
	return mkdir(job->folder, 0777) == 0 || errno == EEXIST ||
	       err_set(err, ERR_IO, "%.300s: %s", job->folder, strerror(errno));
}

static void path_of_rank(const struct trace_job *job, int64_t rank, char path[2100])
{
	snprintf(path, 2100, "%s/rank-%lld.trace", job->folder, (long long)rank);
}

/* Until the others have ended; those that have not by then are named. */
static void wait_for_ranks(const struct trace_job *job)
{
	const int64_t until = clock_ns() + JOB_WAIT_S * INT64_C(1000000000);
	char path[2100];

	for (int64_t rank = 0; rank < job->ranks;) {
		path_of_rank(job, rank, path);
		if (access(path, R_OK) == 0)
			rank++;
		else if (clock_ns() < until)
			poll(NULL, 0, JOB_LOOK_MS);
		else
			fprintf(stderr,
				"breakeven trace: rank %lld left no %s within %d s: do all nodes "
				"have the folder?  `breakeven trace --post URL --from %s` posts "
				"what comes later\n",
				(long long)rank++, path, JOB_WAIT_S, job->folder);
	}
}

/* The recordings of a folder as one, posted where that is wanted; the run, 0: it is not. */
static bool post_ranks(const struct trace_flags *f, const char *folder, const char *whole,
		       struct err *err, int64_t *run)
{
	struct recordings_joined joined;
	struct poster *p;

	*run = 0;
	if (!recordings_join(folder, whole, &joined, err))
		return false;
	fprintf(stderr, "breakeven trace: %lld ranks written to %s\n", (long long)joined.ranks,
		whole);
	p = f->post ? begin_post(f, whole, err) : NULL;
	*run = p ? poster_run(p) : 0;
	if (p && joined.imported)
		poster_set_import(p, json_incref(joined.imported));
	json_decref(joined.facts);
	json_decref(joined.imported);
	return p ? poster_finish(p, NULL, err) : !f->post;
}

/* The end of this rank's recording; the first one goes on with all. */
static bool end_rank(const struct trace_flags *f, struct trace_job *job, struct err *err,
		     int64_t *run)
{
	char path[2100];

	path_of_rank(job, job->rank, path);
	if (rename(job->own, path) != 0)
		return err_set(err, ERR_IO, "%.300s: %s", path, strerror(errno));
	strcpy(job->own, path);
	if (job->rank != 0)
		return true;
	wait_for_ranks(job);
	return post_ranks(f, job->folder, job->whole, err, run);
}

/* What became of a recording. */
struct trace_end {
	int status;  /* of the program, as waitpid() has it; -1: it was not started */
	int64_t run; /* 0: it is not posted */
	bool posted; /* whole */
	json_t *facts;
};

/* The end of both; false after a message. */
static bool finish(const struct trace_flags *f, struct traced *t, struct poster *p, bool ok,
		   struct trace_end *end, struct err *err)
{
	struct err posting = { 0 };

	ok = traced_finish(t, stderr, &end->facts, err) && ok;
	end->run = p ? poster_run(p) : 0;
	end->posted = p && poster_finish(p, ok ? NULL : err->message, &posting);
	if (p && !end->posted)
		fprintf(stderr,
			"breakeven trace: not posted whole: %s; breakeven trace --post URL --from "
			"%s posts it\n",
			posting.message, f->out);
	if (ok)
		fprintf(stderr, "breakeven trace: written to %s\n", f->out);
	return ok && (!p || end->posted);
}

static int show(const char *file, struct trace_end *end)
{
	struct stat info = { 0 };
	json_t *said = json_pack(
	    "{s:s, s:I, s:o, s:o, s:b}", "file", file, "bytes",
	    stat(file, &info) == 0 ? (json_int_t)info.st_size : 0, "status",
	    end->status == -1 ? json_null() : json_integer(exit_of(end->status)), "run",
	    end->run ? json_integer((json_int_t)end->run) : json_null(), "posted", end->posted);

	if (said && end->facts)
		json_object_update(said, end->facts);
	return json_flag_print("trace", said);
}

static bool record(const struct trace_flags *f, const char *library, struct trace_meeting *m,
		   struct traced *t, struct trace_end *end, struct err *err)
{
	pid_t child;

	if (!meet(m, err))
		return false;
	child = start(f, library, m);
	signal(SIGINT, SIG_IGN); /* the program's to handle; then we finish */
	if (child < 0)
		err_set(err, ERR_IO, "%.300s cannot be started: %s", f->command[0],
			strerror(errno));
	else
		end->status = attend(m->listener, child, t, err);
	return err->code == ERR_NONE && traced_add_files(t, m->torch, m->began, err);
}

/* The file that is recorded into. */
static const char *path_of(struct trace_flags *f, const struct trace_job *job)
{
	if (job->ranks)
		f->out = job->own;
	else if (!f->out)
		f->out = "breakeven.trace";
	return f->out;
}

static int trace(struct trace_flags *f, const char *library)
{
	struct trace_meeting m = { 0 };
	struct trace_end end = { .status = -1 };
	struct err err = { 0 };
	struct trace_job job;
	const char *whole;
	struct traced *t = read_job(f->out, &job, &err) ? traced_create(path_of(f, &job), &err)
							: NULL;
	bool posts = f->post && !job.ranks; /* of a job the whole is posted */
	struct poster *p = t && posts ? begin_post(f, f->out, &err) : NULL;
	bool ok = t && (p || !posts) && record(f, library, &m, t, &end, &err);

	if (ok)
		add_import(&m, t, p);
	if (m.folder[0])
		part(&m);
	if (t && (p || !posts))
		ok = finish(f, t, p, ok, &end, &err);
	if (ok && job.ranks)
		end.posted = end_rank(f, &job, &err, &end.run) && end.run;
	if (err.code != ERR_NONE)
		fprintf(stderr, "breakeven trace: %s\n", err.message);
	traced_destroy(t);
	whole = job.ranks && job.rank == 0 ? job.whole : f->out;
	if (f->json && err.code == ERR_NONE && show(whole, &end) != EXIT_DONE)
		err_set(&err, ERR_MEMORY, "out of memory");
	json_decref(end.facts);
	if (end.status == -1 || (end.status == 0 && err.code != ERR_NONE))
		return EXIT_FAILED;
	return exit_of(end.status);
}

/* What was recorded begins with a block of a timeline. */
static bool is_recording(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t magic = 0;
	ssize_t n = fd >= 0 ? read(fd, &magic, sizeof(magic)) : -1;

	if (n < 0)
		err_set(err, ERR_IO, "%.300s: %s", path, strerror(errno));
	else if (n < (ssize_t)sizeof(magic) || magic != TIMELINE_MAGIC)
		err_set(err, ERR_IO,
			"%.300s is no recording of breakeven trace; `breakeven import` reads "
			"PyTorch's logs",
			path);
	if (fd >= 0)
		close(fd);
	return err->code == ERR_NONE;
}

static int post_file(const struct trace_flags *f)
{
	struct trace_end end = { .status = -1 };
	struct err err = { 0 };
	struct poster *p = is_recording(f->from, &err) ? begin_post(f, f->from, &err) : NULL;

	if (p)
		add_kept(f->from, p);
	end.run = p ? poster_run(p) : 0;
	end.posted = p && poster_finish(p, NULL, &err);
	if (end.posted)
		return f->json ? show(f->from, &end) : EXIT_DONE;
	fprintf(stderr, "breakeven trace: %s\n", err.message);
	return EXIT_FAILED;
}

/* The ranks' recordings of a folder. */
static int post_folder(const struct trace_flags *f)
{
	struct trace_end end = { .status = -1 };
	struct err err = { 0 };
	char whole[4096];

	snprintf(whole, sizeof(whole), "%.4000s/job.trace", f->from);
	end.posted = post_ranks(f, f->from, whole, &err, &end.run);
	if (end.posted)
		return f->json ? show(whole, &end) : EXIT_DONE;
	fprintf(stderr, "breakeven trace: %s\n", err.message);
	return EXIT_FAILED;
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int cmd_trace(int argc, char **argv, const struct registry *registry)
{
	struct trace_flags f = { 0 };
	char library[4096] = "";
	int status;

	(void)registry;
	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	if (f.from)
		return is_folder(f.from) ? post_folder(&f) : post_file(&f);
	return find_library(&f, library) ? trace(&f, library) : EXIT_FAILED;
}
