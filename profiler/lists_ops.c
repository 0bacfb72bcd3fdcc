/* profiler/lists_ops.c -- the ops of ops.def and of plugins, and what each has.
 *
 * Whether a backend lowers an op is asked of the backend, a dtype at a time, with
 * a node as a capture would make it of small tensors.
 */
#include <stdio.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/fusion.h"
#include "fusion/passes/passes.h"
#include "profiler/lists.h"

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

/* Words of `text` that are operators ("op:+"), or those that are not. */
static json_t *spellings_json(const char *text, bool operators)
{
	json_t *list = json_array();

	for (size_t len; *text; text += len) {
		bool is_operator;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		is_operator = len > 3 && strncmp(text, "op:", 3) == 0;
		if (!len || is_operator != operators)
			continue;
		if (len == 6 && memcmp(text, "op:neg", 6) == 0)
			json_array_append_new(list, json_string("unary -"));
		else
			json_array_append_new(list, json_stringn(text + (operators ? 3 : 0),
								 len - (operators ? 3 : 0)));
	}
	return list;
}

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
		return arg_int(g, 2); /* one may stand for several */
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
	id = tensor < 0 ? -1 : graph_add(g, op, args, info->n_params, 0, 0, &why);
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

enum where { NOT_LOWERED, ON_DEVICE, ON_HOST };

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

static enum where where(const struct backend *b, struct graph *g, const struct node *n)
{
	const char *why = NULL;
	bool by_type = false;

	if (!n || (b->can_lower && !b->can_lower(b, g, n, &by_type, &why)))
		return NOT_LOWERED;
	return on_host(b, g, n) ? ON_HOST : ON_DEVICE;
}

static enum where lowers(const struct backend *b, enum op op, enum dtype dtype)
{
	struct arena arena = { 0 };
	struct graph *g = graph_create(&arena);
	enum where found = where(b, g, g ? sample_node(g, op, dtype) : NULL);

	arena_finish(&arena);
	return found;
}

static enum where custom_lowers(const struct registry *registry, const struct backend *b,
				const struct custom_op *op, enum dtype dtype)
{
	struct arena arena = { 0 };
	struct graph *g = graph_create(&arena);
	const struct sym *two = g ? sym_const(g->syms, 2) : NULL;
	struct shape shape = { .rank = 2, .size = { two, two } };
	struct arg args[MAX_ARGS] = { arg_str(op->info.id) };
	int tensor = two ? graph_input(g, dtype, &shape, NULL) : -1, id;
	enum where found = NOT_LOWERED;

	if (tensor >= 0) {
		g->custom = registry_ops(registry);
		for (int i = 0; i < op->info.n_params; i++)
			args[i + 1] = sample_arg(g, &op->info.params[i], tensor);
		id = graph_add(g, OP_custom, args, op->info.n_params + 1, 0, 0, NULL);
		found = where(b, g, id < 0 ? NULL : g->nodes[id]);
	}
	arena_finish(&arena);
	return found;
}

/* Adds to the object what a backend makes kernels of, and, apart, what the host computes. */
struct lowered_lists {
	json_t *backends, *on_host; /* of lists of dtypes, by the backends' names */
};

static struct lowered_lists lists_of(const struct registry *registry, enum op op,
				     const struct custom_op *custom)
{
	struct lowered_lists all = { json_object(), json_object() };

	for (int i = 0; i < registry_backend_count(registry); i++) {
		const struct backend *b = registry_backend_at(registry, i, NULL);
		json_t *device = json_array(), *host = json_array();

		for (int d = 0; d < DTYPE_COUNT; d++) {
			enum dtype dtype = (enum dtype)d;
			enum where found = custom ? custom_lowers(registry, b, custom, dtype)
						  : lowers(b, op, dtype);

			if (found != NOT_LOWERED)
				json_array_append_new(found == ON_DEVICE ? device : host,
						      json_string(dtype_name(dtype)));
		}
		json_object_set_new(all.backends, b->name, device);
		if (json_array_size(host))
			json_object_set(all.on_host, b->name, host);
		json_decref(host);
	}
	return all;
}

