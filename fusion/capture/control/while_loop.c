/* fusion/capture/control/while_loop.c -- a while loop on a tensor, as a loop of the graph.
 *
 * From the test before the loop, or one that may leave it, the capture runs a round
 * once, up to the test.  What a round leaves otherwise than it
 * found it is CARRIED: a tensor of the same sizes and dtype, or a number.  Which
 * places those are shows at the end of a round; then the attempt starts again, with
 * a node in each that stands for whatever the round before has left.
 *
 * What cannot be a loop is tried as branches, one round in the side of another.
 */
#include "fusion/capture/control/while_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "fusion/capture/trace/trace.h"
#include "fusion/graph/loop.h"

static const struct while_loop_note *known_loop(const struct trace *t, const struct lang_inst *inst)
{
	for (size_t i = 0; i < t->loops.len; i++)
		if (t->loops.at[i].inst == inst)
			return &t->loops.at[i];
	return NULL;
}

const char *while_loop_refusal(const struct trace *t, const struct lang_inst *inst)
{
	const struct while_loop_note *known = known_loop(t, inst);

	return known && known->why[0] ? known->why : NULL;
}

static struct while_loop_note *loop_noted(struct trace *t, const struct lang_inst *inst)
{
	struct while_loop_note fresh = { .inst = inst };

	for (size_t i = 0; i < t->loops.len; i++)
		if (t->loops.at[i].inst == inst)
			return &t->loops.at[i];
	return VEC_PUSH(&t->loops, fresh) ? &t->loops.at[t->loops.len - 1] : NULL;
}

static bool try_again(struct trace *t, struct err *err)
{
	t->restart = true;
	t->brk.id = BREAK_NONE;
	if (err)
		memset(err, 0, sizeof(*err));
	return err_set(err, ERR_BREAK, "the loop is captured otherwise");
}

static bool refuse_loop(struct trace *t, const struct lang_inst *inst, const char *why,
			struct err *err)
{
	struct while_loop_note *note = loop_noted(t, inst);

	if (!note)
		return trace_no_memory(err);
	snprintf(note->why, sizeof(note->why), "%s", why);
	return try_again(t, err);
}

/* ---- What goes round. */

int while_add(struct while_loop *l, enum op op, const struct arg *args, int n, const char *fx,
	      struct err *err)
{
	struct trace *t = l->t;
	int node = graph_add(
	    t->graph, &(struct node_spec){ op, args, n, l->k.inst->line, l->k.inst->column }, err);

	if (node < 0)
		return -1;
	if (!graph_set_fx(t->graph, node, fx)) {
		trace_no_memory(err);
		return -1;
	}
	t->n_ops += fx[0] != '\0';
	return node;
}

/* ---- The places that change from round to round of a loop.
 *
 * A place is found again in each attempt: a local by its number, a global by the VM's,
 * an item or attribute of an object by the source of the object or, where the capture
 * made that, by when it did. */

/* where a carried value is. */
static struct value while_loop_root(const struct trace *t, struct value tensor)
{
	if (tensor.tensor->owner == t->serial && tensor.tensor->view)
		return tensor.tensor->view->base;
	return tensor;
}

static enum value_kind number_type(struct value v)
{
	return v.kind == VALUE_SYMINT ? VALUE_INT : deferred_type(v);
}

static int while_object_index(const struct trace *t, struct value object)
{
	int source = variables_source(t, object);

	return source >= 0 ? source : -1 - (int)(object.object->birth - t->birth);
}

static struct value find_object(const struct trace *t, int index)
{
	const struct heap *heap = t->vm->heap;

	for (struct object *o = heap->list.next; o != &heap->list; o = o->next)
		if (o->birth >= t->birth && (int)(o->birth - t->birth) == -1 - index)
			return value_of(o);
	return (struct value){ .kind = VALUE_UNSET };
}

/* The object, and what its item is: both borrowed. */
static bool find_part(struct while_loop *l, const struct carried_place *note, struct value *object,
		      struct value *item, struct err *err)
{
	struct cond_content c;
	bool ok;

