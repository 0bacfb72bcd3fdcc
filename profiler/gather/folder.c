/* profiler/gather/folder.c -- the program in a folder. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/gather/gather.h"
#include "profiler/gather/inside.h"

enum { MOST_DEPTH = 32 };

struct folder_walk {
	const char *folder;
	struct gather gather;
	size_t entries;
};

static bool read_file(struct folder_walk *w, const char *path, const char *full, off_t size,
		      struct err *err)
{
	char *bytes;
	FILE *f;
	size_t n;
	bool ok;

	if (!gather_admits(&w->gather, path, (size_t)size, err))
		return false;
	f = fopen(full, "re");
	if (!f)
		return err_set(err, ERR_IO, "%s cannot be opened: %s", full, strerror(errno));
	bytes = malloc((size_t)size + 1);
	n = bytes ? fread(bytes, 1, (size_t)size, f) : 0;
	fclose(f);
	ok = bytes ? gather_keep(&w->gather, path, bytes, n, err)
		   : err_set(err, ERR_MEMORY, "out of memory for %s", full);
	free(bytes);
	return ok;
}

static bool walk_folder(struct folder_walk *w, const char *below, int depth, struct err *err);

static bool take_entry(struct folder_walk *w, const char *below, const char *name, int depth,
		       struct err *err)
{
	char full[PATH_MAX], path[PATH_MAX], marker[PATH_MAX + 16];
	struct stat at;

	if (gather_skips(name))
		return true;
	if (++w->entries > GATHER_MAX_ENTRIES)
		return err_set(err, ERR_BOUND, "%s has more than %d entries, the limit", w->folder,
			       GATHER_MAX_ENTRIES);
	if (snprintf(path, sizeof(path), "%s%s", below, name) >= (int)sizeof(path) ||
	    snprintf(full, sizeof(full), "%s/%s", w->folder, path) >= (int)sizeof(full))
		return err_set(err, ERR_BOUND, "a path in %s is too long", w->folder);
	if (lstat(full, &at) != 0)
		return err_set(err, ERR_IO, "%s cannot be read: %s", full, strerror(errno));
	if (S_ISLNK(at.st_mode) &&
	    (gather_is_python(name) || (stat(full, &at) == 0 && S_ISDIR(at.st_mode))))
		return err_set(err, ERR_WORKLOAD,
			       "%s is a symbolic link; put what it leads to in its place", full);
	if (S_ISREG(at.st_mode))
		return !gather_is_python(name) || read_file(w, path, full, at.st_size, err);
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

json_t *gather_folder(const char *folder, struct err *err)
{
	struct folder_walk w = { .folder = folder, .gather = { .from = folder } };

	if (walk_folder(&w, "", 0, err))
		return gather_finish(&w.gather, err);
	gather_drop(&w.gather);
	return NULL;
}
