/* profiler/torch/log.c -- TORCH_TRACE and the Chrome trace of the watched process, joined. */
#include <stdio.h>
#include <string.h>

#include "profiler/import/import.h"
#include "profiler/torch/engine.h"

json_t *torch_log_read(const char *folder, struct err *err)
{
	struct import *im = import_create(NULL, NULL, 0, err);
	json_t *log = NULL;
	char path[320];

	snprintf(path, sizeof(path), "%s/torch_trace", folder);
	/* The compile logs of all its processes. */
	if (im && import_folder(im, path, 0, err)) {
		snprintf(path, sizeof(path), "%s/trace.json", folder);
		if (import_named(im, path, "trace.json", err))
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
