/* server/cli/cmd_store.c -- `breakeven backup`, `restore`, `check`, `vacuum` and `store copy`: the
 * store as a file that is kept, looked at and made small, and as another store.
 */
#include <stdio.h>
#include <string.h>

#include "db/copy.h"
#include "db/db.h"
#include "profiler/numbers/numbers.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"

struct store_flags {
	const char *command;
	const char *file, *db;
	bool json;
};

/* -1 to go on, else the exit status; `word` is what FILE is for, NULL: there is none. */
static int read_flags(int argc, char **argv, struct store_flags *f, const char *word)
{
	const struct flag table[] = { { "--db", .value = &f->db }, { "--json", .on = &f->json } };
	struct flags flags = {
		.command = f->command,
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->file,
			   .most = word ? 1 : 0,
			   .over = "one file at a time, not also " },
	};
	int status = flags_read(&flags, argc, argv);

	f->db = f->db ? f->db : "breakeven.db";
	if (status < 0 && word && !f->file)
		return flags_refuse(f->command, word, ""), EXIT_USAGE;
	return status;
}

static const volatile sig_atomic_t *interrupted;

static bool is_interrupted(void)
{
	return *interrupted;
}

/* What is under way ends where somebody presses Ctrl-C, and nothing is left of it. */
static void end_by_interrupt(void)
{
	interrupted = interrupt_watch();
	db_stop_when(is_interrupted);
}

static int failed(const char *command, const struct err *err)
{
	if (interrupted && *interrupted) {
		fprintf(stderr, "breakeven %s: interrupted\n", command);
		return EXIT_INTERRUPTED;
	}
	fprintf(stderr, "breakeven %s: %s\n", command, err->message);
	return EXIT_FAILED;
}

static void print_count(const json_t *tables, const char *table, const char *what)
{
	long long n = json_integer_value(json_object_get(tables, table));

	printf("%lld %s%s", n, what, n == 1 ? "" : "s");
}

/* "12 runs, 1 suite, 1 file of programs". */
static void print_counts(const json_t *said)
{
	const json_t *tables = json_object_get(said, "tables");
	size_t files = json_object_size(json_object_get(said, "files"));

	print_count(tables, json_object_get(tables, "run_row") ? "run_row" : "run", "run");
	printf(", ");
	print_count(tables, json_object_get(tables, "suite_row") ? "suite_row" : "suite", "suite");
	printf(", %zu file%s of programs", files, files == 1 ? "" : "s");
}

static void print_size(const json_t *said, const char *field)
{
	char text[NUMBER_BYTES];

	number_bytes(text, (double)json_integer_value(json_object_get(said, field)));
	fputs(text, stdout);
}

/* ---- backup and restore ---- */

static int done(const struct store_flags *f, json_t *said, const char *where)
{
	if (f->json) {
		json_flag_print(f->command, json_incref(said));
	} else {
		printf("%s: ", where);
		if (json_is_object(json_object_get(said, "tables")))
			print_counts(said);
		else
			printf("the database as it was before its schema changed");
		printf(", ");
		print_size(said, "bytes");
		printf("\nSHA-256 %s\n", json_string_value(json_object_get(said, "sha256")));
	}
	json_decref(said);
	return EXIT_DONE;
}

int cmd_backup(int argc, char **argv, const struct registry *registry)
{
	struct store_flags f = { .command = "backup" };
	struct err err = { 0 };
	int status = read_flags(argc, argv, &f, "the file to write is missing");
	json_t *said;

	(void)registry;
	if (status >= 0)
		return status;
	end_by_interrupt();
	said = db_backup(f.db, f.file, BACKUP_WHOLE, &err);
	return said ? done(&f, said, f.file) : failed(f.command, &err);
}

int cmd_restore(int argc, char **argv, const struct registry *registry)
{
	struct store_flags f = { .command = "restore" };
	struct err err = { 0 };
	int status = read_flags(argc, argv, &f,
				"the backup is missing: a file that `breakeven "
				"backup` wrote");
	json_t *said;

	(void)registry;
	if (status >= 0)
		return status;
	end_by_interrupt();
	said = db_restore(f.file, f.db, &err);
	return said ? done(&f, said, f.db) : failed(f.command, &err);
}

/* ---- check ---- */

static void print_check(const json_t *said)
{
	const json_t *problems = json_object_get(said, "problems"), *problem;
	size_t i;

	printf("%s: ", json_string_value(json_object_get(said, "store")));
	print_counts(said);
	printf(", schema %lld, ", (long long)json_integer_value(json_object_get(said, "version")));
	print_size(said, "bytes");
	printf(" (");
	print_size(said, "free_bytes");
	printf(" unused)\n");
	json_array_foreach(problems, i, problem)
		printf("  %s\n", json_string_value(problem));
	if (json_array_size(problems) == 0)
		printf("nothing is wrong\n");
}

