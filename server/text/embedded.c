/* server/text/embedded.c -- reads the Python programs that come with the server as workloads. */
#include "server/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/profiler.h"

/* The text of "mlp.py" as a workload. */
static json_t *program_at(const struct asset *a, const char *base, struct err *err)
{
	char name[128];
	char *source = strndup((const char *)a->data, a->len);
	json_t *json = NULL;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "."), base);
	if (source)
		json = workload_from_python(name, source, NULL, NULL, 0, err);
	else
		err_set(err, ERR_MEMORY, "out of memory for a program");
	free(source);
	return json;
}

json_t *embedded_programs(const char *folder, struct err *err)
{
	json_t *list = json_array();
	char start[64];
	size_t len = (size_t)snprintf(start, sizeof(start), "/assets/%s/", folder);

	for (size_t i = 0; i < n_assets; i++) {
		json_t *json;

		if (strncmp(assets[i].path, start, len) != 0)
			continue;
		json = program_at(&assets[i], assets[i].path + len, err);
		if (!json) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, json);
	}
	return list;
}
