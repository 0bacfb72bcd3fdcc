/* db/backup.c -- a store as one file elsewhere, and back.
 *
 * A backup is a database that SQLite reads, pages of one moment, in which `backup_file` has the
 * files beside the store in parts.  After its pages come a line of JSON, which says what it holds,
 * and a last line of fixed length: where that JSON begins, and the SHA-256 of all before the last
 * line.  It is written beside its name and gets it when it is whole and on the disk.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "db/internal.h"
#include "db/pieces.h"
#include "db/shared.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"

enum {
	PATH_BYTES = 4096,
	PAGES_AT_ONCE = 4096,
	BUSY_WAIT_MS = 20,
	BUSY_TRIES = 500,
	PART_BYTES = 1 << 20,
	SAID_BYTES = 16 << 20,
	LAST_LINE = 19 + 20 + 1 + (SHA_HEX_BYTES - 1) + 1,
};

static const char magic[] = "breakeven-backup 1 ";

/* ---- a file that gets its name when it is whole ---- */

struct partial {
	char path[PATH_BYTES]; /* beside its name */
	const char *name;
	int fd; /* holds a lock; -1: there is none */
};

/* What SQLite left beside it must not come back into it. */
static void forget(const struct partial *p)
{
	static const char *const beside[] = { "-journal", "-wal", "-shm" };
	char path[PATH_BYTES + 16];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", p->path, beside[i]);
		unlink(path);
	}
}

static bool partial_open(struct partial *p, const char *name, const char *ending, struct err *err)
{
	p->name = name;
	p->fd = -1;
	if (snprintf(p->path, PATH_BYTES, "%s.%s", name, ending) >= PATH_BYTES)
		return err_set(err, ERR_STORAGE, "the path is longer than 4,000 bytes");
	p->fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (p->fd < 0)
		return piece_failed(p->path, "cannot be written", err);
	if (flock(p->fd, LOCK_EX | LOCK_NB) != 0) {
		close(p->fd);
		p->fd = -1;
		return err_set(err, ERR_CONFLICT, "%.300s is being written by another process",
			       p->path);
	}
	forget(p);
	return ftruncate(p->fd, 0) == 0 || piece_failed(p->path, "cannot be written", err);
}

/* `ok` and `replace` say whether it gets its name, and from whom. */
static bool partial_close(struct partial *p, bool ok, bool replace, struct err *err)
{
	char folder[PATH_BYTES];
	int fd;

	if (p->fd < 0)
		return false;
	forget(p);
	if (ok && fsync(p->fd) != 0)
		ok = piece_failed(p->path, "cannot be written", err);
	if (ok &&
	    renameat2(AT_FDCWD, p->path, AT_FDCWD, p->name, replace ? 0 : RENAME_NOREPLACE) != 0)
		ok = errno == EEXIST
			 ? err_set(err, ERR_CONFLICT, "%.300s is there already; name another file",
				   p->name)
			 : piece_failed(p->name, "cannot be made", err);
	if (!ok)
		unlink(p->path);
	close(p->fd);
	snprintf(folder, sizeof(folder), "%s", p->name);
	fd = ok ? open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	return ok;
}

static bool run_sql(struct sql *h, const char *sql, const char *what, struct err *err)
{
	return sql_exec(h, sql) || db_fail(h, what, err);
}

/* ---- the pages ---- */

/* `from` is in a transaction: all pages are of its moment. */
static bool copy_pages(struct sql *from, struct sql *to, struct err *err)
{
	sqlite3_backup *b = sqlite3_backup_init(sql_sqlite(to), "main", sql_sqlite(from), "main");
	int code = b ? SQLITE_OK : SQLITE_ERROR, tries = 0;

	while (code == SQLITE_OK ||
	       ((code == SQLITE_BUSY || code == SQLITE_LOCKED) && ++tries < BUSY_TRIES)) {
		if (code != SQLITE_OK)
			sqlite3_sleep(BUSY_WAIT_MS);
		code = db_stopped() ? SQLITE_INTERRUPT : sqlite3_backup_step(b, PAGES_AT_ONCE);
	}
	if (b)
		sqlite3_backup_finish(b);
	if (code != SQLITE_DONE)
		return err_set(err, (code & 0xff) == SQLITE_FULL ? ERR_FULL : ERR_STORAGE,
			       "copy the database: %s", sqlite3_errstr(code));
	/* As one file, without a log beside it. */
	return run_sql(to, "PRAGMA journal_mode = DELETE", "write the copy", err);
}

