/* fusion/eager/autograd_function.c -- what a program says of gradients itself.
 *
 * A hook is a function that is given a gradient on its way, and may change it.  A
 * torch.autograd.Function (prelude/torch_autograd.py) is a node of the tape whose
 * gradient is a function of the program's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/eager/eager.h"

static const struct value unset = { .kind = VALUE_UNSET };

/* ---- hooks */

static bool list_at(struct autograd *a, struct value *place, struct value *out, struct err *err)
{
	if (place->kind == VALUE_UNSET && !vm_keep(a->vm, value_list(NULL, 0), place, err))
		return false;
	*out = value_ref(*place);
	return true;
}

/* Of a computed tensor they belong to the node: they outlive it. */
static bool node_hooks(struct autograd *a, struct grad_node *node, int output, struct value *out,
		       struct err *err)
{
	if (!node->hooks)
		node->hooks = calloc((size_t)node->n_outputs, sizeof(*node->hooks));
	if (!node->hooks)
		return torch_no_memory(err);
	return list_at(a, &node->hooks[output], out, err);
}

bool autograd_hooks(struct autograd *a, struct value t, bool after, struct value *out,
		    struct err *err)
{
	struct grad_source to;
	struct tensor_grad *r;
	bool ok;

	if (t.kind != VALUE_TENSOR || !tensor_check_memory(t, err) || !autograd_requires(t))
		return autograd_error(a, err,
				      "cannot register a hook on a tensor that doesn't require "
				      "gradient");
	if (after && !autograd_is_leaf(t))
		return autograd_error(a, err,
				      "post accumulate grad hooks cannot be registered on non-leaf "
				      "tensors");
	r = autograd_of(a, t, err);
	if (!r || !autograd_source(a, t, &to, err))
		return false;
	ok = to.node ? node_hooks(a, to.node, to.output, out, err)
		     : list_at(a, after ? &r->after : &r->hooks, out, err);
	grad_source_drop(&to);
	return ok;
}

static bool has_some(struct value hooks)
{
	return hooks.kind == VALUE_LIST && hooks.list->len > 0;
}

bool autograd_has_hooks(struct value t)
{
	const struct tensor_grad *r = t.tensor->grad;

	return r && (has_some(r->hooks) || has_some(r->after));
}

/* A hook may add or remove hooks. */
bool autograd_run_hooks(struct autograd *a, struct value hooks, struct value *g, struct err *err)
{
	struct value all, out;
	bool ok = true;

	if (!has_some(hooks))
		return true;
	all = value_list(hooks.list->at, hooks.list->len);
	if (all.kind == VALUE_UNSET)
		return torch_no_memory(err);
	for (int i = 0; ok && i < all.list->len; i++) {
		ok = grad_invoke(a, all.list->at[i], g, 1, &out, err);
		if (!ok)
			break;
		if (out.kind == VALUE_TENSOR) {
			value_unref(*g);
			*g = out;
			continue;
		}
		if (out.kind != VALUE_NONE)
			ok = err_set(err, ERR_TYPE, "expected Tensor, but hook returned '%s'",
				     value_type_name(out));
		value_unref(out);
	}
	value_unref(all);
	return ok;
}

/* ---- functions */

struct function_data {
	struct grad_custom custom;
	struct value call; /* a reference */
	char name[80];
};

static bool run_function(struct grad_node *node, const struct value *given, struct value *made,
			 struct err *err)
{
	const struct function_data *data = node->custom->data;
	struct value *args = calloc((size_t)node->n_outputs + 1, sizeof(*args)), out;
	bool ok;

	if (!args)
		return torch_no_memory(err);
	for (int i = 0; i < node->n_outputs; i++)
		args[i] = given[i].kind == VALUE_TENSOR ? given[i] : value_none();
	ok = grad_invoke(node->owner, data->call, args, node->n_outputs, &out, err);
	free(args);
	if (!ok)
		return false;
	if (out.kind != VALUE_LIST || out.list->len != node->n_args)
		ok = err_set(err, ERR_INTERNAL, "%s gives no gradient for each tensor", data->name);
	for (int i = 0; ok && i < node->n_args; i++)
		if (out.list->at[i].kind == VALUE_TENSOR)
			made[i] = value_ref(out.list->at[i]);
	value_unref(out);
	return ok;
}

static void finish_function(struct grad_node *node)
{
	struct function_data *data = node->custom->data;

	value_unref(data->call);
	free(data);
}

static struct grad_node *new_function(struct autograd *a, int n_args, int n_outputs,
				      struct value call, const char *name, struct err *err)
{
	struct grad_node *node = autograd_node(a, n_args, n_outputs, err);
	struct function_data *data = calloc(1, sizeof(*data));

	if (!node || !data) {
		free(data);
		grad_node_unref(node);
		torch_no_memory(err);
		return NULL;
	}
	snprintf(data->name, sizeof(data->name), "%s", name);
	data->call = value_ref(call);
	data->custom = (struct grad_custom){
		.run = run_function, .finish = finish_function, .data = data, .name = data->name
	};
	node->custom = &data->custom;
	for (int i = 0; i < n_args; i++)
		node->args[i].value = node->args[i].to.leaf = unset;
	return node;
}

static bool is_sequence(struct value v)
{
	return v.kind == VALUE_TUPLE || v.kind == VALUE_LIST;
}

bool autograd_function(struct autograd *a, const struct value *args, int n, struct err *err)
{
	const struct list *tensors, *results;
	struct grad_node *node;
	bool ok = true;

	if (n != 5 || !is_sequence(args[0]) || !is_sequence(args[1]) || args[3].kind != VALUE_STR)
		return err_set(err, ERR_TYPE, "torch.autograd.Function calls this");
	tensors = args[0].list;
	results = args[1].list;
	node = new_function(a, tensors->len, results->len, args[2], args[3].str->text, err);
	if (!node)
		return false;
	node->saves = args[4].kind == VALUE_BOOL && args[4].b;
	for (int i = 0; ok && i < tensors->len; i++) {
		grad_arg_set(&node->args[i], tensors->at[i]);
		ok = autograd_source(a, tensors->at[i], &node->args[i].to, err);
	}
	for (int i = 0; ok && i < results->len; i++)
		if (results->at[i].kind == VALUE_TENSOR)
			ok = autograd_give(a, node, i, results->at[i], err);
	grad_node_unref(node);
	return ok;
}
