/* fusion/capture/control/while_loop.c -- a while loop on a tensor, as a loop of the graph.
 *
 * From the test before the loop, or one that may leave it, the capture runs a round
 * once, up to where the test stands again.  What a round leaves otherwise than it
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

/* ---- Finds the while loop that a jump belongs to.
 *
 * The test of a while is before the loop, where it leads into the first round
 * or after the loop, and again at the loop's end.  What is between the jumps
 * of a test (`0 < a < b and c`) only computes.  A jump inside of a loop that leaves
 * it (`if t: break`) is a test as well: a round then goes from there to there. */

static bool is_jump_if(const struct lang_inst *inst)
{
	return inst->op == CODE_JUMP_IF_FALSE || inst->op == CODE_JUMP_IF_TRUE;
}

static bool is_jump(const struct lang_inst *inst)
{
	return is_jump_if(inst) || inst->op == CODE_JUMP;
}

/* Another way through it leaves nothing behind. */
static bool only_computes(enum code_op op)
{
	switch (op) {
	case CODE_LOAD_CONST:
	case CODE_LOAD_FAST:
	case CODE_LOAD_GLOBAL:
	case CODE_LOAD_DEREF:
	case CODE_LOAD_ATTR:
	case CODE_BINARY_OP:
	case CODE_UNARY_OP:
	case CODE_COMPARE_OP:
	case CODE_BINARY_SUBSCR:
	case CODE_BUILD_TUPLE:
	case CODE_BUILD_LIST:
	case CODE_BUILD_SLICE:
	case CODE_CALL:
	case CODE_CALL_KW:
	case CODE_COPY:
	case CODE_SWAP:
	case CODE_POP:
	case CODE_JUMP:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
		return true;
	default:
		return false;
	}
}

static bool leads(const struct while_shape *s, const bool *decided, int to)
{
	return to == s->body || to == s->end || decided[to];
}

/* From which instructions all ways lead into a round or after the loop, and only
 * compute on them. */
static void find_decided(const struct code *code, const struct while_shape *s, bool *decided)
{
	bool changed = true;

	memset(decided, 0, sizeof(*decided) * (size_t)code->n_insts);
	while (changed) {
		changed = false;
		for (int i = code->n_insts - 2; i >= 0; i--) {
			const struct lang_inst *inst = &code->insts[i];
			bool is = only_computes(inst->op);

			if (is && is_jump(inst))
				is = leads(s, decided, inst->arg);
			if (is && inst->op != CODE_JUMP)
				is = leads(s, decided, i + 1);
			changed |= is && !decided[i];
			decided[i] |= is;
		}
	}
}

/* Where the program goes on after the last jump back. */
static int after_jump(const struct code *code, int last)
{
	int at = last + 1;

	while (at < code->n_insts && code->insts[at].op == CODE_JUMP && code->insts[at].arg > at)
		at = code->insts[at].arg;
	return at;
}

/* A loop is gone back to at its test and at its body. */
static int last_jump_to(const struct code *code, int from, int to)
{
	int last = -1;

	for (int i = to; i < code->n_insts; i++)
		if (is_jump(&code->insts[i]) && code->insts[i].arg >= from &&
		    code->insts[i].arg <= to)
			last = i;
	return last;
}

/* The jump is of a test before the loop. */
static bool find_before(const struct code *code, int at, struct while_shape *s, bool *decided)
{
	for (int body = at + 1; body < code->n_insts; body++) {
		int last = last_jump_to(code, body, body);

		if (last < 0)
			continue;
		*s = (struct while_shape){ .body = body,
					   .last = last,
					   .end = after_jump(code, last) };
		find_decided(code, s, decided);
		if (decided[at])
			return true;
	}
	return false;
}

/* Where a side of the jump leaves the loop for; -1: it stays. */
static int leaves(const struct code *code, int side, int last)
{
	const struct lang_inst *inst = &code->insts[side];

	if (side > last)
		return side;
	return inst->op == CODE_JUMP && inst->arg > last ? inst->arg : -1;
}

