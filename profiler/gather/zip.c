/* profiler/gather/zip.c -- the program in a .zip, which libzip reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "profiler/gather/gather.h"
#include "profiler/gather/inside.h"
#include "profiler/workload/workload.h"

enum { MOST_ENTRIES = 100000 };

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
