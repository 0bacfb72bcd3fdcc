/* fusion/session/plugin_graph.c -- what plugins may call: reading graphs, making them, adding
 * passes and ops. */
#include <ctype.h>
#include <string.h>

#include "fusion/session/plugin_private.h"

/* enum be_dtype is in the order of dtypes.def. */
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

/* An argument of a node as a plugin sees it; `arg` must outlive it. */
static struct be_arg plugin_arg(const struct arg *arg)
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
	id = graph_add(rw->g,
		       &(struct node_spec){ op, ours, n + shift, rw->self->line, rw->self->column },
		       &why);
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

static struct be_rewrite plugin_rewrite(struct graph *g, const struct node *self, struct err *err)
{
	return (struct be_rewrite){
		.g = g, .self = self, .view = { .g = g, .self = self }, .err = err
	};
}

static bool plugin_add_op(struct be_registry *r, const struct be_op *op);
static bool plugin_add_pass(struct be_registry *r, const struct be_pass *pass);

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

static int expand(const struct custom_op *op, struct graph *g, const struct node *n,
		  struct err *err)
{
	const struct be_op *plugin = op->data;
	struct be_arg args[MAX_CUSTOM_ARGS];
	struct err why = { 0 };
	struct be_rewrite rw = plugin_rewrite(g, n, &why);
	int id;

	for (int i = 0; i < op->info.n_params; i++)
		args[i] = plugin_arg(&n->args[i + 1]);
	id = plugin->expand(plugin_host(), &rw, args, op->info.n_params, plugin->self);
	if (id >= 0 && id < g->n_nodes && g->nodes[id]->dtype == n->dtype &&
	    shape_equal(&g->nodes[id]->shape, &n->shape))
		return id;
	if (id >= 0)
		err_set(&why, ERR_PLUGIN,
			id < g->n_nodes ? "what it is made of has another shape or dtype"
					: "it names a node that there is not");
	err_at(err, ERR_PLUGIN, n->line, n->column, "op %s of the plugin %s failed: %.300s",
	       op->info.id, op->plugin, why.code != ERR_NONE ? why.message : "it gives no reason");
	return -1;
}

static struct be_tensor tensor_of(const struct custom_operand *x)
{
	struct be_tensor t = { .dtype = (enum be_dtype)x->dtype, .rank = x->rank, .data = x->data };

	for (int d = 0; d < x->rank; d++) {
		t.size[d] = x->size[d];
		t.stride[d] = x->stride[d];
	}
	return t;
}

static void compute(const struct custom_op *op, const struct custom_operand *operands, int n,
		    const struct custom_operand *out)
{
	const struct be_op *plugin = op->data;
	struct be_operand theirs[MAX_CUSTOM_ARGS] = { 0 };
	struct be_tensor result = tensor_of(out);

	for (int i = 0; i < n; i++) {
		theirs[i].is_tensor = operands[i].is_tensor;
		if (operands[i].is_tensor)
			theirs[i].tensor = tensor_of(&operands[i]);
		theirs[i].f = operands[i].f;
		theirs[i].i = operands[i].i;
	}
	plugin->compute(theirs, n, &result, plugin->self);
}

/* Each spelling is one that nothing else has. */
static bool check_spellings(const struct be_registry *r, const struct be_op *op)
{
	char one[64];
	int count = 0;
	enum op ours;

	for (const char *at = op->spellings; *at;) {
		size_t len;

		at += strspn(at, " ");
		len = strcspn(at, " ");
		if (!len)
			break;
		if (len >= sizeof(one) ||
		    (strncmp(at, "torch.", 6) != 0 && strncmp(at, "Tensor.", 7) != 0))
			return err_set(r->err, ERR_PLUGIN,
				       "op %s: a spelling is torch.NAME, torch.ops.PLUGIN.NAME or "
				       "Tensor.NAME, of at most %zu bytes, not '%.*s'",
				       op->name, sizeof(one) - 1, len > 80 ? 80 : (int)len, at);
		memcpy(one, at, len);
		one[len] = '\0';
		if (op_find(one, &ours) || custom_find(&r->to->ops, one))
			return err_set(r->err, ERR_PLUGIN, "op %s: the spelling %s is taken",
				       op->name, one);
		count++;
		at += len;
	}
	return count > 0 || err_set(r->err, ERR_PLUGIN, "op %s has no spelling", op->name);
}

