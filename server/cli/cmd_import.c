/* server/cli/cmd_import.c -- `breakeven import FILE...`: logs of PyTorch, read and joined; or
 * results of other tools, each file for itself. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/scratch.h"
#include "profiler/fields/fields.h"
#include "profiler/import/import.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/poster.h"
#include "server/cli/results_file.h"

/* ---- what was found, as text ---- */

enum { MOST_ROWS = 15, NAME_COLUMNS = 80 };

/* A total by name, the longest first. */
static void print_total(const struct report_total *total, const char *title, FILE *out)
{
	const struct report_name_total_list *rows;

	if (!total || total->count == 0)
		return;
	rows = &total->by_name;
	fprintf(out, "\n%s: %lld, %.1f µs\n", title, (long long)total->count, total->total_us);
	for (size_t i = 0; i < rows->n; i++) {
		const struct report_name_total *row = &rows->at[i];

		if (i == MOST_ROWS) {
			fprintf(out, "  and %zu more names\n", rows->n - i);
			break;
		}
		fprintf(out, "  %8lld %14.1f µs  %.*s\n", (long long)row->count, row->total_us,
			NAME_COLUMNS, row->name);
	}
}

static void print_break(const struct report_import_break *b, FILE *out)
{
	fprintf(out, "  %s:%lld  %s %s, hit %lld times: %s\n", report_text(b->file),
		(long long)b->line, b->kind, report_text(b->gb), (long long)b->count, b->message);
	if (b->cost && b->cost->has.host_us_per_call)
		fprintf(out, "    %.1f µs of the host a call, %.1f µs of lookups\n",
			b->cost->host_us_per_call, b->cost->lookup_us_per_call);
}

/* What a compile log says: breaks by place, recompiles, counts. */
static void print_compiles(const struct report_import *report, FILE *out)
{
	double texts = 0;

	if (report->compiles.n == 0)
		return;
	fprintf(out, "\n%lld graphs, %zu compilations, %zu breaks, %zu recompiles\n",
		(long long)report->graphs, report->compiles.n, report->breaks.n,
		report->recompiles.n);
	for (size_t i = 0; i < report->breaks.n; i++)
		print_break(&report->breaks.at[i], out);
	for (size_t i = 0; i < report->recompiles.n; i++) {
		const struct report_import_recompile *r = &report->recompiles.at[i];

		fprintf(out, "  recompiled %s (%s): %s\n", report_text(r->frame),
			report_text(r->compile), r->reason);
	}
	for (size_t i = 0; i < report->artifacts.n; i++)
		texts += report->artifacts.at[i];
	if (texts > 0)
		fprintf(out, "  %.0f texts of %zu kinds; --post keeps them with the run\n", texts,
			report->artifacts.n);
	for (size_t i = 0; i < report->counted.n; i++)
		fprintf(out, "  %lld %s\n", (long long)report->counted.at[i],
			report->counted.keys[i]);
}

static void print_count(bool said, int64_t n, FILE *out)
{
	if (said)
		fprintf(out, " %10lld", (long long)n);
	else
		fprintf(out, " %10s", "not recorded");
}

/* Where the graphs of each model of PyTorch/XLA split. */
static void print_stages(const struct report_xla *xla, FILE *out)
{
	if (!xla || xla->models.n == 0)
		return;
	fprintf(out, "\ngraphs %25s %10s %10s %10s  most from     compiling, s  running, s\n",
		"captured", "lowered", "+ capture", "+ lowering");
	for (size_t i = 0; i < xla->models.n; i++) {
		const struct report_xla_model *m = &xla->models.at[i];

		fprintf(out, "  %-18.18s", m->model);
		print_count(m->has.captured_graphs, m->captured_graphs, out);
		print_count(true, m->lowered_graphs, out);
		print_count(m->has.capture_added, m->capture_added, out);
		print_count(m->has.lowering_added, m->lowering_added, out);
		fprintf(out, "  %-12s %13.3f %11.3f\n",
			m->main_stage ? m->main_stage : "not recorded", m->compile_us / 1e6,
			m->run_us / 1e6);
	}
}

