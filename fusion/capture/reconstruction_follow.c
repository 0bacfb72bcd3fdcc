/* fusion/capture/reconstruction_follow.c -- makes what a reconstruction says, for one call.
 *
 * A container is entered among what is made before its parts are, so that a
 * function may hold the cell that holds it.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/eager/eager.h"
#include "fusion/capture/backward/backward.h"
#include "fusion/capture/trace/trace.h"
#include "fusion/capture/entry.h"

struct follower {
	struct reconstruction *r;
	const struct reconstruction_call *call;
	int at;
	bool failed;
};

static struct value follow(struct follower *f);

/* The next part, a new reference; None where nothing goes any more. */
static struct value part(struct follower *f)
{
	struct value v;

	if (f->failed || f->at >= f->r->n)
		return value_none();
	v = follow(f);
	return v.kind == VALUE_UNSET && f->failed ? value_none() : value_ref(v);
}

static struct value new_sequence(const struct list *like, int n)
{
	struct value v = value_sequence(like->head.kind, n);

	if (v.kind == VALUE_UNSET)
		return v;
	v.list->is_size = like->is_size;
	v.list->fields = like->fields;
	v.list->type_name = like->type_name;
	v.list->class = like->class;
	if (like->class)
		value_ref(value_of(like->class));
	return v;
}

static struct value new_iter(const struct iter *like)
{
	struct value v = value_iter(like->iter_kind, value_none());

	if (v.kind == VALUE_UNSET)
		return v;
	v.iter->view = like->view;
	v.iter->position = like->position;
	v.iter->length = like->length;
	v.iter->nested = like->nested;
	return v;
}

static struct value new_function(const struct function *like)
{
	struct value v = value_function(like->code);

	if (v.kind == VALUE_UNSET)
		return v;
	v.function->unit = like->unit;
	v.function->disabled = like->disabled;
	v.function->grad = like->grad;
	return v;
}

static struct value copy_set(const struct dict *from)
{
	struct value v = value_set(from->frozen);

	for (int i = 0; v.kind != VALUE_UNSET && i < from->len; i++)
		if (!value_dict_set(v.dict, from->keys[i], value_none())) {
			value_unref(v);
			v.kind = VALUE_UNSET;
		}
	return v;
}

static bool place_on_tape(const struct reconstruction_call *call,
			  const struct reconstruction_step *step, struct value v)
{
	if (step->leaf)
		return autograd_set_leaf(call->autograd, v, true, NULL);
	if (call->entry->spent && call->entry->spent[step->index])
		return !autograd_enabled(call->autograd) || autograd_spend(call->autograd, v, NULL);
	if (step->requires_grad && !autograd_note_light(call->autograd, LIGHT_GRAPH, v, NULL))
		return false;
	return !call->node || entry_grad_give(call->entry, call->node, step->index, v, NULL);
}

static struct value output(struct follower *f, const struct reconstruction_step *step)
{
	struct tensor *t = f->call->outputs[step->index];
	struct value v;

	f->call->outputs[step->index] = NULL;
	if (step->kind == RECONSTRUCT_OUTPUT) {
		v = tensor_wrap(t);
		if (v.kind != VALUE_UNSET)
			f->failed |= !place_on_tape(f->call, step, v);
		return v;
	}
	v = reconstruction_element(t);
	tensor_unref(t);
	return v;
}

static struct value source(struct follower *f, int index)
{
	return value_ref(source_value(f->call->sources, index, f->call->roots));
}

/* What needs no parts, or the empty container for them. */
static struct value begin(struct follower *f, const struct reconstruction_step *step)
{
	switch (step->kind) {
	case RECONSTRUCT_OUTPUT:
	case RECONSTRUCT_FLOAT:
		return output(f, step);
	case RECONSTRUCT_SOURCE:
		return source(f, step->index);
	case RECONSTRUCT_AGAIN:
		return value_ref(f->r->made[step->index]);
	case RECONSTRUCT_SIZE:
		return value_int(sym_eval(step->size, f->call->vars));
	case RECONSTRUCT_REAL:
		return value_float(symreal_eval(step->real, f->call->vars));
	case RECONSTRUCT_BOOL:
		return value_bool(size_condition_holds(step->condition, f->call->vars));
	case RECONSTRUCT_SEQUENCE:
		return new_sequence(step->value.list, step->n);
	case RECONSTRUCT_DICT:
	case RECONSTRUCT_KEYED:
		return value_dict();
	case RECONSTRUCT_SET:
		return copy_set(step->value.dict);
	case RECONSTRUCT_ITER:
		return new_iter(step->value.iter);
	case RECONSTRUCT_CELL:
		return value_cell((struct value){ .kind = VALUE_UNSET });
	case RECONSTRUCT_FUNCTION:
		return new_function(step->value.function);
	case RECONSTRUCT_SLICE:
		return value_slice(value_none(), value_none(), value_none());
	case RECONSTRUCT_METHOD:
		return value_method(value_none(), value_none());
	case RECONSTRUCT_NATIVE:
		return value_native(step->value.native->name, step->value.native->id,
				    step->value.native->builtin, value_none());
	default:
		return value_ref(step->value);
	}
}

