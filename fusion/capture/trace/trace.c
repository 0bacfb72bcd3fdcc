/* fusion/capture/trace/trace.c -- attempts at capture, and ops as nodes.
 *
 * A tensor of the caller never enters the VM here but as a stand-in (variables.c),
 * so an attempt leaves nothing changed.
 */
#include "fusion/capture/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/call_path.h"
#include "fusion/eager/autograd.h"
#include "fusion/graph/lay.h"
#include "fusion/torch/bind.h"

enum { MAX_SETTLED = 2 * MAX_ARGS }; /* arguments of an op */

const char *trace_branch_refusal(const struct trace *t, const struct lang_inst *inst)
{
	for (size_t i = 0; i < t->refused.len; i++)
		if (t->refused.at[i].inst == inst)
			return t->refused.at[i].why;
	return NULL;
}

bool trace_refuse_branch(struct trace *t, const struct lang_inst *inst, const char *why,
			 struct err *err)
{
	struct trace_refused_branch r = { .inst = inst };

	snprintf(r.why, sizeof(r.why), "%s", why);
	if (!VEC_PUSH(&t->refused, r))
		return trace_no_memory(err);
	t->restart = true;
	t->brk.id = BREAK_NONE;
	if (err)
		memset(err, 0, sizeof(*err));
	return err_set(err, ERR_BREAK, "the branch is not followed both ways");
}

const struct trace_choice *trace_choice_of(const struct trace *t, struct value tensor)
{
	for (size_t i = 0; i < t->choices.len; i++)
		if (t->choices.at[i].merged.tensor == tensor.tensor)
			return &t->choices.at[i];
	return NULL;
}

static void cond_forget(struct trace *t)
{
	for (size_t i = 0; i < t->choices.len; i++) {
		value_unref(t->choices.at[i].merged);
		value_unref(t->choices.at[i].condition);
		value_unref(t->choices.at[i].of[0]);
		value_unref(t->choices.at[i].of[1]);
	}
	t->choices.len = 0;
	t->cond = NULL;
	t->bodies = NULL;
}

bool trace_dropout_draws(const struct arg *args)
{
	const struct arg *p = &args[1], *training = &args[2];

	return !(training->kind == ARG_BOOL && !training->b) &&
	       !(p->kind == ARG_FLOAT && p->f == 0);
}

int trace_dropout_mask(struct graph *g, const struct arg *given, int n, int line, int column,
		       struct err *err)
{
	struct arg args[MAX_ARGS];
	int mask = graph_add(g, &(struct node_spec){ OP_ones_like, given, 1, line, column }, err);

	if (mask < 0)
		return -1;
	memcpy(args, given, sizeof(args[0]) * (size_t)n);
	args[0] = arg_node(mask);
	mask = graph_add(g, &(struct node_spec){ OP_dropout, args, n, line, column }, err);
	if (mask < 0)
		return -1;
	args[0] = given[0];
	args[1] = arg_node(mask);
	return graph_add(g, &(struct node_spec){ OP_mul, args, 2, line, column }, err);
}

void trace_init(struct trace *t, struct torch_names *names, const struct torch_operators *operators,
		struct sources *sources, struct memory *memory, enum fusion_mode mode)
{
	t->names = names;
	t->operators = operators;
	t->sources = sources;
	t->memory = memory;
	t->mode = mode;
	trace_host_init(t);
}

static void forget_functions(struct trace *t)
{
	for (size_t i = 0; i < t->contexts.len; i++)
		value_unref(t->contexts.at[i].ctx);
	for (size_t i = 0; i < t->function_views.len; i++)
		value_unref(t->function_views.at[i]);
	t->contexts.len = t->functions.len = t->function_views.len = t->sides.len = 0;
}

