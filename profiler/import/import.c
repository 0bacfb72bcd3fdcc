/* profiler/import/import.c -- logs of PyTorch, read: one import of one or several files. */
#include "profiler/import/import.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "profiler/import/archive.h"
#include "profiler/import/kineto.h"
#include "profiler/import/model.h"
#include "profiler/import/own.h"
#include "profiler/import/report.h"
#include <stdbool.h>
#include <stddef.h>
#include "fusion/base/err.h"
#include "fusion/base/refused.h"

struct unzip;

/* Takes what was unpacked; false ends it with its error. */
typedef bool unzip_fn(void *self, const char *bytes, size_t len, struct err *err);

enum { OUT_BYTES = 256 << 10, GZIP_WINDOW = 15 + 16 };

struct unzip {
	z_stream z;
	unzip_fn *out;
	void *self;
	bool broken, whole;
	char bytes[OUT_BYTES];
};

static struct unzip *unzip_create(unzip_fn *out, void *self, struct err *err)
{
	struct unzip *u = calloc(1, sizeof(*u));

	if (u && inflateInit2(&u->z, GZIP_WINDOW) == Z_OK) {
		u->out = out;
		u->self = self;
		return u;
	}
	free(u);
	err_set(err, ERR_MEMORY, "out of memory for gzip");
	return NULL;
}

/* NULL is fine */
static void unzip_destroy(struct unzip *u)
{
	if (!u)
		return;
	inflateEnd(&u->z);
	free(u);
}

/* The next bytes of the stream, or of several one after the other.  After damage the
 * rest is passed over: see unzip_is_broken(). */
static bool unzip_feed(struct unzip *u, const void *bytes, size_t len, struct err *err)
{
	int code = Z_OK;

	u->z.next_in = (Bytef *)bytes;
	u->z.avail_in = (uInt)len;
	while (!u->broken && (u->z.avail_in > 0 || u->z.avail_out == 0) && code != Z_BUF_ERROR) {
		size_t n;

		if (u->whole && u->z.avail_in > 0) { /* another stream after the last */
			inflateReset(&u->z);
			u->whole = false;
		}
		u->z.next_out = (Bytef *)u->bytes;
		u->z.avail_out = OUT_BYTES;
		code = inflate(&u->z, Z_NO_FLUSH);
		n = OUT_BYTES - u->z.avail_out;
		u->whole = code == Z_STREAM_END;
		u->broken = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
		if (n > 0 && !u->out(u->self, u->bytes, n, err))
			return false;
		if (u->whole && u->z.avail_in == 0)
			break;
	}
	return true;
}

static bool unzip_is_broken(const struct unzip *u)
{
	return u->broken;
}

/* Whether the last stream has ended. */
static bool unzip_is_whole(const struct unzip *u)
{
	return u->whole;
}

/* A file is reported by its first bytes, of which so many are waited for. */
enum { START_BYTES = 64 << 10, READ_BYTES = 256 << 10, MAX_FILES = 4096 };

static const struct log_reader *const readers[] = { &reader_torch_trace, &reader_kineto,
						    &reader_pt_xla };

/* A file that is read, or one in it, where it is an archive. */
struct log_file {
	struct import *im;
	const struct log_reader *reader; /* NULL: not known yet */
	void *state;                     /* the reader's */
	struct unzip *unzip;
	struct log_archive *archive;
	struct buf start; /* what came before it was known */
	unsigned char magic[2];
	int n_magic;
	bool is_zipped, is_member, is_open, passed_over; /* of a member: the rest is no log */
	char name[256];
	int64_t bytes, decoded;
};

struct import {
	struct model model;
	struct timeline_writer *writer;
	size_t most_bytes, decoded_bytes;   /* of all files */
	size_t archive_bytes, passed_bytes; /* of archives themselves, of what in them is no log */
	json_t *files;
	uint64_t refused; /* memory of this thread, before it */
	struct log_file file, member;
	struct err first_refused; /* of the members of an archive */
};

struct import *import_create(timeline_block_fn *put, void *self, size_t most_bytes, struct err *err)
{
	struct import *im = calloc(1, sizeof(*im));

