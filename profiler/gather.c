/* profiler/gather.c -- see gather.h. */
#include "profiler/gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "profiler/workload/workload.h"

enum { MOST_ENTRIES = 100000 };

bool gather_is_python(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, ".py") == 0;
}

bool gather_skips(const char *name)
{
	return name[0] == '.' || strcmp(name, "__pycache__") == 0 || strcmp(name, "__MACOSX") == 0;
}

bool gather_admits(struct gather *g, const char *path, size_t bytes, struct err *err)
{
	if (json_object_size(g->files) >= WORKLOAD_MAX_FILES)
		return err_set(err, ERR_BOUND, "%s has more than %d .py files, the limit", g->from,
			       WORKLOAD_MAX_FILES);
	if (bytes > WORKLOAD_MAX_SOURCE_BYTES)
		return err_set(err, ERR_BOUND, "%s of %s has %zu bytes; the limit is %d", path,
			       g->from, bytes, WORKLOAD_MAX_SOURCE_BYTES);
	g->bytes += bytes;
	if (g->bytes > WORKLOAD_MAX_FILES_BYTES)
		return err_set(err, ERR_BOUND,
			       "the .py files of %s have more than %d MiB, the limit", g->from,
			       WORKLOAD_MAX_FILES_BYTES >> 20);
	return workload_path_check(path, err);
}

bool gather_keep(struct gather *g, const char *path, const char *text, size_t len, struct err *err)
{
	json_t *kept = json_stringn(text, len);

	if (!g->files)
		g->files = json_object();
	if (!kept)
		return err_set(err, ERR_SYNTAX, "%s of %s is not UTF-8 text", path, g->from);
	if (json_object_get(g->files, path)) {
		json_decref(kept);
		return err_set(err, ERR_WORKLOAD, "%s has %s twice", g->from, path);
	}
	json_object_set_new(g->files, path, kept);
	return true;
}

