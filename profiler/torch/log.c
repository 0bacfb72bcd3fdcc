/* profiler/torch/log.c -- TORCH_TRACE and the Chrome trace of the watched process, joined. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/import/import.h"
#include "profiler/torch/engine.h"

static bool add_file(struct import *im, const char *path, const char *name, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	bool ok;

	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	/* A process that compiled nothing leaves an empty one. */
	ok = (fstat(fd, &info) == 0 && info.st_size == 0) || import_fd(im, name, fd, err);
	close(fd);
	return ok;
}

/* The compile logs of all its processes. */
static bool add_logs(struct import *im, const char *folder, struct err *err)
{
	DIR *dir = opendir(folder);
	bool ok = true;

	if (!dir)
		return errno == ENOENT || err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
	for (struct dirent *e; ok && (e = readdir(dir));) {
		char path[640];

		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (e->d_name[0] != '.')
			ok = add_file(im, path, e->d_name, err);
	}
	closedir(dir);
	return ok;
}

json_t *torch_log_read(const char *folder, struct err *err)
{
	struct import *im = import_create(NULL, NULL, 0, err);
	json_t *log = NULL;
	char path[320];

	snprintf(path, sizeof(path), "%s/torch_trace", folder);
	if (im && add_logs(im, path, err)) {
		snprintf(path, sizeof(path), "%s/trace.json", folder);
		if (add_file(im, path, "trace.json", err))
			log = import_finish(im, err);
	}
	import_destroy(im);
	return log;
}

/* worker.py names a lane's source "<static, n = 30>". */
static bool is_of(const char *file, const char *name)
{
	return file && strcmp(file, name) == 0;
}

json_t *torch_log_breaks(const json_t *log, const char *mode, const int64_t *n)
{
	json_t *list = json_array(), *item;
	char name[64], of_point[40] = "";
	size_t i;

	if (n)
		snprintf(of_point, sizeof(of_point), ", n = %lld", (long long)*n);
	snprintf(name, sizeof(name), "<%.20s%s>", mode, of_point);
	json_array_foreach(json_object_get(log, "breaks"), i, item)
	{
		if (is_of(json_string_value(json_object_get(item, "file")), name))
			json_array_append(list, item);
	}
	return list;
}