/* What is not zero of one fate. */
static void print_ledger(const struct report_names *what, const char *fate,
			 const struct report_numbers *counts, FILE *out)
{
	for (size_t i = 0; i < counts->n; i++) {
		const char *const *meaning = report_get(*what, counts->keys[i]);

		/* One window is all that there is. */
		if (counts->at[i] > (strcmp(counts->keys[i], "windows") == 0))
			fprintf(out, "  %-8s %8lld  %s\n", fate, (long long)counts->at[i],
				report_text(meaning ? *meaning : NULL));
	}
}

/* Of each rank where its time went, then what they wait for. */
static void print_ranks(const struct report_ranks *all, FILE *out)
{
	if (!all)
		return;
	fprintf(out, "\nranks %10s %12s %14s %8s %9s %9s %6s %12s\n", "total, ms", "computing, %",
		"collectives, %", "overlap", "idle, %", "waits, ms", "late", "caused, ms");
	for (size_t i = 0; i < all->ranks.n; i++) {
		const struct report_rank *r = &all->ranks.at[i];
		char hidden[16] = "none";

		if (r->has.overlap)
			snprintf(hidden, sizeof(hidden), "%.1f%%", 100 * r->overlap);

		fprintf(out, "%5lld %10.3f %12.1f %14.1f %7.7s %9.1f %9.3f %6lld %12.3f  %s\n",
			(long long)r->rank, r->total_us / 1e3, 100 * r->shares->computation,
			100 * r->shares->communication, hidden, 100 * r->shares->idle,
			r->wait_us / 1e3, (long long)r->last, r->caused_us / 1e3,
			report_text(r->late_name));
	}
	fprintf(out, "%s%s%s", all->busy ? "\n" : "", report_text(all->busy),
		all->busy ? ".\n" : "");
	for (size_t i = 0; i < all->sentences.n; i++)
		fprintf(out, "%s%s\n", i || all->busy ? "" : "\n", all->sentences.at[i]);
	for (size_t i = 0; i < all->divergences.n; i++)
		fprintf(out, "  %s\n", all->divergences.at[i].sentence);
	if (!all->path)
		return;
	fprintf(out, "\ncritical path: %.3f ms\n", all->path->total_us / 1e3);
	for (size_t i = 0; i < all->path->shares.n; i++)
		fprintf(out, "  %5.1f%%  %s\n", 100 * all->path->shares.at[i].share,
			all->path->shares.at[i].kind);
}

static void print_import(const struct report_import *report, FILE *out)
{
	const struct report_ledger *ledger = report->ledger;

	for (size_t i = 0; i < report->files.n; i++) {
		const struct report_import_file *file = &report->files.at[i];

		fprintf(out, "%s: %s, %lld bytes\n", file->name, file->kind,
			(long long)file->bytes);
	}
	print_compiles(report, out);
	print_stages(report->pt_xla, out);
	print_ranks(report->ranks, out);
	print_total(report->kernels, "kernels", out);
	print_total(report->copies, "copies", out);
	print_total(report->ops, "ops on the host", out);
	fprintf(out, "\nledger\n");
	print_ledger(&ledger->what, "dropped", &ledger->dropped, out);
	print_ledger(&ledger->what, "repaired", &ledger->repaired, out);
	print_ledger(&ledger->what, "kept", &ledger->kept, out);
}

/* ---- the command ---- */

enum { MAX_FILES = 1024 };

struct import_flags {
	const char *files[MAX_FILES];
	int n_files;
	bool json, results;
	const char *post, *name, *db, *benchmarks, *project, *commit, *branch, *machine;
};

/* The flags of results alone: the first that is given. */
static const char *of_results(const struct import_flags *f)
{
	return f->db           ? "--db"
	       : f->benchmarks ? "--benchmarks"
	       : f->project    ? "--project"
	       : f->commit     ? "--commit"
	       : f->branch     ? "--branch"
	       : f->machine    ? "--machine"
			       : NULL;
}