/* One side leaves the loop that ends with the jump back at `last`, the other stays. */
static bool leaves_one_way(const struct code *code, int at, int last, struct while_shape *out)
{
	int sides[2] = { at + 1, code->insts[at].arg }, to[2];

	for (int i = 0; i < 2; i++)
		to[i] = leaves(code, sides[i], last);
	*out = (struct while_shape){ .body = sides[to[0] < 0 ? 0 : 1],
				     .end = to[0] < 0 ? to[1] : to[0],
				     .last = last };
	return (to[0] < 0) != (to[1] < 0);
}

/* The innermost loop around it that it may leave. */
static bool find_inside(const struct code *code, int at, struct while_shape *s, bool *decided)
{
	for (int i = at; i < code->n_insts; i++) {
		if (!is_jump(&code->insts[i]) || code->insts[i].arg > at ||
		    !leaves_one_way(code, at, last_jump_to(code, code->insts[i].arg, at), s))
			continue;
		memset(decided, 0, sizeof(*decided) * (size_t)code->n_insts);
		decided[at] = true;
		return true;
	}
	return false;
}

/* How many operands the test keeps below the value that the jump takes: a chain of
 * comparisons has its middle there. */
static int operands_of(const struct code *code, const struct while_shape *s, int at)
{
	int below = 0;

	for (int i = at + 1; i != s->body && i != s->end;) {
		const struct lang_inst *inst = &code->insts[i];

		below -= code_effect(inst->op, inst->arg);
		i = inst->op == CODE_JUMP ? inst->arg : i + 1;
	}
	return below;
}

/* the loop that the JUMP_IF_* where f stands may go on or leave; false:
 * none, or out of memory. */
static bool while_shape_find(const struct frame *f, struct arena *arena, struct while_shape *out)
{
	const struct code *code = f->code;
	int at = (int)(f->inst - code->insts);
	size_t n = (size_t)code->n_insts;
	bool *tests = ARENA_ARRAY(arena, bool, n), *entry = ARENA_ARRAY(arena, bool, n);
	bool *again = ARENA_ARRAY(arena, bool, n);

	if (!tests || !entry || !again)
		return false;
	if (find_before(code, at, out, tests))
		out->below = operands_of(code, out, at);
	else if (!find_inside(code, at, out, tests))
		return false;
	for (int i = 0; i < code->n_insts; i++) {
		bool ends = i == out->end || code->insts[i].op == CODE_RETURN;

		tests[i] &= is_jump_if(&code->insts[i]);
		again[i] = ends || tests[i];
		entry[i] = again[i] || i == out->body;
	}
	out->entry = entry;
	out->again = again;
	out->tests = tests;
	return out->end < code->n_insts;
}

enum { MAX_BELOW = 8 }; /* operands of a test that wait */

/* ---- Whether a loop goes on: all ways through its test.
 *
 * `a and b or not c` is jumps; each condition that is a tensor is followed both
 * ways, which only computes, and the ways that lead into a round make one bool. */

int while_add_two(struct while_loop *l, enum op op, int a, int b, struct err *err)
{
	struct arg args[2] = { arg_node(a), arg_node(b) };

	return a < 0 || b < 0 ? -1 : while_add(l, op, args, op_info(op)->n_params, "", err);
}

int while_invert(struct while_loop *l, int node, struct err *err)
{
	return node < 0 ? -1 : while_add_two(l, OP_logical_not, node, node, err);
}

static int limit(struct while_loop *l, int condition, const struct while_verdict *side,
		 struct err *err)
{
	if (side->known)
		return condition;
	return while_add_two(l, OP_logical_and, condition, side->node, err);
}