	if (note->index < 0)
		*object = find_object(l->t, note->index);
	else if (!variables_read(l->t, note->index, object, err))
		return false;
	if (!cond_may_change(*object))
		return cond_refuse(&l->k, "what it changes is not found again");
	ok = cond_content_read(*object, &c);
	*item = (struct value){ .kind = VALUE_UNSET };
	if (ok && note->item < c.n)
		*item = c.values[note->item];
	cond_content_drop(&c);
	return ok || trace_no_memory(err);
}

static bool find_global(struct trace *t, int index, struct value *out, struct err *err)
{
	const struct global *g = &t->vm->globals[index];

	if (!variables_load_global(t, index, g->name, g->value, out, err))
		return false;
	value_unref(*out); /* the table of globals has it */
	return true;
}

static struct value *find_local(const struct while_loop *l, const struct carried_place *note)
{
	return &l->k.frame->locals[note->index];
}

static bool place_now(struct while_loop *l, const struct carried *c, struct value *out,
		      struct err *err)
{
	struct value object;

	*out = c->start;
	if (c->note.kind == CARRIED_LOCAL || c->note.kind == CARRIED_FIRST)
		*out = *find_local(l, &c->note);
	else if (c->note.kind == CARRIED_GLOBAL)
		return find_global(l->t, c->note.index, out, err);
	else if (c->note.kind == CARRIED_PART)
		return find_part(l, &c->note, &object, out, err);
	return true;
}

static bool place_find(struct while_loop *l, struct carried *c, struct err *err)
{
	const struct carried_place *note = &c->note;
	struct trace *t = l->t;
	struct value v = { .kind = VALUE_UNSET };

	if (note->kind == CARRIED_SOURCE)
		v = t->sources->at[note->index].stand_in;
	else if (note->kind == CARRIED_LIFTED && note->index < (int)t->lifted.len)
		v = t->lifted.at[note->index].value;
	else if (note->kind == CARRIED_ROOT)
		v = *find_local(l, note);
	else if (note->kind != CARRIED_LIFTED && !place_now(l, c, &v, err))
		return false;
	if (v.kind == VALUE_LAZY && !variables_read(t, (int)v.i, &v, err))
		return false;
	if (v.kind != VALUE_TENSOR && (note->kind >= CARRIED_ROOT || number_type(v) == VALUE_UNSET))
		return cond_refuse(&l->k, "a %s is something else in a later round",
				   value_type_name(v));
	c->start = value_ref(note->kind == CARRIED_ROOT ? while_loop_root(t, v) : v);
	return true;
}

static bool set_part(struct while_loop *l, const struct carried_place *note, struct value v,
		     struct err *err)
{
	struct value object, old;
	struct cond_content c;
	bool ok;

	if (!find_part(l, note, &object, &old, err))
		return false;
	ok = cond_content_read(object, &c);
	if (ok && note->item < c.n) {
		value_unref(c.values[note->item]);
		c.values[note->item] = value_ref(v);
		ok = cond_content_write(&c);
	}
	cond_content_drop(&c);
	return ok || trace_no_memory(err);
}

static bool set(struct while_loop *l, const struct carried_place *note, struct value v,
		struct err *err)
{
	struct value *local, old;

	if (note->kind == CARRIED_PART)
		return set_part(l, note, v, err);
	if (note->kind == CARRIED_GLOBAL)
		return variables_store_global(l->t, note->index,
					      l->t->vm->globals[note->index].name, v, err);
	local = find_local(l, note);
	old = *local;
	*local = value_ref(v);
	value_unref(old);
	return true;
}

/* An in-place op on what a round found in a place would be one on that very object,
 * which another name may have. */
static bool add_choice(struct while_loop *l, struct value merged, struct value a, struct value b,
		       struct err *err)
{
	struct trace_choice c = {
		.merged = merged, .condition = l->k.condition, .of = { a, b }, .inst = l->k.inst
	};

	if (!VEC_PUSH(&l->t->choices, c))
		return trace_no_memory(err);
	value_ref(c.merged);
	value_ref(c.condition);
	value_ref(c.of[0]);
	value_ref(c.of[1]);
	return true;
}

static bool put_tensor(struct while_loop *l, const struct carried *c, int node, bool after,
		       struct err *err)
{
	struct value v, other = { .kind = VALUE_UNSET };
	bool ok;