static bool is_taken(const struct be_registry *r, const char *name)
{
	for (int i = 0; i < OP_COUNT; i++)
		if (strcmp(op_info((enum op)i)->id, name) == 0 ||
		    strcmp(op_info((enum op)i)->fx, name) == 0)
			return true;
	return custom_find(&r->to->ops, name) != NULL;
}

static bool check(const struct be_registry *r, const struct be_op *op)
{
	if (!op || !plugin_is_name(op->name) || !op->spellings || !op->signature || !op->doc)
		return err_set(
		    r->err, ERR_PLUGIN,
		    "an op needs a name that is an identifier, spellings, a signature and "
		    "a line of documentation");
	if (is_taken(r, op->name))
		return err_set(r->err, ERR_PLUGIN, "there is an op '%s' already", op->name);
	if (!op->expand == !op->compute)
		return err_set(r->err, ERR_PLUGIN, "op %s needs one of expand and compute",
			       op->name);
	if ((unsigned)op->dtype > BE_RESULT_BOOL || (unsigned)op->shape > BE_SHAPE_SCALAR)
		return err_set(r->err, ERR_PLUGIN,
			       "op %s has a rule of dtypes or shapes that this version does not "
			       "know",
			       op->name);
	if (r->to->ops.n == MAX_CUSTOM_OPS)
		return err_set(r->err, ERR_PLUGIN, "plugins have added %d ops, the limit",
			       MAX_CUSTOM_OPS);
	return check_spellings(r, op);
}

static bool fits(enum param_kind kind)
{
	return kind == PARAM_TENSOR || kind == PARAM_TENSOR_SCALAR || kind == PARAM_SCALAR ||
	       kind == PARAM_INT || kind == PARAM_FLOAT || kind == PARAM_BOOL;
}

/* Fills in params of op->info.signature; VALUE where it cannot be read. */
static bool custom_op_prepare(struct custom_op *op, struct err *err)
{
	struct op_param params[MAX_ARGS];
	int n = -1;

	if (strlen(op->info.signature) < sizeof(op->text)) {
		strcpy(op->text, op->info.signature);
		n = op_parse_signature(op->text, params);
	}
	if (n < 0 || n > MAX_CUSTOM_ARGS)
		return err_set(
		    err, ERR_VALUE,
		    "the signature '%.120s' of op %s cannot be read: write it as \"Tensor "
		    "x, float limit=1.0\", with at most %d parameters",
		    op->info.signature, op->info.id, MAX_CUSTOM_ARGS);
	for (int i = 0; i < n; i++)
		if (!fits(params[i].kind))
			return err_set(
			    err, ERR_VALUE,
			    "parameter %s of op %s is of a type that a plugin's op cannot "
			    "have; it takes Tensor, Tensor|Scalar, Scalar, float, int and "
			    "bool",
			    params[i].name, op->info.id);
	if (n == 0 || params[0].kind != PARAM_TENSOR)
		return err_set(err, ERR_VALUE, "the first parameter of op %s has to be a Tensor",
			       op->info.id);
	memcpy(op->params, params, sizeof(*params) * (size_t)n);
	op->info.params = op->params;
	op->info.n_params = n;
	return true;
}

