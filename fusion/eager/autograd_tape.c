/* fusion/eager/autograd_tape.c -- eager ops that leave a node. */
#include <stdlib.h>
#include <string.h>

#include "fusion/eager/eager.h"
#include "fusion/torch/bind.h"
#include "fusion/tensor/shadow.h"
#include "fusion/tensor/keep.h"
#include "fusion/tensor/view.h"

static const struct value unset = { .kind = VALUE_UNSET };

/* A call on its way to a node. */
struct tape_call {
	struct autograd *a;
	const struct op_call *c;
	struct value bound[MAX_ARGS]; /* references; UNSET: left out */
	struct grad_source to[MAX_ARGS];
	struct tensor *before; /* the elements that an in-place op overwrites; NULL */
	unsigned wanted, needs, watched;
	unsigned version; /* of what an in-place op writes to, before it */
};

static void drop_call(struct tape_call *k)
{
	for (int i = 0; i < MAX_ARGS; i++) {
		value_unref(k->bound[i]);
		grad_source_drop(&k->to[i]);
	}
	tensor_unref(k->before);
}

static bool any_requires(const struct op_call *c)
{
	for (int i = 0; i < op_n_read(c->op, c->n); i++)
		if (c->values[i].kind == VALUE_TENSOR && autograd_requires(c->values[i]))
			return true;
	return false;
}

/* ---- views */

static struct value base_of(struct value t)
{
	return t.tensor->grad ? t.tensor->grad->base : unset;
}

