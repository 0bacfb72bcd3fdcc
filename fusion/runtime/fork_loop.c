/* fusion/runtime/fork_loop.c -- a while loop on a tensor, as a loop of the graph.
 *
 * The test stands before the loop and again at its end.  From the first one on the
 * body is captured once, up to the other.  What a round leaves otherwise than it
 * found it is CARRIED: it has to be a tensor of the same sizes and dtype.  Which
 * places those are shows at the end of a round; then the attempt starts anew, with
 * a node in each that stands for whatever the round before has left.
 *
 * What cannot be a loop is tried as branches, one round in the side of another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"
#include "fusion/runtime/fork.h"
#include "fusion/runtime/live.h"
#include "fusion/runtime/prints.h"

struct shape_of_loop {
	int body, test, end; /* instructions: where a round begins, its test's jump, behind */
	bool while_true;     /* the test holds where the loop goes on */
};

struct carried {
	struct fork_place_note note;
	struct value tensor; /* what it is in the first round: a reference */
	int init, value;     /* nodes: before the loop, in its body */
};

struct looper {
	struct fork k;
	struct trace *t;
	struct shape_of_loop at;
	VEC(struct carried) carried;
	int first; /* node of the body */
	size_t n_asserts, n_prints; /* before it */
};

static bool is_jump_if(const struct lang_inst *inst)
{
	return inst->op == CODE_JUMP_IF_FALSE || inst->op == CODE_JUMP_IF_TRUE;
}

/* The jump out of the test before the loop: the one of the test at its end goes
 * back to right behind it, else on to the same place. */
static bool find_shape(const struct frame *f, struct shape_of_loop *out)
{
	const struct lang_inst *at = f->inst, *insts = f->code->insts;
	int body = (int)(at - insts) + 1;
	const struct lang_inst *last = insts + at->arg - 1;

	if (at->arg <= body || !is_jump_if(last) || last->arg != body || last->op == at->op)
		return false;
	*out = (struct shape_of_loop){ .body = body,
				       .test = at->arg - 1,
				       .end = at->arg,
				       .while_true = at->op == CODE_JUMP_IF_FALSE };
	return true;
}

static const struct fork_loop *known_loop(const struct trace *t, const struct lang_inst *inst)
{
	for (size_t i = 0; i < t->loops.len; i++)
		if (t->loops.at[i].inst == inst)
			return &t->loops.at[i];
	return NULL;
}

const char *fork_loop_refusal(const struct trace *t, const struct lang_inst *inst)
{
	const struct fork_loop *known = known_loop(t, inst);

	return known && known->why[0] ? known->why : NULL;
}

/* For the next attempt. */
static struct fork_loop *note_loop(struct trace *t, const struct lang_inst *inst)
{
	struct fork_loop fresh = { .inst = inst };

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
	struct fork_loop *note = note_loop(t, inst);

	if (!note)
		return trace_no_memory(err);
	snprintf(note->why, sizeof(note->why), "%s", why);
	return try_again(t, err);
}

/* ---- what goes round ---- */

/* A tensor that is written, or the one whose memory a written view is of. */
static struct value written_root(const struct trace *t, struct value tensor)
{
	if (tensor.tensor->owner == t->serial && tensor.tensor->view)
		return tensor.tensor->view->base;
	return tensor;
}

static bool find_tensor(struct looper *l, const struct fork_place_note *note, struct value *out)
{
	struct trace *t = l->t;
	struct value v = { .kind = VALUE_UNSET };

	switch (note->kind) {
	case CARRIED_LOCAL:
	case CARRIED_ROOT:
		v = l->k.frame->locals[note->index];
		if (v.kind == VALUE_LAZY && !world_read(t, (int)v.i, &v, NULL))
			return false;
		break;
	case CARRIED_SLOT:
		v = t->slots->at[note->index].stand;
		break;
	case CARRIED_LIFTED:
		if (note->index < (int)t->lifted.len)
			v = t->lifted.at[note->index].value;
		break;
	}
	if (v.kind != VALUE_TENSOR)
		return fork_refuse(&l->k, "what goes round in it is no tensor at its start");
	*out = note->kind == CARRIED_ROOT ? written_root(t, v) : v;
	return true;
}