	if (!im) {
		err_set(err, ERR_MEMORY, "out of memory for an import");
		return NULL;
	}
	im->most_bytes = most_bytes;
	im->refused = memory_refused_here();
	im->files = json_array();
	if (put)
		im->writer = timeline_writer_create(put, self, err);
	if ((im->writer || !put) && model_init(&im->model, im->writer, err))
		return im;
	import_destroy(im);
	return NULL;
}

static void drop_file(struct log_file *f)
{
	if (f->reader)
		f->reader->destroy(f->state);
	f->reader = NULL;
	f->state = NULL;
	unzip_destroy(f->unzip);
	f->unzip = NULL;
	reader_archive.destroy(f->archive);
	f->archive = NULL;
	buf_finish(&f->start);
}

void import_destroy(struct import *im)
{
	if (!im)
		return;
	drop_file(&im->member);
	drop_file(&im->file);
	model_finish(&im->model);
	timeline_writer_destroy(im->writer);
	json_decref(im->files);
	free(im);
}

static bool begin_file(struct import *im, struct log_file *f, const char *name, struct err *err)
{
	if (json_array_size(im->files) >= MAX_FILES)
		return err_set(err, ERR_TOO_LARGE, "an import takes at most %d files", MAX_FILES);
	drop_file(f); /* of one that was refused */
	im->model.file = (int)json_array_size(im->files);
	im->model.file_name = f->name;
	im->model.base_at_end_ns = 0;
	*f = (struct log_file){ .im = im, .is_member = f == &im->member };
	snprintf(f->name, sizeof(f->name), "%.250s", name);
	buf_init(&f->start, 2 * START_BYTES + (1 << 20));
	return true;
}

bool import_begin(struct import *im, const char *name, struct err *err)
{
	return begin_file(im, &im->file, name, err);
}

static bool open_archive(struct log_file *f, struct err *err);

/* What a file that nobody reads is. */
static bool refuse(const struct log_file *f, const char *bytes, struct err *err)
{
	if (f->start.len == 0)
		return err_set(err, ERR_UNSUPPORTED, "%.200s is %s", f->name,
			       f->is_zipped ? "cut or damaged: its gzip stream yields no byte"
					    : "empty");
	if (f->start.len >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "%.200s is packed by zstd; logs are taken as they are or by gzip",
			       f->name);
	return err_set(
	    err, ERR_UNSUPPORTED,
	    "%.200s is not a log of a known kind; a Chrome trace begins with { or [, a "
	    "line of TORCH_TRACE with V and a date, PT_XLA_DEBUG says Compilation "
	    "Analysis: or Execution Analysis:, a metrics report Metric:; a .tar or .zip holds such "
	    "files",
	    f->name);
}

/* Finds who reads the file, and gives him what has come of it. */
static bool recognise(struct log_file *f, struct err *err)
{
	const char *bytes = f->start.data ? f->start.data : "";

	if (!f->is_member && reader_archive.recognises(bytes, f->start.len))
		return open_archive(f, err) &&
		       reader_archive.feed(f->archive, bytes, f->start.len, err);
	for (size_t i = 0; !f->reader && i < sizeof(readers) / sizeof(readers[0]); i++)
		if (readers[i]->recognises(bytes, f->start.len))
			f->reader = readers[i];
	if (!f->reader)
		return refuse(f, bytes, err);
	f->state = f->reader->create(&f->im->model, err);
	return f->state && f->reader->feed(f->state, bytes, f->start.len, err);
}

/* Of one import together: of its logs, and beside them of archives and of what is passed over. */
static bool count_bytes(struct log_file *f, size_t *bytes, size_t len, struct err *err)
{
	*bytes += len;
	return !f->im->most_bytes || *bytes <= f->im->most_bytes ||
	       err_set(err, ERR_TOO_LARGE,
		       "%.200s has more than %zu MiB unpacked; `breakeven import --post` reads it "
		       "where it lies",
		       f->name, f->im->most_bytes >> 20);
}

/* The next bytes of the log itself. */
static bool take(void *self, const char *bytes, size_t len, struct err *err)
{
	struct log_file *f = self;
	struct import *im = f->im;

	f->decoded += (int64_t)len;
	if (!count_bytes(f, f->archive ? &im->archive_bytes : &im->decoded_bytes, len, err))
		return false;
	if (f->archive)
		return reader_archive.feed(f->archive, bytes, len, err);
	if (f->reader)
		return f->reader->feed(f->state, bytes, len, err);
	buf_add(&f->start, bytes, len);
	if (f->start.failed)
		return err_set(err, ERR_MEMORY, "out of memory for %.200s", f->name);
	return f->start.len < START_BYTES || recognise(f, err);
}