	if (!trace_wrap(l->t, node, &v, err))
		return false;
	ok = !after || trace_wrap(l->t, node, &other, err);
	if (ok && c->start.kind == VALUE_TENSOR)
		ok = add_choice(l, v, after ? other : c->start, c->start, err);
	ok = ok && set(l, &c->note, v, err);
	value_unref(v);
	value_unref(other);
	return ok;
}

static bool place_put(struct while_loop *l, const struct carried *c, int node, bool after,
		      struct err *err)
{
	switch (c->note.kind) {
	case CARRIED_CHECK: /* an assertion of a round did not hold: eager raises it */
		return deferred_expect(l->t, node, true, err);
	case CARRIED_MORE: /* it has ended: a loop is run, be its results read or not */
		return deferred_expect(l->t, node, false, err);
	case CARRIED_ROOT:
	case CARRIED_SOURCE:
	case CARRIED_LIFTED:
		return trace_rewrite(l->t, c->start, node, true) || trace_no_memory(err);
	default:
		return c->number ? set(l, &c->note, deferred_value(l->t, node), err)
				 : put_tensor(l, c, node, after, err);
	}
}

/* What a loop reads is a value of the graph, never a constant that each kernel has
 * for itself. */
static int operand_node(struct while_loop *l, struct value v, struct err *err)
{
	int node = v.kind == VALUE_TENSOR ? trace_node(l->t, v, err) : deferred_node(l->t, v, err);
	struct arg of = arg_node(node);

	if (node < 0 || op_info(l->t->graph->nodes[node]->op)->kind != KIND_CONSTANT)
		return node;
	return while_add(l, OP_clone, &of, 1, "", err);
}

/* What counts does so from 62 bits at most: rounds do not take it past 64. */
static bool has_room(struct while_loop *l, const struct carried *c, struct err *err)
{
	const int64_t most = (int64_t)1 << 62;

	if (c->start.kind == VALUE_INT)
		return (c->start.i < most && c->start.i > -most) ||
		       cond_refuse(&l->k, "an int is too large for the graph's");
	return number_type(c->start) != VALUE_INT || deferred_within(l->t, c->init, 0x1p62, err);
}

/* First what they all are, then a node for each in the body. */
static bool carry_all(struct while_loop *l, struct err *err)
{
	const struct while_loop_note *known = known_loop(l->t, l->k.inst);

	for (int i = 0; known && i < known->n_places; i++) {
		struct carried c = { .note = known->places[i], .init = -1, .value = -1 };

		if (!place_find(l, &c, err))
			return false;
		c.number = c.start.kind != VALUE_TENSOR;
		if (!VEC_PUSH(&l->carried, c)) {
			value_unref(c.start);
			return trace_no_memory(err);
		}
		l->carried.at[i].init = operand_node(l, c.start, err);
		if (l->carried.at[i].init < 0 || !has_room(l, &l->carried.at[i], err))
			return false;
	}
	l->first = l->t->graph->n_nodes;
	for (size_t i = 0; i < l->carried.len; i++) {
		struct carried *c = &l->carried.at[i];
		struct arg init = arg_node(c->init);

		c->value = while_add(l, OP_loop_carried, &init, 1, "", err);
		if (c->value < 0 || !place_put(l, c, c->value, false, err))
			return false;
	}
	return true;
}

/* ---- A round. */

static int flatten(struct while_loop *l, int node, struct err *err)
{
	struct arg args[2] = { arg_node(node), arg_ints(NULL, 0) };

	return l->t->graph->nodes[node]->shape.rank == 0
		   ? node
		   : while_add(l, OP_reshape, args, 2, "", err);
}

/* The loop is in a side of a branch, or after an assertion: it must not run
 * where the program does not get there, for it might not end. */
static int limit_entry(struct while_loop *l, int node, struct err *err)
{
	struct trace *t = l->t;
	const struct cond *k = l->k.up;

	for (; k && !k->is_loop && node >= 0; k = k->up) {
		int on = trace_node(t, k->condition, err);

		node = while_add_two(l, OP_logical_and, node,
				     k->holds ? on : while_invert(l, on, err), err);
	}
	for (size_t i = 0; !k && i < t->asserts.len && node >= 0; i++)
		node = while_add_two(l, OP_logical_and, node, flatten(l, t->asserts.at[i], err),
				     err);
	return node;
}

