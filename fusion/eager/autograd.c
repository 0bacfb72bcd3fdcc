/* fusion/eager/autograd.c -- records of tensors, and nodes. */
#include "fusion/eager/eager.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/vm/frame.h"
#include "fusion/tensor/keep.h"
#include "fusion/tensor/view.h"

static const struct value unset = { .kind = VALUE_UNSET };

bool autograd_error(struct autograd *a, struct err *err, const char *format, ...)
{
	char text[ERR_MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!a->vm)
		return err_set(err, ERR_OP, "%s", text);
	return vm_raise(a->vm, CLASS_RUNTIME_ERROR, err, "%s", text);
}

/* ---- sources and nodes */

void grad_source_drop(struct grad_source *s)
{
	struct grad_source old = *s;

	*s = (struct grad_source){ .leaf = unset };
	grad_node_unref(old.node);
	value_unref(old.leaf);
}

static void release_saved(struct grad_node *node)
{
	for (int i = 0; i < node->n_args; i++) {
		tensor_unref(node->args[i].saved);
		node->args[i].saved = NULL;
	}
	tensor_unref(node->out);
	node->out = NULL;
}

static void unlink_node(struct grad_node *node)
{
	struct autograd *a = node->owner;

	if (node->prev)
		node->prev->next = node->next;
	else
		a->nodes = node->next;
	if (node->next)
		node->next->prev = node->prev;
}

static void free_node(struct grad_node *node)
{
	release_saved(node);
	grad_drop_packed(node);
	for (int i = 0; i < node->n_args; i++) {
		grad_source_drop(&node->args[i].to);
		value_unref(node->args[i].value);
	}
	for (int i = 0; i < node->n_outputs; i++)
		value_unref(node->given[i]);
	if (node->given != &node->one)
		free(node->given);
	for (int i = 0; node->hooks && i < node->n_outputs; i++)
		value_unref(node->hooks[i]);
	free(node->hooks);
	free(node->retaining);
	if (node->custom)
		node->custom->finish(node);
	free(node);
}

/* A chain of nodes may be long: they are freed one after the other, not one inside
 * the other. */
void grad_node_unref(struct grad_node *node)
{
	struct autograd *a;

	if (!node || --node->refs > 0)
		return;
	a = node->owner;
	unlink_node(node);
	node->next = a->doomed;
	a->doomed = node;
	if (a->freeing)
		return;
	a->freeing = true;
	while ((node = a->doomed)) {
		a->doomed = node->next;
		free_node(node);
	}
	a->freeing = false;
}

struct grad_node *autograd_node(struct autograd *a, int n_args, int n_outputs, struct err *err)
{
	struct grad_node *node = calloc(1, sizeof(*node) + sizeof(node->args[0]) * (size_t)n_args);

	if (node && n_outputs > 1)
		node->given = calloc((size_t)n_outputs, sizeof(*node->given));
	else if (node)
		node->given = &node->one;
	if (!node || !node->given) {
		free(node);
		torch_no_memory(err);
		return NULL;
	}
	node->refs = 1;
	node->owner = a;
	node->birth = a->births++;
	node->n_outputs = n_outputs;
	node->n_args = n_args;
	node->next = a->nodes;
	if (a->nodes)
		a->nodes->prev = node;
	a->nodes = node;
	return node;
}

void grad_arg_set(struct grad_arg *arg, struct value t)
{
	const struct tensor *memory = t.tensor->memory;

	arg->is_tensor = true;
	arg->dtype = memory->dtype;
	arg->rank = memory->rank;
	memcpy(arg->size, memory->size, sizeof(arg->size));
}

bool grad_save_as_is(struct grad_arg *arg, struct tensor *t, struct err *err)
{
	struct tensor *kept = tensor_keep(t, err);

	if (!kept)
		return false;
	grad_save(arg, kept);
	tensor_unref(kept);
	return true;
}

static bool changed(struct autograd *a, const struct tensor *t, unsigned version, struct err *err)
{
	struct buf shape;

	if (t->storage->version == version)
		return true;
	buf_init(&shape, 256);
	for (int d = 0; d < t->rank; d++)
		buf_printf(&shape, "%s%lld", d ? ", " : "", (long long)t->size[d]);
	autograd_error(a, err,
		       "one of the variables needed for gradient computation has been modified by "
		       "an inplace operation: [torch.%sTensor [%s]] is at version %u; expected "
		       "version %u instead. Hint: write y = x + 1 instead of x += 1 where the old "
		       "value is still needed",
		       t->dtype == DTYPE_F64 ? "Double" : "Float", shape.data ? shape.data : "",
		       t->storage->version, version);
	buf_finish(&shape);
	return false;
}

