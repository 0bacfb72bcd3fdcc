/* server/cli/pass_flag.c -- see pass_flag.h. */
#include "server/cli/pass_flag.h"

#include <stdlib.h>
#include <string.h>

bool pass_flag_check(const struct registry *registry, const char *names, struct err *err)
{
	char *copy = strdup(names), *rest = copy;
	uint64_t disabled = 0;
	bool ok = copy != NULL;

	for (char *name; ok && (name = strsep(&rest, ","));)
		ok = pass_list_disable(registry_passes(registry), name, &disabled, err);
	free(copy);
	return ok && pass_list_check(registry_passes(registry), disabled, err);
}

void pass_flag_apply(json_t *workload, const char *names)
{
	json_t *passes = json_object_get(workload, "passes");
	char *copy = strdup(names), *rest = copy;

	passes = json_is_object(passes) ? json_deep_copy(passes) : json_object();
	for (char *name; copy && (name = strsep(&rest, ","));)
		json_object_set_new(passes, name, json_false());
	json_object_set_new(workload, "passes", passes);
	free(copy);
}