static int add_node(struct looper *l, enum op op, const struct arg *args, int n, const char *fx,
		    struct err *err)
{
	struct trace *t = l->t;
	int node = graph_add(t->graph, op, args, n, l->k.inst->line, l->k.inst->column, err);

	if (node < 0)
		return -1;
	if (!graph_set_fx(t->graph, node, fx)) {
		trace_no_memory(err);
		return -1;
	}
	t->n_ops += fx[0] != '\0';
	return node;
}

/* What a loop reads is a value of the graph, never a constant that each kernel has
 * for itself. */
static int operand_node(struct looper *l, struct value tensor, struct err *err)
{
	int node = trace_node(l->t, tensor, err);
	struct arg of = arg_node(node);

	if (node < 0 || op_info(l->t->graph->nodes[node]->op)->kind != KIND_CONSTANT)
		return node;
	return add_node(l, OP_clone, &of, 1, "", err);
}

/* An in-place op on what a round found in a local would be one on that very object,
 * which another name may have. */
static bool add_choice(struct looper *l, struct value merged, struct value a, struct value b,
		       struct err *err)
{
	struct fork_choice c = { .merged = merged,
				 .condition = l->k.condition,
				 .of = { a, b },
				 .inst = l->k.inst };

	if (!VEC_PUSH(&l->t->choices, c))
		return trace_no_memory(err);
	value_ref(c.merged);
	value_ref(c.condition);
	value_ref(c.of[0]);
	value_ref(c.of[1]);
	return true;
}

static void set_local(struct frame *f, int index, struct value v)
{
	struct value old = f->locals[index];

	f->locals[index] = v;
	value_unref(old);
}

static bool carry(struct looper *l, struct carried *c, struct err *err)
{
	struct trace *t = l->t;
	struct arg init = arg_node(c->init);
	struct value v;

	c->value = add_node(l, OP_loop_carried, &init, 1, "", err);
	if (c->value < 0)
		return false;
	if (c->note.kind != CARRIED_LOCAL)
		return trace_rewrite(t, c->tensor, c->value, true) || trace_no_memory(err);
	if (!trace_wrap(t, c->value, &v, err))
		return false;
	set_local(l->k.frame, c->note.index, v);
	return add_choice(l, v, c->tensor, c->tensor, err);
}

/* First what they all are, then a node for each in the body. */
static bool carry_all(struct looper *l, struct err *err)
{
	const struct fork_loop *known = known_loop(l->t, l->k.inst);

	for (int i = 0; known && i < known->n_places; i++) { /* no loop is noted meanwhile */
		struct carried c = { .note = known->places[i], .init = -1, .value = -1 };

		if (!find_tensor(l, &c.note, &c.tensor))
			return l->k.why[0] ? false : trace_no_memory(err);
		c.init = operand_node(l, c.tensor, err);
		if (c.init < 0)
			return false;
		if (!VEC_PUSH(&l->carried, c))
			return trace_no_memory(err);
		value_ref(c.tensor);
	}
	l->first = l->t->graph->n_nodes;
	for (size_t i = 0; i < l->carried.len; i++)
		if (!carry(l, &l->carried.at[i], err))
			return false;
	return true;
}

static bool is_carried(const struct looper *l, enum carried_kind kind, int index)
{
	for (size_t i = 0; i < l->carried.len; i++)
		if (l->carried.at[i].note.kind == kind && l->carried.at[i].note.index == index)
			return true;
	return false;
}

static bool is_carried_tensor(const struct looper *l, struct value tensor)
{
	for (size_t i = 0; i < l->carried.len; i++)
		if (l->carried.at[i].note.kind != CARRIED_LOCAL &&
		    l->carried.at[i].tensor.tensor == tensor.tensor)
			return true;
	return false;
}

/* ---- what a round changed ---- */

static bool note_place(struct looper *l, enum carried_kind kind, int index, bool *found,
		       struct err *err)
{
	struct fork_loop *note = note_loop(l->t, l->k.inst);

	if (!note)
		return trace_no_memory(err);
	if (note->n_places == MAX_CARRIED)
		return fork_refuse(&l->k, "over %d tensors change from round to round", MAX_CARRIED);
	note->places[note->n_places++] = (struct fork_place_note){ kind, index };
	*found = true;
	return true;
}