static void drop_stand_ins(struct trace *t)
{
	for (int i = 0; i < t->sources->n; i++) {
		struct value stand_in = t->sources->at[i].stand_in;

		t->sources->at[i].stand_in = (struct value){ .kind = VALUE_UNSET };
		value_unref(stand_in);
	}
	for (size_t i = 0; i < t->globals.len; i++)
		value_unref(t->globals.at[i].stand_in);
	for (size_t i = 0; i < t->lifted.len; i++)
		value_unref(t->lifted.at[i].value);
	t->globals.len = t->lifted.len = 0;
	cond_forget(t);
	prints_drop(t, 0);
	deferred_text_forget(t);
	trace_forget_grads(t);
	forget_functions(t);
}

void trace_finish(struct trace *t)
{
	drop_stand_ins(t);
	VEC_FREE(&t->globals);
	VEC_FREE(&t->grads);
	VEC_FREE(&t->hooks);
	VEC_FREE(&t->leaves);
	VEC_FREE(&t->leaf_values);
	VEC_FREE(&t->spent);
	VEC_FREE(&t->sides);
	VEC_FREE(&t->contexts);
	VEC_FREE(&t->functions);
	VEC_FREE(&t->function_views);
	VEC_FREE(&t->lifted);
	VEC_FREE(&t->conditions);
	VEC_FREE(&t->inputs);
	VEC_FREE(&t->homes);
	VEC_FREE(&t->float_operands);
	VEC_FREE(&t->asserts);
	VEC_FREE(&t->brk.stack);
	VEC_FREE(&t->refused);
	VEC_FREE(&t->loops);
	VEC_FREE(&t->choices);
	VEC_FREE(&t->prints);
	VEC_FREE(&t->gaps);
	VEC_FREE(&t->texts);
	autocast_finish(&t->autocast);
	pointers_finish(&t->reals);
	pointers_finish(&t->stand_ins);
}

bool trace_begin(struct trace *t, struct arena *arena, struct vm *vm)
{
	drop_stand_ins(t);
	pointers_clear(&t->reals);
	pointers_clear(&t->stand_ins);
	t->conditions.len = t->inputs.len = t->homes.len = t->float_operands.len = 0;
	t->asserts.len = 0;
	t->restart = false;
	t->n_ops = t->n_number_ops = t->n_tensors = t->n_writes = 0;
	t->derivatives = vm->modes.derivatives;
	t->function_modes_first = vm->modes.function_modes;
	t->grad_off = t->grad_off_first = vm->modes.grad_off;
	t->erased_marks = false;
	t->autocast_mode = vm->modes.autocast;
	t->decomposer.gpu = &vm->modes.gpu;
	t->decomposer.real = &vm->modes.real;
	autocast_forget(&t->autocast);
	t->birth = vm->heap->births;
	t->vm = vm;
	t->brk.id = BREAK_NONE;
	t->graph = graph_create(arena);
	if (t->graph) {
		t->graph->custom = t->names->custom;
		t->graph->real = vm->modes.real;
		t->graph->ordered = vm->modes.ordered;
	}
	t->serial = t->graph;
	for (int i = 0; i < t->sources->n; i++) {
		struct source *source = &t->sources->at[i];

		source->live = source->touched = source->written = source->grad_read = false;
		source->found_distinct = false;
		source->leaf_read = false;
		source->replaced = 0;
		source->var = -1;
		source->same_as = -1;
	}
	for (int i = 0; i < t->sources->n_dims; i++)
		t->sources->dims[i].var = -1;
	return t->graph != NULL;
}

/* The program's line: the prelude stays out. */
static bool push_line(struct trace *t, const struct frame *f)
{
	struct fusion_line line = { .line = f->inst->line, .function = f->code->name };

	return VEC_PUSH(&t->brk.stack, line);
}

