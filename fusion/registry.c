/* fusion/registry.c -- see registry.h. */
#include "fusion/registry.h"

#include <stdlib.h>
#include <string.h>

struct registry {
	struct pass_list passes;
};

struct registry *registry_create(struct err *err)
{
	struct registry *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(err, ERR_MEMORY, "out of memory for the lists of passes and backends");
		return NULL;
	}
	r->passes = *pass_list_default();
	return r;
}

void registry_destroy(struct registry *r)
{
	free(r);
}

const struct pass_list *registry_passes(const struct registry *r)
{
	return r ? &r->passes : pass_list_default();
}

int registry_backend_count(const struct registry *r)
{
	(void)r;
	return backend_count();
}

const struct backend *registry_backend_at(const struct registry *r, int index, const char **plugin)
{
	(void)r;
	if (plugin)
		*plugin = NULL;
	return backend_at(index);
}

const struct backend *registry_backend(const struct registry *r, const char *name)
{
	for (int i = 0; i < registry_backend_count(r); i++)
		if (strcmp(registry_backend_at(r, i, NULL)->name, name) == 0)
			return registry_backend_at(r, i, NULL);
	return NULL;
}

void registry_backend_names(const struct registry *r, struct buf *out)
{
	for (int i = 0; i < registry_backend_count(r); i++)
		buf_printf(out, "%s%s", i ? ", " : "", registry_backend_at(r, i, NULL)->name);
}