static bool check_local(struct looper *l, int index, bool *found, struct err *err)
{
	struct trace *t = l->t;
	struct value before = l->k.before.locals[index], now = l->k.frame->locals[index];
	const char *name = l->k.frame->code->locals[index];

	if (is_carried(l, CARRIED_LOCAL, index) || fork_same(t, before, now))
		return true;
	if (before.kind == VALUE_LAZY && !world_read(t, (int)before.i, &before, err))
		return false;
	if (before.kind == VALUE_UNSET)
		return fork_refuse(&l->k, "`%s` is set for the first time inside it", name);
	if (before.kind != VALUE_TENSOR || now.kind != VALUE_TENSOR)
		return fork_refuse(&l->k, "`%s` (%s) changes from round to round", name,
				   value_type_name(before));
	return note_place(l, CARRIED_LOCAL, index, found, err);
}

static bool check_frame(struct looper *l, bool *found, struct err *err)
{
	const struct fork_place *before = &l->k.before;
	const struct frame *f = l->k.frame;
	const bool *live = live_locals(f->code, (int)(l->k.inst - f->code->insts),
				       l->t->graph->arena);

	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && !check_local(l, i, found, err))
			return false;
	for (int i = 0; i < f->code->n_cells; i++)
		if (!fork_same(l->t, before->cells[i], f->cells[i]))
			return fork_refuse(&l->k, "a round makes a variable of a closure anew");
	if (before->n_stack != f->top - f->stack)
		return fork_refuse(&l->k, "a round leaves another operand stack");
	for (int i = 0; i < before->n_stack; i++)
		if (!fork_same(l->t, before->stack[i], f->stack[i]))
			return fork_refuse(&l->k, "a round changes what waits on the operand stack");
	return true;
}

/* A tensor written in place: an argument, a constant, or one that a local holds. */
static bool note_written(struct looper *l, struct value tensor, bool *found, struct err *err)
{
	int slot = trace_slot(l->t, tensor), lifted = trace_lifted(l->t, tensor);
	const struct frame *f = l->k.frame;

	if (slot >= 0)
		return note_place(l, CARRIED_SLOT, slot, found, err);
	if (lifted >= 0)
		return note_place(l, CARRIED_LIFTED, lifted, found, err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (l->k.before.locals[i].kind == VALUE_TENSOR &&
		    written_root(l->t, l->k.before.locals[i]).tensor == tensor.tensor)
			return note_place(l, CARRIED_ROOT, i, found, err);
	return fork_refuse(&l->k, "a round writes to a tensor that no local variable holds");
}

static bool check_writes(struct looper *l, bool *found, struct err *err)
{
	struct fork *k = &l->k;

	for (size_t i = 0; i < k->writes.len; i++) {
		struct fork_write before = k->writes.at[i];
		struct fork_write now = fork_write_read(l->t, before.tensor);

		if (now.writes != before.writes && !is_carried_tensor(l, before.tensor) &&
		    !note_written(l, before.tensor, found, err))
			return false;
	}
	return true;
}

static bool check_rest(struct looper *l, struct err *err)
{
	struct fork *k = &l->k;
	struct trace *t = l->t;

	for (size_t i = 0; i < t->globals.len; i++)
		if (!fork_same(t, fork_global_before(k, i), t->globals.at[i].stand))
			return fork_refuse(k, "a round changes a global");
	for (size_t i = 0; i < k->contents.len; i++) {
		struct fork_content now;
		bool same = false, ok = fork_content_read(k->contents.at[i].object, &now);

		if (ok)
			same = fork_content_same(t, &k->contents.at[i], &now);
		fork_content_drop(&now);
		if (!ok)
			return trace_no_memory(err);
		if (!same)
			return fork_refuse(k, "a round changes a %s",
					   value_type_name(k->contents.at[i].object));
	}
	if (t->asserts.len != l->n_asserts)
		return fork_refuse(k, "a round asserts something of a tensor");
	if (t->prints.len != l->n_prints)
		return fork_refuse(k, "a round prints");
	return true;
}

/* ---- a round ---- */

static bool run_body(struct looper *l, struct err *err)
{
	struct frame *f = l->k.frame;
	bool *stops = ARENA_ARRAY(l->t->graph->arena, bool, (size_t)f->code->n_insts);
	struct value handled = l->t->vm->handled;

	if (!stops)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_insts; i++)
		stops[i] = f->code->insts[i].op == CODE_RETURN;
	stops[l->at.test] = stops[l->at.end] = true;
	f->inst = f->code->insts + l->at.body;
	if (!vm_run_side(l->t->vm, f, stops, err))
		return fork_side_failed(&l->k, err);
	if (f->inst != f->code->insts + l->at.test)
		return fork_refuse(&l->k, "it is left from inside");
	if (!fork_same(l->t, handled, l->t->vm->handled))
		return fork_refuse(&l->k, "a round leaves an exception being handled");
	return true;
}