void trace_break_at(struct trace *t, enum break_id id, const char *subject, const struct frame *f)
{
	struct trace_break *b = &t->brk;
	int depth = 0;

	if (b->id != BREAK_NONE) /* the first is the cause */
		return;
	b->id = id;
	b->stack.len = 0;
	b->depth = 0;
	b->column = b->end_column = 0;
	b->message[0] = b->subject[0] = '\0';
	if (subject)
		snprintf(b->subject, sizeof(b->subject), "%s", subject);
	for (; f && f != t->base->up; f = f->up) {
		if (!f->unit->hidden)
			push_line(t, f);
		if (b->stack.len == 1 && b->column == 0) {
			b->column = f->inst->column;
			b->end_column = f->inst->end_column;
		}
		depth++;
		if (f == t->base)
			b->depth = depth;
	}
}

int trace_source(const struct trace *t, struct value tensor)
{
	const struct vtensor *v = tensor.tensor;

	return v->owner == t->serial ? v->input : -1;
}

int trace_lifted(const struct trace *t, struct value tensor)
{
	for (size_t i = 0; i < t->lifted.len; i++)
		if (t->lifted.at[i].value.tensor == tensor.tensor)
			return (int)i;
	return -1;
}

static bool note_input(struct trace *t, int source, int lifted, int node, const char *name,
		       struct err *err)
{
	struct trace_input input = { .source = source, .lifted = lifted };

	if (node < 0 || !VEC_PUSH(&t->inputs, input) || !graph_set_name(t->graph, node, name))
		return trace_no_memory(err);
	return true;
}

/* Strides of what is not row-major are constants; guards check them. */
static int add_input(struct trace *t, struct value tensor, const struct tensor *memory,
		     struct err *err)
{
	const struct sym *stride[MAX_RANK] = { 0 };
	bool contiguous = tensor_contiguous(memory);
	struct shape shape;
	enum dtype dtype;

	if (!trace_shape(t, tensor, &shape, &dtype, err))
		return -1;
	for (int d = 0; d < memory->rank; d++)
		stride[d] = sym_const(t->graph->syms, memory->stride[d]);
	return graph_input(t->graph, dtype, &shape, contiguous ? NULL : stride);
}

/* A tensor from outside the function: made by the module's code. */
static int lift(struct trace *t, struct value tensor, struct err *err)
{
	struct lifted lifted = { .value = tensor, .node = -1 };
	int at = trace_lifted(t, tensor), node;

	if (at >= 0)
		return t->lifted.at[at].node;
	node = add_input(t, tensor, tensor.tensor->memory, err);
	if (node < 0)
		return -1;
	lifted.node = node;
	if (!VEC_PUSH(&t->lifted, lifted)) {
		trace_no_memory(err);
		return -1;
	}
	value_ref(tensor);
	return note_input(t, -1, (int)t->lifted.len - 1, node, "global_tensor", err) ? node : -1;
}

int trace_node(struct trace *t, struct value tensor, struct err *err)
{
	struct vtensor *v = tensor.tensor;
	struct source *source;

	if (v->owner != t->serial) {
		if (v->memory)
			return lift(t, tensor, err);
		err_set(err, ERR_UNSUPPORTED,
			"a tensor that was made inside another call is used here; return it from "
			"the function instead of keeping it in a global");
		return -1;
	}
	if (v->view)
		return trace_view_node(t, tensor, err);
	if (v->node >= 0 || v->input < 0)
		return v->node;
	source = &t->sources->at[v->input];
	source->touched = true;
	v->node = add_input(t, tensor, source->value.tensor->memory, err);
	return note_input(t, v->input, -1, v->node, source->name, err) ? v->node : -1;
}

static int target_node(void *self, struct value tensor, struct err *err)
{
	if (tensor.kind != VALUE_TENSOR)
		return trace_float_operand(self, tensor, err);
	return trace_node(self, tensor, err);
}

/* Pins the numbers among the operands; whether there are any. */
static bool pin_symbols(struct trace *t, const struct value *values, int n)
{
	bool changed = false;

	for (int i = 0; i < n; i++) {
		changed |= trace_pin_value_quietly(t, values[i]);
		if (trace_is_deferred(t, values[i]))
			trace_break(t, BREAK_NUMBER_USE, NULL, NULL);
		if (values[i].kind == VALUE_TUPLE || values[i].kind == VALUE_LIST)
			changed |= pin_symbols(t, values[i].list->at, values[i].list->len);
	}
	return changed;
}

