/* fusion/session/plugin_graph.c -- what plugins may call: reading graphs, and making them. */
#include <ctype.h>
#include <string.h>

#include "fusion/session/plugin_private.h"

/* enum be_dtype stands in the order of dtypes.def. */
_Static_assert((int)BE_BOOL == (int)DTYPE_BOOL && (int)BE_UINT8 == (int)DTYPE_U8 &&
		   (int)BE_INT8 == (int)DTYPE_I8 && (int)BE_INT16 == (int)DTYPE_I16 &&
		   (int)BE_INT32 == (int)DTYPE_I32 && (int)BE_INT64 == (int)DTYPE_I64 &&
		   (int)BE_FLOAT16 == (int)DTYPE_F16 && (int)BE_BFLOAT16 == (int)DTYPE_BF16 &&
		   (int)BE_FLOAT32 == (int)DTYPE_F32 && (int)BE_FLOAT64 == (int)DTYPE_F64 &&
		   DTYPE_COUNT == 10,
	       "a dtype that plugin.h does not know");
_Static_assert((int)BE_MAX_RANK == (int)MAX_RANK && (int)BE_MAX_ARGS == (int)MAX_CUSTOM_ARGS,
	       "limits of plugin.h");

static const struct node *node_of(const struct be_graph *g, int node)
{
	if (node == BE_THIS)
		return g->self;
	return node >= 0 && node < g->g->n_nodes ? g->g->nodes[node] : NULL;
}

static int node_count(const struct be_graph *g)
{
	return g->g->n_nodes;
}

static bool is_custom(const struct node *n)
{
	return n->op == OP_custom || n->op == OP_custom_kernel;
}

static const char *node_op(const struct be_graph *g, int node)
{
	const struct node *n = node_of(g, node);

	return !n ? "" : is_custom(n) ? n->args[0].str : op_info(n->op)->id;
}

static const char *node_name(const struct be_graph *g, int node)
{
	const struct node *n = node_of(g, node);

	return n ? n->name : "";
}

static int node_line(const struct be_graph *g, int node)
{
	const struct node *n = node_of(g, node);

	return n ? n->line : 0;
}

static enum be_dtype node_dtype(const struct be_graph *g, int node)
{
	const struct node *n = node_of(g, node);

	return n ? (enum be_dtype)n->dtype : BE_FLOAT32;
}

static int node_rank(const struct be_graph *g, int node)
{
	const struct node *n = node_of(g, node);

	return n ? n->shape.rank : 0;
}

static bool node_size(const struct be_graph *g, int node, int dim, int64_t *size)
{
	const struct node *n = node_of(g, node);

	if (!n || dim < 0 || dim >= n->shape.rank || !sym_is_const(n->shape.size[dim]))
		return false;
	*size = n->shape.size[dim]->value;
	return true;
}

struct be_arg plugin_arg(const struct arg *arg)
{
	struct be_arg out = { .kind = BE_ARG_OTHER, .other = arg };

	switch (arg->kind) {
	case ARG_NONE:
		out.kind = BE_ARG_NONE;
		break;
	case ARG_NODE:
		out.kind = BE_ARG_NODE;
		out.node = arg->node;
		break;
	case ARG_INT:
		if (sym_is_const(arg->sym)) {
			out.kind = BE_ARG_INT;
			out.i = arg->sym->value;
		}
		break;
	case ARG_FLOAT:
		out.kind = BE_ARG_FLOAT;
		out.f = arg->f;
		break;
	case ARG_BOOL:
		out.kind = BE_ARG_TRUTH;
		out.i = arg->b;
		break;
	default:
		break;
	}
	return out;
}

static int arg_count(const struct be_graph *g, int node)
{
	const struct node *n = node_of(g, node);

	return n ? n->n_args - is_custom(n) : 0;
}

static struct be_arg arg_at(const struct be_graph *g, int node, int index)
{
	const struct node *n = node_of(g, node);
	struct be_arg none = { .kind = BE_ARG_NONE };

	if (!n || index < 0 || index >= arg_count(g, node))
		return none;
	return plugin_arg(&n->args[index + is_custom(n)]);
}

static const void *node_data(const struct be_graph *g, int node)
{
	const struct node *n = node_of(g, node);

	return n ? n->data : NULL;
}

/* ---- making */

static int failed(struct be_rewrite *rw, const char *message)
{
	if (rw->err->code == ERR_NONE)
		err_set(rw->err, ERR_PLUGIN, "%.300s", message);
	return BE_FAILED;
}

static void fail(struct be_rewrite *rw, const char *message)
{
	failed(rw, message ? message : "it gives no reason");
}

