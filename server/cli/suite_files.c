/* server/cli/suite_files.c -- see suite_files.h. */
#include "server/cli/suite_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/queue/queue.h"
#include "server/cli/workload_file.h"

enum { LINE_BYTES = 8192 };

static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len > n && strcmp(path + len - n, end) == 0;
}

static bool is_workload(const char *path)
{
	return ends_with(path, ".json") || ends_with(path, ".py");
}

static void add_file(json_t *list, const char *path)
{
	struct workload_file file = { .file = path };
	struct err err = { 0 };
	json_t *json = workload_file_load(&file, &err);
	const char *slash = strrchr(path, '/');

	if (!json)
		json = json_pack("{s:s, s:s}", "name", slash ? slash + 1 : path, "error",
				 err.message);
	if (!json) /* its name is no text */
		json = json_pack("{s:s, s:s}", "name", "?", "error",
				 "the name of its file is not UTF-8");
	json_array_append_new(list, json);
}

static int wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && is_workload(entry->d_name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_folder(json_t *list, const char *path, struct err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, wanted, by_name);

	if (n < 0)
		return err_set(err, ERR_IO, "%.300s cannot be read: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *file;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) > 0) {
			add_file(list, file);
			free(file);
		}
		free(entries[i]);
	}
	free(entries);
	return n > 0 || err_set(err, ERR_IO,
				"%.300s has no workloads: files that end in .json "
				"or .py",
				path);
}

/* Files by name, one a line. */
static bool add_list(json_t *list, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0, n = 0;
	char line[LINE_BYTES], *file;

	if (!f)
		return err_set(err, ERR_IO, "%.300s cannot be opened: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		char *name = line + strspn(line, " \t");

		name[strcspn(name, "#\r\n")] = '\0';
		while (*name && strchr(" \t", name[strlen(name) - 1]))
			name[strlen(name) - 1] = '\0';
		if (!*name)
			continue;
		if (asprintf(&file, "%.*s%s", *name == '/' ? 0 : folder, path, name) < 0)
			break;
		add_file(list, file);
		free(file);
		n++;
	}
	fclose(f);
	return n > 0 || err_set(err, ERR_IO, "%.300s names no workloads, one a line", path);
}

static bool add_blocks(json_t *list, struct err *err)
{
	json_t *blocks = suite_blocks(err);
	bool ok = blocks && json_array_extend(list, blocks) == 0;

	json_decref(blocks);
	return ok;
}

bool suite_files_add(json_t *list, const char *path, struct err *err)
{
	struct stat info;

	if (stat(path, &info) != 0) {
		if (strcmp(path, "blocks") == 0)
			return add_blocks(list, err);
		return err_set(err, ERR_IO, "%.300s cannot be opened: %s", path, strerror(errno));
	}
	if (S_ISDIR(info.st_mode))
		return add_folder(list, path, err);
	if (!is_workload(path))
		return add_list(list, path, err);
	add_file(list, path);
	return true;
}