/* Whether pinning every size that the op saw may change the answer. */
static bool pin_operands(struct trace *t, const struct value *values, int n)
{
	bool changed = pin_symbols(t, values, n);

	for (int i = 0; i < n && !changed; i++) { /* the numbers of the call come first */
		struct shape shape;
		enum dtype dtype;

		if (values[i].kind != VALUE_TENSOR ||
		    !trace_shape(t, values[i], &shape, &dtype, NULL))
			continue;
		for (int d = 0; d < shape.rank; d++)
			changed |= trace_pin_quietly(t, shape.size[d]);
	}
	return changed;
}

/* Numbers in place of symbols may mend it, or word it better. */
static bool may_be_of_sizes(enum err_code code)
{
	return code == ERR_SHAPE || code == ERR_TYPE || code == ERR_VALUE || code == ERR_OP ||
	       code == ERR_DTYPE || code == ERR_INDEX || code == ERR_UNSUPPORTED;
}

/* A failed op: if sizes were symbols, what would make it hold is guarded; if
 * nothing can, the next attempt words the fault with numbers. */
static bool op_failed(struct trace *t, const struct value *values, int n, struct err *err)
{
	const struct sym *a = t->graph->conflict[0], *b = t->graph->conflict[1];
	struct symtab *syms = t->graph->syms;

	if (t->mode == FUSION_STATIC || !err || !may_be_of_sizes(err->code))
		return false;
	if (a && b && sym_hint(syms, a) == sym_hint(syms, b))
		return trace_equal(t, a, b, err);
	if (!pin_operands(t, values, n))
		return false;
	t->restart = true; /* no error that a try block of the program may catch */
	*err = (struct err){ 0 };
	return err_set(err, ERR_UNSUPPORTED, "the sizes are specialised");
}

bool trace_wrap(struct trace *t, int node, struct value *out, struct err *err)
{
	*out = value_tensor();
	if (out->kind == VALUE_UNSET)
		return trace_no_memory(err);
	out->tensor->owner = t->serial;
	out->tensor->node = node;
	out->tensor->birth = t->n_tensors++;
	return true;
}

/* The outermost function of the prelude around, that is one node to FX though it is made
 * of many ops: its text begins with "One call", and ": name" where that is not its own.
 * *nested: it calls another such function. */
static struct frame *call_around(const struct trace *t, bool *nested)
{
	struct frame *found = NULL;

	*nested = false;

	for (struct frame *f = t->vm->frame; f && f->unit->hidden; f = f->up) {
		if (f->code->doc && strncmp(f->code->doc, "One call", strlen("One call")) == 0) {
			*nested = found != NULL;
			found = f;
		}
		if (f == t->base)
			break;
	}
	return found;
}

bool trace_within_call(const struct trace *t)
{
	bool nested;

	return call_around(t, &nested) != NULL;
}

/* The first op of a call bears its name, the others none. */
static void name_call(struct frame *call, char *fx, size_t room)
{
	const char *own = call->code->doc + strlen("One call");

	if (call->named)
		fx[0] = '\0';
	else if (strncmp(own, ": ", 2) == 0)
		snprintf(fx, room, "%.*s", (int)strcspn(own + 2, "."), own + 2);
	else
		snprintf(fx, room, "%s", call->code->name);
	call->named = true;
}

/* FX's names: of the call that the op is a part of, iadd for +=, what follows "fx:", else
 * what the spelling says. */
