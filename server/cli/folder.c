/* server/cli/folder.c -- reads the .py files of a folder: see folder.h. */
#include "server/cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/profiler.h"

enum { MOST_FILES = 1000, MOST_BYTES = 16 << 20, MOST_ENTRIES = 100000, MOST_DEPTH = 32 };

struct folder_walk {
	const char *folder;
	json_t *files;
	size_t bytes, entries;
};

static bool is_python(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, ".py") == 0;
}

static bool read_file(struct folder_walk *w, const char *path, const char *full, off_t size,
		      struct err *err)
{
	json_t *text;
	char *bytes;
	FILE *f;
	size_t n;

	w->bytes += (size_t)size;
	if (json_object_size(w->files) >= MOST_FILES)
		return err_set(err, ERR_BOUND, "%s has more than %d .py files, the limit",
			       w->folder, MOST_FILES);
	if (w->bytes > MOST_BYTES)
		return err_set(err, ERR_BOUND,
			       "the .py files of %s have more than %d MiB, the limit", w->folder,
			       MOST_BYTES >> 20);
	if (!workload_path_check(path, err))
		return false;
	f = fopen(full, "re");
	bytes = malloc((size_t)size + 1);
	n = f && bytes ? fread(bytes, 1, (size_t)size, f) : 0;
	text = json_stringn(bytes ? bytes : "", n);
	free(bytes);
	if (!f)
		return err_set(err, ERR_IO, "%s cannot be opened: %s", full, strerror(errno));
	fclose(f);
	if (!text)
		return err_set(err, ERR_SYNTAX, "%s is not UTF-8 text", full);
	json_object_set_new(w->files, path, text);
	return true;
}

static bool walk_folder(struct folder_walk *w, const char *below, int depth, struct err *err);

static bool take_entry(struct folder_walk *w, const char *below, const char *name, int depth,
		       struct err *err)
{
	char full[PATH_MAX], path[PATH_MAX], marker[PATH_MAX + 16];
	struct stat at;

	if (name[0] == '.' || strcmp(name, "__pycache__") == 0)
		return true;
	if (++w->entries > MOST_ENTRIES)
		return err_set(err, ERR_BOUND, "%s has more than %d entries, the limit", w->folder,
			       MOST_ENTRIES);
	if (snprintf(path, sizeof(path), "%s%s", below, name) >= (int)sizeof(path) ||
	    snprintf(full, sizeof(full), "%s/%s", w->folder, path) >= (int)sizeof(full))
		return err_set(err, ERR_BOUND, "a path in %s is too long", w->folder);
	if (lstat(full, &at) != 0)
		return err_set(err, ERR_IO, "%s cannot be read: %s", full, strerror(errno));
	if (S_ISLNK(at.st_mode) &&
	    (is_python(name) || (stat(full, &at) == 0 && S_ISDIR(at.st_mode))))
		return err_set(err, ERR_WORKLOAD,
			       "%s is a symbolic link; put what it leads to in its place", full);
	if (S_ISREG(at.st_mode))
		return !is_python(name) || read_file(w, path, full, at.st_size, err);
	snprintf(marker, sizeof(marker), "%s/pyvenv.cfg", full);
	if (!S_ISDIR(at.st_mode) || access(marker, F_OK) == 0)
		return true;
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/");
	return walk_folder(w, path, depth + 1, err);
}

static bool walk_folder(struct folder_walk *w, const char *below, int depth, struct err *err)
{
	char full[PATH_MAX];
	struct dirent *entry;
	bool ok = true;
	DIR *d;

	if (depth > MOST_DEPTH)
		return err_set(err, ERR_BOUND, "%s is over %d folders deep", w->folder, MOST_DEPTH);
	if (snprintf(full, sizeof(full), "%s/%s", w->folder, below) >= (int)sizeof(full) ||
	    !(d = opendir(full)))
		return err_set(err, ERR_IO, "%s/%s cannot be read: %s", w->folder, below,
			       strerror(errno));
	while (ok && (entry = readdir(d)))
		ok = take_entry(w, below, entry->d_name, depth, err);
	closedir(d);
	return ok;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Their order is that of their names, whatever the file system's is. */
static json_t *sorted(json_t *files)
{
	size_t n = json_object_size(files), i = 0;
	const char **paths = calloc(n + 1, sizeof(*paths)), *path;
	json_t *out = json_object(), *text;

	json_object_foreach(files, path, text)
		if (paths)
			paths[i++] = path;
	if (paths)
		qsort(paths, n, sizeof(*paths), by_text);
	for (i = 0; paths && i < n; i++)
		json_object_set(out, paths[i], json_object_get(files, paths[i]));
	free(paths);
	json_decref(files);
	return out;
}

json_t *folder_read(const char *folder, struct err *err)
{
	struct folder_walk w = { .folder = folder, .files = json_object() };

	if (walk_folder(&w, "", 0, err) && json_object_size(w.files) > 0)
		return sorted(w.files);
	if (json_object_size(w.files) == 0 && !err->code)
		err_set(err, ERR_WORKLOAD, "%s holds no .py file", folder);
	json_decref(w.files);
	return NULL;
}
