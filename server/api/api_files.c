/* server/api/api_files.c -- files that programs read, posted in pieces: /api/v1/files.
 *
 *	POST /files?bytes=1000000000             {"upload": "5f3c...", "received": 0, ...}
 *	POST /files?upload=5f3c...&at=0          the first piece; and so on from `received`
 *	                                         {"id": "sha256:...", "bytes": 1000000000}
 *
 * They lie in a folder beside the store, each under the digits of its id; what is not whole is
 * `part-UPLOAD`, and `plan-UPLOAD` says how long it is to be.  A piece is taken where the last one
 *ended and nowhere else, so that whoever was cut off asks what has been received and goes on.
 */
#define HANDLER_files(name) name
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fusion/base/write.h"
#include "profiler/profiler.h"
#include "server/api/routes.h"

enum { UPLOAD_DIGITS = 16, FILES_MOST = 1000, IDLE_S = 24 * 3600, PATH_BYTES = 4096 };
static const char scheme[] = "sha256:", part[] = "part-", plan[] = "plan-";

/* ---- the folder ---- */

static void path_of(const struct app *app, const char *prefix, const char *name,
		    char out[PATH_BYTES])
{
	snprintf(out, PATH_BYTES, "%s/%s%s", app->files_folder, prefix, name);
}

static bool storage(const char *what, struct err *err)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	return err_set(err, full ? ERR_FULL : ERR_STORAGE, "%s: %s", what, strerror(errno));
}

static bool is_digits(const char *text, size_t n)
{
	return text && strlen(text) == n && strspn(text, "0123456789abcdef") == n;
}

static int64_t files_most(const struct app *app)
{
	return app->bounds.files_gib << 30;
}

struct folder {
	int64_t files, bytes; /* of whole files, and what parts are to have */
	json_t *list;         /* NULL: only counted */
};

static int64_t planned_bytes(const struct app *app, const char *upload)
{
	char path[PATH_BYTES], text[32] = "";
	FILE *f;

	path_of(app, plan, upload, path);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return strtoll(text, NULL, 10);
}

static void forget_upload(const struct app *app, const char *upload)
{
	char path[PATH_BYTES];

	path_of(app, part, upload, path);
	unlink(path);
	path_of(app, plan, upload, path);
	unlink(path);
}

static void count_entry(const struct app *app, const char *name, struct folder *f)
{
	char path[PATH_BYTES];
	struct stat at;

	path_of(app, "", name, path);
	if (stat(path, &at) != 0 || !S_ISREG(at.st_mode))
		return;
	if (strncmp(name, part, strlen(part)) == 0) {
		const char *upload = name + strlen(part);

		if (time(NULL) - at.st_mtime > IDLE_S)
			forget_upload(app, upload);
		else
			f->bytes += planned_bytes(app, upload);
	} else if (is_digits(name, 64)) {
		f->files++;
		f->bytes += at.st_size;
		if (f->list)
			json_array_append_new(f->list,
					      json_pack("{s:o, s:I, s:I}", "id",
							json_sprintf("%s%s", scheme, name), "bytes",
							(json_int_t)at.st_size, "created_ns",
							(json_int_t)at.st_mtim.tv_sec * 1000000000 +
							    at.st_mtim.tv_nsec));
	}
}

/* Uploads that nobody has gone on with for a day are gone after it. */
static bool read_folder(const struct app *app, struct folder *f, struct err *err)
{
	DIR *dir = opendir(app->files_folder);
	const struct dirent *entry;

	if (!dir)
		return errno == ENOENT || storage("the folder of files cannot be read", err);
	while ((entry = readdir(dir)) != NULL)
		count_entry(app, entry->d_name, f);
	closedir(dir);
	return true;
}

