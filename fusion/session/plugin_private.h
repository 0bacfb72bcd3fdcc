/* fusion/session/plugin_private.h -- what the files that implement plugin.h and registry.h share.
 */
#ifndef FUSION_SESSION_PLUGIN_PRIVATE_H
#define FUSION_SESSION_PLUGIN_PRIVATE_H

#include <ctype.h>
#include <string.h>

#include "fusion/backends/backends.h"
#include "fusion/graph/custom.h"
#include "fusion/passes/passes.h"
#include "fusion/plugin.h"
#include "fusion/registry.h"

enum { MAX_PLUGIN_BACKENDS = 8, PLUGIN_NAME_BYTES = 64 };

struct plugin {
	void *handle;                 /* of dlopen() */
	char *path;                   /* absolute */
	char name[PLUGIN_NAME_BYTES]; /* the file's own, for messages */
};

/* Our side of a plugin's backend. */
struct plugin_backend {
	struct backend backend;
	const struct be_backend *plugin;
	const char *plugin_name;
};

struct registry {
	struct pass_list passes;
	struct custom_ops ops;
	struct plugin_backend *backends[MAX_PLUGIN_BACKENDS];
	int n_backends;
	struct plugin plugins[REGISTRY_MAX_PLUGINS];
	int n_plugins;
	struct kernel_builder *builder; /* of all engines that are given this registry */
};

/* What the engine reads of it; NULL is what is built in. */
static inline const struct pass_list *registry_passes(const struct registry *r)
{
	return r ? &r->passes : pass_list_default();
}

/* Plugins'; NULL: none. */
static inline const struct custom_ops *registry_ops(const struct registry *r)
{
	return r && r->ops.n ? &r->ops : NULL;
}

const struct backend *registry_backend(const struct registry *r, const char *name); /* NULL */

/* What load() of a plugin is handed. */
struct be_registry {
	struct registry *to;
	const char *plugin;
	struct err *err;
};

struct be_graph {
	const struct graph *g;
	const struct node *self; /* BE_THIS; NULL: none */
};

struct be_rewrite {
	struct graph *g;
	const struct node *self;
	struct be_graph view;
	struct err *err; /* why a callback fails, as far as it was said */
};

/* The table of functions: plugin_graph.c. */
const struct be_host *plugin_host(void);

/* An identifier of at most 40 bytes. */
static inline bool plugin_is_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len == 0 || len > 40 || isdigit((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

bool plugin_add_backend(struct be_registry *registry, const struct be_backend *backend);

#endif