/* ---- the files beside it ---- */

static bool put_part(struct sql *to, const char *name, int part, const struct buf *data,
		     struct err *err)
{
	return db_step_once(to,
			    db_prepare(to, err,
				       "INSERT INTO backup_file(sha256, part, data) VALUES(?1, "
				       "?2, ?3)",
				       "tib", name, (int64_t)part, data->data, data->len),
			    "store a file", err);
}

/* In parts, each read at once; its name says what it must be. */
static bool put_file(struct sql *to, int fd, const char *name, json_t *files, struct err *err)
{
	struct buf data = { 0 };
	struct sha256_ctx sha;
	char hex[SHA_HEX_BYTES];
	int64_t bytes = 0;
	bool ok = buf_grow(&data, PART_BYTES);
	int part = 0;
	ssize_t n = 1;

	sha256_init(&sha);
	while (ok && n > 0) {
		n = read(fd, data.data, PART_BYTES);
		if (db_stopped())
			ok = err_set(err, ERR_CANCELLED, "interrupted");
		else if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			ok = piece_failed(name, "cannot be read", err);
		else if (n > 0) {
			data.len = (size_t)n;
			sha256_update(&sha, data.len, (const uint8_t *)data.data);
			bytes += n;
			ok = put_part(to, name, part++, &data, err);
		}
	}
	if (data.failed)
		err_set(err, ERR_MEMORY, "out of memory while copying a file");
	buf_finish(&data);
	piece_hex(&sha, hex);
	if (ok && strcmp(hex, name) != 0)
		ok = err_set(err, ERR_STORAGE,
			     "the file sha256:%s beside the store is damaged: its SHA-256 is %s",
			     name, hex);
	if (json_object_set_new(files, name, json_integer(bytes)) != 0 && ok)
		ok = err_set(err, ERR_MEMORY, "out of memory while copying a file");
	return ok;
}

static bool put_files(struct sql *to, const char *store, json_t *files, struct err *err)
{
	char folder[PATH_BYTES];
	const struct dirent *entry;
	bool ok = run_sql(to,
			  "BEGIN; CREATE TABLE backup_file(sha256 TEXT NOT NULL, part INTEGER NOT "
			  "NULL, data BLOB NOT NULL)",
			  "make a table of files", err);
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s.files", store);
	dir = opendir(folder);
	if (!dir && errno != ENOENT)
		ok = piece_failed(folder, "cannot be read", err);
	while (ok && dir && (entry = readdir(dir)) != NULL) {
		int fd = piece_is_hash(entry->d_name)
			     ? openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
			     : -1;

		if (fd >= 0) {
			ok = put_file(to, fd, entry->d_name, files, err);
			close(fd);
		} else if (piece_is_hash(entry->d_name) && errno != ENOENT) {
			ok = piece_failed(entry->d_name, "cannot be read", err);
		}
	}
	if (dir)
		closedir(dir);
	return run_sql(to, ok ? "COMMIT" : "ROLLBACK", "store the files", err) && ok;
}

/* ---- what it holds ---- */

/* A copy that is whole, with as many rows in each table as the store has. */
static json_t *check_copy(struct sql *from, const char *path, struct err *err)
{
	json_t *checked = db_check(path, err), *tables, *rows;
	const char *name, *bad;
	bool ok = checked != NULL;

	bad = json_string_value(json_array_get(json_object_get(checked, "problems"), 0));
	if (bad)
		ok = err_set(err, ERR_STORAGE,
			     "the store is damaged, and is not copied: %.300s; `breakeven check` "
			     "names all that is wrong",
			     bad);
	tables = json_object_get(checked, "tables");
	json_object_del(tables, "backup_file");
	json_object_foreach(tables, name, rows)
	{
		char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", name);
		struct sql_statement *s = ok && sql ? db_prepare(from, err, sql, "") : NULL;

		if (ok && (!s || sql_step(s) != SQL_ROW))
			ok = db_fail(from, "count rows", err);
		else if (ok && sql_int64(s, 0) != json_integer_value(rows))
			ok = err_set(err, ERR_STORAGE,
				     "the copy has other rows of %s than the store", name);
		sql_finalize(s);
		sqlite3_free(sql);
	}
	tables = ok ? json_incref(tables) : NULL;
	json_decref(checked);
	return tables;
}

