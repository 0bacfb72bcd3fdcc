/* fusion/graph/graph.c -- building, copying and wiring of graphs.
 *
 * Everything is in the graph's arena; nothing is freed alone.  Names count up
 * per op as FX's do: add, add_1, add_2.
 */
#include "fusion/graph/custom.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/bits.h"
#include "fusion/graph/infer.h"

/* ---- arguments against an op's signature: a node has every argument of its row, what a
 * call leaves out is filled in from the signature's default */

static const char *const arg_words[] = {
	[ARG_NONE] = "None",     [ARG_NODE] = "a Tensor",        [ARG_INT] = "an int",
	[ARG_FLOAT] = "a float", [ARG_REAL] = "a float",         [ARG_BOOL] = "a bool",
	[ARG_DTYPE] = "a dtype", [ARG_INTS] = "a tuple of ints", [ARG_STR] = "a str",
};

static const char *const param_words[] = {
	[PARAM_TENSOR] = "a Tensor",
	[PARAM_TENSOR_SCALAR] = "a Tensor or a number",
	[PARAM_SCALAR] = "a number",
	[PARAM_INT] = "an int",
	[PARAM_FLOAT] = "a float",
	[PARAM_BOOL] = "a bool",
	[PARAM_INTS] = "an int or a tuple of ints",
	[PARAM_DTYPE] = "a dtype such as torch.float32",
	[PARAM_STR] = "a str",
};

static bool is_number(enum arg_kind kind)
{
	return kind == ARG_INT || kind == ARG_FLOAT || kind == ARG_REAL || kind == ARG_BOOL;
}

static bool kind_fits(enum param_kind param, enum arg_kind kind)
{
	switch (param) {
	case PARAM_TENSOR:
		return kind == ARG_NODE;
	case PARAM_TENSOR_SCALAR:
		return kind == ARG_NODE || is_number(kind);
	case PARAM_SCALAR:
		return is_number(kind);
	case PARAM_INT:
		return kind == ARG_INT;
	case PARAM_FLOAT:
		return kind == ARG_FLOAT;
	case PARAM_BOOL:
		return kind == ARG_BOOL;
	case PARAM_INTS:
		return kind == ARG_INTS;
	case PARAM_DTYPE:
		return kind == ARG_DTYPE;
	default:
		return kind == ARG_STR;
	}
}

/* The default of an optional parameter; its text is in ops.def. */
static struct arg default_arg(const struct graph *g, const struct op_param *param)
{
	const char *text = param->fallback;

	if (!strcmp(text, "None"))
		return arg_none();
	switch (param->kind) {
	case PARAM_BOOL:
		return arg_bool(!strcmp(text, "True"));
	case PARAM_INTS: /* "()", or one int, which widen() makes a list */
		return *text == '(' ? arg_ints(NULL, 0) : arg_int(g, strtoll(text, NULL, 10));
	case PARAM_STR:
		return arg_str(text);
	case PARAM_FLOAT:
		return arg_float(strtod(text, NULL));
	case PARAM_INT:
		return arg_int(g, strtoll(text, NULL, 10));
	default:
		return strpbrk(text, ".e") ? arg_float(strtod(text, NULL))
					   : arg_int(g, strtoll(text, NULL, 10));
	}
}

/* An int where a float or a list of ints is wanted. */
static bool widen(struct graph *g, const struct op_param *param, struct arg *arg, struct err *err)
{
	const struct sym **list;

	if (arg->kind != ARG_INT)
		return true;
	if (param->kind == PARAM_FLOAT && sym_is_const(arg->sym)) {
		*arg = arg_float((double)arg->sym->value);
	} else if (param->kind == PARAM_INTS) {
		list = ARENA_ARRAY(g->arena, const struct sym *, 1);
		if (!list)
			return err_set(err, ERR_MEMORY, "out of memory while building a graph");
		list[0] = arg->sym;
		*arg = arg_ints(list, 1);
	}
	return true;
}

static bool copy_payload(struct graph *g, struct arg *arg, struct err *err)
{
	const struct sym **ints;

	if (arg->kind == ARG_STR) {
		arg->str = arena_strdup(g->arena, arg->str);
		if (arg->str)
			return true;
	} else if (arg->kind == ARG_INTS && arg->n > 0) {
		ints = ARENA_ARRAY(g->arena, const struct sym *, (size_t)arg->n);
		if (ints) {
			memcpy(ints, arg->ints, sizeof(ints[0]) * (size_t)arg->n);
			arg->ints = ints;
			return true;
		}
	} else {
		return true;
	}
	return err_set(err, ERR_MEMORY, "out of memory while building a graph");
}

