/* profiler/gather/zip.c -- the program in a .zip, which libzip reads.  It is loaded when wanted: it
 * brings along libcrypto, whose symbols would cost each start of the program a millisecond. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "profiler/gather/gather.h"
#include "profiler/gather/inside.h"
#include "profiler/workload/workload.h"

#define ZIP_CALLS                                                                                  \
	CALL(error_fini)                                                                           \
	CALL(error_init)                                                                           \
	CALL(error_strerror)                                                                       \
	CALL(discard)                                                                              \
	CALL(fclose)                                                                               \
	CALL(file_get_external_attributes)                                                         \
	CALL(file_strerror)                                                                        \
	CALL(fopen_index)                                                                          \
	CALL(fread)                                                                                \
	CALL(get_num_entries)                                                                      \
	CALL(open_from_source)                                                                     \
	CALL(source_buffer_create)                                                                 \
	CALL(source_free)                                                                          \
	CALL(stat_index)                                                                           \
	CALL(strerror)

/* What is used of libzip: without the zip_ of their names. */
struct libzip {
	void *library;
#define CALL(name) typeof(&zip_##name) name;
	ZIP_CALLS
#undef CALL
};

static bool load(struct libzip *lib, struct err *err)
{
	bool ok;

	/* It stays where it is: what looks for leaks names whose they are. */
	lib->library = dlopen("libzip.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	ok = lib->library != NULL;
#define CALL(name)                                                                                 \
	lib->name = ok ? (typeof(lib->name))dlsym(lib->library, "zip_" #name) : NULL;              \
	ok = ok && lib->name;
	ZIP_CALLS
#undef CALL
	if (ok)
		return true;
	if (lib->library)
		dlclose(lib->library);
	return err_set(err, ERR_UNSUPPORTED,
		       "a .zip is read by libzip.so.4, which is not installed (apt install "
		       "libzip4); unpack it, and give the folder");
}

/* An archive that is open, and what reads it. */
struct zip_archive {
	struct libzip lib;
	zip_t *z;
	struct gather gather;
};

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

static bool is_link(const struct zip_archive *a, zip_uint64_t i)
{
	zip_uint32_t attributes;
	zip_uint8_t system;

	return a->lib.file_get_external_attributes(a->z, i, 0, &system, &attributes) == 0 &&
	       system == ZIP_OPSYS_UNIX && S_ISLNK(attributes >> 16);
}

/* Its bytes, one more asked for than it says that it has. */
static bool read_entry(struct zip_archive *a, const zip_stat_t *at, struct err *err)
{
	const char *from = a->gather.from;
	zip_file_t *f = a->lib.fopen_index(a->z, at->index, 0);
	char *text = malloc(at->size + 1);
	zip_int64_t n = -1;
	bool ok;

	if (f && text)
		n = a->lib.fread(f, text, at->size + 1);
	if (!text)
		ok = err_set(err, ERR_MEMORY, "out of memory for %s", at->name);
	else if (!f || n < 0)
		ok = err_set(err, ERR_WORKLOAD, "%s of %s cannot be read: %s", at->name, from,
			     f ? a->lib.file_strerror(f) : a->lib.strerror(a->z));
	else if ((zip_uint64_t)n != at->size)
		ok = err_set(err, ERR_WORKLOAD, "%s of %s is %s than the archive says", at->name,
			     from, (zip_uint64_t)n > at->size ? "longer" : "shorter");
	else
		ok = gather_keep(&a->gather, at->name, text, (size_t)n, err);
	free(text);
	if (f)
		a->lib.fclose(f);
	return ok;
}

static bool take_entry(struct zip_archive *a, zip_uint64_t i, struct err *err)
{
	const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_INDEX | ZIP_STAT_SIZE |
				    ZIP_STAT_ENCRYPTION_METHOD;
	const char *from = a->gather.from;
	zip_stat_t at;
	bool skipped;

	if (a->lib.stat_index(a->z, i, 0, &at) != 0 || (at.valid & needed) != needed)
		return err_set(err, ERR_WORKLOAD, "%s cannot be read: %s", from,
			       a->lib.strerror(a->z));
	if (!is_skipped(&a->gather, at.name, &skipped, err))
		return false;
	if (skipped || !gather_is_python(at.name))
		return true;
	if (is_link(a, i))
		return err_set(err, ERR_WORKLOAD,
			       "%s of %s is a symbolic link; put what it leads to in its place",
			       at.name, from);
	if (at.encryption_method != ZIP_EM_NONE)
		return err_set(err, ERR_WORKLOAD,
			       "%s of %s is encrypted; pack it without a password", at.name, from);
	return gather_admits(&a->gather, at.name, at.size, err) && read_entry(a, &at, err);
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

static bool open_zip(struct zip_archive *a, const void *bytes, size_t len, struct err *err)
{
	zip_error_t error;
	zip_source_t *source;

	a->lib.error_init(&error);
	source = a->lib.source_buffer_create(bytes, len, 0, &error);
	a->z = source ? a->lib.open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
	if (!a->z)
		err_set(err, ERR_WORKLOAD, "%s is no .zip that can be read: %s", a->gather.from,
			a->lib.error_strerror(&error));
	if (source && !a->z)
		a->lib.source_free(source);
	a->lib.error_fini(&error);
	return a->z != NULL;
}

/* All of them. */
static bool take_entries(struct zip_archive *a, struct err *err)
{
	zip_int64_t n = a->lib.get_num_entries(a->z, 0);
	bool ok = n <= GATHER_MAX_ENTRIES ||
		  err_set(err, ERR_BOUND, "%s has %lld entries; the limit is %d", a->gather.from,
			  (long long)n, GATHER_MAX_ENTRIES);

	for (zip_int64_t i = 0; ok && i < n; i++)
		ok = take_entry(a, (zip_uint64_t)i, err);
	return ok;
}

json_t *gather_zip(const void *bytes, size_t len, const char *name, struct err *err)
{
	struct zip_archive a = { .gather.from = name };
	bool ok = false;

	if (!load(&a.lib, err))
		return NULL;
	if (open_zip(&a, bytes, len, err)) {
		ok = take_entries(&a, err);
		a.lib.discard(a.z);
	}
	dlclose(a.lib.library);
	if (ok)
		return without_folder(gather_finish(&a.gather, err));
	gather_drop(&a.gather);
	return NULL;
}