int cmd_check(int argc, char **argv, const struct registry *registry)
{
	struct store_flags f = { .command = "check" };
	struct err err = { 0 };
	int status = read_flags(argc, argv, &f, NULL);
	json_t *said;
	bool ok;

	(void)registry;
	if (status >= 0)
		return status;
	end_by_interrupt();
	said = db_check(f.db, &err);
	if (!said)
		return failed(f.command, &err);
	ok = json_is_true(json_object_get(said, "ok"));
	if (f.json)
		json_flag_print(f.command, json_incref(said));
	else
		print_check(said);
	json_decref(said);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

/* ---- vacuum ---- */

static int64_t bytes_of(const char *path, struct err *err)
{
	json_t *said = db_check(path, err);
	int64_t bytes = said ? json_integer_value(json_object_get(said, "bytes")) : -1;

	json_decref(said);
	return bytes;
}

static bool give_all_back(const char *path, struct err *err)
{
	struct db *db = db_open_beside(path, err);
	bool more = true, ok = db != NULL;

	while (ok && more)
		ok = !*interrupted && db_give_back(db, true, &more, err);
	db_close(db);
	return ok;
}

int cmd_vacuum(int argc, char **argv, const struct registry *registry)
{
	struct store_flags f = { .command = "vacuum" };
	struct err err = { 0 };
	int status = read_flags(argc, argv, &f, NULL);
	int64_t before, after;
	json_t *said;

	(void)registry;
	if (status >= 0)
		return status;
	end_by_interrupt();
	before = bytes_of(f.db, &err);
	if (before < 0 || !give_all_back(f.db, &err))
		return failed(f.command, &err);
	after = bytes_of(f.db, &err);
	if (after < 0)
		return failed(f.command, &err);
	said = json_pack("{s:s, s:I, s:I}", "store", f.db, "bytes_before", (json_int_t)before,
			 "bytes", (json_int_t)after);
	if (f.json) {
		json_flag_print(f.command, json_incref(said));
	} else {
		printf("%s: ", f.db);
		print_size(said, "bytes_before");
		printf(" before, ");
		print_size(said, "bytes");
		printf(" now\n");
	}
	json_decref(said);
	return EXIT_DONE;
}

/* ---- store copy ---- */

struct copy_flags {
	const char *words[3]; /* copy FROM TO */
	const char *from_files, *to_files;
	bool json;
};

static int read_copy_flags(int argc, char **argv, struct copy_flags *f)
{
	const struct flag table[] = { { "--from-files", .value = &f->from_files },
				      { "--to-files", .value = &f->to_files },
				      { "--json", .on = &f->json } };
	struct flags flags = { .command = "store",
			       .table = table,
			       .n = sizeof(table) / sizeof(table[0]),
			       .words = { .at = f->words, .most = 3 } };
	int status = flags_read(&flags, argc, argv);

	if (status < 0 && (flags.words.n == 0 || strcmp(f->words[0], "copy") != 0))
		return flags_refuse("store", "copy FROM TO is needed", ""), EXIT_USAGE;
	if (status < 0 && flags.words.n != 3)
		return flags_refuse("store", "two stores are needed: copy FROM TO", ""), EXIT_USAGE;
	if (status < 0 && strcmp(f->words[1], f->words[2]) == 0)
		return flags_refuse("store", "FROM and TO are the same: ", f->words[1]), EXIT_USAGE;
	return status;
}

/* The folder of files of a store, where none is named. */
static const char *files_of(const char *given, const char *store, char *out, size_t bytes)
{
	if (given)
		return given;
	snprintf(out, bytes, "%s.files", db_path_is_shared(store) ? "breakeven" : store);
	return out;
}

int cmd_store(int argc, char **argv, const struct registry *registry)
{
	struct copy_flags f = { .json = false };
	char from_files[4096], to_files[4096];
	struct err err = { 0 };
	int status = read_copy_flags(argc, argv, &f);
	json_t *said;

	(void)registry;
	if (status >= 0)
		return status;
	end_by_interrupt();
	said = db_copy(
	    &(struct store_copy){
		.from = f.words[1],
		.to = f.words[2],
		.from_files = files_of(f.from_files, f.words[1], from_files, sizeof(from_files)),
		.to_files = files_of(f.to_files, f.words[2], to_files, sizeof(to_files)) },
	    &err);
	if (!said)
		return failed("store", &err);
	if (f.json) {
		json_flag_print("store", json_incref(said));
	} else {
		print_counts(said);
		printf(" copied\n");
	}
	json_decref(said);
	return EXIT_DONE;
}
