/* fusion/capture/control/cond.c -- runs both sides of a branch on a tensor. */
#include "fusion/capture/control/control.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/control/cond.h"
#include "fusion/capture/control/while_loop.h"
#include "fusion/capture/trace/trace.h"
#include "fusion/eager/autograd.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/vm.h"

/* ---- the body of a function of functions, as torch's wrap and map.
 *
 * Policy dynamo.  torch keeps a body as a graph of its own within the graph.  So it may change
 * nothing that was there before, and answers with tensors; else the graph ends where it is
 * called, and eager runs it.
 */

enum { MAX_DEPTH = 16 }; /* of sequences within sequences */

/* Tensors, None, and sequences and dicts of them. */
static bool has_tensors_only(const struct trace *t, struct value v, int depth)
{
	if (v.kind == VALUE_LAZY)
		return t->sources->at[v.i].value.kind == VALUE_TENSOR;
	if (depth == MAX_DEPTH ||
	    (v.kind != VALUE_TUPLE && v.kind != VALUE_LIST && v.kind != VALUE_DICT))
		return v.kind == VALUE_TENSOR || v.kind == VALUE_NONE;
	if (v.kind == VALUE_DICT) {
		for (int i = 0; i < v.dict->len; i++)
			if (!has_tensors_only(t, v.dict->values[i], depth + 1))
				return false;
		return true;
	}
	for (int i = 0; i < v.list->len; i++)
		if (!has_tensors_only(t, v.list->at[i], depth + 1))
			return false;
	return true;
}

static bool changed_global(const struct cond *k)
{
	const struct trace *t = k->trace;

	for (size_t i = 0; i < t->globals.len; i++)
		if (!cond_same(t, cond_global_before(k, i), t->globals.at[i].stand_in))
			return true;
	return false;
}

/* *changed: something that was there before the body is not as it was. */
static bool look_for_changes(const struct cond *k, bool *changed)
{
	*changed = changed_global(k);
	for (size_t i = 0; i < k->contents.len && !*changed; i++) {
		struct cond_content now;

		if (!cond_content_read(k->contents.at[i].object, &now)) {
			cond_content_drop(&now);
			return false;
		}
		*changed = !cond_content_same(k->trace, &k->contents.at[i], &now);
		cond_content_drop(&now);
	}
	return true;
}

/* It has run. */
static bool judge(const struct cond *k, bool writes_tensors, struct value result, struct err *err)
{
	bool changed;

	if (!look_for_changes(k, &changed))
		return trace_no_memory(err);
	if (changed || k->stores_again || (!writes_tensors && k->writes.len > 0))
		return trace_break(k->trace, BREAK_UNSUPPORTED,
				   "a body that changes what was there before", err);
	return has_tensors_only(k->trace, result, 0) ||
	       trace_break(k->trace, BREAK_UNSUPPORTED,
			   "a body that answers with more than tensors", err);
}

/* trace_control.body */
static bool body_call(struct trace *t, const struct trace_body *body, const struct arguments *args,
		      struct value *out, struct err *err)
{
	struct arguments rest = { args->at + 1, args->n - 1, args->kw };
	struct cond k = { .up = t->bodies,
			  .trace = t,
			  .frame = t->vm->frame,
			  .inst = t->vm->frame->inst,
			  .birth = t->vm->heap->births,
			  .tensor_birth = body->tensor_birth,
			  .condition = { .kind = VALUE_UNSET } };
	bool ok;

	if (t->native && !body->native)
		return vm_call(t->vm, args->at[0], &rest, out, err);
	if (!cond_save(&k)) {
		ok = k.why[0] ? trace_break(t, BREAK_TOO_LARGE, k.why, err) : trace_no_memory(err);
		cond_finish(&k);
		return ok;
	}
	t->bodies = &k;
	ok = vm_call(t->vm, args->at[0], &rest, out, err);
	t->bodies = k.up;
	if (ok && !judge(&k, body->writes_tensors, *out, err)) {
		value_unref(*out);
		ok = false;
	}
	cond_finish(&k);
	return ok;
}

/* ---- */

/* ---- Post-dominators of one code object.
 *
 * An instruction post-dominates another if every way from that one to a RETURN
 * leads over it.  Those of an instruction form a chain; the next one is where
 * the sides of a branch merge.  Ways that raise count for nothing. */

