/* fusion/graph/custom.c -- ops that plugins add. */
#include "fusion/graph/custom.h"
#include "fusion/base/words.h"

#include <string.h>

#include "fusion/graph/infer.h"

static bool fits(enum param_kind kind)
{
	return kind == PARAM_TENSOR || kind == PARAM_TENSOR_SCALAR || kind == PARAM_SCALAR ||
	       kind == PARAM_INT || kind == PARAM_FLOAT || kind == PARAM_BOOL;
}

bool custom_op_prepare(struct custom_op *op, struct err *err)
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

int custom_index(const struct custom_ops *ops, const char *name)
{
	for (int i = 0; ops && i < ops->n; i++)
		if (strcmp(ops->at[i].info.id, name) == 0 ||
		    words_have(ops->at[i].info.spellings, name))
			return i;
	return -1;
}

const struct custom_op *custom_find(const struct custom_ops *ops, const char *name)
{
	int i = custom_index(ops, name);

	return i < 0 ? NULL : &ops->at[i];
}

bool custom_has_module(const struct custom_ops *ops, const char *module)
{
	size_t len = strlen(module);

	for (int i = 0; ops && len && i < ops->n; i++) {
		const char *spellings = ops->at[i].info.spellings;

		for (const char *at = spellings; (at = strstr(at, module)); at += len)
			if ((at == spellings || at[-1] == ' ') && at[len] == '.')
				return true;
	}
	return false;
}

const struct custom_op *custom_of(const struct graph *g, const struct node *n)
{
	return n->op == OP_custom || n->op == OP_custom_kernel
		   ? custom_find(g->custom, n->args[0].str)
		   : NULL;
}