static int read_flags(int argc, char **argv, struct import_flags *f)
{
	const struct flag table[] = {
		{ "--post", .value = &f->post },       { "--name", .value = &f->name },
		{ "--json", .on = &f->json },          { "--results", .on = &f->results },
		{ "--db", .value = &f->db },           { "--benchmarks", .value = &f->benchmarks },
		{ "--project", .value = &f->project }, { "--commit", .value = &f->commit },
		{ "--branch", .value = &f->branch },   { "--machine", .value = &f->machine },
	};
	struct flags flags = {
		.command = "import",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f->files, .most = MAX_FILES, .over = "too many files from " },
	};
	int status = flags_read(&flags, argc, argv);

	f->n_files = flags.words.n;
	if (status < 0 && !f->n_files) {
		flags_refuse("import", "a file is missing", "");
		return EXIT_USAGE;
	}
	return status;
}

/* A file of a folder, which may hold others than logs. */
static bool read_member(struct import *im, const char *path, struct err *err)
{
	struct err why = { 0 };

	if (import_named(im, path, path, &why))
		return true;
	if (why.code != ERR_UNSUPPORTED) {
		*err = why;
		return false;
	}
	fprintf(stderr, "breakeven import: left out: %s\n", why.message);
	return true;
}

enum { MOST_DEPTH = 4 };

/* All logs of a folder and of those in it, by their names, in which numbers count as such; how many
 * files there are is added to *n. */
static bool read_folder(struct import *im, const char *folder, int depth, int *n, struct err *err)
{
	struct dirent **list = NULL;
	int found = scandir(folder, &list, NULL, versionsort);
	bool ok = found >= 0 || err_set(err, ERR_IO, "%.300s: %s", folder, strerror(errno));

	for (int i = 0; i < found; i++) {
		char path[4096 + 260];
		struct stat info;

		snprintf(path, sizeof(path), "%.4000s/%s", folder, list[i]->d_name);
		if (ok && list[i]->d_name[0] != '.' && stat(path, &info) == 0) {
			if (S_ISDIR(info.st_mode) && depth < MOST_DEPTH) {
				ok = read_folder(im, path, depth + 1, n, err);
			} else if (S_ISREG(info.st_mode)) {
				ok = read_member(im, path, err);
				++*n;
			}
		}
		free(list[i]);
	}
	free(list);
	return ok;
}

/* One file, or all of a folder; "-" is the standard input. */
static bool read_file(struct import *im, const char *name, struct err *err)
{
	bool standard = strcmp(name, "-") == 0, ok;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);

	struct stat info;

	if (fd < 0)
		return err_set(err, ERR_IO, "%.300s: %s", name, strerror(errno));
	if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
		int n = 0;

		ok = read_folder(im, name, 0, &n, err) &&
		     (n > 0 || err_set(err, ERR_UNSUPPORTED, "%.300s has no file", name));
	} else {
		ok = import_fd(im, name, fd, err);
	}
	if (!standard)
		close(fd);
	return ok;
}

/* A file that was named before would count twice. */
static bool is_first(const struct import_flags *f, int i, struct err *err)
{
	struct stat is, was;

	for (int k = 0; k < i; k++)
		if (stat(f->files[i], &is) == 0 && S_ISREG(is.st_mode) &&
		    stat(f->files[k], &was) == 0 && is.st_dev == was.st_dev &&
		    is.st_ino == was.st_ino)
			return err_set(err, ERR_BAD_REQUEST,
				       "%.300s is named twice%s%.300s; it would count twice",
				       f->files[i], strcmp(f->files[i], f->files[k]) ? ", as " : "",
				       strcmp(f->files[i], f->files[k]) ? f->files[k] : "");
	return true;
}

static bool put_block(void *self, const void *block, size_t len, struct err *err)
{
	return fwrite(block, 1, len, self) == len ||
	       err_set(err, ERR_IO, "the timeline's file cannot be written: %s", strerror(errno));
}

static json_t *read_files(const struct import_flags *f, FILE *timeline, struct err *err)
{
	struct import *im = import_create(timeline ? put_block : NULL, timeline, 0, err);
	json_t *report = NULL;
	bool ok = im != NULL;

	for (int i = 0; ok && i < f->n_files; i++)
		ok = is_first(f, i, err) && read_file(im, f->files[i], err);
	if (ok)
		report = import_finish(im, err);
	if (report && json_array_size(json_object_get(report, "files")) == 0) {
		err_set(err, ERR_UNSUPPORTED, "%.300s holds no log", f->files[0]);
		json_decref(report);
		report = NULL;
	}
	import_destroy(im);
	return report;
}