static int64_t version_of(struct sql *h)
{
	struct err ignored = { 0 };
	struct sql_statement *s = db_prepare(h, &ignored, "PRAGMA user_version", "");
	int64_t n = s && sql_step(s) == SQL_ROW ? sql_int64(s, 0) : -1;

	sql_finalize(s);
	return n;
}

/* Appends what it holds, and the hash of all; `said` gets the hash too. */
static bool seal(const struct partial *p, json_t *said, struct err *err)
{
	char hex[SHA_HEX_BYTES], last[LAST_LINE + 1], *text;
	off_t bytes = lseek(p->fd, 0, SEEK_END);
	struct sha256_ctx sha;
	bool ok;

	json_object_set_new(said, "bytes", json_integer(bytes));
	text = json_dumps(said, JSON_COMPACT);
	if (!text)
		return err_set(err, ERR_MEMORY, "out of memory while making a backup");
	ok = write_all(p->fd, text, strlen(text)) && write_all(p->fd, "\n", 1) &&
	     lseek(p->fd, 0, SEEK_SET) == 0;
	free(text);
	sha256_init(&sha);
	ok = ok && piece_pass(p->fd, -1, -1, &sha);
	piece_hex(&sha, hex);
	snprintf(last, sizeof(last), "%s%020lld %s\n", magic, (long long)bytes, hex);
	ok = ok && write_all(p->fd, last, LAST_LINE);
	json_object_set_new(said, "sha256", json_string(hex));
	return ok || piece_failed(p->path, "cannot be written", err);
}

static json_t *write_backup(struct sql *from, const char *store, const struct partial *p,
			    enum backup_what what, struct err *err)
{
	struct sql *to = db_connect(p->path, SQL_WRITE | SQL_CREATE, err);
	json_t *files = json_object(), *tables = NULL, *said = NULL;
	bool ok = to &&
		  run_sql(to, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF",
			  "write the copy", err) &&
		  run_sql(from, "BEGIN", "begin", err);
	int64_t version = ok ? version_of(from) : -1; /* from here on of one moment */

	if (ok && version < 0)
		ok = err_set(err, ERR_STORAGE, "%.300s is no store of Breakeven: %s", store,
			     sql_message(from));
	ok = ok && copy_pages(from, to, err) &&
	     (what == BACKUP_STORE || put_files(to, store, files, err));
	sql_close(to);
	if (ok && what == BACKUP_WHOLE) {
		tables = check_copy(from, p->path, err);
		ok = tables != NULL;
	}
	if (ok)
		said = json_pack("{s:I, s:I, s:o?, s:O}", "version", (json_int_t)version, "made_ns",
				 (json_int_t)clock_wall_ns(), "tables", tables, "files", files);
	json_decref(files);
	if (ok && !said)
		err_set(err, ERR_MEMORY, "out of memory while making a backup");
	if (said && !seal(p, said, err)) {
		json_decref(said);
		said = NULL;
	}
	return said;
}

json_t *db_backup(const char *from, const char *to, enum backup_what what, struct err *err)
{
	struct sql *h = NULL;
	struct partial p = { .fd = -1 };
	json_t *said = NULL;
	bool kept;

	if (db_path_is_shared(from)) {
		err_set(err, ERR_STORAGE,
			"a store on PostgreSQL is backed up by pg_dump, and the folder of `serve "
			"--files` "
			"beside it");
		return NULL;
	}
	if (what == BACKUP_WHOLE && access(to, F_OK) == 0) {
		err_set(err, ERR_CONFLICT, "%.300s is there already; name another file", to);
		return NULL;
	}
	h = db_connect(from, SQL_READ, err);
	if (h && partial_open(&p, to, "partial", err))
		said = write_backup(h, from, &p, what, err);
	sql_close(h);
	kept = partial_close(&p, said != NULL, what == BACKUP_STORE, err);
	if (!kept) {
		json_decref(said);
		return NULL;
	}
	json_object_set_new(said, "backup", json_string(to));
	return said;
}