/* Whether the loop goes on, as a bool of no dims; pops the test's value. */
static bool make_test(struct looper *l, struct value *out, struct err *err)
{
	struct frame *f = l->k.frame;
	struct value test = f->top[-1];

	if (test.kind != VALUE_TENSOR || !fork_is_single(l->t, test))
		return fork_refuse(&l->k, "its test is no tensor of one element");
	if (!fork_condition(l->t, test, l->at.while_true ? OP_ne : OP_eq, out, err))
		return false;
	value_unref(*--f->top);
	return true;
}

/* What each place is in the next round: outputs of the body. */
static bool find_next(struct looper *l, int *outputs, struct err *err)
{
	const struct graph *g = l->t->graph;

	for (size_t i = 0; i < l->carried.len; i++) {
		const struct carried *c = &l->carried.at[i];
		const struct node *was = g->nodes[c->init], *is;
		struct value now = c->tensor;

		if (c->note.kind == CARRIED_LOCAL)
			now = l->k.frame->locals[c->note.index];
		if (now.kind != VALUE_TENSOR)
			return fork_refuse(&l->k, "a variable is a tensor in its first round only");
		outputs[i] = trace_node(l->t, now, err);
		if (outputs[i] < 0)
			return false;
		is = g->nodes[outputs[i]];
		if (is->dtype != was->dtype || !shape_equal(&is->shape, &was->shape))
			return fork_refuse(&l->k,
					   "a tensor has another %s after a round",
					   is->dtype != was->dtype ? "dtype" : "shape");
	}
	return true;
}

/* ---- the nodes ---- */

/* The body as a graph of its own; `operands` are what goes round, then what it
 * only reads. */
static struct loop *extract_body(struct looper *l, const int *outputs, int *operands,
				 int *n_operands)
{
	struct graph *g = l->t->graph;
	struct loop *loop = ARENA_NEW(g->arena, struct loop);
	bool *inside = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes);
	int n = (int)l->carried.len, *nodes, *reads;
	struct graph *body;

	if (!loop || !inside)
		return NULL;
	for (int id = l->first; id < g->n_nodes; id++)
		inside[id] = true;
	for (int i = 0; i < n; i++)
		inside[l->carried.at[i].value] = false;
	body = graph_extract(g, inside, outputs, n + 1, g->arena, &nodes);
	reads = body ? ARENA_ARRAY(g->arena, int, (size_t)body->n_inputs + 1) : NULL;
	if (!reads)
		return NULL;
	for (int i = 0; i < n; i++)
		operands[i] = l->carried.at[i].init;
	*n_operands = n;
	for (int i = 0; i < body->n_inputs; i++) {
		int at = 0;

		while (at < n && l->carried.at[at].value != nodes[i])
			at++;
		reads[i] = at < n ? at : *n_operands;
		if (at == n)
			operands[(*n_operands)++] = nodes[i];
	}
	*loop = (struct loop){ .body = body, .n_carried = n, .reads = reads };
	return loop;
}

static int add_loop(struct looper *l, const int *outputs, struct err *err)
{
	struct graph *g = l->t->graph;
	int *operands = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + l->carried.len);
	struct arg args[2];
	struct loop *loop;
	int n, node;

	loop = operands ? extract_body(l, outputs, operands, &n) : NULL;
	if (!loop) {
		trace_no_memory(err);
		return -1;
	}
	args[0] = arg_node(trace_node(l->t, l->k.condition, err));
	args[1] = arg_node(loop_operands(g, operands, n, l->k.inst->line, l->k.inst->column, err));
	if (args[0].node < 0 || args[1].node < 0)
		return -1;
	node = add_node(l, OP_while_loop, args, 2, "while_loop", err);
	if (node >= 0)
		g->nodes[node]->loop = loop;
	return node;
}