/* The timeline's file and what was found, to a server. */
static bool post(const struct import_flags *f, const char *path, json_t *report, struct err *err)
{
	const char *slash = strrchr(f->files[0], '/');
	json_t *name = json_string(f->name ? f->name : slash ? slash + 1 : f->files[0]);
	struct poster *p;

	if (!name)
		name = json_string("import");
	p = poster_start(
	    f->post, path,
	    json_pack("{s:o, s:s, s:b}", "name", name, "command", "import", "imported", 1), err);
	if (!p)
		return false;
	fprintf(stderr, "breakeven import: run %lld of %s\n", (long long)poster_run(p), f->post);
	poster_set_import(p, json_incref(report));
	return poster_finish(p, NULL, err);
}

/* Reads all; where it is to be posted, by way of a file without a name: nothing is left of
 * it, however this ends. */
static json_t *read_and_post(const struct import_flags *f, struct err *err)
{
	int fd = f->post ? scratch_file("the timeline", err) : -1;
	FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
	char path[32];
	json_t *report = NULL;

	if (fd >= 0 && !file) {
		err_set(err, ERR_IO, "no temporary file for the timeline: %s", strerror(errno));
		close(fd);
	}
	if (file || !f->post)
		report = read_files(f, file, err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (report && file && fflush(file) != 0) {
		err_set(err, ERR_IO, "the timeline's temporary file: %s", strerror(errno));
		json_decref(report);
		report = NULL;
	}
	if (report && file && !post(f, path, report, err)) {
		json_decref(report);
		report = NULL;
	}
	if (file)
		fclose(file);
	return report;
}

/* ---- results of other tools ---- */

static bool import_results(const struct import_flags *f, struct err *err)
{
	const struct results_request request = { .name = f->name,
						 .project = f->project,
						 .commit = f->commit,
						 .branch = f->branch,
						 .machine = f->machine };
	const struct results_to to = { "import", f->post, f->db, f->json };
	bool ok = true;

	for (int i = 0; ok && i < f->n_files; i++) {
		json_t *results = results_file_read(f->files[i], f->benchmarks, &request, err);

		ok = results && results_deliver(results, &to, err);
		json_decref(results);
	}
	return ok;
}

/* -1: logs are imported; else results were, or are mixed with logs: the exit status. */
static int try_results(struct import_flags *f)
{
	struct err err = { 0 };
	int n = 0;

	for (int i = 0; !f->results && i < f->n_files; i++)
		n += results_file_is(f->files[i]);
	if (n && n < f->n_files) {
		flags_refuse("import", "results of tools and logs of PyTorch are imported apart",
			     "");
		return EXIT_USAGE;
	}
	if (!n && !f->results && of_results(f)) {
		flags_refuse("import",
			     "the files are no results of a tool that is known (--results says "
			     "why), and logs take no ",
			     of_results(f));
		return EXIT_USAGE;
	}
	if (!n && !f->results)
		return -1;
	if (import_results(f, &err))
		return EXIT_DONE;
	fprintf(stderr, "breakeven import: %s\n", err.message);
	return EXIT_FAILED;
}

int cmd_import(int argc, char **argv, const struct registry *registry)
{
	struct import_flags f = { 0 };
	struct err err = { 0 };
	struct arena arena = { 0 };
	const struct report_import *found;
	json_t *report;
	int status;

	(void)registry;
	status = read_flags(argc, argv, &f);
	if (status < 0)
		status = try_results(&f);
	if (status >= 0)
		return status;
	report = read_and_post(&f, &err);
	if (!report) {
		fprintf(stderr, "breakeven import: %s\n", err.message);
		return EXIT_FAILED;
	}
	found = report_read_import(report, &arena, &err);
	if (!found) {
		fprintf(stderr, "breakeven import: %s\n", err.message);
	} else if (f.json) {
		json_dumpf(report, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
		putchar('\n');
	} else {
		print_import(found, stdout);
	}
	arena_finish(&arena);
	json_decref(report);
	return found ? EXIT_DONE : EXIT_FAILED;
}