/* ---- and back ---- */

static bool damaged(const char *path, const char *why, struct err *err)
{
	return err_set(err, ERR_STORAGE, "%.300s is no whole backup: %s; nothing was restored",
		       path, why);
}

/* Writes the pages to `to`, and reads what the backup says of itself, if its hash is right. */
static json_t *open_sealed(int fd, const char *path, int to, struct err *err)
{
	char last[LAST_LINE + 1] = "", hex[SHA_HEX_BYTES] = "";
	off_t size = lseek(fd, 0, SEEK_END), begin = size - LAST_LINE;
	struct buf text = { 0 };
	struct sha256_ctx sha;
	json_t *said = NULL;
	int64_t bytes;

	if (begin <= 0 || pread(fd, last, LAST_LINE, begin) != LAST_LINE ||
	    strncmp(last, magic, strlen(magic)) != 0)
		return damaged(path, "its last line, which a backup of Breakeven has, is missing",
			       err),
		       NULL;
	bytes = strtoll(last + strlen(magic), NULL, 10);
	if (bytes <= 0 || bytes >= begin || begin - bytes > SAID_BYTES ||
	    !buf_grow(&text, (size_t)(begin - bytes)))
		return damaged(path, "its last line is damaged", err), NULL;
	sha256_init(&sha);
	lseek(fd, 0, SEEK_SET);
	errno = 0;
	if (!piece_pass(fd, bytes, to, &sha)) {
		piece_failed(path, "cannot be copied", err);
	} else if (pread(fd, text.data, (size_t)(begin - bytes), bytes) != begin - bytes) {
		piece_failed(path, "cannot be read", err);
	} else {
		text.len = (size_t)(begin - bytes);
		sha256_update(&sha, text.len, (const uint8_t *)text.data);
		piece_hex(&sha, hex);
		said = strncmp(hex, last + strlen(magic) + 21, SHA_HEX_BYTES - 1) == 0 &&
			       last[LAST_LINE - 1] == '\n'
			   ? json_loadb(text.data, text.len, 0, NULL)
			   : NULL;
		if (!said || json_integer_value(json_object_get(said, "bytes")) != bytes) {
			damaged(path, "its SHA-256 is not the one that was written with it", err);
			json_decref(said);
			said = NULL;
		}
	}
	buf_finish(&text);
	json_object_set_new(said, "sha256", json_string(hex));
	return said;
}

/* Writes a file of the table beside the store. */
static bool take_file(struct sql *h, const char *folder, const char *name, struct err *err)
{
	char path[PATH_BYTES + SHA_HEX_BYTES + 1], hex[SHA_HEX_BYTES];
	struct partial p = { .fd = -1 };
	struct sha256_ctx sha;
	struct sql_statement *s;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	s = db_prepare(h, err, "SELECT data FROM backup_file WHERE sha256 = ?1 ORDER BY part", "t",
		       name);
	ok = s && partial_open(&p, path, "partial", err);
	sha256_init(&sha);
	while (ok && sql_step(s) == SQL_ROW) {
		const char *data = sql_blob(s, 0);
		size_t len = sql_bytes(s, 0);

		sha256_update(&sha, len, (const uint8_t *)data);
		ok = write_all(p.fd, data, len) || piece_failed(p.path, "cannot be written", err);
	}
	piece_hex(&sha, hex);
	if (ok && strcmp(hex, name) != 0)
		ok = err_set(err, ERR_STORAGE, "the file sha256:%s of the backup is damaged", name);
	sql_finalize(s);
	return partial_close(&p, ok, true, err);
}

/* *made: the folder was not there. */
static bool take_files(struct sql *h, const char *folder, const json_t *files, bool *made,
		       struct err *err)
{
	const char *name;
	json_t *bytes;
	bool ok = true;