static bool check_one(const struct graph *g, const struct op_info *info,
		      const struct op_param *param, const struct arg *arg, struct err *err)
{
	if (arg->kind == ARG_NONE && param->nullable)
		return true;
	if (!kind_fits(param->kind, arg->kind))
		return err_set(err, ERR_TYPE, "%s: `%s` is %s; %s%s is needed here", info->fx,
			       param->name, arg_words[arg->kind], param_words[param->kind],
			       param->nullable ? " or None" : "");
	if (arg->kind == ARG_NODE && (arg->node < 0 || arg->node >= g->n_nodes))
		return err_set(err, ERR_INTERNAL, "%s: `%s` is node %d of %d", info->fx,
			       param->name, arg->node, g->n_nodes);
	if (arg->kind == ARG_INT && !arg->sym)
		return err_set(
		    err, ERR_BOUND,
		    "%s: the size in `%s` has grown past %d terms; use fewer products of "
		    "sizes",
		    info->fx, param->name, SYM_MAX_NODES);
	for (int i = 0; arg->kind == ARG_INTS && i < arg->n; i++)
		if (!arg->ints[i])
			return err_set(err, ERR_BOUND,
				       "%s: size %d of `%s` has grown past %d terms; use fewer "
				       "products of sizes",
				       info->fx, i, param->name, SYM_MAX_NODES);
	return true;
}

static bool args_check(const struct graph *g, enum op op, const struct arg *args, struct err *err)
{
	const struct op_info *info = op_info(op);

	for (int i = 0; i < info->n_params; i++)
		if (!check_one(g, info, &info->params[i], &args[i], err))
			return false;
	return true;
}

/* What the signature of a plugin's op says of its arguments; args[0] is its name. */
static bool bind_custom(struct graph *g, struct arg *args, struct err *err)
{
	const struct custom_op *op = args[0].kind == ARG_STR ? custom_find(g->custom, args[0].str)
							     : NULL;

	if (!op)
		return err_set(err, ERR_NAME, "there is no such op of a plugin");
	for (int i = 0; i < op->info.n_params; i++) {
		const struct op_param *param = &op->info.params[i];
		struct arg *arg = &args[i + 1];

		if (arg->kind == ARG_NONE && !param->optional && !param->nullable)
			return err_set(err, ERR_TYPE, "%s: `%s` is missing: %s(%s)", op->info.fx,
				       param->name, op->info.fx, op->info.signature);
		if (arg->kind == ARG_NONE && param->optional)
			*arg = default_arg(g, param);
		if (!widen(g, param, arg, err) || !check_one(g, &op->info, param, arg, err))
			return false;
	}
	for (int i = op->info.n_params + 1; i < MAX_ARGS; i++)
		if (args[i].kind != ARG_NONE)
			return err_set(err, ERR_TYPE, "%s takes %d arguments: %s(%s)", op->info.fx,
				       op->info.n_params, op->info.fx, op->info.signature);
	return true;
}

static bool args_bind(struct graph *g, enum op op, const struct arg *args, int n,
		      struct arg out[MAX_ARGS], struct err *err)
{
	const struct op_info *info = op_info(op);

	if (n > info->n_params)
		return err_set(err, ERR_TYPE, "%s: takes %d arguments and got %d: %s(%s)", info->fx,
			       info->n_params, n, info->fx, info->signature);
	for (int i = 0; i < info->n_params; i++) {
		const struct op_param *param = &info->params[i];

		out[i] = i < n ? args[i] : arg_none();
		if (out[i].kind == ARG_NONE && !param->optional && !param->nullable)
			return err_set(err, ERR_TYPE, "%s: `%s` is missing: %s(%s)", info->fx,
				       param->name, info->fx, info->signature);
		if (out[i].kind == ARG_NONE && param->optional)
			out[i] = default_arg(g, param);
		if ((out[i].kind == ARG_INT && !out[i].sym) || /* check_one says it */
		    (widen(g, param, &out[i], err) && copy_payload(g, &out[i], err)))
			continue;
		return false;
	}
	if ((op == OP_custom || op == OP_custom_kernel) && !bind_custom(g, out, err))
		return false;
	return args_check(g, op, out, err);
}