enum { JOIN_MAX_INSTS = 8192 };

struct cond_merge_point {
	int at;            /* the first instruction that both sides come to; -1: they return */
	const bool *stops; /* by instruction: `at`, and all ways out of the frame: RETURN, YIELD */
	bool raises[2];    /* the side that does not jump, the one that does: it only raises */
};

struct sets { /* by instruction: its post-dominators, as bits; one more is set: no way out */
	const struct code *code;
	uint64_t *at;
	size_t words;
};

static uint64_t *row(const struct sets *s, int inst)
{
	return s->at + (size_t)inst * s->words;
}

static bool has(const struct sets *s, int inst, int other)
{
	return row(s, inst)[other / 64] >> (other % 64) & 1;
}

static void intersect(const struct sets *s, uint64_t *into, int successor)
{
	if (successor >= s->code->n_insts)
		return;
	for (size_t w = 0; w < s->words; w++)
		into[w] &= row(s, successor)[w];
}

/* The set before an instruction, from those after it. */
static bool update(const struct sets *s, int i, uint64_t *scratch)
{
	const struct lang_inst *inst = &s->code->insts[i];
	size_t bytes = s->words * sizeof(uint64_t);
	bool changed;

	memset(scratch, inst->op == CODE_RETURN ? 0 : 0xff, bytes);
	if (inst->op == CODE_JUMP || inst->op == CODE_JUMP_IF_FALSE ||
	    inst->op == CODE_JUMP_IF_TRUE || inst->op == CODE_FOR_ITER)
		intersect(s, scratch, inst->arg);
	if (inst->op != CODE_JUMP && inst->op != CODE_RETURN && inst->op != CODE_RAISE &&
	    inst->op != CODE_RERAISE)
		intersect(s, scratch, i + 1);
	scratch[i / 64] |= (uint64_t)1 << (i % 64);
	changed = memcmp(row(s, i), scratch, bytes) != 0;
	memcpy(row(s, i), scratch, bytes);
	return changed;
}

static int count(const struct sets *s, int inst)
{
	int n = 0;

	for (size_t w = 0; w < s->words; w++)
		n += __builtin_popcountll(row(s, inst)[w]);
	return n;
}

/* The nearest: whose own chain is the longest. */
static int nearest(const struct sets *s, int inst)
{
	int best = -1, most = 0;

	for (int i = 0; i < s->code->n_insts; i++) {
		if (i == inst || !has(s, inst, i) || count(s, i) <= most)
			continue;
		best = i;
		most = count(s, i);
	}
	return best;
}

static bool no_way_out(const struct sets *s, int inst)
{
	return inst >= s->code->n_insts || has(s, inst, s->code->n_insts);
}

static void settle(const struct sets *s, uint64_t *scratch)
{
	bool changed = true;

	memset(s->at, 0xff, (size_t)s->code->n_insts * s->words * sizeof(uint64_t));
	while (changed) {
		changed = false;
		for (int i = s->code->n_insts - 1; i >= 0; i--)
			changed |= update(s, i, scratch);
	}
}

static void describe(const struct sets *s, int inst, bool *stops, struct cond_merge_point *out)
{
	int sides[2] = { inst + 1, s->code->insts[inst].arg };

	for (int i = 0; i < 2; i++)
		out->raises[i] = no_way_out(s, sides[i]);
	out->at = no_way_out(s, inst) ? -1 : nearest(s, inst);
	out->stops = stops;
	for (int i = 0; i < s->code->n_insts; i++)
		stops[i] = i == out->at || s->code->insts[i].op == CODE_RETURN ||
			   s->code->insts[i].op == CODE_YIELD;
}

/* Of the JUMP_IF_* at `inst`, in `arena`.  False where the code is too long, or
 * out of memory. */
static bool merge_point_find(const struct code *code, int inst, struct arena *arena,
			     struct cond_merge_point *out)
{
	struct sets s = { .code = code, .words = (size_t)code->n_insts / 64 + 1 };
	bool *stops = ARENA_ARRAY(arena, bool, (size_t)code->n_insts);
	uint64_t *scratch;

	if (code->n_insts > JOIN_MAX_INSTS || !stops)
		return false;
	s.at = malloc((size_t)code->n_insts * s.words * sizeof(uint64_t));
	scratch = malloc(s.words * sizeof(uint64_t));
	if (s.at && scratch) {
		settle(&s, scratch);
		describe(&s, inst, stops, out);
	}
	free(scratch);
	free(s.at);
	return s.at && scratch;
}

