/* profiler/gather/gather.c -- what is taken of a folder or an archive: see inside.h. */
#include "profiler/gather/inside.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/workload/workload.h"

bool gather_is_python(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, ".py") == 0;
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