/* The test before the loop. */
static bool enter(struct while_loop *l, struct err *err)
{
	struct frame *f = l->k.frame;
	struct while_verdict first;
	int node;
	bool ok;

	f->top -= 1 + l->at.below;
	ok = cond_save(&l->k);
	f->top += 1 + l->at.below;
	if (!ok || !while_decide(l, 0, &first, err))
		return false;
	if (first.known)
		return cond_refuse(&l->k, "its test says the same of all tensors");
	l->test = first.node;
	node = limit_entry(l, first.node, err);
	return node >= 0 && trace_wrap(l->t, node, &l->k.condition, err);
}

/* A round, and whether there is another one. */
static bool run_round(struct while_loop *l, int *again, struct err *err)
{
	struct frame *f = l->k.frame;
	struct value handled = l->t->vm->handled;
	struct while_verdict next;

	f->inst = f->code->insts + l->at.body;
	if (!vm_run_side(l->t->vm, f, l->at.again, err)) {
		cond_side_failed(&l->k, err);
		return l->k.raised ? cond_refuse(&l->k, "a round raises an exception") : false;
	}
	if (!while_close(l, &next, err))
		return false;
	if (next.known)
		return cond_refuse(&l->k, "its test says the same of all tensors");
	*again = next.node;
	if (!cond_same(l->t, handled, l->t->vm->handled))
		return cond_refuse(&l->k, "a round leaves an exception being handled");
	return true;
}

static bool is_alike(struct while_loop *l, const struct carried *c)
{
	const struct graph *g = l->t->graph;
	const struct node *was = g->nodes[c->init], *is = g->nodes[c->next];

	if (is->dtype != was->dtype || !shape_equal(&is->shape, &was->shape))
		return cond_refuse(&l->k, "a tensor has another %s after a round",
				   is->dtype != was->dtype ? "dtype" : "shape");
	return true;
}

/* What each place is in the next round. */
static bool find_next(struct while_loop *l, struct err *err)
{
	for (size_t i = 0; i < l->carried.len; i++) {
		struct carried *c = &l->carried.at[i];
		struct value now;

		if (c->value < 0) /* known with the place */
			continue;
		if (!place_now(l, c, &now, err))
			return false;
		if (now.kind == VALUE_LAZY && !variables_read(l->t, (int)now.i, &now, err))
			return false;
		if (c->number ? number_type(now) != number_type(c->start)
			      : now.kind != VALUE_TENSOR)
			return cond_refuse(&l->k, "a %s is something else in a later round",
					   value_type_name(c->start));
		c->next = c->number ? deferred_node(l->t, now, err) : trace_node(l->t, now, err);
		if (c->next < 0 || !is_alike(l, c))
			return false;
	}
	return true;
}

static bool carry_only(struct while_loop *l, enum carried_kind kind, int index, int init, int next,
		       struct err *err)
{
	struct carried c = { .note = { kind, index, 0 },
			     .start = { .kind = VALUE_UNSET },
			     .init = init,
			     .value = -1,
			     .next = next };

	if (init < 0 || next < 0)
		return false;
	return VEC_PUSH(&l->carried, c) || trace_no_memory(err);
}

/* A loop of the graph has no backward: what requires a gradient does not go round. */
static bool has_no_gradient(struct while_loop *l, struct err *err)
{
	const struct graph *g = l->t->graph;
	const bool *tracked;
	bool floats = false, any = false;

	for (size_t i = 0; i < l->carried.len; i++)
		floats |= !l->carried.at[i].number &&
			  dtype_category(g->nodes[l->carried.at[i].init]->dtype) == CATEGORY_FLOAT;
	if (!floats || !trace_records(l->t))
		return true;
	tracked = trace_tracked(l->t, err);
	for (int id = l->first; tracked && id < g->n_nodes; id++)
		for (int i = 0; i < g->nodes[id]->n_args; i++) {
			const struct arg *a = &g->nodes[id]->args[i];

			any |= a->kind == ARG_NODE && a->node < l->first && tracked[a->node];
		}
	return tracked && (!any || cond_refuse(&l->k, "a tensor in it requires a gradient"));
}

