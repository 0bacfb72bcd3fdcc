/* fusion/session/registry.h -- what an engine has: our passes and backends, and plugins'.
 *
 * main makes one, loads the plugins that the command line names, and passes it
 * down; from then on it is immutable and may be shared by threads.  It must
 * outlive every engine, program and workload that was given it.  A NULL registry
 * is what is built in.
 */
#ifndef FUSION_REGISTRY_H
#define FUSION_REGISTRY_H

#include "fusion/backends/backends.h"
#include "fusion/graph/custom.h"
#include "fusion/passes/passes.h"

struct registry;

struct registry *registry_create(struct err *err);
void registry_destroy(struct registry *r); /* NULL is fine */

enum { REGISTRY_MAX_PLUGINS = 16 };

/* Loads a plugin (fusion/plugin.h) and takes in what it adds.  PLUGIN, naming the
 * file and what was wrong; the registry is then as it was.  Only before it is
 * handed to anyone. */
bool registry_load(struct registry *r, const char *file, struct err *err);

/* The plugins, by their absolute paths. */
int registry_plugin_count(const struct registry *r);
const char *registry_plugin_path(const struct registry *r, int index);

/* The passes in their order. */
const struct pass_list *registry_passes(const struct registry *r);

/* Plugins' ops; NULL where there are none. */
const struct custom_ops *registry_ops(const struct registry *r);

/* The backends: ours first.  *plugin is whose it is, NULL: ours; may be NULL. */
int registry_backend_count(const struct registry *r);
const struct backend *registry_backend_at(const struct registry *r, int index, const char **plugin);
const struct backend *registry_backend(const struct registry *r, const char *name);

/* "interp, cpu", for messages. */
void registry_backend_names(const struct registry *r, struct buf *out);

#endif
