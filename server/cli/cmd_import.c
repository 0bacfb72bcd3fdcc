/* server/cli/cmd_import.c -- `breakeven import FILE...`: logs of PyTorch, read and joined. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/scratch.h"
#include "profiler/import/import.h"
#include "server/cli/commands.h"
#include "server/cli/flags.h"
#include "server/cli/import_text.h"
#include "server/cli/poster.h"

enum { MAX_FILES = 1024 };

struct import_flags {
	const char *files[MAX_FILES];
	int n_files;
	bool json;
	const char *post, *name;
};

static int read_flags(int argc, char **argv, struct import_flags *f)
{
	const struct flag table[] = {
		{ "--post", .value = &f->post },
		{ "--name", .value = &f->name },
		{ "--json", .on = &f->json },
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

/* One file; "-" is the standard input. */
static bool read_file(struct import *im, const char *name, struct err *err)
{
	bool standard = strcmp(name, "-") == 0, ok;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, ERR_IO, "%.300s: %s", name, strerror(errno));
	ok = import_fd(im, name, fd, err);
	if (!standard)
		close(fd);
	return ok;
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
		ok = read_file(im, f->files[i], err);
	if (ok)
		report = import_finish(im, err);
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

int cmd_import(int argc, char **argv, const struct registry *registry)
{
	struct import_flags f = { 0 };
	struct err err = { 0 };
	json_t *report;
	int status;

	(void)registry;
	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	report = read_and_post(&f, &err);
	if (!report) {
		fprintf(stderr, "breakeven import: %s\n", err.message);
		return EXIT_FAILED;
	}
	if (f.json) {
		json_dumpf(report, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
		putchar('\n');
	} else {
		import_text(report, stdout);
	}
	json_decref(report);
	return EXIT_DONE;
}