bool grad_check(struct autograd *a, const struct grad_arg *arg, struct err *err)
{
	return changed(a, arg->saved, arg->version, err);
}

/* A tensor over the memory that has its place in the tape. */
static bool wrap_saved(struct autograd *a, struct tensor *t, struct grad_node *node, int output,
		       struct value *out, struct err *err)
{
	struct tensor_grad *record;

	*out = tensor_wrap(tensor_ref(t));
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	if (!node || !autograd_enabled(a))
		return true;
	record = autograd_of(a, *out, err);
	if (!record) {
		value_unref(*out);
		return false;
	}
	node->refs++;
	record->node = node;
	record->output = output;
	return true;
}

/* Whether what was saved of an argument is still the leaf's memory. */
static bool is_of_leaf(const struct grad_arg *arg)
{
	const struct tensor *leaf;

	if (arg->to.leaf.kind != VALUE_TENSOR)
		return false;
	leaf = arg->to.leaf.tensor->memory;
	return leaf == arg->saved || (arg->saved->kept && leaf->storage == arg->saved->storage);
}

bool grad_unpack(struct autograd *a, const struct grad_node *node, const struct grad_arg *arg,
		 struct value *out, struct err *err)
{
	bool known;

	if (!grad_unpack_hooked(a, node, (int)(arg - node->args), &known, out, err))
		return false;
	if (known)
		return true;
	if (!changed(a, arg->saved, arg->version, err))
		return false;
	if (is_of_leaf(arg)) {
		*out = value_ref(arg->to.leaf);
		return true;
	}
	return wrap_saved(a, arg->saved, arg->to.node, arg->to.output, out, err);
}

bool grad_unpack_out(struct autograd *a, struct grad_node *node, struct value *out, struct err *err)
{
	bool known;

	if (!grad_unpack_hooked(a, node, node->n_args, &known, out, err))
		return false;
	if (known)
		return true;
	return changed(a, node->out, node->out_version, err) &&
	       wrap_saved(a, node->out, node, 0, out, err);
}

/* ---- records */

struct tensor_grad *autograd_of(struct autograd *a, struct value t, struct err *err)
{
	struct tensor_grad *record = t.tensor->grad;

	if (record)
		return record;
	record = calloc(1, sizeof(*record));
	if (!record) {
		torch_no_memory(err);
		return NULL;
	}
	record->owner = a;
	record->of = t.tensor;
	record->next = a->tensors;
	if (a->tensors)
		a->tensors->prev = record;
	a->tensors = record;
	a->n_tracked++;
	t.tensor->grad = record;
	t.tensor->forget_grad = autograd_forget;
	return record;
}

bool autograd_retain(struct tensor_grad *record, struct err *err)
{
	struct grad_node *node = record->node;

	if (!node->retaining)
		node->retaining = calloc((size_t)node->n_outputs, sizeof(*node->retaining));
	if (!node->retaining)
		return torch_no_memory(err);
	record->retains = true;
	node->retaining[record->output] = record;
	return true;
}

static void retain_no_more(struct tensor_grad *record)
{
	struct grad_node *node = record->node;

	if (node && node->retaining && node->retaining[record->output] == record)
		node->retaining[record->output] = NULL;
}

void autograd_forget(struct vtensor *t)
{
	struct tensor_grad *record = t->grad;
	struct autograd *a;

	if (!record)
		return;
	a = record->owner;
	t->grad = NULL;
	a->n_tracked--;
	if (record->prev)
		record->prev->next = record->next;
	else
		a->tensors = record->next;
	if (record->next)
		record->next->prev = record->prev;
	retain_no_more(record);
	value_unref(record->grad);
	value_unref(record->pending);
	value_unref(record->hooks);
	value_unref(record->after);
	value_unref(record->base);
	grad_node_unref(record->node);
	free(record);
}

/* A gradient may lead back to its own tensor: what is left goes here. */
void autograd_finish(struct autograd *a)
{
	while (a->tensors) { /* dropping one may free others, but not this one's tensor */
		struct vtensor *t = a->tensors->of;

		t->head.refs++;
		autograd_forget(t);
		value_unref(value_of(t));
	}
	autograd_hook_saved(a, value_none(), value_none());
	grad_rules_finish(a);
}

/* A view whose base got another value, which the view has no node for yet. */
static bool is_stale(const struct tensor_grad *record)
{
	const struct tensor_grad *of = record->base.kind == VALUE_TENSOR ? record->base.tensor->grad
									 : NULL;

	return of && of->writes != record->seen && (of->node || of->leaf);
}

