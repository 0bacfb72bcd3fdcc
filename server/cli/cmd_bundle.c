/* server/cli/cmd_bundle.c -- `breakeven bundle`: runs, a suite or a project of a store as one file,
 * and such a file into another store. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/archive.h"
#include "profiler/numbers/numbers.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/queue/queue.h"

enum { ID_MOST = 1 << 30 };

struct bundle_flags {
	const char *words[2]; /* write or read, and the file */
	const char *run, *suite, *project, *db;
	bool all, json;
};

static int failed(const struct err *err)
{
	fprintf(stderr, "breakeven bundle: %s\n", err->message);
	return EXIT_FAILED;
}

static bool check(const struct bundle_flags *f)
{
	bool writes = f->words[0] && strcmp(f->words[0], "write") == 0;
	int of = (f->run != NULL) + (f->suite != NULL) + (f->project != NULL) + f->all;

	if (!writes && (!f->words[0] || strcmp(f->words[0], "read") != 0))
		return flags_refuse("bundle", "write FILE or read FILE is needed", "");
	if (!f->words[1])
		return flags_refuse("bundle", "the file is missing", "");
	if (writes && of != 1)
		return flags_refuse("bundle",
				    "one of --run, --suite, --project and --all is needed", "");
	return writes || (!f->run && !f->suite && !f->all) ||
	       flags_refuse("bundle", "read takes --project alone, to file it there", "");
}

/* ---- write ---- */

static void print_many(const json_t *said, const char *of, const char *word)
{
	size_t n = json_array_size(json_object_get(said, of));

	printf("%zu %s%s", n, word, n == 1 ? "" : "s");
}

static int say_written(const struct bundle_flags *f, json_t *said)
{
	long long left = json_integer_value(json_object_get(said, "left_out"));
	char bytes[NUMBER_BYTES];

	if (f->json)
		return json_flag_print("bundle", said);
	number_bytes(bytes, (double)json_integer_value(json_object_get(said, "bytes")));
	printf("%s: ", f->words[1]);
	print_many(said, "runs", "run");
	printf(", ");
	print_many(said, "suites", "suite");
	printf(", %s", bytes);
	if (left)
		printf("; %lld that %s not ended left out", left, left == 1 ? "has" : "have");
	printf("\nSHA-256 %s\n", json_string_value(json_object_get(said, "sha256")));
	json_decref(said);
	return EXIT_DONE;
}

static int write_bundle(const struct bundle_flags *f, const struct bundle_of *of)
{
	struct err err = { 0 };
	struct db *db = db_open_reading(f->db, &err);
	json_t *said = NULL;
	int fd = -1;

	if (!db)
		return failed(&err);
	fd = open(f->words[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		err_set(&err, ERR_IO, "%.300s cannot be made: %s", f->words[1], strerror(errno));
	else
		said = db_bundle_write(db, of, fd, &err);
	db_close(db);
	if (fd >= 0 && (!said || fsync(fd) != 0)) {
		if (said)
			err_set(&err, ERR_IO, "%.300s cannot be written: %s", f->words[1],
				strerror(errno));
		unlink(f->words[1]);
		json_decref(said);
		said = NULL;
	}
	if (fd >= 0)
		close(fd);
	return said ? say_written(f, said) : failed(&err);
}

/* ---- read ---- */

static void print_rows(const json_t *said, const char *of, const char *word)
{
	const json_t *rows = json_object_get(said, of), *row;
	size_t i;

	json_array_foreach(rows, i, row)
		printf("%s #%lld, there #%lld\n", word,
		       (long long)json_integer_value(json_object_get(row, "id")),
		       (long long)json_integer_value(json_object_get(row, "was")));
}

static int take(const struct bundle_flags *f, const void *bytes, size_t len)
{
	const struct bundle_take as = { .author = "",
					.project = f->project,
					.reasons = reasons_of_report,
					.block = bundle_block };
	struct err err = { 0 };
	struct db *db = db_open_beside(f->db, &err);
	json_t *said = db ? db_bundle_take(db, bytes, len, &as, &err) : NULL;

	db_close(db);
	if (!said)
		return failed(&err);
	if (f->json)
		return json_flag_print("bundle", said);
	print_rows(said, "suites", "suite");
	print_rows(said, "runs", "run");
	json_decref(said);
	return EXIT_DONE;
}

static int read_bundle(const struct bundle_flags *f)
{
	int fd = open(f->words[1], O_RDONLY | O_CLOEXEC), status;
	struct err err = { 0 };
	struct stat at;
	void *bytes;

	if (fd < 0 || fstat(fd, &at) != 0) {
		err_set(&err, ERR_IO, "%.300s cannot be read: %s", f->words[1], strerror(errno));
		if (fd >= 0)
			close(fd);
		return failed(&err);
	}
	bytes = at.st_size > 0 && S_ISREG(at.st_mode)
		    ? mmap(NULL, (size_t)at.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
		    : MAP_FAILED;
	close(fd);
	if (bytes == MAP_FAILED)
		return take(f, "", 0);
	status = take(f, bytes, (size_t)at.st_size);
	munmap(bytes, (size_t)at.st_size);
	return status;
}

int cmd_bundle(int argc, char **argv, const struct registry *registry)
{
	struct bundle_flags f = { .db = "breakeven.db" };
	const struct flag table[] = {
		{ "--run", .value = &f.run },         { "--suite", .value = &f.suite },
		{ "--project", .value = &f.project }, { "--all", .on = &f.all },
		{ "--json", .on = &f.json },          { "--db", .value = &f.db },
	};
	struct flags flags = {
		.command = "bundle",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f.words, .most = 2, .over = "one file at a time, not also " },
	};
	int status = flags_read(&flags, argc, argv);
	long long run = 0, suite = 0;

	(void)registry;
	if (status >= 0)
		return status;
	if (!check(&f) || !flags_integer("bundle", "--run", f.run, 1, ID_MOST, &run) ||
	    !flags_integer("bundle", "--suite", f.suite, 1, ID_MOST, &suite))
		return EXIT_USAGE;
	return strcmp(f.words[0], "read") == 0
		   ? read_bundle(&f)
		   : write_bundle(&f, &(struct bundle_of){ run, suite, f.project });
}
