/* server/cli/cmd_import.c -- `breakeven import FILE...`: logs of PyTorch, read and joined. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/scratch.h"
#include "profiler/fields/json.h"
#include "profiler/import/import.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/poster.h"

/* ---- what was found, as text ---- */

enum { MOST_ROWS = 15, NAME_COLUMNS = 80 };

/* A total by name, the longest first. */
static void print_totals(const json_t *report, const char *field, const char *title, FILE *out)
{
	const json_t *totals = json_object_get(report, field), *row;
	const json_t *rows = json_object_get(totals, "by_name");
	size_t i;

	if (whole_field(totals, "count") == 0)
		return;
	fprintf(out, "\n%s: %lld, %.1f us\n", title, whole_field(totals, "count"),
		json_number_value(json_object_get(totals, "total_us")));
	json_array_foreach((json_t *)rows, i, row) {
		if (i == MOST_ROWS) {
			fprintf(out, "  and %zu more names\n", json_array_size(rows) - i);
			break;
		}
		fprintf(out, "  %8lld %14.1f us  %.*s\n", whole_field(row, "count"),
			json_number_value(json_object_get(row, "total_us")), NAME_COLUMNS,
			json_string_value(json_object_get(row, "name")));
	}
}

/* What a compile log says: breaks by place, recompiles, counts. */
static void print_compiles(const json_t *report, FILE *out)
{
	const json_t *breaks = json_object_get(report, "breaks"), *row;
	const json_t *recompiles = json_object_get(report, "recompiles"), *n;
	const char *what;
	size_t i;

	if (json_array_size(json_object_get(report, "compiles")) == 0)
		return;
	fprintf(out, "\n%lld graphs, %zu compilations, %zu breaks, %zu recompiles\n",
		whole_field(report, "graphs"), json_array_size(json_object_get(report, "compiles")),
		json_array_size(breaks), json_array_size(recompiles));
	json_array_foreach((json_t *)breaks, i, row) {
		const json_t *cost = json_object_get(row, "cost");

		fprintf(out, "  %s:%lld  %s %s, met %lld times: %s\n", text_field(row, "file"),
			whole_field(row, "line"), text_field(row, "kind"), text_field(row, "gb"),
			whole_field(row, "count"), text_field(row, "message"));
		if (cost)
			fprintf(out, "    %.1f us of the host a call, %.1f us of lookups\n",
				json_number_value(json_object_get(cost, "host_us_per_call")),
				json_number_value(json_object_get(cost, "lookup_us_per_call")));
	}
	json_array_foreach((json_t *)recompiles, i, row)
		fprintf(out, "  recompiled %s (%s): %s\n", text_field(row, "frame"),
			text_field(row, "compile"), text_field(row, "reason"));
	json_object_foreach(json_object_get(report, "counted"), what, n)
		fprintf(out, "  %lld %s\n", (long long)json_integer_value(n), what);
}

static void print_count(const json_t *n, FILE *out)
{
	if (json_is_integer(n))
		fprintf(out, " %10lld", (long long)json_integer_value(n));
	else
		fprintf(out, " %10s", "not said");
}

/* Where the graphs of each model of PyTorch/XLA split. */
static void print_stages(const json_t *report, FILE *out)
{
	static const char *const counts[] = { "captured_graphs", "lowered_graphs", "capture_added",
					      "lowering_added" };
	const json_t *models = json_object_get(json_object_get(report, "pt_xla"), "models"), *row;
	size_t i;

	if (json_array_size(models) == 0)
		return;
	fprintf(out, "\ngraphs %25s %10s %10s %10s  most from     compiling, s  running, s\n",
		"captured", "lowered", "+ capture", "+ lowering");
	json_array_foreach((json_t *)models, i, row) {
		fprintf(out, "  %-18.18s", text_field(row, "model"));
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
			print_count(json_object_get(row, counts[k]), out);
		fprintf(out, "  %-12s %13.3f %11.3f\n",
			json_is_string(json_object_get(row, "main_stage"))
			    ? text_field(row, "main_stage")
			    : "not said",
			json_number_value(json_object_get(row, "compile_us")) / 1e6,
			json_number_value(json_object_get(row, "run_us")) / 1e6);
	}
}

/* What is not zero of one fate. */
static void print_ledger(const json_t *ledger, const char *fate, FILE *out)
{
	const json_t *what = json_object_get(ledger, "what"), *n;
	const char *name;

	json_object_foreach(json_object_get(ledger, fate), name, n) {
		/* One window is all that there is. */
		if (json_integer_value(n) > (strcmp(name, "windows") == 0))
			fprintf(out, "  %-8s %8lld  %s\n", fate, (long long)json_integer_value(n),
				json_string_value(json_object_get(what, name)));
	}
}

static void print_import(const json_t *report, FILE *out)
{
	const json_t *files = json_object_get(report, "files"), *file;
	const json_t *ledger = json_object_get(report, "ledger");
	size_t i;

	json_array_foreach((json_t *)files, i, file)
		fprintf(
		    out, "%s: %s, %lld bytes\n", json_string_value(json_object_get(file, "name")),
		    json_string_value(json_object_get(file, "kind")), whole_field(file, "bytes"));
	print_compiles(report, out);
	print_stages(report, out);
	print_totals(report, "kernels", "kernels", out);
	print_totals(report, "copies", "copies", out);
	print_totals(report, "ops", "ops on the host", out);
	fprintf(out, "\nledger\n");
	print_ledger(ledger, "dropped", out);
	print_ledger(ledger, "repaired", out);
	print_ledger(ledger, "kept", out);
}

/* ---- the command ---- */

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
		print_import(report, stdout);
	}
	json_decref(report);
	return EXIT_DONE;
}