/* A loop on a tensor branches in its own side, again and again. */
enum { MAX_FORKS = 64 };

static struct value root_of(const struct trace *t, struct value tensor)
{
	if (tensor.tensor->owner == t->serial && tensor.tensor->view)
		return tensor.tensor->view->base;
	return tensor;
}

static bool has_parts(const struct trace *t)
{
	for (int i = 0; t->autograd->splits && i < t->graph->n_nodes; i++)
		if (t->graph->nodes[i]->op == OP_parts)
			return true;
	return false;
}

/* Whether what split() and the like gave may be used after the branch depends on the side. */
static bool parts_differ(struct trace *t, struct value tensor, bool *out, struct err *err)
{
	*out = false;
	return !t->cond || t->grad_off || !has_parts(t) || trace_requires(t, tensor, out, err);
}

static bool may_write(struct trace *t, struct value tensor, struct err *err)
{
	const struct vtensor *root = root_of(t, tensor).tensor;
	bool differ;

	if (!parts_differ(t, root_of(t, tensor), &differ, err))
		return false;
	if (differ)
		return trace_refuse_branch(t, t->cond->inst,
					   "a side writes a tensor of which split(), chunk() or "
					   "unbind() may have given parts",
					   err);

	for (size_t i = 0; i < t->choices.len; i++) {
		const struct trace_choice *c = &t->choices.at[i];
		bool met = c->merged.tensor == root;

		for (int j = 0; j < 2; j++)
			met |= root_of(t, c->of[j]).tensor == root;
		if (met && c->merged.object->refs > 1)
			return trace_refuse_branch(
			    t, c->inst,
			    "an in-place op after it changes a tensor that the "
			    "sides may share",
			    err);
	}
	return true;
}

bool cond_test(struct trace *t, struct value tensor, enum op op, struct value *out, struct err *err)
{
	struct value values[2] = { tensor, value_tuple(NULL, 0) }, flat;
	struct shape shape;
	enum dtype dtype;
	bool ok;

	if (tensor.kind != VALUE_TENSOR) {
		value_unref(values[1]);
		return (op == OP_ne ? deferred_cast(t, VALUE_BOOL, tensor, &flat, err)
				    : deferred_not(t, tensor, &flat, err)) &&
		       trace_wrap(t, (int)flat.i, out, err);
	}
	if (values[1].kind == VALUE_UNSET || !trace_shape(t, tensor, &shape, &dtype, err))
		return trace_no_memory(err);
	if (shape.rank == 0) {
		flat = value_ref(tensor);
		ok = true;
	} else {
		ok = trace_op(t, &(struct op_call){ OP_reshape, "fx:", false, values, 2, NULL },
			      &flat, err);
	}
	value_unref(values[1]);
	if (!ok)
		return false;
	/* a copy: the tensor itself may be written to later on */
	values[0] = flat;
	values[1] = value_int(0);
	ok = trace_op(t, &(struct op_call){ op, "fx:", false, values, 2, NULL }, out, err);
	value_unref(flat);
	return ok;
}

bool cond_side_failed(struct cond *k, struct err *err)
{
	struct trace *t = k->trace;
	int line = t->vm->frame ? t->vm->frame->inst->line : 0;
	const struct lang_file *file;

	if (t->restart && t->brk.id == BREAK_NONE)
		return false;
	if (t->brk.id != BREAK_NONE) {
		if (t->brk.stack.len > 0)
			line = t->brk.stack.at[0].line;
		file = lang_file_at(t->vm->program->files, line);
		line -= file ? file->lines_before : 0;
		return cond_refuse(k, "a side of it ends the graph by itself, in line %d", line);
	}
	if (err->code == ERR_MEMORY || err->code == ERR_INTERNAL || err->code == ERR_CANCELLED ||
	    err->code == ERR_STEPS)
		return false;
	k->raised = true;
	return false;
}

struct side_end {
	const struct lang_inst *at;
	struct object *handled;
};

static struct side_end end_of(const struct cond *k)
{
	const struct vm *vm = k->trace->vm;

	return (struct side_end){ .at = k->frame->inst,
				  .handled = value_counted(vm->handled) ? vm->handled.object
									: NULL };
}