/* Containers may come to hold one another: the VM's heap finds such rings. */
static void adopt(struct follower *f, const struct reconstruction_step *step, struct value *made)
{
	if (step->kind < RECONSTRUCT_SEQUENCE || made->kind == VALUE_UNSET)
		return;
	if (!vm_keep(f->call->vm, *made, made, NULL))
		made->kind = VALUE_UNSET;
}

static void put(struct value *place, struct value v) /* takes the reference */
{
	struct value old = *place;

	*place = v;
	value_unref(old);
}

static void fill_function(struct follower *f, struct function *fn)
{
	struct value defaults = part(f), kw = part(f), closure = part(f), attributes = part(f);

	fn->defaults = defaults.kind == VALUE_TUPLE ? defaults.list : NULL;
	fn->kwdefaults = kw.kind == VALUE_DICT ? kw.dict : NULL;
	fn->closure = closure.kind == VALUE_TUPLE ? closure.list : NULL;
	fn->attributes = attributes.kind == VALUE_DICT ? attributes.dict : NULL;
}

static void fill_dict(struct follower *f, const struct reconstruction_step *step, struct dict *dict)
{
	for (int i = 0; i < step->n; i++) {
		struct value v = part(f);

		f->failed |= !value_dict_set(dict, step->value.dict->keys[i], v);
		value_unref(v);
	}
}

static void fill_keyed(struct follower *f, const struct reconstruction_step *step,
		       struct dict *dict)
{
	for (int i = 0; i < step->n; i++) {
		struct value key = part(f), v = part(f);

		f->failed |= !value_dict_set(dict, key, v);
		value_unref(key);
		value_unref(v);
	}
}

static void fill_set(struct follower *f, const struct reconstruction_step *step, struct dict *set)
{
	for (int i = 0; i < step->n; i++) {
		struct value member = part(f);

		f->failed |= !value_dict_set(set, member, value_none());
		value_unref(member);
	}
}

/* Class, attributes and payload come first: the class makes the instance. */
static struct value make_instance(struct follower *f, const struct reconstruction_step *step,
				  struct value *made)
{
	struct value class = part(f), attributes, v;

	v = class.kind == VALUE_CLASS ? value_instance(class.class)
				      : (struct value){ .kind = VALUE_UNSET };
	value_unref(class);
	*made = v;
	adopt(f, step, made);
	if (made->kind == VALUE_UNSET)
		return *made;
	attributes = part(f);
	if (attributes.kind == VALUE_DICT)
		v.instance->attributes = attributes.dict;
	if (step->n == 3)
		put(&v.instance->payload, part(f));
	return v;
}

/* Over the memory of its base, which comes first. */
static struct value make_view(struct follower *f, const struct reconstruction_step *step)
{
	struct value base = part(f), view = { .kind = VALUE_UNSET };
	struct value detached = step->of_detached ? part(f) : (struct value){ .kind = VALUE_UNSET };
	struct autograd *a = f->call->autograd;
	struct tensor *t = NULL;

	if (base.kind == VALUE_TENSOR)
		t = view_replay(base.tensor->memory, step->layout, f->call->vars, NULL);
	if (t)
		view = tensor_wrap(t);
	if (view.kind != VALUE_UNSET && a && a->recording && !step->detached && !step->leaf)
		f->failed |= !autograd_note_view(a, base, view, autograd_requires(base), NULL);
	if (view.kind != VALUE_UNSET && a && a->recording && detached.kind == VALUE_TENSOR)
		f->failed |= !autograd_note_view(a, detached, view, false, NULL);
	if (view.kind != VALUE_UNSET && a && step->part)
		f->failed |= !autograd_note_part(a, view, step->stale, NULL);
	if (view.kind != VALUE_UNSET && a && step->requires_grad)
		f->failed |= !autograd_note_light(a, op_info(OP_as_strided)->id, view, NULL);
	if (view.kind != VALUE_UNSET && step->leaf)
		f->failed |= !autograd_set_leaf(a, view, true, NULL);
	value_unref(base);
	value_unref(detached);
	return view;
}

/* Both are made, one is kept. */
static struct value make_choice(struct follower *f, const struct reconstruction_step *step)
{
	struct tensor *condition = f->call->outputs[step->index];
	bool first = tensor_get_double(condition, 0) != 0;
	struct value of[2];