/* ---- What a round left otherwise than it found it.
 *
 * Tensors and numbers are noted, to be carried in the next attempt; all else makes
 * the loop fail. */

static bool is_carried(const struct while_loop *l, enum carried_kind kind, int index, int item)
{
	for (size_t i = 0; i < l->carried.len; i++)
		if (l->carried.at[i].note.kind == kind && l->carried.at[i].note.index == index &&
		    l->carried.at[i].note.item == item)
			return true;
	return false;
}

/* Written in place, as the attempt before has seen. */
static bool is_carried_tensor(const struct while_loop *l, struct value tensor)
{
	for (size_t i = 0; i < l->carried.len; i++)
		if (l->carried.at[i].note.kind >= CARRIED_ROOT &&
		    l->carried.at[i].start.tensor == tensor.tensor)
			return true;
	return false;
}

static bool note_place(struct while_loop *l, enum carried_kind kind, int index, int item,
		       bool *found, struct err *err)
{
	struct while_loop_note *note = loop_noted(l->t, l->k.inst);

	if (!note)
		return trace_no_memory(err);
	if (note->n_places == MAX_CARRIED)
		return cond_refuse(&l->k, "over %d values change from round to round", MAX_CARRIED);
	note->places[note->n_places++] = (struct carried_place){ kind, index, item };
	*found = true;
	return true;
}

/* Zeros of its form: no program sees them. */
static int stand_in(struct while_loop *l, int like, struct err *err)
{
	static const double none[2];
	struct graph *g = l->t->graph;
	const struct node *n = g->nodes[like];
	const struct shape scalar = { .rank = 0 };
	struct arg args[3] = { arg_node(graph_constant(g, n->dtype, &scalar, none)),
			       arg_ints(n->shape.size, n->shape.rank), arg_dtype(n->dtype) };

	if (args[0].node < 0) {
		trace_no_memory(err);
		return -1;
	}
	return while_add(l, OP_new_zeros, args, 3, "", err);
}

/* Set by a round, and read after the loop: Python raises where there was none. */
static bool check_first(struct while_loop *l, int index, struct err *err)
{
	struct frame *f = l->k.frame;
	struct value now = f->locals[index];
	const bool *live = live_locals(f->code, l->at.body, l->t->graph->arena);
	int next;

	if (!live)
		return trace_no_memory(err);
	if (now.kind == VALUE_LAZY && !variables_read(l->t, (int)now.i, &now, err))
		return false;
	if (live[index] || (now.kind != VALUE_TENSOR && number_type(now) == VALUE_UNSET))
		return cond_refuse(&l->k, "`%s` is set for the first time inside it",
				   f->code->locals[index]);
	next = now.kind == VALUE_TENSOR ? trace_node(l->t, now, err)
					: deferred_node(l->t, now, err);
	if (next < 0 || !carry_only(l, CARRIED_FIRST, index, stand_in(l, next, err), next, err))
		return false;
	l->carried.at[l->carried.len - 1].number = now.kind != VALUE_TENSOR;
	return true;
}

/* What a round has changed. */
struct changed_place {
	struct carried_place place;
	const char *name; /* for messages */
	struct value before, now;
};

/* A loop can carry numbers and tensors. */
static bool check_value(struct while_loop *l, const struct changed_place *c, bool *found,
			struct err *err)
{
	struct value before = c->before, now = c->now;
	struct trace *t = l->t;

	if ((before.kind == VALUE_LAZY && !variables_read(t, (int)before.i, &before, err)) ||
	    (now.kind == VALUE_LAZY && !variables_read(t, (int)now.i, &now, err)))
		return false;
	if (before.kind == VALUE_TENSOR
		? now.kind == VALUE_TENSOR
		: number_type(before) != VALUE_UNSET && number_type(before) == number_type(now))
		return note_place(l, c->place.kind, c->place.index, c->place.item, found, err);
	return cond_refuse(&l->k, "`%s` (%s) changes from round to round", c->name,
			   value_type_name(before));
}