static bool run_side(struct cond *k, const struct cond_merge_point *merge, int from,
		     struct err *err)
{
	k->frame->inst = k->frame->code->insts + from;
	return vm_run_side(k->trace->vm, k->frame, merge->stops, err) || cond_side_failed(k, err);
}

/* The other side only raises: the graph holds this one, and says whether it was
 * the right one. */
static bool take_side(struct cond *k, bool jumps, struct err *err)
{
	bool expected = jumps == (k->inst->op == CODE_JUMP_IF_TRUE);
	int node = trace_node(k->trace, k->condition, err);

	k->frame->inst = jumps ? k->frame->code->insts + k->inst->arg : k->inst + 1;
	return node >= 0 && deferred_expect(k->trace, node, expected, err);
}

/* A side raised an exception that it did not catch: as if it only raised. */
static bool leave_side(struct cond *k, bool jumped, struct err *err)
{
	struct vm *vm = k->trace->vm;

	while (vm->frame != k->frame)
		frame_pop(vm);
	value_unref(vm->raised);
	vm->raised = (struct value){ .kind = VALUE_UNSET };
	if (value_counted(vm->handled) || !cond_restore(k))
		return cond_refuse(k, "a side of it raises an exception");
	k->trace->asserts.len = k->n_asserts;
	prints_drop(k->trace, k->n_prints);
	memset(err, 0, sizeof(*err));
	return take_side(k, !jumped, err);
}

static int add(struct trace *t, enum op op, int a, int b, struct err *err)
{
	struct arg args[MAX_ARGS] = { arg_node(a), arg_node(b) };

	return graph_add(
	    t->graph,
	    &(struct node_spec){ op, args, op_info(op)->n_params, t->host.line, t->host.column },
	    err);
}

static int invert(struct trace *t, int node, struct err *err)
{
	struct arg args[MAX_ARGS] = { arg_node(node) };

	return graph_add(
	    t->graph, &(struct node_spec){ OP_logical_not, args, 1, t->host.line, t->host.column },
	    err);
}

/* Assertions and prints of a side are for who goes there. */
static bool limit_side(struct cond *k, bool first, struct err *err)
{
	struct trace *t = k->trace;
	int condition = trace_node(t, k->condition, err), here, other;

	if (k->n_asserts == t->asserts.len && k->n_prints == t->prints.len)
		return true;
	other = condition < 0 ? -1 : invert(t, condition, err);
	if (other < 0)
		return false;
	here = first ? condition : other;
	other = first ? other : condition;
	for (; k->n_asserts < t->asserts.len; k->n_asserts++) {
		int node = add(t, OP_logical_or, t->asserts.at[k->n_asserts], other, err);

		if (node < 0)
			return false;
		t->asserts.at[k->n_asserts] = node;
	}
	for (; k->n_prints < t->prints.len; k->n_prints++) {
		int *on = &t->prints.at[k->n_prints].condition;

		*on = *on < 0 ? here : add(t, OP_logical_and, *on, here, err);
		if (*on < 0)
			return false;
	}
	return true;
}

/* In a round of a loop: the side has come to the round's end, or left the loop. */
static bool close_side(struct cond *k, const struct cond_merge_point *merge, bool *closed,
		       struct while_verdict *verdict, struct err *err)
{
	struct while_loop *l = while_loop_around(k);

	int at = (int)(k->frame->inst - k->frame->code->insts);

	*closed = l && l->at.again[at] && (at != merge->at || at == l->at.end);
	if (!*closed || while_close(l, verdict, err))
		return true;
	return l->k.why[0] ? cond_refuse(k, "%s", l->k.why) : false;
}

/* Where no side goes on before the loop's next test, the round is over. */
static bool meet(struct cond *k, const struct cond_merge_point *merge, const struct side_end *first,
		 const bool *closed, const struct while_verdict *verdicts, struct err *err)
{
	struct while_loop *l = while_loop_around(k);

	if ((first->at->op == CODE_YIELD || k->frame->inst->op == CODE_YIELD) &&
	    (first->at != k->frame->inst || first->at - k->frame->code->insts != merge->at))
		return cond_refuse(k, "a side of it yields");
	if (merge->at >= 0 && (closed[0] != closed[1] || first->at != k->frame->inst ||
			       first->handled != end_of(k).handled))
		return cond_refuse(k, "the sides do not meet");
	if (k->first.grad_off != k->trace->grad_off || k->first.autocast != k->trace->autocast_mode)
		return cond_refuse(k, "the sides leave other modes of gradients or autocast");
	if (!closed[0] || !closed[1])
		return cond_merge(k, merge->at, err);
	l->is_closed = true;
	return while_choose(l, trace_node(k->trace, k->condition, err), &verdicts[0], &verdicts[1],
			    &l->closed, err) &&
	       cond_merge(k, (int)(l->k.inst - k->frame->code->insts), err);
}