bool while_choose(struct while_loop *l, int condition, const struct while_verdict *yes,
		  const struct while_verdict *no, struct while_verdict *out, struct err *err)
{
	int a = -1, b = -1;

	if (yes->known && no->known && yes->holds == no->holds) {
		*out = *yes;
		return true;
	}
	*out = (struct while_verdict){ .known = false };
	if (!yes->known || yes->holds)
		a = limit(l, condition, yes, err);
	if (!no->known || no->holds)
		b = limit(l, while_invert(l, condition, err), no, err);
	out->node = a < 0 ? b : b < 0 ? a : while_add_two(l, OP_logical_or, a, b, err);
	return out->node >= 0;
}

static bool while_decide(struct while_loop *l, int depth, struct while_verdict *out,
			 struct err *err);

/* From the instruction on: into a round, after the loop, or to the next jump. */
static bool follow(struct while_loop *l, int from, int depth, struct while_verdict *out,
		   struct err *err)
{
	struct frame *f = l->k.frame;
	int at;

	f->inst = f->code->insts + from;
	if (!vm_run_side(l->t->vm, f, l->at.entry, err)) {
		cond_side_failed(&l->k, err);
		return l->k.raised ? cond_refuse(&l->k, "its test may raise an exception") : false;
	}
	at = (int)(f->inst - f->code->insts);
	*out = (struct while_verdict){ .known = true, .holds = at == l->at.body };
	if (at == l->at.body || at == l->at.end)
		return f->top - f->stack == l->k.before.n_stack ||
		       cond_refuse(&l->k, "its test leaves another operand stack");
	if (f->inst->op == CODE_RETURN)
		return cond_refuse(&l->k, "its test returns");
	return while_decide(l, depth + 1, out, err);
}

/* What the test keeps on the operand stack is there for the other way, too. */
static bool follow_both(struct while_loop *l, const int to[2], int depth,
			struct while_verdict *sides, struct err *err)
{
	struct frame *f = l->k.frame;
	int n = (int)(f->top - f->stack) - l->k.before.n_stack;
	struct value kept[MAX_BELOW];
	bool ok;

	if (n < 0 || n > MAX_BELOW)
		return cond_refuse(&l->k, "its test is too long");
	for (int i = 0; i < n; i++)
		kept[i] = value_ref(f->top[i - n]);
	ok = follow(l, to[0], depth, &sides[0], err);
	for (int i = 0; i < n; i++) {
		if (ok)
			*f->top++ = kept[i];
		else
			value_unref(kept[i]);
	}
	return ok && follow(l, to[1], depth, &sides[1], err);
}

/* from the jump where the frame stands. */
static bool while_decide(struct while_loop *l, int depth, struct while_verdict *out,
			 struct err *err)
{
	struct frame *f = l->k.frame;
	const struct lang_inst *jump = f->inst;
	int yes = jump->op == CODE_JUMP_IF_TRUE ? jump->arg : (int)(jump - f->code->insts) + 1;
	int no = jump->op == CODE_JUMP_IF_TRUE ? (int)(jump - f->code->insts) + 1 : jump->arg;
	struct value test = f->top[-1], condition;
	struct while_verdict sides[2];
	int writes = l->t->n_writes, node;
	size_t prints = l->t->prints.len;

	if (depth > 16)
		return cond_refuse(&l->k, "its test is too long");
	if (test.kind == VALUE_BOOL) {
		f->top--;
		return follow(l, test.b ? yes : no, depth, out, err);
	}
	if (test.kind == VALUE_TENSOR ? !trace_is_single(l->t, test)
				      : !trace_is_deferred(l->t, test))
		return cond_refuse(&l->k, "its test is no tensor of one element");
	if (!cond_test(l->t, test, OP_ne, &condition, err))
		return false;
	value_unref(*--f->top);
	node = trace_node(l->t, condition, err);
	value_unref(condition);
	if (node < 0 || !follow_both(l, (int[2]){ yes, no }, depth, sides, err))
		return false;
	if (l->t->n_writes != writes || l->t->prints.len != prints)
		return cond_refuse(&l->k, "its test does more than compute");
	return while_choose(l, node, &sides[0], &sides[1], out, err);
}

