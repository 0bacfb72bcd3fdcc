/* server/cmd_export.c -- `breakeven export RUN --format F`: a run of the store, for others. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/commands.h"
#include "server/export_run.h"

struct export_flags {
	const char *run, *format, *out, *db, *n, *graph;
	struct export_query query;
};

static void print_help(void)
{
	printf("usage: breakeven export RUN --format F [-o FILE] [--redact] [--db FILE]\n\n"
	       "Writes a run of the store, by its number, for the tools that people have; to the\n"
	       "standard output, or into FILE.  A server may be using the store.\n\n");
	for (int i = 0; i < export_format_count(); i++) {
		const struct export_format *f = export_format_at(i);

		printf("  --format %-12s %s (.%s)\n", f->name, f->title, f->extension);
	}
	printf("\n  --mode MODE           of what was recorded and measured, this mode alone\n"
	       "  --n N                 this point of the sweep alone\n"
	       "  --table T             of csv: kernels, modes or breaks (kernels)\n"
	       "  --graph N             of dot and svg: which graph (0)\n"
	       "  --redact              without source, paths, and names that the source gives\n"
	       "  --db FILE             the store (breakeven.db)\n");
}

static bool usage(const char *what, const char *detail)
{
	fprintf(stderr, "breakeven export: %s%s; write breakeven export RUN --format F [-o FILE]\n",
		what, detail);
	return false;
}

static bool parse_number(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0 && end != text && !*end;
}

static bool parse_flags(int argc, char **argv, struct export_flags *f)
{
	const struct {
		const char *name, **value;
	} valued[] = { { "--format", &f->format }, { "-o", &f->out },
		       { "--db", &f->db },         { "--mode", &f->query.mode },
		       { "--n", &f->n },           { "--table", &f->query.table },
		       { "--graph", &f->graph } };

	for (int i = 1; i < argc; i++) {
		const char **value = NULL;

		for (size_t k = 0; k < sizeof(valued) / sizeof(valued[0]); k++)
			if (strcmp(argv[i], valued[k].name) == 0)
				value = valued[k].value;
		if (strcmp(argv[i], "--redact") == 0)
			f->query.redact = true;
		else if (value && i + 1 == argc)
			return usage("a value is missing after ", argv[i]);
		else if (value)
			*value = argv[++i];
		else if (argv[i][0] == '-')
			return usage("unknown flag ", argv[i]);
		else if (f->run)
			return usage("one run at a time, not also ", argv[i]);
		else
			f->run = argv[i];
	}
	if (!f->run || !f->format)
		return usage(f->run ? "a format is missing" : "a run is missing", "");
	f->query.has_n = f->n != NULL;
	if (f->n && !parse_number(f->n, &f->query.n))
		return usage("--n takes a whole number, not ", f->n);
	if (f->graph && !parse_number(f->graph, &f->query.graph))
		return usage("--graph takes a whole number, not ", f->graph);
	return true;
}

static bool write_to(int fd, const struct export_flags *f, const struct export_format *format,
		     int64_t id, struct err *err)
{
	struct db *db = db_open_reading(f->db ? f->db : "breakeven.db", err);
	struct stored_run s = { 0 };
	struct arena arena = { 0 };
	bool ok = db && stored_run_load(&s, db, id, &arena, err) &&
		  export_write(format, &s.run, &f->query, export_to_file, &fd, err);

	stored_run_finish(&s);
	arena_finish(&arena);
	db_close(db);
	return ok;
}

/* A file that could not be written whole is none. */
static bool write_file(const struct export_flags *f, const struct export_format *format, int64_t id,
		       struct err *err)
{
	int fd = open(f->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool ok = fd >= 0 && write_to(fd, f, format, id, err);

	if (fd < 0)
		return err_set(err, ERR_IO, "%.300s: %s", f->out, strerror(errno));
	if (close(fd) != 0 && ok)
		ok = err_set(err, ERR_IO, "%.300s: %s", f->out, strerror(errno));
	if (!ok)
		unlink(f->out);
	return ok;
}

int cmd_export(int argc, char **argv, const struct registry *registry)
{
	struct export_flags f = { 0 };
	const struct export_format *format;
	struct err err = { 0 };
	int64_t id;

	(void)registry;
	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		print_help();
		return EXIT_DONE;
	}
	if (!parse_flags(argc, argv, &f))
		return EXIT_USAGE;
	format = export_format_find(f.format, &err);
	if (!format || !parse_number(f.run, &id) || id <= 0) {
		fprintf(stderr, "breakeven export: %s\n",
			format ? "a run is a number from 1 on" : err.message);
		return EXIT_USAGE;
	}
	if (f.out ? write_file(&f, format, id, &err)
		  : write_to(STDOUT_FILENO, &f, format, id, &err))
		return EXIT_DONE;
	fprintf(stderr, "breakeven export: %s\n", err.message);
	return EXIT_FAILED;
}