void gather_drop(struct gather *g)
{
	json_decref(g->files);
	g->files = NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *gather_finish(struct gather *g, struct err *err)
{
	size_t n = json_object_size(g->files), i = 0;
	const char **paths = calloc(n + 1, sizeof(*paths)), *path;
	json_t *out = json_object(), *text;

	if (!n)
		err_set(err, ERR_WORKLOAD, "%s holds no .py file", g->from);
	else if (!paths)
		err_set(err, ERR_MEMORY, "out of memory for the program's files");
	json_object_foreach(g->files, path, text) if (paths) paths[i++] = path;
	if (paths)
		qsort(paths, n, sizeof(*paths), by_text);
	for (i = 0; paths && i < n; i++)
		json_object_set(out, paths[i], json_object_get(g->files, paths[i]));
	free(paths);
	gather_drop(g);
	if (json_object_size(out))
		return out;
	json_decref(out);
	return NULL;
}

/* ---- a .zip ---- */

bool gather_is_zip(const void *bytes, size_t len)
{
	return len >= 4 && memcmp(bytes, "PK", 2) == 0 &&
	       (memcmp((const char *)bytes + 2, "\3\4", 2) == 0 ||
		memcmp((const char *)bytes + 2, "\5\6", 2) == 0); /* the second: it is empty */
}

/* Whether a folder on the way to an entry, or the entry, is skipped; WORKLOAD for what leads out
 * of the archive. */
static bool is_skipped(const struct gather *g, const char *path, bool *skipped, struct err *err)
{
	char name[WORKLOAD_MAX_PATH_BYTES + 1];

	*skipped = false;
	if (path[0] == '/' || strchr(path, '\\'))
		return err_set(err, ERR_WORKLOAD,
			       "'%.100s' of %s is no path within it; pack it again", path, g->from);
	for (const char *at = path; *at;) {
		size_t n = strcspn(at, "/");

		if (n == 2 && at[0] == '.' && at[1] == '.')
			return err_set(err, ERR_WORKLOAD,
				       "'%.100s' of %s leads out of it; pack it again", path,
				       g->from);
		if (n <= WORKLOAD_MAX_PATH_BYTES) {
			memcpy(name, at, n);
			name[n] = '\0';
			*skipped |= gather_skips(name);
		}
		at += n + (at[n] == '/');
	}
	return true;
}

static bool is_link(zip_t *z, zip_uint64_t i)
{
	zip_uint32_t attributes;
	zip_uint8_t system;

	return zip_file_get_external_attributes(z, i, 0, &system, &attributes) == 0 &&
	       system == ZIP_OPSYS_UNIX && S_ISLNK(attributes >> 16);
}

/* Its bytes, one more asked for than it says that it has. */
static bool read_entry(struct gather *g, zip_t *z, const zip_stat_t *at, struct err *err)
{
	zip_file_t *f = zip_fopen_index(z, at->index, 0);
	char *text = malloc(at->size + 1);
	zip_int64_t n = -1;
	bool ok;

	if (f && text)
		n = zip_fread(f, text, at->size + 1);
	if (!text)
		ok = err_set(err, ERR_MEMORY, "out of memory for %s", at->name);
	else if (!f || n < 0)
		ok = err_set(err, ERR_WORKLOAD, "%s of %s cannot be read: %s", at->name, g->from,
			     f ? zip_file_strerror(f) : zip_strerror(z));
	else if ((zip_uint64_t)n != at->size)
		ok = err_set(err, ERR_WORKLOAD, "%s of %s is %s than the archive says", at->name,
			     g->from, (zip_uint64_t)n > at->size ? "longer" : "shorter");
	else
		ok = gather_keep(g, at->name, text, (size_t)n, err);
	free(text);
	if (f)
		zip_fclose(f);
	return ok;
}

static bool take_entry(struct gather *g, zip_t *z, zip_uint64_t i, struct err *err)
{
	const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_INDEX | ZIP_STAT_SIZE |
				    ZIP_STAT_ENCRYPTION_METHOD;
	zip_stat_t at;
	bool skipped;

	if (zip_stat_index(z, i, 0, &at) != 0 || (at.valid & needed) != needed)
		return err_set(err, ERR_WORKLOAD, "%s cannot be read: %s", g->from,
			       zip_strerror(z));
	if (!is_skipped(g, at.name, &skipped, err))
		return false;
	if (skipped || !gather_is_python(at.name))
		return true;
	if (is_link(z, i))
		return err_set(err, ERR_WORKLOAD,
			       "%s of %s is a symbolic link; put what it leads to in its place",
			       at.name, g->from);
	if (at.encryption_method != ZIP_EM_NONE)
		return err_set(err, ERR_WORKLOAD,
			       "%s of %s is encrypted; pack it without a password", at.name,
			       g->from);
	return gather_admits(g, at.name, at.size, err) && read_entry(g, z, &at, err);
}

/* The length of "repository-main/", which all files are in; 0: of none, or it is a package. */
static size_t only_folder(const json_t *files)
{
	char package[WORKLOAD_MAX_PATH_BYTES + sizeof("__init__.py")];
	const char *path, *first = NULL;
	size_t len = 0;
	json_t *text;

	json_object_foreach((json_t *)files, path, text)
	{
		size_t n = strcspn(path, "/");

		if (!path[n] || (first && (n + 1 != len || memcmp(first, path, len) != 0)))
			return 0;
		first = path;
		len = n + 1;
	}
	snprintf(package, sizeof(package), "%.*s__init__.py", (int)len, first ? first : "");
	return json_object_get(files, package) ? 0 : len;
}

static json_t *without_folder(json_t *files)
{
	size_t len = files ? only_folder(files) : 0;
	json_t *out, *text;
	const char *path;

	if (!len)
		return files;
	out = json_object();
	json_object_foreach(files, path, text) json_object_set(out, path + len, text);
	json_decref(files);
	return out;
}

static bool open_zip(zip_t **z, const void *bytes, size_t len, const char *name, struct err *err)
{
	zip_error_t error;
	zip_source_t *source;

	zip_error_init(&error);
	source = zip_source_buffer_create(bytes, len, 0, &error);
	*z = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
	if (!*z)
		err_set(err, ERR_WORKLOAD, "%s is no .zip that can be read: %s", name,
			zip_error_strerror(&error));
	if (source && !*z)
		zip_source_free(source);
	zip_error_fini(&error);
	return *z != NULL;
}

json_t *gather_zip(const void *bytes, size_t len, const char *name, struct err *err)
{
	struct gather g = { .from = name };
	zip_int64_t n;
	bool ok;
	zip_t *z;

	if (!open_zip(&z, bytes, len, name, err))
		return NULL;
	n = zip_get_num_entries(z, 0);
	ok = n <= MOST_ENTRIES || err_set(err, ERR_BOUND, "%s has %lld entries; the limit is %d",
					  name, (long long)n, MOST_ENTRIES);
	for (zip_int64_t i = 0; ok && i < n; i++)
		ok = take_entry(&g, z, (zip_uint64_t)i, err);
	zip_discard(z);
	if (ok)
		return without_folder(gather_finish(&g, err));
	gather_drop(&g);
	return NULL;
}