static bool set_fx(struct trace *t, int node, enum op op, const char *name, bool inplace)
{
	bool nested;
	struct frame *call = call_around(t, &nested);
	char fx[64];

	if (call && (nested || strcmp(name, "torch._C.getitem") != 0)) {
		name_call(call, fx, sizeof(fx));
	} else if (strncmp(name, "fx:", 3) == 0)
		snprintf(fx, sizeof(fx), "%s", name + 3);
	else if (inplace && strncmp(name, "op:", 3) == 0)
		snprintf(fx, sizeof(fx), "i%s", op_info(op)->fx);
	else
		snprintf(fx, sizeof(fx), "%s", op_fx_name(name, op));
	return graph_set_fx(t->graph, node, fx);
}

/* What both sides of a branch draw, only one of them would have drawn. */
static bool check_random(struct trace *t, enum op op, struct err *err)
{
	if (!t->cond || (!op_draws(op) && op != OP_dropout && op != OP_dropped))
		return true;
	return trace_break(t, BREAK_UNSUPPORTED, "random numbers", err);
}

static bool check_bound(struct trace *t, struct err *err)
{
	return t->graph->n_nodes < MAX_TRACE_NODES ||
	       err_set(err, ERR_BOUND,
		       "the graph has over %d ops, as from a loop that never ends; "
		       "make fewer ops, or run the function in mode eager",
		       MAX_TRACE_NODES);
}

/* Sizes are taken where floats are not. */
static bool pin_floats(struct trace *t, const struct value *values, int n)
{
	bool changed = false;

	for (int i = 0; i < n; i++)
		if (values[i].kind == VALUE_SYMFLOAT || values[i].kind == VALUE_SYMREAL)
			changed |= trace_pin_value_quietly(t, values[i]);
	return changed;
}

/* A parameter that takes no symbol: the next attempt has the number. */
static bool bind_failed(struct trace *t, const struct value *values, int n, struct err *err)
{
	if (t->brk.id == BREAK_NONE && err && err->code == ERR_TYPE &&
	    (pin_floats(t, values, n) || pin_symbols(t, values, n)))
		t->restart = true;
	return false;
}

/* What inference took for granted of symbolic sizes is guarded. */
static bool guard_facts(struct trace *t, struct err *err)
{
	for (int i = 0; i < t->graph->n_facts; i++) {
		const struct size_fact *fact = &t->graph->facts[i];
		struct size_condition c = { .op = fact->equal ? CMP_EQ : CMP_GE,
					    .a = fact->a,
					    .b = fact->b,
					    .outcome = true };
		bool known = false;

		for (size_t j = 0; j < t->conditions.len && !known; j++) {
			const struct size_condition *k = &t->conditions.at[j];

			known = k->op == c.op && k->a == c.a && k->b == c.b && k->outcome;
		}
		if (!known && !VEC_PUSH(&t->conditions, c))
			return trace_no_memory(err);
	}
	return true;
}

/* x.copy_(y), x[i] = y: the node of y, where it is the result as it is.  A backward pass goes
 * on to what x was, with zeros. */
static int filled_with(const struct trace *t, int node)
{
	const struct graph *g = t->graph;
	const struct node *n = g->nodes[node], *value;

	if (t->autograd->recording && !t->grad_off)
		return node;
	if (n->op != OP_fill || n->args[1].kind != ARG_NODE)
		return node;
	value = g->nodes[n->args[1].node];
	return value->dtype == n->dtype && shape_equal(&value->shape, &n->shape) ? value->id : node;
}

/* What the user's name for the op is, in messages. */
static const char *call_name(const char *name, enum op op)
{
	if (strncmp(name, "fx:", 3) != 0)
		return name;
	return name[3] ? name + 3 : op_info(op)->id;
}

/* The value of an op that is no in-place one. */
static bool finish_op(struct trace *t, int node, const struct arguments *args, struct value *out,
		      struct err *err)
{
	const struct node *made = t->graph->nodes[node];
	struct view_layout layout;
	bool to = made->op == OP_to && torch_plain_cast(args) &&
		  t->graph->nodes[made->args[0].node]->dtype == made->dtype;
	bool in_rows = (to || made->op == OP_contiguous) &&
		       view_layout(t->graph, made->args[0].node, &layout) &&
		       view_contiguous(t->graph, &layout);