bool arg_equal(const struct arg *a, const struct arg *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ARG_NONE:
		return true;
	case ARG_NODE:
		return a->node == b->node;
	case ARG_INT:
	case ARG_REAL:
		return a->sym == b->sym;
	case ARG_FLOAT:
		return same_double(a->f, b->f);
	case ARG_BOOL:
		return a->b == b->b;
	case ARG_DTYPE:
		return a->dtype == b->dtype;
	case ARG_STR:
		return !strcmp(a->str, b->str);
	case ARG_INTS:
		if (a->n != b->n)
			return false;
		for (int i = 0; i < a->n; i++)
			if (a->ints[i] != b->ints[i])
				return false;
		return true;
	}
	return false;
}

enum { FIRST_NODES = 32 };

struct graph *graph_create(struct arena *arena)
{
	struct graph *g = ARENA_NEW(arena, struct graph);

	if (!g)
		return NULL;
	g->arena = arena;
	g->real = DTYPE_F32;
	g->cap_nodes = FIRST_NODES;
	g->nodes = ARENA_ARRAY(arena, struct node *, FIRST_NODES);
	g->name_counts = ARENA_ARRAY(arena, int, OP_COUNT);
	g->syms = symtab_create(arena);
	return g->nodes && g->name_counts && g->syms ? g : NULL;
}

int graph_append(struct graph *g, struct node *n)
{
	struct node **nodes;

	if (g->n_nodes == g->cap_nodes) {
		nodes = ARENA_ARRAY(g->arena, struct node *, (size_t)g->cap_nodes * 2);
		if (!nodes)
			return -1;
		memcpy(nodes, g->nodes, sizeof(nodes[0]) * (size_t)g->n_nodes);
		g->nodes = nodes;
		g->cap_nodes *= 2;
	}
	n->id = g->n_nodes;
	g->nodes[g->n_nodes++] = n;
	return n->id;
}

/* add_alpha shares the names of add. */
static enum op name_slot(enum op op)
{
	return op == OP_add_alpha ? OP_add : op == OP_sub_alpha ? OP_sub : op;
}

static const char *next_name(struct graph *g, enum op op)
{
	const char *base = op_info(op)->fx;
	int count = g->name_counts[name_slot(op)]++;

	return count ? arena_printf(g->arena, "%s_%d", base, count) : base;
}

static struct node *new_node(struct graph *g, enum op op)
{
	struct node *n = ARENA_NEW(g->arena, struct node);

	if (!n)
		return NULL;
	n->op = op;
	n->input = n->takes_over = n->function = n->memory = n->overwrite = -1;
	n->fx = op_info(op)->fx;
	n->n_args = op_info(op)->n_params;
	n->module = g->module;
	return n;
}

static bool row_major(struct graph *g, const struct shape *shape, const struct sym **stride)
{
	const struct sym *step = sym_const(g->syms, 1);

	for (int i = shape->rank - 1; i >= 0; i--) {
		stride[i] = step;
		step = sym_mul(g->syms, step, shape->size[i]);
		if (!step)
			return false;
	}
	return true;
}

int graph_input(struct graph *g, enum dtype dtype, const struct shape *shape,
		const struct sym *const *stride)
{
	struct node *n = new_node(g, OP_input);
	int *inputs = ARENA_ARRAY(g->arena, int, (size_t)g->n_inputs + 1);

	if (!n || !inputs)
		return -1;
	n->dtype = n->compute = dtype;
	n->shape = *shape;
	if (stride)
		memcpy(n->stride, stride, sizeof(stride[0]) * (size_t)shape->rank);
	else if (!row_major(g, shape, n->stride))
		return -1;
	n->name = arena_printf(g->arena, "arg%d", g->n_inputs);
	if (!n->name || graph_append(g, n) < 0)
		return -1;
	n->input = g->n_inputs;
	if (g->n_inputs)
		memcpy(inputs, g->inputs, sizeof(int) * (size_t)g->n_inputs);
	inputs[g->n_inputs++] = n->id;
	g->inputs = inputs;
	return n->id;
}

