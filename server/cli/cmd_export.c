/* server/cli/cmd_export.c -- `breakeven export RUN --format F`: a run of the store, for others. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"

struct export_flags {
	const char *run, *format, *out, *db, *n, *graph;
	int64_t id; /* `run`, read */
	struct export_query query;
	bool json;
};

/* What the words say, after flags_read(). */
static bool check_flags(struct export_flags *f)
{
	long long run = 0, n = 0, graph = 0;

	if (!f->run || !f->format)
		return flags_refuse("export", f->run ? "a format is missing" : "a run is missing",
				    "");
	if (f->json && !f->out)
		return flags_refuse("export",
				    "--json says what was written to a file: name one with -o "
				    "(--format json writes the run as JSON)",
				    "");
	if (!flags_integer("export", "RUN", f->run, 1, LLONG_MAX, &run) ||
	    !flags_integer("export", "--n", f->n, LLONG_MIN, LLONG_MAX, &n) ||
	    !flags_integer("export", "--graph", f->graph, 0, INT_MAX, &graph))
		return false;
	f->id = run;
	f->query.has_n = f->n != NULL;
	f->query.n = n;
	f->query.graph = graph;
	return true;
}

static int read_flags(int argc, char **argv, struct export_flags *f)
{
	const struct flag table[] = {
		{ "--format", .value = &f->format }, { "-o", .value = &f->out },
		{ "--db", .value = &f->db },         { "--mode", .value = &f->query.mode },
		{ "--n", .value = &f->n },           { "--table", .value = &f->query.table },
		{ "--graph", .value = &f->graph },   { "--redact", .on = &f->query.redact },
		{ "--json", .on = &f->json },
	};
	struct flags flags = {
		.command = "export",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->run, .most = 1, .over = "one run at a time, not also " },
	};
	int status = flags_read(&flags, argc, argv);

	return status >= 0 || check_flags(f) ? status : EXIT_USAGE;
}

struct file_sink {
	int fd;
	int64_t bytes; /* written so far */
	struct sha256_ctx hash;
	const volatile sig_atomic_t *interrupted; /* NULL: a signal ends the process */
};

static bool put(void *self, const void *bytes, size_t len, struct err *err)
{
	struct file_sink *s = self;

	if (s->interrupted && *s->interrupted)
		return err_set(err, ERR_CANCELLED, "interrupted: nothing is written");
	s->bytes += (int64_t)len;
	sha256_update(&s->hash, len, bytes);
	return export_to_file(&s->fd, bytes, len, err);
}

static bool write_to(struct file_sink *sink, const struct export_flags *f,
		     const struct export_format *format, struct err *err)
{
	struct db *db = db_open_reading(f->db ? f->db : "breakeven.db", err);
	struct stored_run s = { 0 };
	struct arena arena = { 0 };
	bool ok;

	sha256_init(&sink->hash);
	ok = db && stored_run_load(&s, db, f->id, &arena, err) &&
	     export_write(format, &s.run, &f->query, put, sink, err);

	stored_run_finish(&s);
	arena_finish(&arena);
	db_close(db);
	return ok;
}

static bool write_and_close(struct file_sink *sink, const struct export_flags *f,
			    const struct export_format *format, struct err *err)
{
	bool ok = write_to(sink, f, format, err);

	return (close(sink->fd) == 0 || !ok ||
		err_set(err, ERR_IO, "%.300s: %s", f->out, strerror(errno))) &&
	       ok;
}

/* A file has its name when it is whole: what was there before stays until then, and
 * nothing is left of one that could not be written.  A pipe or a device is written to as it is. */
static bool write_file(struct file_sink *sink, const struct export_flags *f,
		       const struct export_format *format, struct err *err)
{
	char part[4096];
	struct stat info;
	bool plain = stat(f->out, &info) != 0 || S_ISREG(info.st_mode), ok;
	mode_t mask = umask(0);
	int fd;

	sink->interrupted = interrupt_watch();
	umask(mask);
	if (snprintf(part, sizeof(part), "%s.XXXXXX", f->out) >= (int)sizeof(part))
		return err_set(err, ERR_IO, "the name of the file has over 4,000 bytes");
	fd = plain ? mkostemp(part, O_CLOEXEC) : open(f->out, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_IO, "%.300s: %s", f->out, strerror(errno));
	sink->fd = fd;
	if (!plain)
		return write_and_close(sink, f, format, err);
	fchmod(fd, 0666 & ~mask);
	ok = write_and_close(sink, f, format, err) &&
	     (rename(part, f->out) == 0 ||
	      err_set(err, ERR_IO, "%.300s: %s", f->out, strerror(errno)));
	if (!ok)
		unlink(part);
	return ok;
}

/* What was written: of the file, not of the run. */
static json_t *written_json(const struct export_flags *f, struct file_sink *sink)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	char hex[2 * SHA256_DIGEST_SIZE + 1];

	sha256_digest(&sink->hash, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return json_pack("{s:I, s:s, s:b, s:s, s:I, s:s}", "run", (json_int_t)f->id, "format",
			 f->format, "redacted", f->query.redact, "file", f->out, "bytes",
			 (json_int_t)sink->bytes, "sha256", hex);
}

int cmd_export(int argc, char **argv, const struct registry *registry)
{
	struct export_flags f = { 0 };
	struct file_sink sink = { .fd = STDOUT_FILENO };
	const struct export_format *format;
	struct err err = { 0 };
	int status;

	(void)registry;
	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	format = export_format_find(f.format, &err);
	if (!format) {
		fprintf(stderr, "breakeven export: %s\n", err.message);
		return EXIT_USAGE;
	}
	if (f.out ? write_file(&sink, &f, format, &err) : write_to(&sink, &f, format, &err))
		return f.json ? json_flag_print("export", written_json(&f, &sink)) : EXIT_DONE;
	fprintf(stderr, "breakeven export: %s\n", err.message);
	return err.code == ERR_CANCELLED ? EXIT_INTERRUPTED : EXIT_FAILED;
}
