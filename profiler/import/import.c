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

/* The next bytes of the stream, or of several one after the other.  After damage the
 * rest is passed over: see unzip_is_broken(). */
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

struct import {
	struct model model;
	struct timeline_writer *writer;
	size_t most_bytes, decoded_bytes; /* of all files */
	json_t *files;
	uint64_t refused; /* memory of this thread, before it */

	/* of the file that is read */
	const struct log_reader *reader; /* NULL: not known yet */
	void *state;                     /* the reader's */
	struct unzip *unzip;
	struct buf start; /* what came before it was known */
	unsigned char magic[2];
	int n_magic;
	bool is_zipped;
	char name[256];
	int64_t file_bytes, file_decoded;
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

static void drop_file(struct import *im)
{
	if (im->reader)
		im->reader->destroy(im->state);
	im->reader = NULL;
	im->state = NULL;
	unzip_destroy(im->unzip);
	im->unzip = NULL;
	buf_finish(&im->start);
}

void import_destroy(struct import *im)
{
	if (!im)
		return;
	drop_file(im);
	model_finish(&im->model);
	timeline_writer_destroy(im->writer);
	json_decref(im->files);
	free(im);
}

bool import_begin(struct import *im, const char *name, struct err *err)
{
	if (json_array_size(im->files) >= MAX_FILES)
		return err_set(err, ERR_TOO_LARGE, "an import takes at most %d files", MAX_FILES);
	drop_file(im); /* of one that was refused */
	im->model.file = (int)json_array_size(im->files);
	im->model.file_name = im->name;
	im->model.base_at_end_ns = 0;
	im->n_magic = 0;
	im->is_zipped = false;
	im->file_bytes = im->file_decoded = 0;
	snprintf(im->name, sizeof(im->name), "%.250s", name);
	buf_init(&im->start, 2 * START_BYTES + (1 << 20));
	return true;
}

/* Finds who reads the file, and gives him what has come of it. */
static bool recognise(struct import *im, struct err *err)
{
	const char *bytes = im->start.data ? im->start.data : "";

	for (size_t i = 0; !im->reader && i < sizeof(readers) / sizeof(readers[0]); i++)
		if (readers[i]->recognises(bytes, im->start.len))
			im->reader = readers[i];
	if (!im->reader && im->start.len == 0)
		return err_set(err, ERR_UNSUPPORTED, "%.200s is %s", im->name,
			       im->is_zipped ? "cut or damaged: its gzip stream yields no byte"
					     : "empty");
	if (!im->reader && im->start.len >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "%.200s is packed by zstd; logs are taken as they are or by gzip",
			       im->name);
	if (!im->reader)
		return err_set(
		    err, ERR_UNSUPPORTED,
		    "%.200s is not a log of a known kind; a Chrome trace begins with { or [, a "
		    "line of TORCH_TRACE with V and a date, PT_XLA_DEBUG says Compilation "
		    "Analysis: or Execution Analysis:, a metrics report Metric:",
		    im->name);
	im->state = im->reader->create(&im->model, err);
	return im->state && im->reader->feed(im->state, bytes, im->start.len, err);
}

/* The next bytes of the log itself. */
static bool take(void *self, const char *bytes, size_t len, struct err *err)
{
	struct import *im = self;

	im->file_decoded += (int64_t)len;
	im->decoded_bytes += len;
	if (im->most_bytes && im->decoded_bytes > im->most_bytes)
		return err_set(err, ERR_TOO_LARGE,
			       "%.200s has more than %zu MiB unpacked; `breakeven import --post` "
			       "reads it where it lies",
			       im->name, im->most_bytes >> 20);
	if (im->reader)
		return im->reader->feed(im->state, bytes, len, err);
	buf_add(&im->start, bytes, len);
	if (im->start.failed)
		return err_set(err, ERR_MEMORY, "out of memory for %.200s", im->name);
	return im->start.len < START_BYTES || recognise(im, err);
}

static bool unpack(struct import *im, const void *bytes, size_t len, struct err *err)
{
	return im->is_zipped ? unzip_feed(im->unzip, bytes, len, err) : take(im, bytes, len, err);
}

/* Waits for the two bytes that a gzip stream begins with. */
static bool begin_unpacking(struct import *im, const unsigned char **bytes, size_t *len,
			    struct err *err)
{
	while (im->n_magic < 2 && *len > 0) {
		im->magic[im->n_magic++] = *(*bytes)++;
		--*len;
	}
	if (im->n_magic < 2)
		return true;
	im->n_magic++; /* seen */
	im->is_zipped = im->magic[0] == 0x1f && im->magic[1] == 0x8b;
	if (im->is_zipped)
		im->unzip = unzip_create(take, im, err);
	return (!im->is_zipped || im->unzip) && unpack(im, im->magic, 2, err);
}

bool import_feed(struct import *im, const void *bytes, size_t len, struct err *err)
{
	const unsigned char *at = bytes;

	im->file_bytes += (int64_t)len;
	if (im->n_magic <= 2 && !begin_unpacking(im, &at, &len, err))
		return false;
	return len == 0 || unpack(im, at, len, err);
}

/* The reader's last word on the file; what it refuses it does not name. */
static bool end_log(struct import *im, struct err *err)
{
	struct err why = { 0 };

	return im->reader->end(im->state, &why) ||
	       err_set(err, why.code, "%.200s: %.300s", im->name, why.message);
}

bool import_end(struct import *im, struct err *err)
{
	struct ledger *l = &im->model.ledger;
	bool ok = im->n_magic > 2 || take(im, (const char *)im->magic, (size_t)im->n_magic, err);

	if (ok && im->unzip && unzip_is_broken(im->unzip))
		l->n[LEDGER_BROKEN_GZIP]++;
	else if (ok && im->unzip && !unzip_is_whole(im->unzip))
		l->n[LEDGER_CUT_OFF]++;
	ok = ok && (im->reader || recognise(im, err)) && end_log(im, err);
	if (ok) {
		bool bad = false;

		json_array_append_new(
		    im->files, json_pack("{s:o, s:s, s:I, s:I}", "name",
					 json_of_text(im->name, strlen(im->name), &bad), "kind",
					 im->reader->kind, "bytes", (json_int_t)im->file_bytes,
					 "decoded_bytes", (json_int_t)im->file_decoded));
	}
	drop_file(im);
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
	json_t *report, *facts;

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
	if (!im->writer || timeline_writer_finish(im->writer, json_incref(facts), err)) {
		json_decref(facts);
		return report;
	}
	json_decref(facts);
	json_decref(report);
	return NULL;
}
