/* fusion/session/registry.c -- loads plugins, and keeps what they and we have.
 *
 * Whether a backend lowers an op is asked of the backend, with a node as a capture would
 * make it of small tensors.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/session/plugin_private.h"
#include "fusion/torch/torch_host.h"
#include "fusion/vm/prelude.h"

struct registry *registry_create(struct err *err)
{
	struct registry *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(err, ERR_MEMORY, "out of memory for the lists of passes and backends");
		return NULL;
	}
	r->passes = *pass_list_default();
	r->builder = kernel_builder_create();
	if (!r->builder) {
		err_set(err, ERR_MEMORY, "out of memory for the lists of passes and backends");
		free(r);
		return NULL;
	}
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
	kernel_builder_destroy(r->builder);
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

/* ---- what there is */

const char *registry_plugin_path(const struct registry *r, int index)
{
	return r && index < r->n_plugins ? r->plugins[index].path : NULL;
}

static int built_in(void)
{
	int n = 0;

	while (backend_at(n))
		n++;
	return n;
}

static int backends(const struct registry *r)
{
	return built_in() + (r ? r->n_backends : 0);
}

static const struct backend *registry_backend_at(const struct registry *r, int index,
						 const char **plugin)
{
	if (plugin)
		*plugin = NULL;
	if (backend_at(index))
		return backend_at(index);
	if (plugin)
		*plugin = r->backends[index - built_in()]->plugin_name;
	return &r->backends[index - built_in()]->backend;
}

const struct backend *registry_backend(const struct registry *r, const char *name)
{
	for (int i = 0; i < backends(r); i++)
		if (strcmp(registry_backend_at(r, i, NULL)->name, name) == 0)
			return registry_backend_at(r, i, NULL);
	return NULL;
}

void registry_backend_names(const struct registry *r, struct buf *out)
{
	for (int i = 0; i < backends(r); i++)
		buf_printf(out, "%s%s", i ? ", " : "", registry_backend_at(r, i, NULL)->name);
}

struct fusion_backend fusion_backend(const struct registry *r, int index)
{
	const char *plugin;
	const struct backend *b;

	if (index >= backends(r))
		return (struct fusion_backend){ 0 };
	b = registry_backend_at(r, index, &plugin);
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
	for (int i = 0; i < backends(r); i++)
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

struct fusion_pass fusion_pass(const struct registry *r, int index)
{
	const struct pass_list *list = registry_passes(r);
	const struct pass_info *p = &list->passes[index];

	if (index >= list->n)
		return (struct fusion_pass){ 0 };
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

/* ---- ops */

static const char *const kind_names[] = {
	[KIND_INPUT] = "input",      [KIND_CONSTANT] = "constant",   [KIND_POINTWISE] = "pointwise",
	[KIND_REDUCE] = "reduction", [KIND_VIEW] = "view",           [KIND_JOIN] = "join",
	[KIND_CREATE] = "creation",  [KIND_COMPOSITE] = "composite", [KIND_LIBRARY] = "library",
	[KIND_CONTROL] = "control",
};

static const char *const rule_texts[] = {
	[RULE_NONE] = "by the op",
	[RULE_SAME] = "that of the operands, promoted",
	[RULE_FLOAT] = "floating point; float32 for ints and bools",
	[RULE_BOOL] = "bool",
	[RULE_LOGIC] = "bool, operands as masks",
	[RULE_INTSUM] = "that of the operand; int64 for ints and bools",
};

/* The row as it is known to programs: those of the graph's own are left out. */
static bool is_listed(const struct op_info *info)
{
	return info->kind != KIND_INPUT && info->kind != KIND_CONTROL && info->spellings[0];
}

static bool has_gradient(const struct op_info *info)
{
	char name[128];

	snprintf(name, sizeof(name), "%s_all", info->id);
	if (prelude_defines("_grads", name))
		return true;
	for (int i = 0; i < info->n_params; i++) {
		snprintf(name, sizeof(name), "%s_%s", info->id, info->params[i].name);
		if (prelude_defines("_grads", name))
			return true;
	}
	return false;
}

/* NULL: it is a row of ops.def. */
static const struct custom_op *custom_at(const struct registry *r, int index)
{
	return index < OP_COUNT ? NULL : &registry_ops(r)->at[index - OP_COUNT];
}

static int ops(const struct registry *r)
{
	const struct custom_ops *custom = registry_ops(r);

	return OP_COUNT + (custom ? custom->n : 0);
}

struct fusion_op fusion_op(const struct registry *r, int index)
{
	const struct custom_op *custom;
	const struct op_info *info;