/* The row as it is known to programs: those of the graph's own are left out. */
static bool is_listed(const struct op_info *info)
{
	return info->kind != KIND_INPUT && info->kind != KIND_CONTROL && info->spellings[0];
}

static json_t *op_json(const struct registry *registry, enum op op)
{
	const struct op_info *info = op_info(op);
	struct lowered_lists lists = lists_of(registry, op, NULL);

	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:{s:s, s:s}, s:o, s:o, s:n}",
			 "name", info->id, "kind", kind_names[info->kind], "spellings",
			 spellings_json(info->spellings, false), "operators",
			 spellings_json(info->spellings, true), "signature", info->signature,
			 "dtypes", rule_texts[info->rule], "doc", info->doc, "gradient",
			 fusion_op_has_gradient(op) ? "yes" : "none", "autocast", "cpu",
			 autocast_class_name(info->autocast[AUTOCAST_CPU]), "cuda",
			 autocast_class_name(info->autocast[AUTOCAST_CUDA]), "backends",
			 lists.backends, "on_host", lists.on_host, "plugin");
}

/* An op of a plugin: whether the backends lower it is asked of its parts. */
static json_t *custom_json(const struct registry *registry, const struct custom_op *op)
{
	const struct op_info *info = &op->info;
	struct lowered_lists lists = lists_of(registry, OP_custom, op);

	return json_pack(
	    "{s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:s}", "name", info->id, "kind",
	    kind_names[info->kind], "spellings", spellings_json(info->spellings, false),
	    "operators", spellings_json(info->spellings, true), "signature", info->signature,
	    "dtypes", rule_texts[info->rule], "doc", info->doc, "gradient", "none", "backends",
	    lists.backends, "on_host", lists.on_host, "plugin", op->plugin);
}

static bool is_named(const struct op_info *info, const char *name)
{
	size_t len = strlen(name);

	if (strcmp(info->id, name) == 0 || strcmp(info->fx, name) == 0)
		return true;
	for (const char *at = info->spellings; (at = strstr(at, name)); at += len) {
		bool begins = at == info->spellings || at[-1] == ' ' || at[-1] == ':' ||
			      at[-1] == '.';

		if (begins && (at[len] == ' ' || !at[len]))
			return true;
	}
	return false;
}

static json_t *no_such_op(const char *name, struct err *err)
{
	struct nearest near = nearest_to(name);

	for (int op = 0; op < OP_COUNT; op++)
		if (is_listed(op_info((enum op)op)))
			nearest_offer(&near, op_info((enum op)op)->id);
	if (near.best)
		err_set(err, ERR_NAME, "there is no op '%.64s'; did you mean '%s'?", name,
			near.best);
	else
		err_set(err, ERR_NAME, "there is no op '%.64s'; without a name all are listed",
			name);
	return NULL;
}

json_t *lists_ops(const struct registry *registry, const char *name, struct err *err)
{
	const struct custom_ops *custom = registry_ops(registry);
	json_t *list = json_array(), *all;

	for (int op = 0; op < OP_COUNT; op++)
		if (is_listed(op_info((enum op)op)) &&
		    (!name || is_named(op_info((enum op)op), name)))
			json_array_append_new(list, op_json(registry, (enum op)op));
	for (int i = 0; custom && i < custom->n; i++)
		if (!name || is_named(&custom->at[i].info, name))
			json_array_append_new(list, custom_json(registry, &custom->at[i]));
	if (name && json_array_size(list) == 0) {
		json_decref(list);
		return no_such_op(name, err);
	}
	all = json_pack("{s:o}", "ops", list);
	if (!all)
		err_set(err, ERR_MEMORY, "out of memory for the list of ops");
	return all;
}