static bool check_local(struct while_loop *l, int index, bool *found, struct err *err)
{
	struct value before = l->k.before.locals[index], now = l->k.frame->locals[index];

	if (is_carried(l, CARRIED_LOCAL, index, 0) || cond_same(l->t, before, now))
		return true;
	if (before.kind == VALUE_UNSET)
		return check_first(l, index, err);
	return check_value(
	    l,
	    &(struct changed_place){
		{ CARRIED_LOCAL, index, 0 }, l->k.frame->code->locals[index], before, now },
	    found, err);
}

static bool check_frame(struct while_loop *l, bool *found, struct err *err)
{
	const struct cond_place *before = &l->k.before;
	const struct frame *f = l->k.frame;
	const bool *live = live_locals(f->code, (int)(l->k.inst - f->code->insts),
				       l->t->graph->arena);

	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && !check_local(l, i, found, err))
			return false;
	for (int i = 0; i < f->code->n_cells; i++)
		if (!cond_same(l->t, before->cells[i], f->cells[i]))
			return cond_refuse(&l->k, "a round makes a variable of a closure again");
	if (before->n_stack != f->top - f->stack)
		return cond_refuse(&l->k, "a round leaves another operand stack");
	for (int i = 0; i < before->n_stack; i++)
		if (!cond_same(l->t, before->stack[i], f->stack[i]))
			return cond_refuse(&l->k,
					   "a round changes what waits on the operand stack");
	return true;
}