static size_t constant_bytes(enum dtype dtype, const struct shape *shape)
{
	size_t n = dtype_bytes(dtype);

	for (int i = 0; i < shape->rank; i++)
		n *= (size_t)shape->size[i]->value;
	return n;
}

int graph_constant(struct graph *g, enum dtype dtype, const struct shape *shape, const void *data)
{
	struct node *n = new_node(g, OP_tensor);
	size_t bytes = constant_bytes(dtype, shape);
	void *copy = arena_alloc(g->arena, bytes);

	if (!n || !copy)
		return -1;
	if (bytes)
		memcpy(copy, data, bytes);
	n->dtype = n->compute = dtype;
	n->shape = *shape;
	n->data = copy;
	n->name = next_name(g, OP_tensor);
	return n->name ? graph_append(g, n) : -1;
}

/* x + alpha * y is x + y where alpha is 1. */
static enum op without_alpha(enum op op, const struct arg *args, int *n)
{
	if ((op != OP_add_alpha && op != OP_sub_alpha) || *n < 2)
		return op;
	if (*n == 3 && args[2].kind != ARG_NONE &&
	    !(args[2].kind == ARG_INT && args[2].sym && sym_is(args[2].sym, 1)))
		return op;
	*n = 2;
	return op == OP_add_alpha ? OP_add : OP_sub;
}

static int add_checked(struct graph *g, enum op op, const struct arg *args, int n_args,
		       struct err *err);

/* A 0-d int of a dtype that the op does not compute in wraps before it is used:
 * uint8 [3] < int8 [] compares with what the int8 is as a uint8. */
static bool wrap_ints(struct graph *g, struct node *n, enum dtype compute, struct err *err)
{
	for (int i = 0; i < n->n_args && dtype_category(compute) == CATEGORY_INT; i++) {
		enum dtype dtype = n->args[i].kind == ARG_NODE ? g->nodes[n->args[i].node]->dtype
							       : compute;
		int id;

		if (dtype_category(dtype) != CATEGORY_INT ||
		    dtype_promote(dtype, compute) == compute)
			continue;
		id = add_checked(g, OP_to, (struct arg[]){ n->args[i], arg_dtype(compute) }, 2,
				 err);
		if (id < 0)
			return false;
		n->args[i] = arg_node(id);
	}
	return true;
}

static int add_checked(struct graph *g, enum op op, const struct arg *args, int n_args,
		       struct err *err)
{
	struct op_result result = { .dtype = DTYPE_F32 };
	struct node *n;

	op = without_alpha(op, args, &n_args);
	n = new_node(g, op);
	if (n && !args_bind(g, op, args, n_args, n->args, err))
		return -1;
	if (n && !op_infer(g, op, n->args, &result, err)) {
		memcpy(g->conflict, result.conflict, sizeof(g->conflict));
		return -1;
	}
	if (n && op != OP_to && op_info(op)->kind == KIND_POINTWISE &&
	    !wrap_ints(g, n, result.compute, err))
		return -1;
	memcpy(g->facts, result.facts, sizeof(g->facts));
	g->n_facts = result.n_facts;
	if (n) {
		n->dtype = result.dtype;
		n->compute = result.compute;
		n->shape = result.shape;
		n->name = next_name(g, op);
		if (op == OP_custom || op == OP_custom_kernel)
			n->fx = custom_of(g, n)->info.fx;
	}
	if (!n || !n->name || graph_append(g, n) < 0) {
		err_set(err, ERR_MEMORY, "out of memory while building a graph");
		return -1;
	}
	return n->id;
}

int graph_add(struct graph *g, const struct node_spec *spec, struct err *err)
{
	int id;

	g->conflict[0] = g->conflict[1] = NULL;
	g->n_facts = 0;
	id = add_checked(g, spec->op, spec->args, spec->n_args, err);
	if (id >= 0) {
		g->nodes[id]->line = spec->line;
		g->nodes[id]->column = spec->column;
	} else if (err) {
		err->line = spec->line;
		err->column = spec->column;
	}
	return id;
}

int graph_memory(const struct graph *g, int node)
{
	const struct node *n = g->nodes[node];

	while (n->memory >= 0 || op_info(n->op)->kind == KIND_VIEW)
		n = g->nodes[n->memory >= 0 ? n->memory : n->args[0].node];
	return n->id;
}

