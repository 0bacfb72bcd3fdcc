/* fusion/session/registry.c -- loads plugins, and keeps what they and we have. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/session/plugin_private.h"

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

static void drop_backends(struct registry *r, int from)
{
	while (r->n_backends > from)
		free(r->backends[--r->n_backends]);
}

void registry_destroy(struct registry *r)
{
	if (!r)
		return;
	drop_backends(r, 0);
	for (int i = 0; i < r->n_plugins; i++) {
		free(r->plugins[i].path);
		dlclose(r->plugins[i].handle);
	}
	free(r);
}

/* What dlopen() says, without the path that is in front of it. */
static const char *dl_reason(const char *path)
{
	const char *text = dlerror();
	size_t len = strlen(path);

	if (!text)
		return "no reason is known";
	return strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
										  : text;
}

/* Looks at the version, and only then calls into it. */
static bool take_in(struct registry *r, struct plugin *p, struct err *err)
{
	const uint32_t *version = dlsym(p->handle, "breakeven_plugin_version");
	struct err why = { 0 };
	struct be_registry view = { .to = r, .plugin = p->name, .err = &why };
	be_load_fn *load;
	void *symbol = dlsym(p->handle, "breakeven_plugin_load");

	if (!version || !symbol)
		return err_set(err, ERR_PLUGIN,
			       "the plugin %.200s exports no %s: write BE_PLUGIN(load) in it, from "
			       "fusion/plugin.h",
			       p->path,
			       version ? "breakeven_plugin_load" : "breakeven_plugin_version");
	if (*version != BE_PLUGIN_VERSION)
		return err_set(
		    err, ERR_PLUGIN,
		    "the plugin %.200s was built for version %u of the interface, and "
		    "this is version %d; build it with the fusion/plugin.h of this version",
		    p->path, (unsigned)*version, BE_PLUGIN_VERSION);
	memcpy(&load, &symbol, sizeof(load));
	return load(plugin_host(), &view) ||
	       err_set(err, ERR_PLUGIN, "the plugin %.160s was not taken: %.320s", p->path,
		       why.code != ERR_NONE ? why.message : "its load() gives no reason");
}

static bool is_loaded(const struct registry *r, const char *path)
{
	for (int i = 0; i < r->n_plugins; i++)
		if (strcmp(r->plugins[i].path, path) == 0)
			return true;
	return false;
}

static bool open_plugin(struct plugin *p, const char *file, struct err *err)
{
	const char *slash;

	p->path = realpath(file, NULL);
	if (!p->path)
		return err_set(err, ERR_PLUGIN, "the plugin %.200s cannot be opened: %s", file,
			       strerror(errno));
	slash = strrchr(p->path, '/');
	snprintf(p->name, sizeof(p->name), "%s", slash ? slash + 1 : p->path);
	p->handle = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
	return p->handle || err_set(err, ERR_PLUGIN, "the plugin %.200s cannot be loaded: %.240s",
				    p->path, dl_reason(p->path));
}

bool registry_load(struct registry *r, const char *file, struct err *err)
{
	struct plugin *p = &r->plugins[r->n_plugins];
	struct pass_list passes = r->passes;
	int n_ops = r->ops.n, n_backends = r->n_backends;

	if (r->n_plugins == REGISTRY_MAX_PLUGINS)
		return err_set(err, ERR_PLUGIN, "there are %d plugins, the limit",
			       REGISTRY_MAX_PLUGINS);
	*p = (struct plugin){ 0 };
	if (open_plugin(p, file, err)) {
		if (is_loaded(r, p->path))
			err_set(err, ERR_PLUGIN, "the plugin %.200s is loaded already", p->path);
		else if (take_in(r, p, err)) {
			r->n_plugins++;
			return true;
		}
		r->passes = passes;
		r->ops.n = n_ops;
		drop_backends(r, n_backends);
		dlclose(p->handle);
	}
	free(p->path);
	return false;
}

int registry_plugin_count(const struct registry *r)
{
	return r ? r->n_plugins : 0;
}

const char *registry_plugin_path(const struct registry *r, int index)
{
	return r->plugins[index].path;
}

const struct pass_list *registry_passes(const struct registry *r)
{
	return r ? &r->passes : pass_list_default();
}

const struct custom_ops *registry_ops(const struct registry *r)
{
	return r && r->ops.n ? &r->ops : NULL;
}

int registry_backend_count(const struct registry *r)
{
	return backend_count() + (r ? r->n_backends : 0);
}

const struct backend *registry_backend_at(const struct registry *r, int index, const char **plugin)
{
	if (plugin)
		*plugin = NULL;
	if (index < backend_count())
		return backend_at(index);
	if (plugin)
		*plugin = r->backends[index - backend_count()]->plugin_name;
	return &r->backends[index - backend_count()]->backend;
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

struct fusion_backend fusion_backend(const struct registry *r, int index)
{
	const char *plugin;
	const struct backend *b = registry_backend_at(r, index, &plugin);

	return (struct fusion_backend){
		.name = b->name,
		.purpose = b->purpose,
		.plugin = plugin,
		.on_device = b->on_device,
		.opens_device = b->open != NULL,
	};
}

int fusion_backend_find(const struct registry *r, const char *name)
{
	for (int i = 0; i < registry_backend_count(r); i++)
		if (strcmp(registry_backend_at(r, i, NULL)->name, name) == 0)
			return i;
	return -1;
}

bool fusion_backend_works(const struct registry *r, int index, char *why, size_t why_bytes)
{
	struct backend_env env = { 0 };

	return backend_available(registry_backend_at(r, index, NULL), &env, why, why_bytes);
}

const char *fusion_backend_lacks(const struct registry *r, int index, int i)
{
	const struct backend *b = registry_backend_at(r, index, NULL);

	return b->lacks ? b->lacks(i) : NULL;
}

int fusion_pass_count(const struct registry *r)
{
	return registry_passes(r)->n;
}

struct fusion_pass fusion_pass(const struct registry *r, int index)
{
	const struct pass_list *list = registry_passes(r);
	const struct pass_info *p = &list->passes[index];

	return (struct fusion_pass){ .name = p->name,
				     .purpose = p->purpose,
				     .needs = p->needs,
				     .makes = p->makes,
				     .breaks = p->breaks,
				     .after = p->after,
				     .plugin = p->plugin,
				     .required = list->required >> index & 1 };
}

struct fusion_pass_property fusion_pass_property(int index)
{
	if (index >= PROPERTY_COUNT)
		return (struct fusion_pass_property){ 0 };
	return (struct fusion_pass_property){ .name = pass_property(index)->name,
					      .text = pass_property(index)->text };
}

bool fusion_pass_disable(const struct registry *r, const char *name, uint64_t *disabled,
			 struct err *err)
{
	return pass_list_disable(registry_passes(r), name, disabled, err);
}

bool fusion_passes_check(const struct registry *r, uint64_t disabled, struct err *err)
{
	return pass_list_check(registry_passes(r), disabled, err);
}