	if (index >= ops(r))
		return (struct fusion_op){ 0 };
	custom = custom_at(r, index);
	info = custom ? &custom->info : op_info((enum op)index);
	return (struct fusion_op){
		.name = info->id,
		.fx = info->fx,
		.kind = kind_names[info->kind],
		.signature = info->signature,
		.spellings = info->spellings,
		.doc = info->doc,
		.result = rule_texts[info->rule],
		.has_gradient = !custom && has_gradient(info),
		.autocast_cpu = autocast_class_name(info->autocast[AUTOCAST_CPU]),
		.autocast_cuda = autocast_class_name(info->autocast[AUTOCAST_CUDA]),
		.plugin = custom ? custom->plugin : NULL,
		.listed = custom || is_listed(info),
	};
}

/* ---- which of them backends lower */

/* Any value that a parameter takes, for a call of small tensors. */
static struct arg sample_arg(struct graph *g, const struct op_param *p, int tensor)
{
	switch (p->kind) {
	case PARAM_TENSOR:
	case PARAM_TENSOR_SCALAR:
		return p->optional || p->nullable ? arg_none() : arg_node(tensor);
	default:
		break;
	}
	if (p->optional || p->nullable)
		return arg_none();
	switch (p->kind) {
	case PARAM_FLOAT:
	case PARAM_SCALAR:
		return arg_float(1);
	case PARAM_BOOL:
		return arg_bool(false);
	case PARAM_DTYPE:
		return arg_dtype(DTYPE_F32);
	case PARAM_STR:
		return arg_str("mean");
	case PARAM_INTS:
		return arg_int(g, 2); /* one may be given for several */
	default:
		return arg_int(g, 0);
	}
}

/* A node of the op on tensors of a dtype; NULL where it does not take them.  An op
 * whose sizes the sample does not fit is one all the same, without inference. */
static const struct node *sample_node(struct graph *g, enum op op, enum dtype dtype)
{
	const struct op_info *info = op_info(op);
	const struct sym *two = sym_const(g->syms, 2);
	struct shape shape = { .rank = 2, .size = { two, two } };
	int tensor = graph_input(g, dtype, &shape, NULL), id;
	struct arg args[MAX_ARGS];
	struct err why = { 0 };
	struct node *n;

	for (int i = 0; i < info->n_params; i++)
		args[i] = sample_arg(g, &info->params[i], tensor);
	id = tensor < 0 ? -1
			: graph_add(g, &(struct node_spec){ op, args, info->n_params, 0, 0 }, &why);
	if (id >= 0)
		return g->nodes[id];
	if (tensor < 0 || why.code == ERR_TYPE || why.code == ERR_DTYPE)
		return NULL;
	n = ARENA_NEW(g->arena, struct node);
	if (!n)
		return NULL;
	*n = (struct node){ .id = g->n_nodes,
			    .op = op,
			    .dtype = dtype,
			    .compute = dtype,
			    .n_args = info->n_params,
			    .name = info->id,
			    .fx = info->fx,
			    .input = -1 };
	memcpy(n->args, args, sizeof(*args) * (size_t)info->n_params);
	return n;
}

/* Whether the host computes the node, or a part of what it is made of. */
static bool on_host(const struct backend *b, struct graph *g, const struct node *n)
{
	struct pass_options options = { .no_fusion = true };
	struct pass_result passed;
	int id = n->id;

	if (!b->on_host || op_info(n->op)->kind == KIND_LIBRARY)
		return b->on_host && b->on_host(g, n);
	if (id >= g->n_nodes || g->nodes[id] != n || !graph_set_outputs(g, &id, 1) ||
	    !passes_run(g, &options, &passed, NULL))
		return false;
	for (int i = 0; i < passed.graph->n_nodes; i++)
		if (b->on_host(passed.graph, passed.graph->nodes[i]))
			return true;
	return false;
}

static enum fusion_lowered where(const struct backend *b, struct graph *g, const struct node *n)
{
	const char *why = NULL;
	bool by_type = false;

	if (!n || (b->can_lower && !b->can_lower(b, g, n, &by_type, &why)))
		return FUSION_NOT_LOWERED;
	return on_host(b, g, n) ? FUSION_ON_HOST : FUSION_LOWERED;
}

static enum fusion_lowered lowers(const struct backend *b, enum op op, enum dtype dtype)
{
	struct arena arena = { 0 };
	struct graph *g = graph_create(&arena);
	enum fusion_lowered found = where(b, g, g ? sample_node(g, op, dtype) : NULL);

	arena_finish(&arena);
	return found;
}

static enum fusion_lowered custom_lowers(const struct registry *registry, const struct backend *b,
					 const struct custom_op *op, enum dtype dtype)
{
	struct arena arena = { 0 };
	struct graph *g = graph_create(&arena);
	const struct sym *two = g ? sym_const(g->syms, 2) : NULL;
	struct shape shape = { .rank = 2, .size = { two, two } };
	struct arg args[MAX_ARGS] = { arg_str(op->info.id) };
	int tensor = two ? graph_input(g, dtype, &shape, NULL) : -1, id;
	enum fusion_lowered found = FUSION_NOT_LOWERED;

	if (tensor >= 0) {
		g->custom = registry_ops(registry);
		for (int i = 0; i < op->info.n_params; i++)
			args[i + 1] = sample_arg(g, &op->info.params[i], tensor);
		id = graph_add(
		    g, &(struct node_spec){ OP_custom, args, op->info.n_params + 1, 0, 0 }, NULL);
		found = where(b, g, id < 0 ? NULL : g->nodes[id]);
	}
	arena_finish(&arena);
	return found;
}

enum fusion_lowered fusion_op_lowered(const struct registry *r, int op, int backend,
				      enum dtype dtype)
{
	const struct backend *b = registry_backend_at(r, backend, NULL);
	const struct custom_op *custom = custom_at(r, op);

	return custom ? custom_lowers(r, b, custom, dtype) : lowers(b, (enum op)op, dtype);
}

/* ---- by name */

bool fusion_op_known(const struct registry *r, const char *name)
{
	static const char *const modules[] = { "", "torch.", "Tensor.", "torch.nn.functional.",
					       "op:" };
	char spelling[128];
	enum op op;

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		snprintf(spelling, sizeof(spelling), "%s%s", modules[i], name);
		if (op_find(spelling, &op))
			return true;
	}
	for (int i = 0; i < OP_COUNT; i++)
		if (strcmp(op_info((enum op)i)->id, name) == 0)
			return true;
	return op_has_fx(name, strlen(name)) || (r && custom_find(registry_ops(r), name));
}

void fusion_each_name(const char *module, void (*each)(void *self, const char *name), void *self)
{
	torch_each_name(module, each, self);
}

const char *fusion_op_nearest(const char *spelling)
{
	return op_nearest(spelling);
}