bool graph_set_module(struct graph *g, const char *module)
{
	if (module && g->module && strcmp(module, g->module) == 0)
		return true;
	g->module = module ? arena_strdup(g->arena, module) : NULL;
	return g->module || !module;
}

bool graph_set_fx(struct graph *g, int id, const char *fx)
{
	char *copy = arena_strdup(g->arena, fx);

	if (copy)
		g->nodes[id]->fx = copy;
	return copy != NULL;
}

/* Whether next_name() may come to it: an op's name, perhaps with _<digits>,
 * or another input's arg<i>. */
static bool is_generated(const char *name)
{
	size_t len = strlen(name), stem = len;

	while (stem && isdigit((unsigned char)name[stem - 1]))
		stem--;
	if (stem < len && stem == 3 && !memcmp(name, "arg", 3))
		return true;
	stem = stem && stem < len && name[stem - 1] == '_' ? stem - 1 : len;
	return op_has_fx(name, stem);
}

static bool is_taken(const struct graph *g, int id, const char *name)
{
	for (int i = 0; i < g->n_inputs; i++)
		if (g->inputs[i] != id && !strcmp(g->nodes[g->inputs[i]]->name, name))
			return true;
	return is_generated(name);
}

bool graph_set_name(struct graph *g, int id, const char *name)
{
	const char *copy = arena_strdup(g->arena, name);

	while (copy && is_taken(g, id, copy))
		copy = arena_printf(g->arena, "%s_", copy);
	if (copy)
		g->nodes[id]->name = copy;
	return copy != NULL;
}

bool graph_set_outputs(struct graph *g, const int *ids, int n)
{
	int *copy = ARENA_ARRAY(g->arena, int, (size_t)n);

	if (!copy)
		return false;
	if (n)
		memcpy(copy, ids, sizeof(int) * (size_t)n);
	g->outputs = copy;
	g->n_outputs = n;
	return true;
}

static bool copy_syms(struct symtab *to, int n, const struct sym *const *from,
		      const struct sym **out)
{
	for (int i = 0; i < n; i++)
		if (!(out[i] = sym_copy(to, from[i])))
			return false;
	return true;
}

static bool copy_arg(struct graph *to, struct arg *arg)
{
	const struct sym **ints;

	switch (arg->kind) {
	case ARG_INT:
	case ARG_REAL:
		arg->sym = sym_copy(to->syms, arg->sym);
		return arg->sym != NULL;
	case ARG_STR:
		arg->str = arena_strdup(to->arena, arg->str);
		return arg->str != NULL;
	case ARG_INTS:
		ints = ARENA_ARRAY(to->arena, const struct sym *, (size_t)arg->n);
		if (!ints || !copy_syms(to->syms, arg->n, arg->ints, ints))
			return false;
		arg->ints = ints;
		return true;
	default:
		return true;
	}
}

bool graph_copy_node(struct graph *to, const struct node *from)
{
	struct node *n = ARENA_NEW(to->arena, struct node);
	size_t bytes;
	void *data;

	if (!n)
		return false;
	*n = *from;
	n->order = 0;
	n->name = arena_strdup(to->arena, from->name);
	n->fx = arena_strdup(to->arena, from->fx);
	if (!graph_set_module(to, from->module))
		return false;
	n->module = to->module;
	if (!n->name || !n->fx ||
	    !copy_syms(to->syms, n->shape.rank, from->shape.size, n->shape.size))
		return false;
	if (n->op == OP_input && !copy_syms(to->syms, n->shape.rank, from->stride, n->stride))
		return false;
	if (n->data) {
		bytes = constant_bytes(n->dtype, &n->shape);
		data = arena_alloc(to->arena, bytes);
		if (!data)
			return false;
		n->data = memcpy(data, from->data, bytes);
	}
	for (int i = 0; i < n->n_args; i++)
		if (!copy_arg(to, &n->args[i]))
			return false;
	return graph_append(to, n) >= 0;
}

bool graph_rename(struct graph *g, int id)
{
	const char *name = next_name(g, g->nodes[id]->op);

	if (name)
		g->nodes[id]->name = name;
	return name != NULL;
}

bool graph_copy_symbols(struct graph *to, const struct graph *from)
{
	to->custom = from->custom;
	to->real = from->real;
	to->ordered = from->ordered;
	for (int i = 0; i < sym_var_count(from->syms); i++)
		if (!sym_var_from(to->syms, sym_var_hint(from->syms, i),
				  sym_var_at(from->syms, i)->lower))
			return false;
	return true;
}