/* The nodes from `first` on are of the side that has run; a loop of the graph has its own. */
static bool note_side(struct cond *k, int first, struct err *err)
{
	struct trace *t = k->trace;
	struct traced_side side = { first, t->graph->n_nodes, trace_node(t, k->condition, err),
				    k->holds };

	if (side.condition < 0)
		return false;
	return while_loop_around(k) || VEC_PUSH(&t->sides, side) || trace_no_memory(err);
}

/* Both sides, one after the other, and what they leave. */
static bool run_sides(struct cond *k, const struct cond_merge_point *merge, struct err *err)
{
	int at = (int)(k->inst - k->frame->code->insts), arg = k->inst->arg;
	bool jumps = k->inst->op == CODE_JUMP_IF_TRUE, closed[2]; /* where it holds */
	struct while_verdict verdicts[2];
	struct side_end first;
	size_t asserts = k->trace->asserts.len, prints = k->trace->prints.len;
	int begin = k->trace->graph->n_nodes;

	k->n_asserts = asserts;
	k->n_prints = prints;
	if (!cond_save(k))
		return false;
	k->holds = true;
	if (!run_side(k, merge, jumps ? arg : at + 1, err))
		return k->raised && leave_side(k, jumps, err);
	if (!close_side(k, merge, &closed[0], &verdicts[0], err))
		return false;
	first = end_of(k);
	if (!limit_side(k, true, err) || !note_side(k, begin, err) || !cond_switch(k))
		return false;
	begin = k->trace->graph->n_nodes;
	k->holds = false;
	if (!run_side(k, merge, jumps ? at + 1 : arg, err)) {
		k->n_asserts = asserts;
		k->n_prints = prints;
		return k->raised && leave_side(k, !jumps, err);
	}
	return close_side(k, merge, &closed[1], &verdicts[1], err) && limit_side(k, false, err) &&
	       note_side(k, begin, err) && meet(k, merge, &first, closed, verdicts, err);
}

/* Sides end where a round of the loop around them does. */
static bool stop_with_loop(const struct cond *k, struct cond_merge_point *merge)
{
	const struct while_loop *l = while_loop_around(k);
	int n = k->frame->code->n_insts;
	bool *stops = l ? ARENA_ARRAY(k->trace->graph->arena, bool, (size_t)n) : NULL;

	for (int i = 0; stops && i < n; i++)
		stops[i] = merge->stops[i] || l->at.again[i];
	if (stops)
		merge->stops = stops;
	return stops || !l;
}

static bool open_fork(struct cond *k, struct value condition, struct err *err)
{
	struct trace *t = k->trace;
	struct cond_merge_point merge;
	int at = (int)(k->inst - k->frame->code->insts), depth = 0;

	for (const struct cond *up = k->up; up; up = up->up)
		depth++;
	if (depth >= MAX_FORKS)
		return cond_refuse(k,
				   "over %d branches would be open inside one another, "
				   "as of a loop on a tensor",
				   MAX_FORKS);
	if (!merge_point_find(k->frame->code, at, t->graph->arena, &merge))
		return cond_refuse(k, "the function is too long");
	if (!stop_with_loop(k, &merge))
		return trace_no_memory(err);
	if (merge.raises[0] && merge.raises[1])
		return cond_refuse(k, "both sides of it raise an exception");
	if (!cond_test(t, condition, OP_ne, &k->condition, err))
		return false;
	value_unref(*--k->frame->top);
	t->cond = k;
	if ((merge.raises[0] || merge.raises[1]) && k->frame->code->n_handlers == 0)
		return take_side(k, merge.raises[0], err);
	return run_sides(k, &merge, err);
}