static bool has_room(const struct app *app, int64_t bytes, struct err *err)
{
	struct folder f = { 0 };

	if (!read_folder(app, &f, err))
		return false;
	if (f.files >= FILES_MOST)
		return err_set(err, ERR_TOO_LARGE,
			       "there are %d files, the limit; delete some: DELETE "
			       "/api/v1/files/{id}",
			       FILES_MOST);
	return bytes <= files_most(app) - f.bytes ||
	       err_set(err, ERR_TOO_LARGE,
		       "%" PRId64 " bytes more do not fit: the files have %" PRId64 " of %" PRId64
		       " bytes; delete some, or start the server with a larger --files-gib",
		       bytes, f.bytes, files_most(app));
}

/* ---- a new upload ---- */

static bool make_file(const char *path, const char *text, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write_all(fd, text, strlen(text));

	if (!ok)
		storage("a file cannot be made", err);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool begin(const struct app *app, int64_t bytes, char upload[UPLOAD_DIGITS + 1],
		  struct err *err)
{
	char path[PATH_BYTES], text[32];
	uint64_t number;

	if (!has_room(app, bytes, err))
		return false;
	if (mkdir(app->files_folder, 0700) != 0 && errno != EEXIST)
		return storage("the folder of files cannot be made", err);
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return storage("no number for an upload", err);
	snprintf(upload, UPLOAD_DIGITS + 1, "%016" PRIx64, number);
	snprintf(text, sizeof(text), "%" PRId64 "\n", bytes);
	path_of(app, plan, upload, path);
	if (!make_file(path, text, err))
		return false;
	path_of(app, part, upload, path);
	return make_file(path, "", err);
}

/* ---- a piece ---- */

struct file_piece {
	const char *upload; /* digits */
	int64_t at;         /* -1: where the last one ended */
	const char *bytes;
	size_t len;
};

/* Adds it; *received is how many bytes there are now, of *total. */
static bool add_piece(const struct app *app, const struct file_piece *p, int64_t *received,
		      int64_t *total, struct err *err)
{
	char path[PATH_BYTES];
	struct stat at;
	int fd;
	bool ok;

	path_of(app, part, p->upload, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_NOT_FOUND,
			       "there is no upload %s: it is complete, or nobody went on with it "
			       "for a day",
			       p->upload);
	*total = planned_bytes(app, p->upload);
	ok = (flock(fd, LOCK_EX) == 0 && fstat(fd, &at) == 0) || storage("a part is locked", err);
	*received = ok ? at.st_size : 0;
	if (ok && p->at >= 0 && p->at != *received)
		ok = err_set(err, ERR_CONFLICT,
			     "upload %s has received %" PRId64 " bytes: go on from there, with "
			     "at=%" PRId64,
			     p->upload, *received, *received);
	if (ok && (int64_t)p->len > *total - *received)
		ok = err_set(err, ERR_TOO_LARGE,
			     "upload %s is of %" PRId64 " bytes, and this piece would make it "
			     "%" PRId64,
			     p->upload, *total, *received + (int64_t)p->len);
	if (ok && (lseek(fd, *received, SEEK_SET) < 0 || !write_all(fd, p->bytes, p->len)))
		ok = storage("a piece cannot be written", err);
	if (ok)
		*received += (int64_t)p->len;
	close(fd);
	return ok;
}

/* All of it is there: it gets the name of what is in it. */
static bool complete(const struct app *app, const char *upload, const char *wanted,
		     char id[WEIGHTS_ID_BYTES], struct err *err)
{
	char from[PATH_BYTES], to[PATH_BYTES];

	path_of(app, part, upload, from);
	if (!weights_id(from, id, err))
		return false;
	if (wanted && strcmp(wanted, id) != 0) {
		forget_upload(app, upload);
		return err_set(err, ERR_VALUE, "what was received is %s, and not %s; post it again",
			       id, wanted);
	}
	path_of(app, "", id + strlen(scheme), to);
	if (chmod(from, 0400) != 0 || rename(from, to) != 0)
		return storage("a file cannot be kept", err);
	path_of(app, plan, upload, from);
	unlink(from);
	return true;
}

/* ---- the routes ---- */

static bool is_kept(const struct app *app, const char *id, int64_t *bytes)
{
	char path[PATH_BYTES];
	struct stat at;

	path_of(app, "", id + strlen(scheme), path);
	if (stat(path, &at) != 0)
		return false;
	*bytes = at.st_size;
	return true;
}

static void answer_file(struct reply *reply, const char *id, int64_t bytes)
{
	reply->status = 201;
	reply->json = json_pack("{s:s, s:I, s:I}", "id", id, "bytes", (json_int_t)bytes, "received",
				(json_int_t)bytes);
}

static bool read_request(struct req *req, struct file_piece *p, int64_t *bytes, const char **wanted,
			 struct err *err)
{
	const struct req_range size = { 0, INT64_MAX, -1 }, place = { 0, INT64_MAX, -1 };

	*p = (struct file_piece){ .upload = req_query(req, "upload"),
				  .bytes = req->body,
				  .len = req->body_len };
	*wanted = req_query(req, "id");
	if (*wanted && !weights_id_check(*wanted))
		return err_set(err, ERR_BAD_REQUEST,
			       "id=%.80s: sha256: and 64 digits of 0-9 and a-f are needed",
			       *wanted);
	if (p->upload && !is_digits(p->upload, UPLOAD_DIGITS))
		return err_set(err, ERR_BAD_REQUEST,
			       "upload=%.40s: what the first POST answered as `upload` is needed",
			       p->upload);
	return req_query_int(req, "bytes", size, bytes, err) &&
	       req_query_int(req, "at", place, &p->at, err) &&
	       (p->upload || *bytes >= 0 ||
		err_set(err, ERR_BAD_REQUEST,
			"bytes= is missing: how long the file is; or upload=, to go on"));
}

static bool api_files_post(struct req *req, struct reply *reply, struct err *err)
{
	char begun[UPLOAD_DIGITS + 1], id[WEIGHTS_ID_BYTES];
	const struct app *app = req->app;
	const char *wanted;
	int64_t bytes, received, total;
	struct file_piece p;

	if (!read_request(req, &p, &bytes, &wanted, err) || !store_has_room(app, err))
		return false;
	if (!p.upload && wanted && is_kept(app, wanted, &total)) {
		answer_file(reply, wanted, total);
		return true;
	}
	if (!p.upload) {
		if (!begin(app, bytes, begun, err))
			return false;
		p.upload = begun;
	}
	if (!add_piece(app, &p, &received, &total, err))
		return false;
	if (received < total) {
		reply->status = 202;
		reply->json = json_pack("{s:s, s:I, s:I}", "upload", p.upload, "received",
					(json_int_t)received, "bytes", (json_int_t)total);
		return true;
	}
	if (!complete(app, p.upload, wanted, id, err))
		return false;
	answer_file(reply, id, total);
	return true;
}

static bool api_files_list(struct req *req, struct reply *reply, struct err *err)
{
	struct folder f = { .list = json_array() };

	if (!read_folder(req->app, &f, err)) {
		json_decref(f.list);
		return false;
	}
	reply->json = json_pack("{s:o, s:I, s:I}", "files", f.list, "bytes", (json_int_t)f.bytes,
				"most_bytes", (json_int_t)files_most(req->app));
	return true;
}

static bool api_file_delete(struct req *req, struct reply *reply, struct err *err)
{
	const char *id = req->path_args[0];
	char path[PATH_BYTES];

	if (!weights_id_check(id))
		return err_set(err, ERR_BAD_REQUEST,
			       "'%.80s' is no id of a file: sha256: and 64 digits of 0-9 and a-f",
			       id);
	path_of(req->app, "", id + strlen(scheme), path);
	if (unlink(path) != 0)
		return errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "there is no file %s", id)
				       : storage("the file cannot be deleted", err);
	reply->json = json_pack("{s:s}", "deleted", id);
	return true;
}

handler_fn *const files_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