bool while_close(struct while_loop *l, struct while_verdict *out, struct err *err)
{
	struct frame *f = l->k.frame;
	bool known = l->is_closed;

	l->is_closed = false;
	*out = known ? l->closed : (struct while_verdict){ .known = true, .holds = false };
	if (l->at.tests[f->inst - f->code->insts] && !while_decide(l, 0, out, err))
		return false;
	if (f->inst->op == CODE_RETURN && f->inst - f->code->insts != l->at.end)
		return cond_refuse(&l->k, "a round returns");
	if (f->top - f->stack != l->k.before.n_stack)
		return cond_refuse(&l->k, "a round leaves another operand stack");
	f->inst = f->code->insts + l->at.end;
	return true;
}

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

struct while_loop_note *while_loop_noted(struct trace *t, const struct lang_inst *inst)
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
	struct while_loop_note *note = while_loop_noted(t, inst);

	if (!note)
		return trace_no_memory(err);
	snprintf(note->why, sizeof(note->why), "%s", why);
	return try_again(t, err);
}

/* ---- what goes round ---- */

int while_add(struct while_loop *l, enum op op, const struct arg *args, int n, const char *fx,
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
	return while_number_type(c->start) != VALUE_INT ||
	       deferred_within(l->t, c->init, 0x1p62, err);
}

/* First what they all are, then a node for each in the body. */
static bool carry_all(struct while_loop *l, struct err *err)
{
	const struct while_loop_note *known = known_loop(l->t, l->k.inst);

	for (int i = 0; known && i < known->n_places; i++) {
		struct carried c = { .note = known->places[i], .init = -1, .value = -1 };

		if (!while_place_find(l, &c, err))
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
		if (c->value < 0 || !while_place_put(l, c, c->value, false, err))
			return false;
	}
	return true;
}

/* ---- a round ---- */

int while_flatten(struct while_loop *l, int node, struct err *err)
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
		node = while_add_two(l, OP_logical_and, node,
				     while_flatten(l, t->asserts.at[i], err), err);
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
		if (!while_place_now(l, c, &now, err))
			return false;
		if (now.kind == VALUE_LAZY && !variables_read(l->t, (int)now.i, &now, err))
			return false;
		if (c->number ? while_number_type(now) != while_number_type(c->start)
			      : now.kind != VALUE_TENSOR)
			return cond_refuse(&l->k, "a %s is something else in a later round",
					   value_type_name(c->start));
		c->next = c->number ? deferred_node(l->t, now, err) : trace_node(l->t, now, err);
		if (c->next < 0 || !is_alike(l, c))
			return false;
	}
	return true;
}

bool while_carry_only(struct while_loop *l, enum carried_kind kind, int index, int init, int next,
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

/* ---- the nodes ---- */

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
		if (!while_place_put(l, &l->carried.at[i], node, true, err))
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
	int again, loop;
	bool found;

	t->cond = &l->k;
	if (!enter(l, err) || !carry_all(l, err) || !run_round(l, &again, err) ||
	    !while_round_check(l, &again, &found, err))
		return false;
	if (found)
		return try_again(t, err);
	if (!find_next(l, err) || !has_no_gradient(l, err))
		return false;
	if (l->carried.len == 0)
		return cond_refuse(&l->k, "no round changes what it tests");
	drop_choices(t, n_choices);
	if (!while_carry_only(l, CARRIED_MORE, 0, trace_node(t, l->k.condition, err), again, err))
		return false;
	loop = add_loop(l, again, err);
	return loop >= 0 && leave_loop(l, loop, err);
}

struct while_loop *while_loop_around(const struct cond *k)
{
	const struct cond *up = k->up;

	while (up && (!up->is_loop || up->frame != k->frame))
		up = up->up;
	return (struct while_loop *)up;
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