	*made = json_object_size(files) > 0 && mkdir(folder, 0700) == 0;
	if (json_object_size(files) > 0 && !*made && errno != EEXIST)
		return piece_failed(folder, "cannot be made", err);
	json_object_foreach((json_t *)files, name, bytes)
	{
		(void)bytes;
		ok = ok &&
		     (piece_is_hash(name) || err_set(err, ERR_STORAGE,
						     "the backup names a file '%.80s', which is no "
						     "SHA-256",
						     name)) &&
		     take_file(h, folder, name, err);
	}
	return ok;
}

/* Of a restore that failed. */
static void remove_files(const char *folder, const json_t *files)
{
	char path[PATH_BYTES + SHA_HEX_BYTES + 1];
	const char *name;
	json_t *bytes;

	json_object_foreach((json_t *)files, name, bytes)
	{
		(void)bytes;
		snprintf(path, sizeof(path), "%s/%.64s", folder, name);
		if (piece_is_hash(name))
			unlink(path);
	}
	rmdir(folder);
}

static bool rows_are_there(const json_t *said, const json_t *checked, struct err *err)
{
	json_t *wanted = json_object_get(said, "tables"), *rows, *here;
	const char *name;

	json_object_foreach(wanted, name, rows)
	{
		here = json_object_get(json_object_get(checked, "tables"), name);
		if (!json_equal(rows, here))
			return err_set(err, ERR_STORAGE,
				       "the restored store has other rows of %s than the backup "
				       "says",
				       name);
	}
	return true;
}

static bool unpack(const struct partial *p, const char *store, const json_t *said, struct err *err)
{
	struct sql *h = db_connect(p->path, SQL_WRITE, err);
	const json_t *files = json_object_get(said, "files");
	char folder[PATH_BYTES];
	json_t *checked = NULL;
	const char *bad;
	bool made = false, ok;

	snprintf(folder, sizeof(folder), "%s.files", store);
	ok = h && take_files(h, folder, files, &made, err) &&
	     run_sql(h,
		     "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; DROP TABLE IF "
		     "EXISTS backup_file; PRAGMA incremental_vacuum",
		     "take the files out", err);

	sql_close(h);
	if (ok)
		checked = db_check(p->path, err);
	bad = json_string_value(json_array_get(json_object_get(checked, "problems"), 0));
	if (bad)
		ok = err_set(err, ERR_STORAGE, "the backup has a damaged store: %.300s", bad);
	ok = ok && checked && rows_are_there(said, checked, err);
	json_decref(checked);
	if (!ok && made)
		remove_files(folder, files);
	return ok;
}

/* A log of a store that is gone would be read into this one. */
static bool is_free(const char *to, struct err *err)
{
	char log[PATH_BYTES];

	if (access(to, F_OK) == 0)
		return err_set(err, ERR_CONFLICT,
			       "there is a store %.300s already; move it away, or name another "
			       "with --db FILE",
			       to);
	snprintf(log, sizeof(log), "%s-wal", to);
	return access(log, F_OK) != 0 ||
	       err_set(err, ERR_CONFLICT,
		       "%.300s has changes of a store that is gone; move it away, or name another "
		       "with --db FILE",
		       log);
}

json_t *db_restore(const char *from, const char *to, struct err *err)
{
	struct partial p = { .fd = -1 };
	json_t *said = NULL;
	int fd;
	bool ok;

	if (db_path_is_shared(to)) {
		err_set(err, ERR_STORAGE,
			"a backup is restored to a file; `breakeven store copy` brings it to "
			"PostgreSQL");
		return NULL;
	}
	if (!is_free(to, err))
		return NULL;
	fd = open(from, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return piece_failed(from, "cannot be read", err), NULL;
	if (partial_open(&p, to, "restoring", err))
		said = open_sealed(fd, from, p.fd, err);
	close(fd);
	ok = said && unpack(&p, to, said, err);
	if (!partial_close(&p, ok, false, err)) {
		json_decref(said);
		return NULL;
	}
	json_object_set_new(said, "backup", json_string(from));
	return said;
}