/* The frame behind the loop. */
static bool leave_loop(struct looper *l, int loop, struct err *err)
{
	struct trace *t = l->t;
	struct frame *f = l->k.frame;
	const bool *live = live_locals(f->code, l->at.end, t->graph->arena);

	if (!live || !fork_restore(&l->k))
		return trace_no_memory(err);
	for (size_t i = 0; i < l->carried.len; i++) {
		const struct carried *c = &l->carried.at[i];
		struct arg args[2] = { arg_node(loop), arg_int(t->graph, (int64_t)i) };
		int node = add_node(l, OP_loop_result, args, 2, "getitem", err);
		struct value v, alone;
		bool ok;

		if (node < 0)
			return false;
		if (c->note.kind != CARRIED_LOCAL) {
			if (!trace_rewrite(t, c->tensor, node, true))
				return trace_no_memory(err);
			continue;
		}
		if (!trace_wrap(t, node, &v, err))
			return false;
		set_local(f, c->note.index, v);
		if (!trace_wrap(t, node, &alone, err))
			return false;
		ok = add_choice(l, v, alone, c->tensor, err);
		value_unref(alone);
		if (!ok)
			return false;
	}
	for (int i = 0; i < f->code->n_locals; i++)
		if (!live[i])
			set_local(f, i, (struct value){ .kind = VALUE_UNSET });
	f->inst = f->code->insts + l->at.end;
	return true;
}

/* Choices of the body's own values are of no use behind it. */
static void drop_choices(struct trace *t, size_t from)
{
	while (t->choices.len > from) {
		const struct fork_choice *c = &t->choices.at[--t->choices.len];

		value_unref(c->merged);
		value_unref(c->condition);
		value_unref(c->of[0]);
		value_unref(c->of[1]);
	}
}

static bool capture_loop(struct looper *l, struct err *err)
{
	struct trace *t = l->t;
	struct value again = { .kind = VALUE_UNSET };
	size_t n_choices = t->choices.len;
	int outputs[MAX_CARRIED + 1], loop;
	bool found = false;

	if (!make_test(l, &l->k.condition, err) || !fork_save(&l->k))
		return false;
	t->fork = &l->k;
	l->n_asserts = t->asserts.len;
	l->n_prints = t->prints.len;
	if (!carry_all(l, err) || !run_body(l, err) || !make_test(l, &again, err))
		return false;
	outputs[0] = trace_node(t, again, err);
	value_unref(again);
	if (outputs[0] < 0 || !check_frame(l, &found, err) || !check_writes(l, &found, err) ||
	    !check_rest(l, err))
		return false;
	if (found)
		return try_again(t, err);
	if (!find_next(l, outputs + 1, err))
		return false;
	if (l->carried.len == 0)
		return fork_refuse(&l->k, "no round changes what it tests");
	drop_choices(t, n_choices);
	loop = add_loop(l, outputs, err);
	return loop >= 0 && leave_loop(l, loop, err);
}

bool fork_loop(struct trace *t, struct frame *f, bool *handled, struct err *err)
{
	struct looper l = { .k = { .up = t->fork,
				   .trace = t,
				   .frame = f,
				   .inst = f->inst,
				   .birth = t->vm->heap->births,
				   .tensor_birth = t->n_tensors,
				   .condition = { .kind = VALUE_UNSET } },
			    .t = t };
	bool ok;

	*handled = false;
	if (!find_shape(f, &l.at) || fork_loop_refusal(t, f->inst))
		return true;
	ok = capture_loop(&l, err);
	t->fork = l.k.up;
	*handled = ok;
	if (!ok && l.k.why[0])
		refuse_loop(t, l.k.inst, l.k.why, err);
	else if (!ok && err->code == ERR_NONE)
		trace_no_memory(err);
	for (size_t i = 0; i < l.carried.len; i++)
		value_unref(l.carried.at[i].tensor);
	VEC_FREE(&l.carried);
	fork_finish(&l.k);
	return ok;
}