struct graph *graph_copy(const struct graph *g, struct arena *arena)
{
	struct graph *to = graph_create(arena);

	if (!to || !graph_copy_symbols(to, g))
		return NULL;
	for (int i = 0; i < g->n_nodes; i++)
		if (!graph_copy_node(to, g->nodes[i]))
			return NULL;
	to->inputs = ARENA_ARRAY(arena, int, (size_t)g->n_inputs);
	if (!to->inputs || !graph_set_outputs(to, g->outputs, g->n_outputs))
		return NULL;
	if (g->n_inputs)
		memcpy(to->inputs, g->inputs, sizeof(int) * (size_t)g->n_inputs);
	to->n_inputs = g->n_inputs;
	memcpy(to->name_counts, g->name_counts, sizeof(int) * OP_COUNT);
	return to;
}

/* ---- what holds of every graph, checked
 *
 * A fault found here is ours, never the user's: the code is INTERNAL, and the
 * message says which node broke which rule. */

static bool broken(struct err *err, const struct node *n, const char *rule)
{
	return err_set(err, ERR_INTERNAL, "graph: node %d (%s): %s", n->id,
		       n->name ? n->name : "no name", rule);
}

static bool verify_data(const struct node *n, struct err *err)
{
	if (!n->data)
		return broken(err, n, "a constant without elements");
	for (int i = 0; i < n->shape.rank; i++)
		if (!sym_is_const(n->shape.size[i]))
			return broken(err, n, "a constant of symbolic size");
	return true;
}

static bool verify_input(const struct graph *g, const struct node *n, struct err *err)
{
	if (n->input < 0 || n->input >= g->n_inputs || g->inputs[n->input] != n->id)
		return broken(err, n, "not at its place among the inputs");
	for (int i = 0; i < n->shape.rank; i++)
		if (!n->stride[i])
			return broken(err, n, "an input without strides");
	return true;
}

static bool verify_result(const struct graph *g, const struct node *n, struct err *err)
{
	struct op_result want;
	struct err why = { 0 };

	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE &&
		    (n->args[i].node < 0 || n->args[i].node >= n->id))
			return broken(err, n, "an argument does not come before its use");
	if (!args_check(g, n->op, n->args, &why) || !op_infer(g, n->op, n->args, &want, &why))
		return broken(err, n, why.message);
	if (n->op == OP_while_loop && !n->loop)
		return broken(err, n, "a loop without a body");
	if (want.dtype != n->dtype || want.compute != n->compute)
		return broken(err, n, "its dtype is not what inference gives");
	if (!shape_equal(&want.shape, &n->shape))
		return broken(err, n, "its shape is not what inference gives");
	return true;
}

static bool verify_node(const struct graph *g, int id, struct err *err)
{
	const struct node *n = g->nodes[id];

	if (n->id != id)
		return broken(err, n, "its id is not its place in the list");
	if ((unsigned)n->op >= OP_COUNT)
		return broken(err, n, "an op that is not in the table");
	if (!n->name || !n->fx)
		return broken(err, n, "it has no name");
	if (n->n_args != op_info(n->op)->n_params)
		return broken(err, n, "the number of arguments is not the signature's");
	if (n->op == OP_input)
		return verify_input(g, n, err);
	if (op_info(n->op)->kind == KIND_CONSTANT)
		return verify_data(n, err);
	return verify_result(g, n, err);
}

bool graph_verify(const struct graph *g, struct err *err)
{
	for (int i = 0; i < g->n_nodes; i++)
		if (!verify_node(g, i, err))
			return false;
	for (int i = 0; i < g->n_inputs; i++)
		if (g->inputs[i] < 0 || g->inputs[i] >= g->n_nodes ||
		    g->nodes[g->inputs[i]]->input != i)
			return err_set(err, ERR_INTERNAL, "graph: input %d is no input node", i);
	if (g->n_outputs == 0)
		return err_set(err, ERR_INTERNAL, "graph: no outputs");
	for (int i = 0; i < g->n_outputs; i++)
		if (g->outputs[i] < 0 || g->outputs[i] >= g->n_nodes)
			return err_set(err, ERR_INTERNAL, "graph: output %d is node %d of %d", i,
				       g->outputs[i], g->n_nodes);
	return true;
}