static bool set_ints(struct value *out, const int64_t *numbers, int n, struct err *err)
{
	struct value items[MAX_RANK];

	for (int i = 0; i < n; i++)
		items[i] = value_int(numbers[i]);
	*out = value_tuple(items, n);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

/* Steps in memory as steps of each dim of the base, the widest first. */
static bool steps_of(const struct tensor *base, int64_t step, int64_t of[MAX_RANK])
{
	bool done[MAX_RANK] = { false };

	for (int n = 0; n < base->rank; n++) {
		int widest = -1;

		for (int d = 0; d < base->rank; d++)
			if (!done[d] && (widest < 0 || base->stride[d] > base->stride[widest] ||
					 (base->stride[d] == base->stride[widest] &&
					  base->size[d] > base->size[widest])))
				widest = d;
		done[widest] = true;
		of[widest] = 0;
		if (base->size[widest] == 1 || base->stride[widest] <= 0)
			continue;
		of[widest] = step / base->stride[widest];
		step %= base->stride[widest];
	}
	return step == 0;
}

/* Where a view lies in the elements of its base counted row by row, however that lies in memory.
 * False: no strides say so, as where the view has joined dims of it. */
static bool find_place(const struct tensor *view, const struct tensor *base,
		       int64_t stride[MAX_RANK], int64_t *offset)
{
	int64_t rows[MAX_RANK], of[MAX_RANK], last[MAX_RANK] = { 0 }, step = 1;

	*offset = view->offset - base->offset;
	memcpy(stride, view->stride, sizeof(*stride) * (size_t)view->rank);
	if (tensor_contiguous(base))
		return true;
	for (int d = base->rank - 1; d >= 0; d--) {
		rows[d] = step;
		step *= base->size[d];
	}
	for (int k = -1; k < view->rank; k++) {
		int64_t *to = k < 0 ? offset : &stride[k], times = k < 0 ? 1 : view->size[k] - 1;

		if (!steps_of(base, *to, of))
			return false;
		*to = 0;
		for (int d = 0; d < base->rank; d++) {
			*to += of[d] * rows[d];
			last[d] += of[d] * times;
		}
	}
	for (int d = 0; d < base->rank; d++)
		if (last[d] < 0 || last[d] >= base->size[d])
			return tensor_numel(view) == 0;
	return true;
}

/* Where the view lies among the elements of its base, as as_strided and put_view
 * take it, from args[at] on. */
static bool set_place(struct grad_node *node, int at, const struct tensor *view,
		      const struct tensor *base, struct err *err)
{
	int64_t stride[MAX_RANK], offset;

	if (!find_place(view, base, stride, &offset))
		return err_set(err, ERR_UNSUPPORTED,
			       "a view that joins dims of a tensor which does not lie row by row "
			       "is written while gradients are recorded; write to a copy");
	node->args[at + 2].value = value_int(offset);
	return set_ints(&node->args[at].value, view->size, view->rank, err) &&
	       set_ints(&node->args[at + 1].value, stride, view->rank, err);
}

/* The view as a part of what its base is now. */
static bool renew_view(struct autograd *a, struct value view, struct err *err)
{
	struct tensor_grad *record = view.tensor->grad, *of = record->base.tensor->grad;
	struct grad_node *node;
	bool ok;

	if (!of || of->writes == record->seen || !(of->node || of->leaf))
		return true;
	node = autograd_node(a, 4, 1, err);
	if (!node)
		return false;
	node->op = OP_as_strided;
	node->dtype = view.tensor->memory->dtype;
	grad_arg_set(&node->args[0], record->base);
	ok = autograd_source(a, record->base, &node->args[0].to, err) &&
	     set_place(node, 1, view.tensor->memory, record->base.tensor->memory, err) &&
	     autograd_give(a, node, 0, view, err);
	if (ok)
		record->seen = of->writes;
	grad_node_unref(node);
	return ok;
}

bool autograd_renew(struct autograd *a, struct value t, struct err *err)
{
	const struct tensor_grad *record = t.tensor->grad;

	return !record || record->base.kind != VALUE_TENSOR || renew_view(a, t, err);
}

bool autograd_note_part(struct autograd *a, struct value view, bool stale, struct err *err)
{
	struct tensor_grad *record = autograd_of(a, view, err);

	if (!record)
		return false;
	record->part = true;
	record->version = view.tensor->memory->storage->version - stale;
	return true;
}

static bool part_error(struct autograd *a, const char *written, struct err *err)
{
	return autograd_error(
	    a, err,
	    "an output of split(), chunk() or unbind() is a view and %s modified inplace. This "
	    "view is the output of a function that returns multiple views. Such functions do not "
	    "allow the output views to be modified inplace. You should replace the inplace "
	    "operation by an out-of-place one.",
	    written);
}

bool autograd_is_stale_part(struct value t)
{
	const struct tensor_grad *record = t.tensor->grad;

	if (!record || !record->part || record->leaf)
		return false;
	return record->part_written ||
	       (t.tensor->memory && record->version != t.tensor->memory->storage->version);
}

/* A part whose elements were written has no node that could be made again. */
static bool check_part(struct autograd *a, struct value t, struct err *err)
{
	if (!autograd_is_stale_part(t) || !autograd_requires(t))
		return true;
	return part_error(a, "its base or another view of its base has been", err);
}

bool autograd_source(struct autograd *a, struct value t, struct grad_source *out, struct err *err)
{
	const struct tensor_grad *record = t.tensor->grad;

	*out = (struct grad_source){ .leaf = unset };
	if (!record)
		return true;
	if (!check_part(a, t, err) || !autograd_renew(a, t, err))
		return false;
	if (record->node) {
		record->node->refs++;
		out->node = record->node;
		out->output = record->output;
	} else if (record->leaf) {
		out->leaf = value_ref(t);
	}
	return true;
}

bool autograd_note_view(struct autograd *a, struct value of, struct value view, bool renew,
			struct err *err)
{
	struct value base = base_of(of);
	struct tensor_grad *record = of.tensor->grad;

	/* a leaf has its gradient itself, whatever it is a view of */
	if (base.kind == VALUE_UNSET || record->leaf)
		base = of;
	record = autograd_of(a, base, err) ? autograd_of(a, view, err) : NULL;
	if (!record)
		return false;
	record->base = value_ref(base);
	record->seen = renew ? -1 : base.tensor->grad->writes;
	return true;
}

/* A view may be written later, even where nothing asks for a gradient yet. */
static bool note_view(struct autograd *a, const struct op_call *c, struct value out,
		      struct err *err)
{
	struct value of = c->values[0];

	if (op_info(c->op)->kind != KIND_VIEW || c->op == OP_detach || c->inplace ||
	    of.kind != VALUE_TENSOR || out.tensor == of.tensor ||
	    out.tensor->memory->storage != of.tensor->memory->storage)
		return true;
	if ((c->op == OP_parts || autograd_is_part(of)) && !autograd_note_part(a, out, false, err))
		return false;
	return !a->recording || autograd_note_view(a, of, out, false, err);
}

/* ---- in-place ops */

static bool check_inplace(struct autograd *a, const struct op_call *c, struct err *err)
{
	struct value t = c->values[0], base = base_of(t);

	if (autograd_is_part(t) && any_requires(c))
		return part_error(a, "is being", err);
	if (t.tensor->grad && t.tensor->grad->leaf)
		return autograd_error(a, err,
				      "a leaf Variable that requires grad is being used in an "
				      "in-place operation.");
	if (base.kind == VALUE_TENSOR && base.tensor->grad && base.tensor->grad->leaf)
		return autograd_error(a, err,
				      "a view of a leaf Variable that requires grad is being used "
				      "in an in-place operation.");
	return true;
}

/* A copy of what is about to be overwritten. */
static bool keep_before(struct tape_call *k, struct err *err)
{
	struct tensor *t = k->c->values[0].tensor->memory;

	k->before = tensor_create(k->a->eager->env->allocator, t->dtype, t->rank, t->size, err);
	if (k->before)
		tensor_copy(k->before, t);
	return k->before && shadow_copy(k->before, t, err);
}

/* t, a view that `node` wrote through, as a part of its base's new value. */
static bool write_base(struct autograd *a, struct grad_node *node, struct value t, struct err *err)
{
	struct value base = base_of(t);
	struct grad_node *put = autograd_node(a, 5, 1, err);
	struct grad_source written = { .node = node, .leaf = unset };
	bool ok;

	if (!put)
		return false;
	put->op = OP_put_view;
	put->dtype = base.tensor->memory->dtype;
	grad_arg_set(&put->args[0], base);
	grad_arg_set(&put->args[1], t);
	node->refs++;
	put->args[1].to = written;
	ok = autograd_source(a, base, &put->args[0].to, err) &&
	     set_place(put, 2, t.tensor->memory, base.tensor->memory, err) &&
	     autograd_give(a, put, 0, base, err);
	grad_node_unref(put);
	if (!ok)
		return false;
	base.tensor->grad->writes++;
	return renew_view(a, t, err);
}

/* ---- nodes of ops */

/* A write through a view makes a new part of the base's new value: hooks of the part
 * that it was are not called for it. */
static void leave_hooks(struct value t)
{
	struct tensor_grad *record = t.kind == VALUE_TENSOR ? t.tensor->grad : NULL;

	if (record && record->base.kind == VALUE_TENSOR && record->node && record->node->hooks)
		record->seen = -1;
}

/* The call's arguments by parameter, and where their gradients go. */
static bool bind(struct tape_call *k, struct err *err)
{
	const struct op_info *info = op_info(k->c->op);

	if (!bind_by_parameter(k->c->op, &(struct arguments){ k->c->values, k->c->n, k->c->kw },
			       k->bound))
		return torch_no_memory(err);
	if (k->c->inplace)
		leave_hooks(k->bound[0]);
	for (int i = 0; i < info->n_params; i++) {
		if (k->bound[i].kind != VALUE_TENSOR)
			continue;
		if (!autograd_source(k->a, k->bound[i], &k->to[i], err))
			return false;
		if (k->to[i].node || k->to[i].leaf.kind == VALUE_TENSOR)
			k->wanted |= 1u << i;
	}
	return true;
}

/* Whether the op has written over it: x.mul_(x). */
static bool overlaps_written(const struct tape_call *k, const struct tensor *t)
{
	return k->bound[0].kind == VALUE_TENSOR &&
	       t->storage == k->bound[0].tensor->memory->storage;
}

/* The value of a default in a signature. */
static bool grad_default(const struct op_param *p, struct value *out)
{
	const char *text = p->fallback ? p->fallback : "None";

	if (strcmp(text, "None") == 0)
		*out = value_none();
	else if (p->kind == PARAM_BOOL)
		*out = value_bool(strcmp(text, "True") == 0);
	else if (p->kind == PARAM_STR)
		*out = value_str(text, strlen(text));
	else if (text[0] == '(')
		*out = value_tuple(NULL, 0);
	else if (p->kind == PARAM_FLOAT || strpbrk(text, ".e"))
		*out = value_float(strtod(text, NULL));
	else
		*out = value_int(strtoll(text, NULL, 10));
	return out->kind != VALUE_UNSET;
}

static bool grad_refused(struct autograd *a, enum op op, int param, struct err *err)
{
	return autograd_error(a, err,
			      "The function '%s' is not differentiable with respect to argument "
			      "'%s'. This input cannot have requires_grad True.",
			      op_info(op)->fx, op_info(op)->params[param].name);
}

/* The arguments of the node; what an in-place op has overwritten was kept. */
static bool fill_args(struct tape_call *k, struct grad_node *node, struct err *err)
{
	const struct op_info *info = op_info(k->c->op);

	for (int i = 0; i < info->n_params; i++) {
		struct grad_arg *arg = &node->args[i];
		struct value v = k->bound[i];

		arg->to = k->to[i];
		k->to[i] = (struct grad_source){ .leaf = unset };
		if (v.kind == VALUE_TENSOR) {
			struct tensor *memory = i == 0 && k->before ? k->before : v.tensor->memory;

			grad_arg_set(arg, v);
			if (k->needs & 1u << i) {
				if (k->watched & 1u << i)
					grad_save(arg, memory);
				else if (!grad_save_as_is(arg, memory, err))
					return false;
				if (k->c->inplace && i > 0 && overlaps_written(k, memory))
					arg->version = k->version; /* backward fails, as torch's */
				node->saves = true;
			}
		} else if (v.kind == VALUE_UNSET) {
			if (!grad_default(&info->params[i], &arg->value))
				return torch_no_memory(err);
		} else {
			arg->value = value_ref(v);
			/* as torch, where a factor is a tensor that is saved */
			node->saves |= (k->needs & 1u << i) &&
				       info->params[i].kind == PARAM_TENSOR_SCALAR;
		}
	}
	return true;
}

/* An op without a gradient that wrote into its argument (x.zero_(), x.gt_(y)): the gradient
 * of what was there is zero, as after x.fill_(). */
static bool fill_constant(struct tape_call *k, struct grad_node *node)
{
	grad_arg_set(&node->args[0], k->bound[0]);
	node->args[0].to = k->to[0];
	k->to[0] = (struct grad_source){ .leaf = unset };
	node->args[1].value = value_int(0);
	return true;
}

static bool record(struct tape_call *k, bool known, struct value out, struct err *err)
{
	enum op op = known ? k->c->op : OP_fill;
	struct grad_node *node = autograd_node(k->a, op_info(op)->n_params, 1, err);
	bool ok;

	if (!node)
		return false;
	node->op = op;
	node->dtype = out.tensor->memory->dtype;
	ok = known ? fill_args(k, node, err) : fill_constant(k, node);
	if (ok && (k->needs & 1u << MAX_ARGS)) {
		node->out = k->watched & 1u << MAX_ARGS ? tensor_ref(out.tensor->memory)
							: tensor_keep(out.tensor->memory, err);
		ok = node->out != NULL;
		node->out_version = out.tensor->memory->storage->version;
		node->saves = true;
	}
	ok = ok && grad_pack(k->a, node, err);
	if (ok && k->c->inplace && base_of(out).kind == VALUE_TENSOR) {
		ok = write_base(k->a, node, out, err);
	} else if (ok) {
		ok = autograd_give(k->a, node, 0, out, err);
		if (ok && k->c->inplace)
			out.tensor->grad->writes++;
	}
	grad_node_unref(node);
	return ok;
}

/* The mask of dropout is drawn by an op of its own, and kept. */
static bool run_dropout(struct autograd *a, const struct op_call *c, struct value *out,
			struct err *err)
{
	struct op_call ones = { .op = OP_ones_like, .name = "ones_like", .n = 1 }, drop = *c,
		       mul = { .op = OP_mul, .name = "mul", .n = 2 };
	struct value all[MAX_ARGS + 1], pair[2];
	bool ok;

	ones.values = c->values;
	if (c->n > MAX_ARGS || !eager_run_op(a->eager, &ones, &all[0], err))
		return false;
	memcpy(all + 1, c->values + 1, sizeof(*all) * (size_t)(c->n - 1));
	drop.values = all;
	ok = eager_run_op(a->eager, &drop, &pair[1], err);
	value_unref(all[0]);
	if (!ok)
		return false;
	pair[0] = c->values[0];
	mul.values = pair;
	ok = autograd_run(a, &mul, out, err);
	value_unref(pair[1]);
	return ok;
}

/* Whether dropout draws at all: training, and p is not 0. */
static bool draws(const struct tape_call *k)
{
	struct value p = k->bound[1], training = k->bound[2];

	return k->c->op == OP_dropout && !(training.kind == VALUE_BOOL && !training.b) &&
	       !(p.kind == VALUE_FLOAT && p.f == 0) && !(p.kind == VALUE_INT && p.i == 0);
}

/* An op on a tensor that requires a gradient, recorded. */
static bool run_recorded(struct tape_call *k, struct value *out, struct err *err)
{
	struct autograd *a = k->a;
	const struct op_call *c = k->c;
	unsigned refused;
	bool known;

	if (!bind(k, err) || !grad_rule_needs(a, c->op, k->wanted, &known, &k->needs, err))
		return false;
	k->watched = grad_rule_watches(
	    a, c->op, k->wanted,
	    k->bound[0].kind == VALUE_TENSOR ? k->bound[0].tensor->memory->rank : 0);
	refused = k->wanted & grad_rule_refuses(a, c->op);
	if (refused)
		return grad_refused(a, c->op, __builtin_ctz(refused), err);
	if (draws(k))
		return run_dropout(a, c, out, err);
	if (c->inplace && (k->needs & 1) && !keep_before(k, err))
		return false;
	if (c->inplace && k->bound[0].kind == VALUE_TENSOR)
		k->version = k->bound[0].tensor->memory->storage->version;
	if (!eager_run_op(a->eager, c, out, err))
		return false;
	if (((known || c->inplace) &&
	     dtype_category(out->tensor->memory->dtype) == CATEGORY_FLOAT &&
	     !record(k, known, *out, err)) ||
	    !note_view(a, c, *out, err)) {
		value_unref(*out);
		return false;
	}
	return true;
}

/* Nothing is kept of it but that it would have a gradient. */
static bool check_parts(struct autograd *a, const struct op_call *c, struct err *err)
{
	for (int i = 0; i < c->n; i++)
		if (c->values[i].kind == VALUE_TENSOR && autograd_is_part(c->values[i]) &&
		    !check_part(a, c->values[i], err))
			return false;
	return true;
}

bool autograd_note_light(struct autograd *a, const char *id, struct value out, struct err *err)
{
	struct tensor_grad *record = autograd_of(a, out, err);

	if (record)
		record->light = id;
	return record != NULL;
}

static bool note_light(struct autograd *a, enum op op, enum dtype dtype, struct value out,
		       struct err *err)
{
	bool known;

	return dtype_category(dtype) != CATEGORY_FLOAT ||
	       (grad_rule_known(a, op, &known, err) &&
		(!known || autograd_note_light(a, op_info(op)->id, out, err)));
}

bool autograd_differentiable(struct autograd *a, enum op op, bool inplace, bool *out,
			     struct err *err)
{
	*out = op != OP_detach;
	if (inplace || !*out || grad_rule_refuses(a, op))
		return true;
	return grad_rule_known(a, op, out, err);
}

bool autograd_check_deferred(struct autograd *a, const struct op_call *c, struct err *err)
{
	bool asks;

	if (c->inplace && c->n > 0 && c->values[0].kind == VALUE_TENSOR &&
	    autograd_is_part(c->values[0]) && any_requires(c))
		return part_error(a, "is being", err);
	return autograd_differentiable(a, c->op, c->inplace, &asks, err) &&
	       (!asks || check_parts(a, c, err));
}

bool autograd_note_deferred(struct autograd *a, const struct op_call *c, enum dtype dtype,
			    struct value out, struct err *err)
{
	bool view = op_info(c->op)->kind == KIND_VIEW && c->op != OP_detach && !c->inplace;

	if (c->op != OP_detach && any_requires(c) && !note_light(a, c->op, dtype, out, err))
		return false;
	if (!view || out.tensor == c->values[0].tensor ||
	    (c->op != OP_parts && !autograd_is_part(c->values[0])))
		return true;
	if (!autograd_of(a, out, err))
		return false;
	out.tensor->grad->part = true;
	return true;
}

static bool run_light(struct autograd *a, const struct op_call *c, struct value *out,
		      struct err *err)
{
	if (!check_parts(a, c, err) || !eager_run_op(a->eager, c, out, err))
		return false;
	if (note_light(a, c->op, out->tensor->memory->dtype, *out, err) &&
	    note_view(a, c, *out, err))
		return true;
	value_unref(*out);
	return false;
}

/* Apart, so that an op that is not recorded does not pay for the call's room. */
static __attribute__((noinline)) bool run_on_tape(struct autograd *a, const struct op_call *c,
						  struct value *out, struct err *err)
{
	struct tape_call k = { .a = a, .c = c };
	bool ok;

	for (int i = 0; i < MAX_ARGS; i++)
		k.bound[i] = k.to[i].leaf = unset;
	ok = run_recorded(&k, out, err);
	drop_call(&k);
	return ok;
}

bool autograd_run(struct autograd *a, const struct op_call *c, struct value *out, struct err *err)
{
	bool asks;

	if (!autograd_enabled(a))
		return eager_run_op(a->eager, c, out, err);
	for (int i = 0; i < c->n; i++)
		if (!tensor_check_memory(c->values[i], err))
			return false;
	if (c->inplace && c->values[0].kind == VALUE_TENSOR && !check_inplace(a, c, err))
		return false;
	asks = any_requires(c);
	if (asks && !autograd_differentiable(a, c->op, c->inplace, &asks, err))
		return false;
	if (!asks) {
		if (!eager_run_op(a->eager, c, out, err))
			return false;
		if (note_view(a, c, *out, err))
			return true;
		value_unref(*out);
		return false;
	}
	return a->recording ? run_on_tape(a, c, out, err) : run_light(a, c, out, err);
}