static bool unpack(struct log_file *f, const void *bytes, size_t len, struct err *err)
{
	return f->is_zipped ? unzip_feed(f->unzip, bytes, len, err) : take(f, bytes, len, err);
}

/* Waits for the two bytes that a gzip stream begins with. */
static bool begin_unpacking(struct log_file *f, const unsigned char **bytes, size_t *len,
			    struct err *err)
{
	while (f->n_magic < 2 && *len > 0) {
		f->magic[f->n_magic++] = *(*bytes)++;
		--*len;
	}
	if (f->n_magic < 2)
		return true;
	f->n_magic++; /* seen */
	f->is_zipped = f->magic[0] == 0x1f && f->magic[1] == 0x8b;
	if (f->is_zipped)
		f->unzip = unzip_create(take, f, err);
	return (!f->is_zipped || f->unzip) && unpack(f, f->magic, 2, err);
}

static bool feed_file(struct log_file *f, const void *bytes, size_t len, struct err *err)
{
	const unsigned char *at = bytes;

	f->bytes += (int64_t)len;
	if (f->n_magic <= 2 && !begin_unpacking(f, &at, &len, err))
		return false;
	return len == 0 || unpack(f, at, len, err);
}

bool import_feed(struct import *im, const void *bytes, size_t len, struct err *err)
{
	return feed_file(&im->file, bytes, len, err);
}

/* The reader's last word on the file; what it refuses it does not name. */
static bool end_log(struct log_file *f, struct err *err)
{
	struct err why = { 0 };

	return f->reader->end(f->state, &why) ||
	       err_set(err, why.code, "%.200s: %.300s", f->name, why.message);
}

static void list_file(const struct log_file *f, const char *kind, const char *refused)
{
	bool bad = false;
	json_t *why = refused ? json_of_text(refused, strlen(refused), &bad) : NULL;

	json_array_append_new(f->im->files,
			      json_pack("{s:o, s:s, s:I, s:I, s:o*}", "name",
					json_of_text(f->name, strlen(f->name), &bad), "kind", kind,
					"bytes", (json_int_t)f->bytes, "decoded_bytes",
					(json_int_t)f->decoded, "refused", why));
}

static bool end_file(struct log_file *f, struct err *err)
{
	struct ledger *l = &f->im->model.ledger;
	bool ok = f->n_magic > 2 || take(f, (const char *)f->magic, (size_t)f->n_magic, err);

	if (ok && f->unzip && unzip_is_broken(f->unzip))
		l->n[LEDGER_BROKEN_GZIP]++;
	else if (ok && f->unzip && !unzip_is_whole(f->unzip))
		l->n[LEDGER_CUT_OFF]++;
	ok = ok && (f->reader || f->archive || recognise(f, err));
	return ok && (f->archive || end_log(f, err));
}

/* ---- the files in an archive: what is no log is listed with the reason, and passed over ---- */

static bool pass_over(struct log_file *f, struct err *err)
{
	if (err->code != ERR_UNSUPPORTED)
		return false;
	if (f->im->first_refused.code == ERR_NONE)
		f->im->first_refused = *err;
	f->passed_over = true;
	list_file(f, "none", err->message);
	*err = (struct err){ 0 };
	return true;
}

static bool begin_member(void *self, const char *name, struct err *err)
{
	struct log_file *f = self;

	if (!begin_file(f->im, &f->im->member, name, err))
		return false;
	f->im->member.is_open = true;
	return true;
}

static bool feed_member(void *self, const char *bytes, size_t len, struct err *err)
{
	struct log_file *f = &((struct log_file *)self)->im->member;

	if (f->passed_over)
		return count_bytes(f, &f->im->passed_bytes, len, err);
	return feed_file(f, bytes, len, err) || pass_over(f, err);
}

static bool end_member(void *self, struct err *err)
{
	struct log_file *f = &((struct log_file *)self)->im->member;
	bool ok = f->passed_over || end_file(f, err);

	if (ok && !f->passed_over)
		list_file(f, f->reader->kind, NULL);
	ok = ok || pass_over(f, err);
	f->is_open = false;
	drop_file(f);
	return ok;
}