	if (to || in_rows) { /* as torch: x itself, whose gradient goes on */
		*out = value_ref(args->at[0]);
		t->graph->nodes[node]->detached &= !to;
		return !to || !in_rows || args->at[0].tensor->view ||
		       trace_rewrite(t, args->at[0], node, false);
	}
	if (op_info(made->op)->kind == KIND_VIEW)
		return trace_wrap_view(t, args->at[0], node, out, err);
	if (!t->ruled) /* gradients lie row by row */
		graph_lay(t->graph, node);
	return trace_wrap(t, node, out, err);
}

/* Outcomes of comparisons are guarded where an op takes one: True or False. */
static bool has_outcome(const struct value *values, int n)
{
	for (int i = 0; i < n; i++)
		if (values[i].kind == VALUE_SYMBOOL)
			return true;
	return false;
}

/* What a stand-in stands for; the program's own objects as they are. */
static struct value real_of(const void *self, struct value v)
{
	const struct trace *t = self;
	int source = variables_source(t, v);

	return source >= 0 && t->sources->at[source].value.kind == v.kind
		   ? t->sources->at[source].value
		   : v;
}

/* Nodes know whose call they are part of. */
static bool place_module(struct trace *t, struct err *err)
{
	const struct call_path_stands stand_ins = { t->base, t->below, real_of, t };
	struct call_path calls;
	struct buf path;
	bool ok;

	if (t->ruled)
		return graph_set_module(t->graph, t->ruled->module) || trace_no_memory(err);
	buf_init(&path, 0);
	call_path_find(t->vm, &stand_ins, &calls);
	call_path_print(&calls, &path);
	ok = !path.failed && graph_set_module(t->graph, path.len ? path.data : NULL);
	buf_finish(&path);
	return ok || trace_no_memory(err);
}

/* A backward pass of the piece reads the mask of a dropout. */
static int add_node(struct trace *t, enum op op, const struct arg *args, struct err *err)
{
	int first = t->graph->n_nodes, n = op_info(op)->n_params, node;

	if (op != OP_dropout || !t->native || !t->autograd->recording || !trace_dropout_draws(args))
		return graph_add(t->graph,
				 &(struct node_spec){ op, args, n, t->host.line, t->host.column },
				 err);
	node = trace_dropout_mask(t->graph, args, n, t->host.line, t->host.column, err);
	for (int id = first; id < node; id++)
		if (!graph_set_fx(t->graph, id, "")) {
			trace_no_memory(err);
			return -1;
		}
	return node;
}

static bool write_result(struct trace *t, struct value to, int result, struct err *err)
{
	if (to.tensor->view)
		return trace_view_write(t, to, result, err);
	if (trace_repeats(t, to))
		return torch_writes_expanded(err);
	return trace_rewrite(t, to, result, true);
}

/* As torch: a size that is 1 now may broadcast, so the symbols in it are constants. */
static bool pin_ones(struct trace *t, enum op op, const struct arguments *call, struct err *err)
{
	bool normalises = op == OP_softmax || op == OP_log_softmax;
	int tensors = 0;

	for (int i = 0; i < call->n; i++)
		tensors += call->at[i].kind == VALUE_TENSOR;
	if (t->mode == FUSION_STATIC || t->native ||
	    !(normalises || (op_info(op)->kind == KIND_POINTWISE && tensors > 1)))
		return true;
	for (int i = 0; i < call->n; i++) {
		struct shape shape;
		enum dtype dtype;

		if (call->at[i].kind != VALUE_TENSOR)
			continue;
		if (!trace_shape(t, call->at[i], &shape, &dtype, err))
			return false;
		for (int d = 0; d < shape.rank; d++)
			if (!sym_is_const(shape.size[d]) &&
			    sym_hint(t->graph->syms, shape.size[d]) == 1)
				return trace_pin(t, shape.size[d], err);
	}
	return true;
}