	f->call->outputs[step->index] = NULL;
	tensor_unref(condition);
	of[0] = part(f);
	of[1] = part(f);
	value_unref(of[first]);
	return of[!first];
}

/* The next part or parts, as the gap shows them. */
static bool show(struct follower *f, const struct text_gap *gap, struct buf *text)
{
	struct value v = part(f), of[2];
	bool ok = true;

	if (gap->kind == GAP_CHOICE) {
		of[0] = part(f);
		of[1] = part(f);
		if (!f->failed)
			value_print(text, of[!v.b], true);
		value_unref(of[0]);
		value_unref(of[1]);
	} else if (!f->failed) {
		ok = deferred_text_show(gap, v, f->call->autograd, f->call->vm, text);
	}
	value_unref(v);
	return ok && !f->failed;
}

static struct value make_text(struct follower *f, const struct entry_text *from)
{
	struct buf text = { .limit = f->call->vm->limits.object_bytes };
	struct value v = { .kind = VALUE_UNSET };
	const char *at = from->bytes, *end = at + from->len, *gap;
	bool ok = true;

	for (int i = 0; ok && i < from->n_gaps; i++, at = gap + TEXT_GAP_BYTES) {
		gap = memchr(at, TEXT_GAP, (size_t)(end - at));
		buf_add(&text, at, (size_t)(gap - at));
		ok = show(f, &from->gaps[i], &text);
	}
	buf_add(&text, at, (size_t)(end - at));
	if (ok && !text.failed)
		v = value_str(text.data ? text.data : "", text.len);
	buf_finish(&text);
	return v;
}

static void fill(struct follower *f, const struct reconstruction_step *step, struct value v)
{
	switch (step->kind) {
	case RECONSTRUCT_SEQUENCE:
		for (int i = 0; i < step->n; i++)
			v.list->at[v.list->len++] = part(f);
		return;
	case RECONSTRUCT_DICT:
		fill_dict(f, step, v.dict);
		return;
	case RECONSTRUCT_KEYED:
		fill_keyed(f, step, v.dict);
		return;
	case RECONSTRUCT_SET:
		fill_set(f, step, v.dict);
		return;
	case RECONSTRUCT_ITER:
		put(&v.iter->over, part(f));
		return;
	case RECONSTRUCT_CELL:
		if (step->n)
			v.cell->content = part(f);
		return;
	case RECONSTRUCT_FUNCTION:
		fill_function(f, v.function);
		return;
	case RECONSTRUCT_SLICE:
		v.slice->start = part(f);
		v.slice->stop = part(f);
		v.slice->step = part(f);
		return;
	case RECONSTRUCT_METHOD:
		v.method->function = part(f);
		v.method->self = part(f);
		return;
	case RECONSTRUCT_NATIVE:
		v.native->self = part(f);
		return;
	default:
		return;
	}
}

static struct value make_number(struct follower *f)
{
	struct value whole = part(f), v = reconstruction_number(whole);

	value_unref(whole);
	return v;
}

/* Borrowed: r->made holds the reference.  UNSET: a local that is unset, or
 * out of memory, and then f->failed. */
static struct value follow(struct follower *f)
{
	const struct reconstruction_step *step = &f->r->steps[f->at];
	struct value *made = &f->r->made[f->at++];

	if (step->kind == RECONSTRUCT_INSTANCE) {
		make_instance(f, step, made);
	} else if (step->kind == RECONSTRUCT_NUMBER) {
		*made = make_number(f);
	} else if (step->kind == RECONSTRUCT_VIEW) {
		*made = make_view(f, step);
	} else if (step->kind == RECONSTRUCT_CHOICE) {
		*made = make_choice(f, step);
	} else if (step->kind == RECONSTRUCT_TEXT) {
		*made = make_text(f, step->text);
	} else {
		*made = begin(f, step);
		adopt(f, step, made);
		if (made->kind != VALUE_UNSET)
			fill(f, step, *made);
	}
	if (made->kind == VALUE_TENSOR && step->n &&
	    (step->kind == RECONSTRUCT_OUTPUT || step->kind == RECONSTRUCT_VIEW ||
	     step->kind == RECONSTRUCT_SOURCE))
		made->tensor->is_parameter = true;
	if (made->kind == VALUE_UNSET && step->kind != RECONSTRUCT_VALUE &&
	    step->kind != RECONSTRUCT_SOURCE)
		f->failed = true;
	return *made;
}

bool reconstruction_follow(struct reconstruction *r, const struct reconstruction_call *call,
			   struct err *err)
{
	struct follower f = { .r = r, .call = call };

	while (f.at < r->n && !f.failed)
		follow(&f);
	if (!f.failed)
		return true;
	reconstruction_drop(r);
	return err_set(err, ERR_MEMORY, "out of memory for the result");
}