static bool our_arg(struct be_rewrite *rw, const struct be_arg *from, struct arg *to)
{
	switch (from->kind) {
	case BE_ARG_NONE:
		*to = arg_none();
		return true;
	case BE_ARG_NODE:
		*to = arg_node(from->node);
		return from->node >= 0 && from->node < rw->g->n_nodes;
	case BE_ARG_INT:
		*to = arg_int(rw->g, from->i);
		return to->sym != NULL;
	case BE_ARG_FLOAT:
		*to = arg_float(from->f);
		return true;
	case BE_ARG_TRUTH:
		*to = arg_bool(from->i != 0);
		return true;
	case BE_ARG_OTHER:
		if (from->other)
			*to = *(const struct arg *)from->other;
		return from->other != NULL;
	}
	return false;
}

static bool find_op(const struct graph *g, const char *name, enum op *op, struct arg *first)
{
	const struct custom_op *custom = custom_find(g->custom, name);

	if (custom) {
		*op = OP_custom;
		*first = arg_str(custom->info.id);
		return true;
	}
	for (int i = 0; i < OP_COUNT; i++)
		if (strcmp(op_info((enum op)i)->id, name) == 0) {
			*op = (enum op)i;
			return op_info(*op)->kind != KIND_INPUT &&
			       op_info(*op)->kind != KIND_CONSTANT && *op != OP_custom &&
			       *op != OP_custom_kernel;
		}
	return false;
}

static int make(struct be_rewrite *rw, const char *name, const struct be_arg *args, int n)
{
	struct arg ours[MAX_ARGS], first = arg_none();
	struct err why = { 0 };
	int shift, id;
	enum op op;

	if (!name || !find_op(rw->g, name, &op, &first)) {
		err_set(&why, ERR_PLUGIN, "there is no op '%.64s' that it could make",
			name ? name : "");
		return failed(rw, why.message);
	}
	shift = op == OP_custom;
	ours[0] = first;
	if (n < 0 || n + shift > MAX_ARGS)
		return failed(rw, "it makes an op with too many arguments");
	for (int i = 0; i < n; i++)
		if (!our_arg(rw, &args[i], &ours[i + shift])) {
			err_set(&why, ERR_PLUGIN,
				"argument %d of its %.64s is no node of the graph", i, name);
			return failed(rw, why.message);
		}
	id = graph_add(rw->g, op, ours, n + shift, rw->self->line, rw->self->column, &why);
	return id >= 0 ? id : failed(rw, why.message);
}

static int make_constant(struct be_rewrite *rw, enum be_dtype dtype, int rank, const int64_t *size,
			 const void *data)
{
	struct shape shape = { .rank = rank };
	int id;

	if (rank < 0 || rank > MAX_RANK || (unsigned)dtype >= DTYPE_COUNT || !data)
		return failed(rw,
			      "it makes a constant of no rank, dtype or elements that there are");
	for (int d = 0; d < rank; d++)
		shape.size[d] = size[d] < 0 ? NULL : sym_const(rw->g->syms, size[d]);
	for (int d = 0; d < rank; d++)
		if (!shape.size[d])
			return failed(rw, "it makes a constant of a negative size");
	id = graph_constant(rw->g, (enum dtype)dtype, &shape, data);
	if (id < 0)
		return failed(rw, "out of memory for a constant");
	rw->g->nodes[id]->line = rw->self->line;
	rw->g->nodes[id]->column = rw->self->column;
	return id;
}

static const struct be_graph *made(struct be_rewrite *rw)
{
	return &rw->view;
}

static void fired(struct be_rewrite *rw, const char *rule)
{
	pass_fired(rw->g, rule ? rule : "", rw->self, NULL);
}

static void error(struct be_registry *registry, const char *message)
{
	err_set(registry->err, ERR_PLUGIN, "%.300s", message ? message : "it gives no reason");
}

struct be_rewrite plugin_rewrite(struct graph *g, const struct node *self, struct err *err)
{
	return (struct be_rewrite){
		.g = g, .self = self, .view = { .g = g, .self = self }, .err = err
	};
}

bool plugin_is_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len == 0 || len > 40 || isdigit((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

const struct be_host *plugin_host(void)
{
	static const struct be_host host = {
		.version = BE_PLUGIN_VERSION,
		.bytes = sizeof(struct be_host),
		.add_pass = plugin_add_pass,
		.add_op = plugin_add_op,
		.add_backend = plugin_add_backend,
		.error = error,
		.node_count = node_count,
		.node_op = node_op,
		.node_name = node_name,
		.node_line = node_line,
		.node_dtype = node_dtype,
		.node_rank = node_rank,
		.node_size = node_size,
		.arg_count = arg_count,
		.arg = arg_at,
		.node_data = node_data,
		.make = make,
		.make_constant = make_constant,
		.made = made,
		.fired = fired,
		.fail = fail,
	};

	return &host;
}