static bool branch(void *self, struct vm *vm, struct frame *f, bool *handled, struct err *err)
{
	struct trace *t = self;
	struct cond k = { .up = t->cond,
			  .trace = t,
			  .frame = f,
			  .inst = f->inst,
			  .birth = vm->heap->births,
			  .tensor_birth = t->n_tensors,
			  .condition = { .kind = VALUE_UNSET } };
	struct value condition = f->top[-1];
	bool ok;

	*handled = false;
	if (!t->native || f->namespace || trace_branch_refusal(t, f->inst))
		return true;
	if (condition.kind == VALUE_TENSOR ? !trace_is_single(t, condition)
					   : !trace_is_deferred(t, condition))
		return true;
	if (!while_loop_try(t, f, handled, err) || *handled)
		return *handled;
	ok = open_fork(&k, condition, err);
	t->cond = k.up;
	*handled = ok;
	if (!ok && k.why[0])
		trace_refuse_branch(t, k.inst, k.why, err);
	else if (!ok && err->code == ERR_NONE)
		trace_no_memory(err);
	cond_finish(&k);
	return ok;
}

/* ---- any() and all() of tensors, as one bool of the graph.
 *
 * Python looks at an item only if those before do not decide.  What the others only
 * compute may be looked at anyway: items that lie in a list or tuple already. */

/* Its items are there: to ask for them changes nothing. */
static bool has_items(struct value it)
{
	return it.iter->iter_kind == ITER_SEQUENCE &&
	       (it.iter->over.kind == VALUE_LIST || it.iter->over.kind == VALUE_TUPLE ||
		it.iter->over.kind == VALUE_TENSOR);
}

static int add_two(struct trace *t, enum op op, int a, int b, struct err *err)
{
	struct arg args[2] = { arg_node(a), arg_node(b) };

	t->n_ops++;
	return graph_add(t->graph, &(struct node_spec){ op, args, 2, t->host.line, t->host.column },
			 err);
}

struct truths {
	bool any;
	int node;     /* of the items so far; -1: the graph computes none */
	bool decided; /* the answer is `any`, whatever the others are */
	bool known;   /* false: an item has no truth that could be computed */
};

/* One more item. */
static bool take(struct trace *t, struct truths *s, struct value item, struct err *err)
{
	struct value condition;
	int truth;

	if (item.kind == VALUE_INSTANCE ||
	    (item.kind == VALUE_TENSOR && !trace_is_single(t, item))) {
		s->known = false;
		return true;
	}
	if (item.kind != VALUE_TENSOR && !trace_is_deferred(t, item)) {
		bool is;

		if (!op_truth(t->vm, item, &is, err))
			return false;
		s->decided = is == s->any;
		return true;
	}
	if (!cond_test(t, item, OP_ne, &condition, err))
		return false;
	truth = trace_node(t, condition, err);
	value_unref(condition);
	if (truth >= 0)
		s->node = s->node < 0 ? truth
				      : add_two(t, s->any ? OP_logical_or : OP_logical_and, s->node,
						truth, err);
	return truth >= 0 && s->node >= 0;
}

static bool cond_any(void *self, const struct any_call *call, bool *handled, struct value *out,
		     struct err *err)
{
	struct trace *t = self;
	struct value it = call->it, item = value_ref(call->item);
	struct truths s = { .any = call->any, .node = -1, .known = true };
	int64_t position = it.iter->position;
	bool ok = true, more = true;

	*handled = false;
	if (!t->native || !has_items(it)) {
		value_unref(item);
		return true;
	}
	while (ok && more) {
		ok = take(t, &s, item, err);
		value_unref(item);
		if (!ok || !s.known || s.decided)
			break;
		ok = vm_spend(t->vm, 1, err) && op_next(t->vm, it.iter, &item, &more, err);
	}
	if (ok && !s.known)
		it.iter->position = position;
	*handled = ok && s.known;
	if (*handled && (s.decided || s.node < 0)) /* no item is computed by the graph */
		*out = value_bool(s.decided == s.any);
	else if (*handled)
		*out = deferred_value(t, s.node);
	return ok;
}

static const struct lang_inst *innermost(const struct trace *t)
{
	return t->cond->inst;
}

const struct trace_control control_flow = {
	.innermost = innermost,
	.branch = branch,
	.any = cond_any,
	.body = body_call,
	.may_write = may_write,
	.note_write = cond_note_write,
	.note_stand_in = cond_note_stand_in,
	.loop_refusal = while_loop_refusal,
};
