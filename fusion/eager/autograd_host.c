/* fusion/eager/autograd_host.c -- what a program says of gradients. */
#include "fusion/eager/autograd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/eager/eager.h"
#include "fusion/torch/decomposition.h"
#include "fusion/torch/torch_host.h"
#include "fusion/vm/classes.h"

/* ---- What a program says of gradients itself.
 *
 * A hook is a function that is given a gradient on its way, and may change it.  A
 * torch.autograd.Function (prelude/torch_autograd.py) is a node of the tape whose
 * gradient is a function of the program's. */

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

static bool grad(struct autograd *a, struct backward_call *c, struct value *out, struct err *err);

/* hooks, and ops whose gradient the program says itself. */
static bool autograd_hooks(struct autograd *a, struct value t, bool after, struct value *out,
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

bool autograd_add_hooks(struct autograd *a, struct value t, struct value hooks, struct err *err)
{
	struct value all;
	bool ok;

	if (!autograd_hooks(a, t, false, &all, err))
		return false;
	ok = value_list_push(all.list, hooks) || torch_no_memory(err);
	value_unref(all);
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

/* A function of the program: in compiled modes a frame of its own. */
static bool call_program(struct autograd *a, struct value f, const struct value *args, int n,
			 struct value *out, struct err *err)
{
	return vm_invoke(a->vm, f, &(struct arguments){ args, n, NULL }, out, err);
}

/* A hook may add or remove hooks.  A list among them is of a graph: autograd_add_hooks(). */
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
		if (all.list->at[i].kind == VALUE_LIST) {
			ok = autograd_run_hooks(a, all.list->at[i], g, err);
			continue;
		}
		ok = call_program(a, all.list->at[i], g, 1, &out, err);
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
	int n_tensors;     /* arguments of the node; what ctx has saved follows */
	char name[80];
};

static bool check_saved(const struct grad_node *node, const struct function_data *data,
			struct err *err)
{
	for (int i = data->n_tensors; i < node->n_args; i++)
		if (node->args[i].saved && !grad_check(node->owner, &node->args[i], err))
			return false;
	return true;
}

static bool run_function(struct grad_node *node, const struct value *given, struct value *made,
			 struct err *err)
{
	const struct function_data *data = node->custom->data;
	struct value *args = calloc((size_t)node->n_outputs + 1, sizeof(*args)), out;
	bool ok;

	if (!args)
		return torch_no_memory(err);
	if (!check_saved(node, data, err)) {
		free(args);
		return false;
	}
	for (int i = 0; i < node->n_outputs; i++)
		args[i] = given[i].kind == VALUE_TENSOR ? given[i] : value_none();
	ok = call_program(node->owner, data->call, args, node->n_outputs, &out, err);
	free(args);
	if (!ok)
		return false;
	if (out.kind != VALUE_LIST || out.list->len != data->n_tensors)
		ok = err_set(err, ERR_INTERNAL, "%s gives no gradient for each tensor", data->name);
	for (int i = 0; ok && i < data->n_tensors; i++)
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

/* As autograd_function() is given them. */
static struct grad_node *new_function(struct autograd *a, const struct arguments *args,
				      struct err *err)
{
	int n_tensors = args->at[0].list->len, n_args = n_tensors + args->at[4].list->len;
	struct grad_node *node = autograd_node(a, n_args, args->at[1].list->len, err);
	struct function_data *data = calloc(1, sizeof(*data));

	if (!node || !data) {
		free(data);
		grad_node_unref(node);
		torch_no_memory(err);
		return NULL;
	}
	snprintf(data->name, sizeof(data->name), "%s", args->at[3].str->text);
	data->call = value_ref(args->at[2]);
	data->n_tensors = n_tensors;
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

/* What ctx has saved goes through the hooks that are open. */
static bool pack_context(struct autograd *a, struct value ctx, struct err *err)
{
	struct value hooks[2] = { value_ref(a->pack), value_ref(a->unpack) }, out;
	bool found, ok;

	ok = instance_call(a->vm, &(struct method_call){ &ctx, "_pack", hooks, 2 }, &out, &found,
			   err);
	if (ok && found)
		value_unref(out);
	value_unref(hooks[0]);
	value_unref(hooks[1]);
	return ok;
}

/* (tensors, results or None, function of their gradients, its name, what ctx has saved, ctx) */
static bool autograd_function(struct autograd *a, const struct value *args, int n, struct err *err)
{
	const struct list *tensors, *results, *saved;
	struct grad_node *node;
	bool ok = true;

	if (n != 6 || !is_sequence(args[0]) || !is_sequence(args[1]) || args[3].kind != VALUE_STR ||
	    !is_sequence(args[4]))
		return err_set(err, ERR_TYPE, "torch.autograd.Function calls this");
	tensors = args[0].list;
	results = args[1].list;
	saved = args[4].list;
	node = new_function(a, &(struct arguments){ args, n, NULL }, err);
	if (!node)
		return false;
	node->saves = saved->len > 0;
	for (int i = 0; i < saved->len; i++)
		if (saved->at[i].kind == VALUE_TENSOR && saved->at[i].tensor->memory)
			grad_save(&node->args[tensors->len + i], saved->at[i].tensor->memory);
	for (int i = 0; ok && i < tensors->len; i++) {
		grad_arg_set(&node->args[i], tensors->at[i]);
		ok = autograd_source(a, tensors->at[i], &node->args[i].to, err);
	}
	for (int i = 0; ok && i < results->len; i++)
		if (results->at[i].kind == VALUE_TENSOR)
			ok = autograd_give(a, node, i, results->at[i], err);
	grad_node_unref(node);
	if (ok && saved->len > 0 && autograd_hooks_saved(a))
		ok = pack_context(a, args[5], err);
	return ok;
}

enum { MAX_DEPTH = 64 };

static bool truth(struct value v, bool otherwise)
{
	return v.kind == VALUE_BOOL ? v.b : otherwise;
}

/* An argument that is a tensor, or a list of them. */
struct tensors_param {
	const char *function, *what; /* for messages */
	bool none_too;               /* None may be among them */
};

/* They as an array. */
static bool take_tensors(const struct tensors_param *param, struct value *v,
			 const struct value **out, int *n, struct err *err)
{
	if (v->kind == VALUE_LIST || v->kind == VALUE_TUPLE) {
		*out = v->list->at;
		*n = v->list->len;
	} else {
		*out = v;
		*n = 1;
	}
	for (int i = 0; i < *n; i++)
		if ((*out)[i].kind != VALUE_TENSOR &&
		    !(param->none_too &&
		      ((*out)[i].kind == VALUE_NONE || (*out)[i].kind == VALUE_UNSET)))
			return err_set(err, ERR_TYPE, "%s: %s must be tensors, not %s",
				       param->function, param->what, value_type_name((*out)[i]));
	return true;
}

static bool parse_backward(const struct native *f, const struct arguments *args,
			   struct backward_call *c, struct err *err)
{
	static const char *const names[] = { "gradient", "retain_graph", "create_graph", "inputs" },
				 *const all[] = { "tensors", "grad_tensors", "retain_graph",
						  "create_graph", "inputs" };
	struct value *v = c->v;
	struct backward *b = &c->b;
	int n_seeds = 0;

	if (f->id == GRAD_BACKWARD) {
		v[0] = f->self;
		if (!decompose_args(f->name, &(struct parameter_names){ names, 4, 0 }, args, v + 1,
				    err))
			return false;
	} else if (!decompose_args(f->name, &(struct parameter_names){ all, 5, 1 }, args, v, err)) {
		return false;
	}
	if (!take_tensors(&(struct tensors_param){ f->name, "the tensors", false }, &v[0],
			  &b->roots, &b->n, err) ||
	    !take_tensors(&(struct tensors_param){ f->name, "gradients", true }, &v[1], &b->seeds,
			  &n_seeds, err))
		return false;
	if (n_seeds < b->n)
		b->seeds = NULL;
	b->create = truth(v[3], false);
	b->keep = truth(v[2], b->create);
	return v[4].kind == VALUE_UNSET || v[4].kind == VALUE_NONE ||
	       take_tensors(&(struct tensors_param){ f->name, "inputs", false }, &v[4], &b->inputs,
			    &b->n_inputs, err);
}

static bool parse_grad(const struct native *f, const struct arguments *args,
		       struct backward_call *c, struct err *err)
{
	static const char *const names[] = {
		"outputs",      "inputs",           "grad_outputs",
		"retain_graph", "create_graph",     "only_inputs",
		"allow_unused", "is_grads_batched", "materialize_grads"
	};
	struct value *v = c->v;
	struct backward *b = &c->b;
	int n_seeds;

	if (!decompose_args(f->name, &(struct parameter_names){ names, 9, 2 }, args, v, err) ||
	    !take_tensors(&(struct tensors_param){ f->name, "outputs", false }, &v[0], &b->roots,
			  &b->n, err) ||
	    !take_tensors(&(struct tensors_param){ f->name, "inputs", false }, &v[1], &b->inputs,
			  &b->n_inputs, err) ||
	    !take_tensors(&(struct tensors_param){ f->name, "grad_outputs", true }, &v[2],
			  &b->seeds, &n_seeds, err))
		return false;
	if (b->n_inputs == 0)
		return err_set(err, ERR_VALUE, "grad requires non-empty inputs.");
	if (n_seeds > 0 && n_seeds != b->n)
		return err_set(err, ERR_OP, "got %d tensors and %d gradients", b->n, n_seeds);
	if (truth(v[7], false))
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: is_grads_batched is not in the language: call it for each "
			       "gradient of the batch",
			       f->name);
	if (n_seeds < b->n)
		b->seeds = NULL;
	c->zeros = truth(v[8], false);
	c->unused = truth(v[6], c->zeros);
	b->create = truth(v[4], false);
	b->keep = truth(v[3], b->create);
	return true;
}

bool backward_parse(const struct native *f, const struct arguments *args, struct backward_call *c,
		    struct err *err)
{
	*c = (struct backward_call){ .grad = f->id == GRAD_GRAD };
	return c->grad ? parse_grad(f, args, c, err) : parse_backward(f, args, c, err);
}

/* The results of grad() as a tuple; None or zeros where it is allowed. */
static bool collect(struct autograd *a, struct value *results, const struct backward_call *c,
		    struct value *out, struct err *err)
{
	const struct backward *b = &c->b;

	for (int i = 0; i < b->n_inputs; i++) {
		struct value of = b->inputs[i];
		struct op_call zeros = {
			.op = OP_zeros_like, .name = "zeros_like", .values = &of, .n = 1
		};

		if (results[i].kind == VALUE_TENSOR)
			continue;
		if (!c->unused)
			return autograd_error(
			    a, err,
			    "One of the differentiated Tensors appears to not have been used in "
			    "the graph. Set allow_unused=True if this is the desired behavior.");
		results[i] = value_none();
		if (c->zeros && !eager_run_op(a->eager, &zeros, &results[i], err))
			return false;
	}
	*out = value_tuple(results, b->n_inputs);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

static bool grad(struct autograd *a, struct backward_call *c, struct value *out, struct err *err)
{
	struct backward *b = &c->b;
	bool ok;

	for (int i = 0; i < b->n_inputs; i++)
		if (!autograd_requires(b->inputs[i]))
			return autograd_error(
			    a, err, "One of the differentiated Tensors does not require grad");
	b->results = calloc((size_t)b->n_inputs + 1, sizeof(*b->results));
	if (!b->results)
		return torch_no_memory(err);
	ok = autograd_backward(a, b, err) && collect(a, b->results, c, out, err);
	for (int i = 0; i < b->n_inputs; i++)
		value_unref(b->results[i]);
	free(b->results);
	return ok;
}

static bool retain_grad(struct autograd *a, struct value t, struct err *err)
{
	if (!autograd_requires(t))
		return autograd_error(a, err,
				      "can't retain_grad on Tensor that has requires_grad=False");
	return autograd_renew(a, t, err) &&
	       (!t.tensor->grad->node || autograd_retain(t.tensor->grad, err));
}

bool autograd_call(struct autograd *a, const struct native *f, const struct arguments *args,
		   struct value *out, struct err *err)
{
	struct value t = f->self;
	struct backward_call c;

	if (t.kind == VALUE_TENSOR && !tensor_check_memory(t, err))
		return false;
	*out = value_none();
	switch (f->id) {
	case GRAD_RETAIN:
		return retain_grad(a, t, err);
	case GRAD_HOOKS:
		return autograd_hooks(a, args->at[0], args->n > 1 && truth(args->at[1], false), out,
				      err);
	case GRAD_SAVED_HOOKS:
		autograd_hook_saved(a, args->at[0], args->at[1]);
		return true;
	case GRAD_FUNCTION:
		return autograd_function(a, args->at, args->n, err);
	case GRAD_DETACH_:
		if (t.tensor->grad)
			autograd_forget(t.tensor);
		*out = value_ref(t);
		return true;
	default:
		if (!backward_parse(f, args, &c, err))
			return false;
		return c.grad ? grad(a, &c, out, err) : autograd_backward(a, &c.b, err);
	}
}

/* An object whose class is called as the node: type(y.grad_fn).__name__ is "MulBackward0". */
static bool node_object(struct autograd *a, const char *name, struct value *out, struct err *err)
{
	struct value text = value_str(name, strlen(name)), none = value_dict(), class;
	bool ok = (text.kind != VALUE_UNSET && none.kind != VALUE_UNSET) || torch_no_memory(err);

	ok = ok && class_make(a->vm, &(struct class_parts){ .name = text, .attributes = none.dict },
			      &class, err);
	value_unref(text);
	value_unref(none);
	if (!ok)
		return false;
	ok = vm_keep(a->vm, value_instance(class.class), out, err);
	value_unref(class);
	return ok;
}

bool autograd_attr(struct autograd *a, struct value t, const char *name, bool *known,
		   struct value *out, struct err *err)
{
	char text[80];
	const char *made;

	*known = true;
	if (strcmp(name, "requires_grad") == 0) {
		*out = value_bool(autograd_requires(t));
	} else if (strcmp(name, "is_leaf") == 0) {
		*out = value_bool(autograd_is_leaf(t));
	} else if (strcmp(name, "retains_grad") == 0) {
		*out = value_bool(t.tensor->grad && t.tensor->grad->retains);
	} else if (strcmp(name, "_version") == 0) { /* of its memory, which views share */
		*out = value_int(t.tensor->memory->storage->version);
	} else if (strcmp(name, "grad") == 0 || strcmp(name, "_grad") == 0) {
		*out = value_ref(autograd_gradient(t));
	} else if (strcmp(name, "grad_fn") == 0) {
		made = autograd_name(t, text);
		*out = value_none();
		return !made || node_object(a, made, out, err);
	} else {
		*known = false;
	}
	return true;
}

struct value autograd_gradient(struct value t)
{
	const struct tensor_grad *r = t.tensor->grad;

	return r && r->grad.kind == VALUE_TENSOR ? r->grad : value_none();
}

bool autograd_set_gradient(struct autograd *a, struct value t, struct value v, struct err *err)
{
	struct tensor_grad *r;
	struct value old;

	if (v.kind == VALUE_NONE && !t.tensor->grad)
		return true;
	r = autograd_of(a, t, err);
	if (!r)
		return false;
	old = r->grad;
	r->grad = v.kind == VALUE_TENSOR ? value_ref(v) : (struct value){ .kind = VALUE_UNSET };
	value_unref(old);
	return true;
}

static bool asks(const char *name, enum autograd_word what)
{
	static const char *const words[][16] = {
		[AUTOGRAD_GRADIENT] = { "backward", "grad", "autograd", "saved_tensors_hooks",
					"grad_fn", "is_leaf", "retain_grad", "detach_",
					"requires_grad", "requires_grad_",
					"torch.autograd.functional", "torch.func", "functorch",
					"func" },
		[AUTOGRAD_TWICE] = { "create_graph", "jvp", "hvp", "vhp", "jacobian", "hessian",
				     "torch.func", "functorch", "func" },
		[AUTOGRAD_SPLITS] = { "split", "chunk", "unbind", "tensor_split",
				      "split_with_sizes", "hsplit", "vsplit", "dsplit" },
		[AUTOGRAD_SHOWS] = { "print", "str", "repr", "format", "__str__", "__repr__",
				     "logging", "pprint" },
	};

	for (size_t i = 0; words[what][i]; i++)
		if (strcmp(words[what][i], name) == 0)
			return true;
	return false;
}

/* Names of keywords are in a tuple. */
static bool constant_asks(const struct lang_const *c, enum autograd_word what)
{
	if (c->kind == CONST_STR)
		return asks(c->str, what) || (what == AUTOGRAD_SHOWS && strchr(c->str, '%'));
	for (int i = 0; c->kind == CONST_TUPLE && i < c->n; i++)
		if (constant_asks(&c->items[i], what))
			return true;
	return false;
}

bool autograd_asked(const struct code *code, enum autograd_word what)
{
	for (int i = 0; i < code->n_names; i++)
		if (asks(code->names[i], what))
			return true;
	for (int i = 0; i < code->n_consts; i++)
		if (constant_asks(&code->consts[i], what))
			return true;
	for (int i = 0; what == AUTOGRAD_SHOWS && i < code->n_insts; i++)
		if (code->insts[i].op == CODE_FORMAT_VALUE)
			return true;
	for (int i = 0; i < code->n_nested; i++)
		if (autograd_asked(code->nested[i], what))
			return true;
	return false;
}

/* ---- for a workload that asks for gradients */

typedef bool each_fn(struct autograd *a, struct value t, void *context, struct err *err);

static bool walk(struct autograd *a, struct value v, int depth, each_fn *each, void *context,
		 struct err *err)
{
	const struct value *items = NULL;
	int n = 0;

	if (v.kind == VALUE_TENSOR)
		return !v.tensor->memory ||
		       dtype_category(v.tensor->memory->dtype) != CATEGORY_FLOAT ||
		       each(a, v, context, err);
	if (v.kind == VALUE_LIST || v.kind == VALUE_TUPLE) {
		items = v.list->at;
		n = v.list->len;
	} else if (v.kind == VALUE_DICT) {
		items = v.dict->values;
		n = v.dict->len;
	}
	for (int i = 0; i < n && depth < MAX_DEPTH; i++)
		if (!walk(a, items[i], depth + 1, each, context, err))
			return false;
	return true;
}

static bool make_leaf(struct autograd *a, struct value t, void *context, struct err *err)
{
	(void)context;
	return autograd_set_leaf(a, t, true, err);
}

bool autograd_leaves(struct autograd *a, struct value v, struct err *err)
{
	return walk(a, v, 0, make_leaf, NULL, err);
}

struct grad_sources {
	VEC(struct value) roots, seeds;
};

/* A sum gives every element the gradient 1. */
static bool add_root(struct autograd *a, struct value t, void *context, struct err *err)
{
	struct grad_sources *s = context;
	struct op_call c = { .op = OP_ones_like, .name = "ones_like", .values = &t, .n = 1 };
	struct value ones;

	if (!autograd_requires(t))
		return true;
	if (!eager_run_op(a->eager, &c, &ones, err))
		return false;
	if (!VEC_PUSH(&s->seeds, ones)) {
		value_unref(ones);
		return torch_no_memory(err);
	}
	return VEC_PUSH(&s->roots, t) || torch_no_memory(err);
}

bool autograd_from(struct autograd *a, struct value v, struct err *err)
{
	struct grad_sources s = { .roots = { 0 } };
	bool ok = walk(a, v, 0, add_root, &s, err);
	struct backward b = { .roots = s.roots.at, .seeds = s.seeds.at, .n = (int)s.roots.len };

	if (ok && b.n == 0)
		ok = err_set(
		    err, ERR_VALUE,
		    "grad: the output holds no floating point tensor that was computed from "
		    "an input or a parameter");
	ok = ok && autograd_backward(a, &b, err);
	for (size_t i = 0; i < s.seeds.len; i++)
		value_unref(s.seeds.at[i]);
	VEC_FREE(&s.seeds);
	VEC_FREE(&s.roots);
	return ok;
}