/* A tensor written in place: an argument, a constant, or one that a local holds. */
static bool note_written(struct while_loop *l, struct value tensor, bool *found, struct err *err)
{
	int source = trace_source(l->t, tensor), lifted = trace_lifted(l->t, tensor);
	const struct frame *f = l->k.frame;

	if (source >= 0)
		return note_place(l, CARRIED_SOURCE, source, 0, found, err);
	if (lifted >= 0)
		return note_place(l, CARRIED_LIFTED, lifted, 0, found, err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (l->k.before.locals[i].kind == VALUE_TENSOR &&
		    while_loop_root(l->t, l->k.before.locals[i]).tensor == tensor.tensor)
			return note_place(l, CARRIED_ROOT, i, 0, found, err);
	return cond_refuse(&l->k, "a round writes to a tensor that no local variable holds");
}

static bool check_writes(struct while_loop *l, bool *found, struct err *err)
{
	struct cond *k = &l->k;

	for (size_t i = 0; i < k->writes.len; i++) {
		struct cond_write before = k->writes.at[i];
		struct cond_write now = cond_write_read(l->t, before.tensor);

		if (now.writes != before.writes && !is_carried_tensor(l, before.tensor) &&
		    !note_written(l, before.tensor, found, err))
			return false;
	}
	return true;
}

static bool check_globals(struct while_loop *l, bool *found, struct err *err)
{
	struct trace *t = l->t;

	for (size_t i = 0; i < t->globals.len; i++) {
		struct value before = cond_global_before(&l->k, i), now = t->globals.at[i].stand_in;
		int index = t->globals.at[i].index;

		if (cond_same(t, before, now) || is_carried(l, CARRIED_GLOBAL, index, 0))
			continue;
		if (!check_value(
			l,
			&(struct changed_place){
			    { CARRIED_GLOBAL, index, 0 }, t->vm->globals[index].name, before, now },
			found, err))
			return false;
	}
	return true;
}

/* One that has as many items as before, under the same keys. */
static bool check_items(struct while_loop *l, const struct cond_content *before,
			const struct cond_content *now, bool *found, struct err *err)
{
	int object = while_object_index(l->t, before->object);
	const char *type = value_type_name(before->object);

	if (before->n != now->n)
		return cond_refuse(&l->k, "a round gives a %s another length", type);
	for (int i = 0; i < before->n; i++) {
		struct changed_place c = { .place = { CARRIED_PART, object, i },
					   .name = type,
					   .before = before->values[i],
					   .now = now->values[i] };

		if (before->keys && !cond_same(l->t, before->keys[i], now->keys[i]))
			return cond_refuse(&l->k, "a round gives a %s other keys", type);
		if (cond_same(l->t, c.before, c.now) || is_carried(l, CARRIED_PART, object, i))
			continue;
		if (before->keys && before->keys[i].kind == VALUE_STR)
			c.name = before->keys[i].str->text;
		if (!check_value(l, &c, found, err))
			return false;
	}
	return true;
}

static bool check_contents(struct while_loop *l, bool *found, struct err *err)
{
	for (size_t i = 0; i < l->k.contents.len; i++) {
		struct cond_content before = l->k.contents.at[i], now; /* the list may grow */
		bool ok = cond_content_read(before.object, &now) || trace_no_memory(err);

		if (ok &&
		    (before.position != now.position ||
		     (!cond_content_same(l->t, &before, &now) &&
		      (before.object.kind == VALUE_ITER || before.object.kind == VALUE_GENERATOR))))
			ok = cond_refuse(&l->k, "a round changes a %s",
					 value_type_name(before.object));
		ok = ok && check_items(l, &before, &now, found, err);
		cond_content_drop(&now);
		if (!ok)
			return false;
	}
	return true;
}

/* What a round asserts: the loop ends where it does not hold, and eager raises. */
static bool check_asserts(struct while_loop *l, int *again, struct err *err)
{
	struct trace *t = l->t;
	int all = -1, before;

	if (t->asserts.len == l->n_asserts)
		return true;
	for (size_t i = l->n_asserts; i < t->asserts.len; i++) {
		int one = flatten(l, t->asserts.at[i], err);

		all = while_add_two(l, OP_logical_and, all < 0 ? one : all, one, err);
		if (all < 0)
			return false;
	}
	t->asserts.len = l->n_asserts;
	before = while_invert(l, stand_in(l, all, err), err); /* true */
	*again = while_add_two(l, OP_logical_and, *again, all, err);
	return *again >= 0 && carry_only(l, CARRIED_CHECK, 0, before, all, err);
}

static bool check_round(struct while_loop *l, int *again, bool *found, struct err *err)
{
	size_t n_carried = l->carried.len;

	*found = false;
	if (!check_frame(l, found, err) || !check_writes(l, found, err) ||
	    !check_globals(l, found, err) || !check_contents(l, found, err) ||
	    !check_asserts(l, again, err))
		return false;
	if (l->t->prints.len != l->n_prints)
		return cond_refuse(&l->k, "a round prints");
	for (size_t i = n_carried; i < l->carried.len && !*found; i++)
		if (l->carried.at[i].note.kind == CARRIED_FIRST)
			return deferred_expect(l->t, l->test, true, err);
	return true;
}

/* ---- The nodes of the graph. */

/* The body as a graph of its own; `operands` are what goes round, then what it
 * only reads. */
static struct loop *extract_body(struct while_loop *l, int again, int *operands, int *n_operands)
{
	struct graph *g = l->t->graph;
	struct loop *loop = ARENA_NEW(g->arena, struct loop);
	bool *inside = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes);
	int n = (int)l->carried.len, *nodes, *reads, outputs[MAX_CARRIED + 3] = { again };
	const char **names;
	struct graph *body;

	if (!loop || !inside)
		return NULL;
	for (int i = 0; i < n; i++)
		outputs[i + 1] = l->carried.at[i].next;
	for (int id = l->first; id < g->n_nodes; id++)
		inside[id] = true;
	for (int i = 0; i < n; i++)
		if (l->carried.at[i].value >= 0)
			inside[l->carried.at[i].value] = false;
	body = graph_extract(g, inside, outputs, n + 1, g->arena, &nodes);
	reads = body ? ARENA_ARRAY(g->arena, int, (size_t)body->n_inputs + 1) : NULL;
	names = reads ? ARENA_ARRAY(g->arena, const char *, (size_t)body->n_inputs + 1) : NULL;
	if (!names)
		return NULL;
	for (int i = 0; i < n; i++)
		operands[i] = l->carried.at[i].init;
	*n_operands = n;
	for (int i = 0; i < body->n_inputs; i++) {
		int at = 0;

		while (at < n && l->carried.at[at].value != nodes[i])
			at++;
		reads[i] = at < n ? at : *n_operands;
		names[i] = g->nodes[nodes[i]]->name;
		if (at == n)
			operands[(*n_operands)++] = nodes[i];
	}
	*loop = (struct loop){ .body = body, .n_carried = n, .reads = reads, .names = names };
	return loop;
}