/* What PyTorch's C++ reads as a plain number: how many places linspace has, the length that
 * max_pool1d goes along. */
static bool pin_plain(struct trace *t, enum op op, const struct arguments *call, struct err *err)
{
	struct shape shape;
	enum dtype dtype;

	if (t->native || (op != OP_linspace && op != OP_max_pool1d))
		return true;
	for (int i = 0; i < call->n; i++)
		if (call->at[i].kind == VALUE_SYMINT)
			return trace_pin(t, call->at[i].sym, err);
	if (op == OP_linspace || call->at[0].kind != VALUE_TENSOR)
		return true;
	return trace_shape(t, call->at[0], &shape, &dtype, err) &&
	       (shape.rank == 0 || sym_is_const(shape.size[shape.rank - 1]) ||
		trace_pin(t, shape.size[shape.rank - 1], err));
}

static bool add_op(struct trace *t, const struct op_call *given, struct value *out, struct err *err)
{
	struct arguments operands = { given->values, given->n, given->kw }, *call = &operands;
	enum op op = given->op;
	const char *name = given->name;
	bool inplace = given->inplace;
	struct bind_target target = { .graph = t->graph, .node = target_node, .self = t };
	struct arg args[MAX_ARGS];
	struct value settled[MAX_SETTLED];
	int line = t->host.line, column = t->host.column, node, result;

	if (call->n <= MAX_SETTLED && has_outcome(call->at, call->n)) {
		memcpy(settled, call->at, sizeof(*call->at) * (size_t)call->n);
		for (int i = 0; i < call->n; i++)
			if (!trace_settle(t, &settled[i], err))
				return false;
		operands.at = settled;
	}
	if (!place_module(t, err) || !check_bound(t, err) || !check_random(t, op, err) ||
	    (inplace && call->at[0].kind == VALUE_TENSOR &&
	     (!t->control->may_write(t, call->at[0], err) ||
	      !t->backward->functions->may_write(t, call->at[0], err))))
		return false;
	if (!bind_call(&target, op, call_name(name, op), call, args, err))
		return bind_failed(t, call->at, call->n, err);
	if (!pin_ones(t, op, call, err) || !pin_plain(t, op, call, err))
		return false;
	if (!trace_check_grads(t, op, inplace, call, args, err) ||
	    !trace_mark_parts(t, op, inplace, call->kw, &name, err))
		return false;
	node = add_node(t, op, args, err);
	if (node < 0)
		return op_failed(t, call->at, call->n, err);
	t->graph->nodes[node]->detached = t->grad_off;
	t->graph->nodes[node]->in_place = inplace;
	if (!set_fx(t, node, op, name, inplace))
		return trace_no_memory(err);
	t->n_ops += t->graph->nodes[node]->fx[0] != '\0';
	if (!guard_facts(t, err))
		return false;
	if (!inplace)
		return finish_op(t, node, call, out, err);
	result = bind_inplace(t->graph, args[0].node, filled_with(t, node), line, column, err);
	if (result < 0)
		return op_failed(t, call->at, call->n, err);
	if (!trace_keep_history(t, op, args[0].node, &result, err))
		return false;
	t->writer = node;
	if (!write_result(t, call->at[0], result, err))
		return false;
	*out = value_ref(call->at[0]);
	return true;
}

bool trace_op(struct trace *t, const struct op_call *call, struct value *out, struct err *err)
{
	struct value values[MAX_ARGS + 1];
	struct op_call cast = *call;
	bool any = false, ok;

	ok = trace_scaled(t, call, &any, out, err);
	if (any)
		return ok;
	if (autocast_wants(t->autocast_mode) && !call->inplace &&
	    !autocast_values(&t->autocast, t->autocast_mode,
			     &(struct autocast_call){ call->op, call->values, call->n }, &any,
			     values, err))
		return false;
	if (!any)
		return add_op(t, call, out, err);
	cast.values = values;
	ok = add_op(t, &cast, out, err);
	autocast_drop(values, call->n);
	return ok;
}