static bool open_archive(struct log_file *f, struct err *err)
{
	const struct archive_sink sink = { f, begin_member, feed_member, end_member };

	f->archive = reader_archive.create(&sink, err);
	return f->archive != NULL;
}

/* An archive has something in it, or why not. */
static bool end_archive(struct import *im, struct err *err)
{
	const json_t *file;
	size_t i;

	im->model.ledger.n[LEDGER_CUT_OFF] += reader_archive.is_cut(im->file.archive);
	if (im->member.is_open && !end_member(&im->file, err)) /* within which it was cut */
		return false;
	json_array_foreach(im->files, i, file)
	{
		if (!json_object_get(file, "refused"))
			return true;
	}
	if (im->first_refused.code == ERR_NONE)
		return err_set(err, ERR_UNSUPPORTED, "%.200s holds no file", im->file.name);
	*err = im->first_refused;
	return false;
}

bool import_end(struct import *im, struct err *err)
{
	struct log_file *f = &im->file;
	bool ok = end_file(f, err);

	if (ok && f->archive)
		ok = end_archive(im, err);
	else if (ok)
		list_file(f, f->reader->kind, NULL);
	drop_file(f);
	return ok;
}

bool import_fd(struct import *im, const char *name, int fd, struct err *err)
{
	char *bytes = malloc(READ_BYTES);
	bool ok = bytes ? import_begin(im, name, err)
			: err_set(err, ERR_MEMORY, "out of memory for %.200s", name);
	ssize_t n = 1;

	if (ok)
		kineto_base_at_end(fd, &im->model.base_at_end_ns);
	while (ok && n > 0) {
		n = read(fd, bytes, READ_BYTES);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			ok = errno == EISDIR
				 ? err_set(err, ERR_IO, "%.300s is a folder: name the files in it",
					   name)
				 : err_set(err, ERR_IO, "%.300s: %s", name, strerror(errno));
		else if (n > 0)
			ok = import_feed(im, bytes, (size_t)n, err);
	}
	free(bytes);
	return ok && import_end(im, err);
}

bool import_named(struct import *im, const char *path, const char *name, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	bool ok;

	if (fd < 0)
		return err_set(err, ERR_IO, "%.300s: %s", path, strerror(errno));
	ok = (fstat(fd, &info) == 0 && info.st_size == 0) || import_fd(im, name, fd, err);
	close(fd);
	return ok;
}

bool import_folder(struct import *im, const char *folder, int64_t since_s, struct err *err)
{
	DIR *dir = opendir(folder);
	bool ok = true;

	if (!dir)
		return errno == ENOENT ||
		       err_set(err, ERR_IO, "%.300s: %s", folder, strerror(errno));
	for (struct dirent *e; ok && (e = readdir(dir));) {
		char path[4096 + 260];
		struct stat info;

		snprintf(path, sizeof(path), "%.4000s/%s", folder, e->d_name);
		if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_mtime >= since_s)
			ok = import_named(im, path, e->d_name, err);
	}
	closedir(dir);
	return ok;
}

json_t *import_finish(struct import *im, struct err *err)
{
	int64_t dropped, doubtful;
	json_t *report, *facts, *clocks;

	if (!artifacts_end(&im->model.artifacts, im->writer, err))
		return NULL;
	report = import_report(&im->model, im->files);
	if (!report || memory_refused_here() != im->refused) {
		memory_refused_error(err, "what was read");
		json_decref(report);
		return NULL;
	}
	ledger_sums(&im->model.ledger, &dropped, &doubtful);
	facts = own_facts(&im->model, dropped, doubtful);
	if (!facts)
		facts = json_pack("{s:s, s:s, s:I, s:I, s:O, s:[]}", "recorder", "import", "clock",
				  "of the logs", "dropped", (json_int_t)dropped, "doubtful",
				  (json_int_t)doubtful, "ledger", json_object_get(report, "ledger"),
				  "processes");
	clocks = model_clocks(&im->model);
	if (clocks && facts)
		json_object_set(facts, "clocks", clocks);
	json_decref(clocks);
	if (!im->writer || timeline_writer_finish(im->writer, json_incref(facts), err)) {
		json_decref(facts);
		return report;
	}
	json_decref(facts);
	json_decref(report);
	return NULL;
}