bool autograd_requires(struct value t)
{
	const struct tensor_grad *record = t.tensor->grad;

	return record && (record->leaf || record->node || record->light || is_stale(record));
}

bool autograd_is_leaf(struct value t)
{
	const struct tensor_grad *record = t.tensor->grad;

	return !record || !(record->node || record->light || is_stale(record));
}

bool autograd_set_leaf(struct autograd *a, struct value t, bool requires_grad, struct err *err)
{
	struct tensor_grad *record;

	if (!autograd_is_leaf(t))
		return requires_grad ||
		       autograd_error(a, err,
				      "you can only change requires_grad flags of leaf variables. "
				      "If you want to use a computed variable in a subgraph that "
				      "doesn't require differentiation use var_no_grad = "
				      "var.detach().");
	if (!requires_grad) {
		if (t.tensor->grad)
			t.tensor->grad->leaf = false;
		return true;
	}
	if (dtype_category(t.tensor->memory->dtype) != CATEGORY_FLOAT)
		return autograd_error(a, err,
				      "only Tensors of floating point dtype can require gradients");
	record = autograd_of(a, t, err);
	if (record)
		record->leaf = true;
	return record != NULL;
}

/* "layer_norm" as "LayerNorm". */
static void camel(const char *id, char *out, size_t bytes)
{
	size_t len = 0;
	bool up = true;

	for (; *id && len + 1 < bytes; id++) {
		if (*id == '_') {
			up = true;
			continue;
		}
		out[len++] = up ? (char)toupper((unsigned char)*id) : *id;
		up = false;
	}
	out[len] = '\0';
}

/* What PyTorch calls differently. */
static const char *name_of(const char *id, int rank)
{
	static const struct {
		const char *id, *name;
	} names[] = {
		{ "truediv", "Div" },
		{ "add_alpha", "Add" },
		{ "sub_alpha", "Sub" },
		{ "mod", "Remainder" },
		{ "matmul", "Mm" },
		{ "reshape", "View" },
		{ "flatten", "View" },
		{ "alias", "Alias" },
		{ "to", "ToCopy" },
		{ "put_view", "CopySlices" },
		{ "as_strided", "AsStrided" },
		{ "layer_norm", "NativeLayerNorm" },
		{ "group_norm", "NativeGroupNorm" },
		{ "batch_norm", "NativeBatchNorm" },
		{ "cross_entropy", "NllLoss" },
		{ "conv1d", "Convolution" },
		{ "conv2d", "Convolution" },
		{ "sort_values", "Sort" },
		{ "topk_values", "Topk" },
		{ "max_dim", "Max" },
		{ "min_dim", "Min" },
		{ "dropout", "Mul" },
	};

	if (strcmp(id, "linear") == 0)
		return rank == 2 ? "Addmm" : "View";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].id, id) == 0)
			return names[i].name;
	return NULL;
}

const char *autograd_name(struct value t, char text[80])
{
	const struct tensor_grad *record = t.tensor->grad;
	const char *id, *name;

	if (!record || autograd_is_leaf(t))
		return NULL;
	if (is_stale(record))
		return "AsStridedBackward0";
	if (record->node && record->node->custom)
		return record->node->custom->name;
	id = record->node ? op_info(record->node->op)->id : record->light;
	if (!*id)
		return "CompiledFunctionBackward";
	name = name_of(id, t.tensor->memory->rank);
	if (strcmp(id, "put_view") == 0)
		return "CopySlices";
	if (name)
		strcpy(text, name);
	else
		camel(id, text, 64);
	strcat(text, "Backward0");
	return text;
}

bool autograd_give(struct autograd *a, struct grad_node *node, int output, struct value t,
		   struct err *err)
{
	struct tensor_grad *record = autograd_of(a, t, err);

	if (!record)
		return false;
	node->refs++;
	retain_no_more(record);
	grad_node_unref(record->node);
	record->node = node;
	record->output = output;
	record->light = NULL;
	return !record->retains || autograd_retain(record, err);
}

static void finish_spent(struct grad_node *node)
{
	(void)node;
}

bool autograd_spend(struct autograd *a, struct value t, struct err *err)
{
	static const struct grad_custom spent = { .finish = finish_spent,
						  .name = "CompiledFunctionBackward" };
	struct grad_node *node = autograd_node(a, 0, 1, err);
	bool ok;

	if (!node)
		return false;
	node->custom = &spent;
	node->saves = node->released = true;
	ok = autograd_give(a, node, 0, t, err);
	grad_node_unref(node);
	return ok;
}
