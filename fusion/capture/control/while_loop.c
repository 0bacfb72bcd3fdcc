/* fusion/capture/control/while_loop.c -- a while loop on a tensor, as a loop of the graph.
 *
 * From the test before the loop, or one that may leave it, the capture runs a round
 * once, up to where the test stands again.  What a round leaves otherwise than it
 * found it is CARRIED: a tensor of the same sizes and dtype, or a number.  Which
 * places those are shows at the end of a round; then the attempt starts anew, with
 * a node in each that stands for whatever the round before has left.
 *
 * What cannot be a loop is tried as branches, one round in the side of another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"
#include "fusion/capture/deferred.h"
#include "fusion/capture/control/while_loop.h"
#include "fusion/capture/live.h"
#include "fusion/capture/prints.h"

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

struct fork_loop *fork_loop_note(struct trace *t, const struct lang_inst *inst)
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
	struct fork_loop *note = fork_loop_note(t, inst);

	if (!note)
		return trace_no_memory(err);
	snprintf(note->why, sizeof(note->why), "%s", why);
	return try_again(t, err);
}

/* ---- what goes round ---- */

int loop_add(struct looper *l, enum op op, const struct arg *args, int n, const char *fx,
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
static int operand_node(struct looper *l, struct value v, struct err *err)
{
	int node = v.kind == VALUE_TENSOR ? trace_node(l->t, v, err) : late_node(l->t, v, err);
	struct arg of = arg_node(node);

	if (node < 0 || op_info(l->t->graph->nodes[node]->op)->kind != KIND_CONSTANT)
		return node;
	return loop_add(l, OP_clone, &of, 1, "", err);
}

/* What counts does so from 62 bits at most: rounds do not take it past 64. */
static bool has_room(struct looper *l, const struct carried *c, struct err *err)
{
	const int64_t most = (int64_t)1 << 62;

	if (c->start.kind == VALUE_INT)
		return (c->start.i < most && c->start.i > -most) ||
		       fork_refuse(&l->k, "an int is too large for the graph's");
	return loop_number_type(c->start) != VALUE_INT || late_within(l->t, c->init, 0x1p62, err);
}

/* First what they all are, then a node for each in the body. */
static bool carry_all(struct looper *l, struct err *err)
{
	const struct fork_loop *known = known_loop(l->t, l->k.inst);

	for (int i = 0; known && i < known->n_places; i++) {
		struct carried c = { .note = known->places[i], .init = -1, .value = -1 };

		if (!loop_place_find(l, &c, err))
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

		c->value = loop_add(l, OP_loop_carried, &init, 1, "", err);
		if (c->value < 0 || !loop_place_put(l, c, c->value, false, err))
			return false;
	}
	return true;
}

/* ---- a round ---- */

int loop_flatten(struct looper *l, int node, struct err *err)
{
	struct arg args[2] = { arg_node(node), arg_ints(NULL, 0) };

	return l->t->graph->nodes[node]->shape.rank == 0
		   ? node
		   : loop_add(l, OP_reshape, args, 2, "", err);
}

/* The loop stands in a side of a branch, or behind an assertion: it must not run
 * where the program does not get there, for it might not end. */
static int limit_entry(struct looper *l, int node, struct err *err)
{
	struct trace *t = l->t;
	const struct fork *k = l->k.up;

	for (; k && !k->is_loop && node >= 0; k = k->up) {
		int on = trace_node(t, k->condition, err);

		node = loop_add_two(l, OP_logical_and, node,
				    k->holds ? on : loop_invert(l, on, err), err);
	}
	for (size_t i = 0; !k && i < t->asserts.len && node >= 0; i++)
		node = loop_add_two(l, OP_logical_and, node, loop_flatten(l, t->asserts.at[i], err),
				    err);
	return node;
}

/* The test before the loop. */
static bool enter(struct looper *l, struct err *err)
{
	struct frame *f = l->k.frame;
	struct loop_verdict first;
	int node;
	bool ok;

	f->top -= 1 + l->at.below;
	ok = fork_save(&l->k);
	f->top += 1 + l->at.below;
	if (!ok || !loop_decide(l, 0, &first, err))
		return false;
	if (first.known)
		return fork_refuse(&l->k, "its test says the same of all tensors");
	l->test = first.node;
	node = limit_entry(l, first.node, err);
	return node >= 0 && trace_wrap(l->t, node, &l->k.condition, err);
}

/* A round, and whether there is another one. */
static bool run_round(struct looper *l, int *again, struct err *err)
{
	struct frame *f = l->k.frame;
	struct value handled = l->t->vm->handled;
	struct loop_verdict next;

	f->inst = f->code->insts + l->at.body;
	if (!vm_run_side(l->t->vm, f, l->at.again, err)) {
		fork_side_failed(&l->k, err);
		return l->k.raised ? fork_refuse(&l->k, "a round raises an exception") : false;
	}
	if (!loop_close(l, &next, err))
		return false;
	if (next.known)
		return fork_refuse(&l->k, "its test says the same of all tensors");
	*again = next.node;
	if (!fork_same(l->t, handled, l->t->vm->handled))
		return fork_refuse(&l->k, "a round leaves an exception being handled");
	return true;
}

static bool is_alike(struct looper *l, const struct carried *c)
{
	const struct graph *g = l->t->graph;
	const struct node *was = g->nodes[c->init], *is = g->nodes[c->next];

	if (is->dtype != was->dtype || !shape_equal(&is->shape, &was->shape))
		return fork_refuse(&l->k, "a tensor has another %s after a round",
				   is->dtype != was->dtype ? "dtype" : "shape");
	return true;
}

/* What each place is in the next round. */
static bool find_next(struct looper *l, struct err *err)
{
	for (size_t i = 0; i < l->carried.len; i++) {
		struct carried *c = &l->carried.at[i];
		struct value now;

		if (c->value < 0) /* known with the place */
			continue;
		if (!loop_place_now(l, c, &now, err))
			return false;
		if (now.kind == VALUE_LAZY && !world_read(l->t, (int)now.i, &now, err))
			return false;
		if (c->number ? loop_number_type(now) != loop_number_type(c->start)
			      : now.kind != VALUE_TENSOR)
			return fork_refuse(&l->k, "a %s is something else in a later round",
					   value_type_name(c->start));
		c->next = c->number ? late_node(l->t, now, err) : trace_node(l->t, now, err);
		if (c->next < 0 || !is_alike(l, c))
			return false;
	}
	return true;
}

bool loop_carry_only(struct looper *l, enum carried_kind kind, int index, int init, int next,
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
static bool has_no_gradient(struct looper *l, struct err *err)
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
	return tracked && (!any || fork_refuse(&l->k, "a tensor in it requires a gradient"));
}

/* ---- the nodes ---- */

/* The body as a graph of its own; `operands` are what goes round, then what it
 * only reads. */
static struct loop *extract_body(struct looper *l, int again, int *operands, int *n_operands)
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

static int add_loop(struct looper *l, int again, struct err *err)
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
	node = loop_add(l, OP_while_loop, args, 2, "while_loop", err);
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
		struct arg args[2] = { arg_node(loop), arg_int(t->graph, (int64_t)i) };
		int node = loop_add(l, OP_loop_result, args, 2, "getitem", err);

		if (node < 0)
			return false;
		if (!loop_place_put(l, &l->carried.at[i], node, true, err))
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
	size_t n_choices = t->choices.len;
	int again, loop;
	bool found;

	t->fork = &l->k;
	if (!enter(l, err) || !carry_all(l, err) || !run_round(l, &again, err) ||
	    !loop_round_check(l, &again, &found, err))
		return false;
	if (found)
		return try_again(t, err);
	if (!find_next(l, err) || !has_no_gradient(l, err))
		return false;
	if (l->carried.len == 0)
		return fork_refuse(&l->k, "no round changes what it tests");
	drop_choices(t, n_choices);
	if (!loop_carry_only(l, CARRIED_MORE, 0, trace_node(t, l->k.condition, err), again, err))
		return false;
	loop = add_loop(l, again, err);
	return loop >= 0 && leave_loop(l, loop, err);
}

struct looper *fork_loop_around(const struct fork *k)
{
	const struct fork *up = k->up;

	while (up && (!up->is_loop || up->frame != k->frame))
		up = up->up;
	return (struct looper *)up;
}

bool fork_loop(struct trace *t, struct frame *f, bool *handled, struct err *err)
{
	struct looper l = { .k = { .up = t->fork,
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
	const struct looper *open = fork_loop_around(&l.k);
	bool ok;

	*handled = false;
	if (f->generator || fork_loop_refusal(t, f->inst) ||
	    !loop_shape_find(f, t->graph->arena, &l.at))
		return true;
	if (open && open->at.last == l.at.last) /* another way out of it */
		return true;
	ok = capture_loop(&l, err);
	t->fork = l.k.up;
	*handled = ok;
	if (!ok && l.k.why[0])
		refuse_loop(t, l.k.inst, l.k.why, err);
	else if (!ok && err->code == ERR_NONE)
		trace_no_memory(err);
	for (size_t i = 0; i < l.carried.len; i++)
		value_unref(l.carried.at[i].start);
	VEC_FREE(&l.carried);
	fork_finish(&l.k);
	return ok;
}