static int add_loop(struct while_loop *l, int again, struct err *err)
{
	struct graph *g = l->t->graph;
	int *operands = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + l->carried.len);
	struct arg args[2];
	struct loop *loop;
	int n, node;

	loop = operands ? extract_body(l, again, operands, &n) : NULL;
	if (!loop) {
		trace_no_memory(err);
		return -1;
	}
	args[0] = arg_node(trace_node(l->t, l->k.condition, err));
	args[1] = arg_node(loop_operands(g, operands, n, l->k.inst->line, l->k.inst->column, err));
	if (args[0].node < 0 || args[1].node < 0)
		return -1;
	node = while_add(l, OP_while_loop, args, 2, "while_loop", err);
	if (node >= 0)
		g->nodes[node]->loop = loop;
	return node;
}

/* The frame after the loop. */
static bool leave_loop(struct while_loop *l, int loop, struct err *err)
{
	struct trace *t = l->t;
	struct frame *f = l->k.frame;
	const bool *live = live_locals(f->code, l->at.end, t->graph->arena);

	if (!live || !cond_restore(&l->k))
		return trace_no_memory(err);
	for (size_t i = 0; i < l->carried.len; i++) {
		struct arg args[2] = { arg_node(loop), arg_int(t->graph, (int64_t)i) };
		int node = while_add(l, OP_loop_result, args, 2, "getitem", err);

		if (node < 0)
			return false;
		if (!place_put(l, &l->carried.at[i], node, true, err))
			return false;
	}
	for (int i = 0; i < f->code->n_locals; i++)
		if (!live[i]) {
			value_unref(f->locals[i]);
			f->locals[i].kind = VALUE_UNSET;
		}
	f->inst = f->code->insts + l->at.end;
	return true;
}

/* Choices of the body's own values are of no use after it. */
static void drop_choices(struct trace *t, size_t from)
{
	while (t->choices.len > from) {
		const struct trace_choice *c = &t->choices.at[--t->choices.len];

		value_unref(c->merged);
		value_unref(c->condition);
		value_unref(c->of[0]);
		value_unref(c->of[1]);
	}
}

static bool capture_loop(struct while_loop *l, struct err *err)
{
	struct trace *t = l->t;
	size_t n_choices = t->choices.len;
	int again = -1, loop;
	bool found;

	t->cond = &l->k;
	if (!enter(l, err) || !carry_all(l, err) || !run_round(l, &again, err) ||
	    !check_round(l, &again, &found, err))
		return false;
	if (found)
		return try_again(t, err);
	if (!find_next(l, err) || !has_no_gradient(l, err))
		return false;
	if (l->carried.len == 0)
		return cond_refuse(&l->k, "no round changes what it tests");
	drop_choices(t, n_choices);
	if (!carry_only(l, CARRIED_MORE, 0, trace_node(t, l->k.condition, err), again, err))
		return false;
	loop = add_loop(l, again, err);
	return loop >= 0 && leave_loop(l, loop, err);
}

bool while_loop_try(struct trace *t, struct frame *f, bool *handled, struct err *err)
{
	struct while_loop l = { .k = { .up = t->cond,
				       .trace = t,
				       .frame = f,
				       .inst = f->inst,
				       .birth = t->vm->heap->births,
				       .tensor_birth = t->n_tensors,
				       .is_loop = true,
				       .condition = { .kind = VALUE_UNSET } },
				.t = t,
				.n_asserts = t->asserts.len,
				.n_prints = t->prints.len };
	const struct while_loop *open = while_loop_around(&l.k);
	bool ok;

	*handled = false;
	if (f->generator || while_loop_refusal(t, f->inst) ||
	    !while_shape_find(f, t->graph->arena, &l.at))
		return true;
	if (open && open->at.last == l.at.last) /* another way out of it */
		return true;
	ok = capture_loop(&l, err);
	t->cond = l.k.up;
	*handled = ok;
	if (!ok && l.k.why[0])
		refuse_loop(t, l.k.inst, l.k.why, err);
	else if (!ok && err->code == ERR_NONE)
		trace_no_memory(err);
	for (size_t i = 0; i < l.carried.len; i++)
		value_unref(l.carried.at[i].start);
	VEC_FREE(&l.carried);
	cond_finish(&l.k);
	return ok;
}
