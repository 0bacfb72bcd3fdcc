/* server/cli/cmd_watch.c -- `breakeven watch FILE`: runs it again each time it is saved, and says
 * what has changed since the run before.
 *
 * Each run, and each comparison, is a process of its own: this program with other words.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/scratch.h"
#include "fusion/base/spawn.h"
#include "fusion/registry.h"
#include "profiler/fields/fields.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/text/text.h"

extern char **environ;

enum { MOST_WORDS = 200, POLL_MS = 100 };

struct watch {
	const char *file;
	const char *run[MOST_WORDS + 1]; /* "breakeven run FILE flags --json" */
	struct scratch folder;
	char now[300], last[300]; /* reports; `last` is there after the first run */
	bool has_last, ended;     /* ended: a signal said so */
	sigset_t ends;
};

/* ---- what has been saved ---- */

/* Of all files of the program: one that is written, comes or goes changes it. */
static uint64_t state_of(const char *path)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	uint64_t sum = 0;

	for (FTSENT *e; walk && (e = fts_read(walk));) {
		const struct stat *st = e->fts_statp;

		if (e->fts_level > 0 && *e->fts_name == '.')
			fts_set(walk, e, FTS_SKIP);
		else if (e->fts_info == FTS_F)
			sum += ((uint64_t)st->st_mtim.tv_sec * 1000000007u +
				(uint64_t)st->st_mtim.tv_nsec + (uint64_t)st->st_size * 31u) ^
			       ((uint64_t)st->st_ino << 20);
	}
	if (walk)
		fts_close(walk);
	return sum;
}

/* True when a signal to end came within that time. */
static bool wait_ms(struct watch *w, int ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000L };

	w->ended = w->ended || sigtimedwait(&w->ends, NULL, &time) > 0;
	return w->ended;
}

/* Until it is saved again, and no longer being written. */
static bool wait_for_change(struct watch *w, uint64_t *state)
{
	uint64_t seen = *state, before;

	while (seen == *state) {
		if (wait_ms(w, POLL_MS))
			return false;
		seen = state_of(w->file);
	}
	do {
		before = seen;
		if (wait_ms(w, POLL_MS))
			return false;
		seen = state_of(w->file);
	} while (seen != before);
	*state = seen;
	return true;
}

/* ---- runs ---- */

/* Its exit status; -1 where it ended otherwise, or was told to end. */
static int finish_child(struct watch *w, pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0)
		if (wait_ms(w, POLL_MS / 4)) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* This program with other words; its standard output goes into the file `out`, or where ours goes.
 */
static int run_words(struct watch *w, const char *const *words, const char *out)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int code;

	posix_spawn_file_actions_init(&files);
	code = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (code == 0 && out)
		code = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out,
							O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (code == 0)
		code = spawn_apart(&pid, "/proc/self/exe", &files, words,
				   (const char *const *)environ);
	posix_spawn_file_actions_destroy(&files);
	if (code != 0) {
		fprintf(stderr, "breakeven watch: no process: %s\n", strerror(code));
		return -1;
	}
	return finish_child(w, pid);
}

/* The table of the run, as `breakeven run` prints it. */
static bool print_report(const char *path, struct err *err)
{
	struct arena arena = { 0 };
	json_t *json = json_load_file(path, 0, NULL);
	const struct report_run *run = json ? report_read_run(json, &arena, err) : NULL;
	bool ok = run && run_table_show(run, false) && fflush(stdout) == 0;

	if (!json)
		err_set(err, ERR_IO, "the run left no report");
	else if (run && !ok)
		err_set(err, ERR_IO, "the result could not be written: %s", strerror(errno));
	json_decref(json);
	arena_finish(&arena);
	return ok;
}

/* One run, and what differs from the one before.  The status to end with; -1: goes on. */
static int run_once(struct watch *w)
{
	const char *compare[] = { "breakeven", "compare", w->last, w->now, NULL };
	struct err err = { 0 };
	struct stat report = { 0 };
	int status = run_words(w, w->run, w->now);

	if (status == EXIT_USAGE && !w->has_last)
		return EXIT_USAGE;
	if (status < 0 || stat(w->now, &report) != 0 || report.st_size == 0)
		return w->ended ? EXIT_INTERRUPTED : -1; /* it has said why */
	if (!print_report(w->now, &err)) {
		fprintf(stderr, "breakeven watch: %s\n", err.message);
		return EXIT_FAILED;
	}
	if (w->has_last) {
		printf("\nbeside the run before:\n");
		fflush(stdout);
		run_words(w, compare, NULL);
	}
	w->has_last = rename(w->now, w->last) == 0;
	return w->ended ? EXIT_INTERRUPTED : -1;
}

static bool read_words(struct watch *w, int argc, char **argv, const struct registry *registry)
{
	int n = 0, plugins = 0;

	if (argc < 2 || *argv[1] == '-')
		return flags_refuse(
		    "watch", "it takes a FILE first, as `breakeven run`, then flags of run", "");
	while (registry_plugin_path(registry, plugins))
		plugins++;
	if (argc + 2 * plugins + 3 > MOST_WORDS)
		return flags_refuse("watch", "too many words", "");
	w->run[n++] = "breakeven";
	for (int i = 0; i < plugins; i++) {
		w->run[n++] = "--plugin";
		w->run[n++] = registry_plugin_path(registry, i);
	}
	w->run[n++] = "run";
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			return flags_refuse("watch", "it prints tables: no ", "--json");
		w->run[n++] = argv[i];
	}
	w->run[n++] = "--json";
	w->file = argv[1];
	return true;
}

int cmd_watch(int argc, char **argv, const struct registry *registry)
{
	struct flags none = { .command = "watch" };
	struct watch w = { 0 };
	struct err err = { 0 };
	uint64_t state;
	int status = argc == 2 && *argv[1] == '-' ? flags_read(&none, argc, argv) : -1;

	if (status >= 0)
		return status;
	if (!read_words(&w, argc, argv, registry))
		return EXIT_USAGE;
	sigemptyset(&w.ends);
	sigaddset(&w.ends, SIGINT);
	sigaddset(&w.ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &w.ends, NULL);
	if (!scratch_create(&w.folder, "reports", &err)) {
		fprintf(stderr, "breakeven watch: %s\n", err.message);
		return EXIT_FAILED;
	}
	snprintf(w.now, sizeof(w.now), "%s/now.json", w.folder.path);
	snprintf(w.last, sizeof(w.last), "%s/before.json", w.folder.path);
	do {
		state = state_of(w.file);
		status = run_once(&w);
		if (status < 0)
			fprintf(stderr, "waiting until %s is saved; Ctrl-C ends\n", w.file);
	} while (status < 0 && wait_for_change(&w, &state));
	scratch_destroy(&w.folder);
	return status < 0 ? EXIT_INTERRUPTED : status;
}
