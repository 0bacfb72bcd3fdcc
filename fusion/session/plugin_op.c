/* fusion/session/plugin_op.c -- a plugin's op among ours. */
#include <string.h>

#include "fusion/session/plugin_private.h"

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

bool plugin_add_op(struct be_registry *r, const struct be_op *op)
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