static bool plugin_add_op(struct be_registry *r, const struct be_op *op)
{
	static const enum dtype_rule rules[] = { [BE_RESULT_SAME] = RULE_SAME,
						 [BE_RESULT_FLOAT] = RULE_FLOAT,
						 [BE_RESULT_BOOL] = RULE_BOOL };
	struct custom_op *added = &r->to->ops.at[r->to->ops.n];
	struct err why = { 0 };

	if (!check(r, op))
		return false;
	*added = (struct custom_op){
		.info = { .id = op->name,
			  .fx = op->name,
			  .kind = op->expand ? KIND_COMPOSITE : KIND_LIBRARY,
			  .rule = rules[op->dtype],
			  .signature = op->signature,
			  .spellings = op->spellings,
			  .doc = op->doc },
		.shape = (enum custom_shape)op->shape,
		.plugin = r->plugin,
		.expand = op->expand ? expand : NULL,
		.compute = op->compute ? compute : NULL,
		.data = op,
	};
	if (!custom_op_prepare(added, &why))
		return err_set(r->err, ERR_PLUGIN, "%.400s", why.message);
	r->to->ops.n++;
	return true;
}

static int pass_failed(const struct pass_info *pass, const struct node *n, const struct err *why,
		       struct err *err)
{
	err_at(err, ERR_PLUGIN, n->line, n->column,
	       "pass %s of the plugin %s failed at %%%s: %.300s", pass->name, pass->plugin, n->name,
	       why->code != ERR_NONE ? why->message : "it gives no reason");
	return PASS_FAILED;
}

static int visit(const struct pass_info *pass, struct graph *g, const struct node *n,
		 struct err *err)
{
	const struct be_pass *plugin = pass->data;
	struct err why = { 0 };
	struct be_rewrite rw = plugin_rewrite(g, n, &why);
	int before = g->n_nodes;
	int id = plugin->visit(plugin_host(), &rw, &rw.view, plugin->self);

	if (id == BE_KEEP)
		return PASS_KEEP;
	if (id < 0)
		return pass_failed(pass, n, &why, err);
	if (id >= g->n_nodes) {
		err_set(&why, ERR_PLUGIN, "it puts node %d in its place, of %d that there are", id,
			g->n_nodes);
		return pass_failed(pass, n, &why, err);
	}
	if (id >= before) /* a new node has the name of the one it replaces */
		g->nodes[id]->name = n->name;
	return id;
}

static bool run(struct pass_run *run, bool *changed, struct err *err)
{
	return pass_visit_all(run, visit, changed, err);
}

/* "primitive live" -> bits. */
static bool read_properties(const char *words, unsigned *bits, struct err *err)
{
	*bits = 0;
	for (size_t len; words && *words; words += len) {
		int found = -1;

		words += strspn(words, " ");
		len = strcspn(words, " ");
		for (int i = 0; len && i < PROPERTY_COUNT; i++)
			if (strlen(pass_property(i)->name) == len &&
			    memcmp(pass_property(i)->name, words, len) == 0)
				found = i;
		if (len && found < 0)
			return err_set(err, ERR_PLUGIN,
				       "'%.*s' is no property of graphs; `breakeven passes --json` "
				       "lists them",
				       len > 40 ? 40 : (int)len, words);
		if (len)
			*bits |= 1u << found;
	}
	return true;
}

/* plugin_graph.c, plugin_graph.c, plugin_backend.c: struct be_host's functions. */
static bool plugin_add_pass(struct be_registry *r, const struct be_pass *pass)
{
	struct pass_info info = { .after = "", .plugin = r->plugin, .run = run };
	struct err why = { 0 };

	if (!pass || !plugin_is_name(pass->name) || !pass->purpose || !pass->place || !pass->visit)
		return err_set(
		    r->err, ERR_PLUGIN,
		    "a pass needs a name that is an identifier, a purpose, a place and a "
		    "function visit");
	info.name = pass->name;
	info.purpose = pass->purpose;
	info.data = (void *)pass;
	if (!read_properties(pass->needs, &info.needs, &why) ||
	    !read_properties(pass->makes, &info.makes, &why) ||
	    !read_properties(pass->breaks, &info.breaks, &why) ||
	    !pass_list_insert(&r->to->passes, &info, pass->place, pass->after, &why))
		return err_set(r->err, ERR_PLUGIN, "pass %s: %.380s", pass->name, why.message);
	return true;
}
