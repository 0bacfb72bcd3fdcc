/* fusion/capture/entry.c -- makes an entry of an attempt, and runs it.
 *
 * The piece's results, and what in-place ops wrote, are outputs of the graph.  A run copies
 * what was written into its argument when all kernels are done, for they may still read the old
 * elements.  Where the kernel that makes it is the last to do so, the kernel writes it there.
 */
#include "fusion/capture/entry.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/generators.h"
#include "fusion/capture/attempt.h"
#include "fusion/tensor/keep.h"
#include "fusion/torch/autocast.h"
#include "fusion/vm/call_path.h"
#include "fusion/vm/frame.h"

enum { LEAST_BYTES = 4096 }; /* less is copied as fast as it is looked at */

bool entry_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while compiling the call");
}

/* ---- What an attempt has found. */

struct marker {
	bool *used; /* by symbol */
	int n;
};

static void mark_var(void *self, int var)
{
	struct marker *m = self;

	m->n += !m->used[var];
	m->used[var] = true;
}

/* As FX counts them: inputs that are used, and distinct symbols in their sizes. */
static bool count_placeholders(struct entry *e, int n_vars)
{
	struct marker m = { .used = ARENA_ARRAY(&e->arena, bool, (size_t)n_vars + 1) };

	if (!m.used)
		return false;
	for (int i = 0; i < e->captured->n_inputs; i++) {
		const struct node *n = e->captured->nodes[e->captured->inputs[i]];

		if (e->inputs[i].real)
			symreal_each_var(e->inputs[i].real, mark_var, &m);
		else
			e->n_placeholders++;
		for (int d = 0; d < n->shape.rank; d++)
			sym_each_var(n->shape.size[d], mark_var, &m);
	}
	for (int i = 0; i < e->sources.n; i++) /* views of an input, which FX hands over as well */
		e->n_placeholders += e->sources.at[i].live && e->sources.at[i].view_of >= 0;
	e->n_placeholders += m.n;
	return true;
}

static bool keep_inputs(struct entry *e, const struct trace *t, struct allocator *allocator)
{
	size_t n = t->inputs.len;

	e->inputs = ARENA_ARRAY(&e->arena, struct trace_input, n + 1);
	e->lifted = ARENA_ARRAY(&e->arena, struct value, n + 1);
	e->numbers = ARENA_ARRAY(&e->arena, struct tensor *, n + 1);
	e->input_tensors = ARENA_ARRAY(&e->arena, struct tensor *, n + 1);
	if (!e->inputs || !e->lifted || !e->numbers || !e->input_tensors)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct trace_input *in = &t->inputs.at[i];

		e->inputs[i] = *in;
		e->n_inputs = (int)i + 1;
		if (in->lifted >= 0)
			e->lifted[i] = value_ref(t->lifted.at[in->lifted].value);
		if (!in->real && (in->source < 0 || t->sources->at[in->source].kind != VALUE_FLOAT))
			continue;
		e->numbers[i] = tensor_create(allocator, DTYPE_F64, 0, NULL, NULL);
		if (!e->numbers[i])
			return false;
	}
	return true;
}

/* Adds what in-place ops changed to the graph's outputs. */
static bool keep_writes(struct entry *e, const struct trace *t, struct reconstruction_builder *b)
{
	size_t most = (size_t)t->sources->n + t->lifted.len;

	e->writes = ARENA_ARRAY(&e->arena, struct entry_write, most + 1);
	if (!e->writes)
		return false;
	for (int i = 0; i < t->sources->n; i++) {
		if (!t->sources->at[i].written || t->sources->at[i].kind != VALUE_TENSOR ||
		    t->sources->at[i].same_as >= 0)
			continue;
		e->writes[e->n_writes++] = (struct entry_write){ .source = i,
								 .output = (int)b->outputs.len };
		if (!VEC_PUSH(&b->outputs, t->sources->at[i].stand_in.tensor->node))
			return false;
	}
	for (size_t i = 0; i < t->lifted.len; i++) {
		if (!t->lifted.at[i].written)
			continue;
		e->writes[e->n_writes++] = (struct entry_write){ .source = -1,
								 .lifted = value_ref(
								     t->lifted.at[i].value),
								 .output = (int)b->outputs.len };
		if (!VEC_PUSH(&b->outputs, t->lifted.at[i].node))
			return false;
	}
	return true;
}

static bool keep_asserts(struct entry *e, const struct trace *t, struct reconstruction_builder *b)
{
	size_t n = t->asserts.len;

	e->asserts = ARENA_ARRAY(&e->arena, int, n + 1);
	if (!e->asserts)
		return false;
	for (size_t i = 0; i < n; i++) {
		e->asserts[i] = (int)b->outputs.len;
		if (!VEC_PUSH(&b->outputs, t->asserts.at[i]))
			return false;
	}
	e->n_asserts = (int)n;
	return true;
}

/* The module whose method the frame runs, though nothing reads it any more: what is captured
 * of the frame later says whose it is.  Not one that the call itself has made; NULL. */
static struct instance *unread_module(const struct reconstruction_builder *b, const struct frame *f,
				      const bool *live)
{
	struct instance *m = f->code->n_locals > 0 && !live[0] ? call_path_module(f) : NULL;

	return m && variables_source(b->trace, value_of(m)) >= 0 ? m : NULL;
}

/* Locals that changed. */
static bool add_locals(struct entry_frame *to, struct reconstruction_builder *b,
		       const struct frame *f, int calls, struct arena *arena)
{
	const bool *live = live_locals(f->code, (int)(f->inst - f->code->insts), arena);
	const struct sources *s = b->trace->sources;
	struct instance *unread;

	to->places = ARENA_ARRAY(arena, struct entry_place, (size_t)f->code->n_locals + 1);
	if (!live || !to->places)
		return entry_no_memory(b->err);
	unread = unread_module(b, f, live);
	for (int i = 0; i < f->code->n_locals; i++) {
		struct entry_place place = { .index = i, .step = -1 };
		struct value v = f->locals[i];

		if (f->shadow_of && v.kind == VALUE_LAZY &&
		    source_is_root(&s->at[v.i], SOURCE_LOCAL, calls, i))
			continue;
		if (i == 0 && unread) {
			if (f->shadow_of) /* it has it */
				continue;
			v = value_of(unread);
		}
		if ((live[i] || (i == 0 && unread)) && v.kind != VALUE_UNSET) {
			place.step = reconstruction_add(b, v);
			if (place.step < 0)
				return false;
		}
		if (f->shadow_of || place.step >= 0)
			to->places[to->n_places++] = place;
	}
	return true;
}

static bool add_values(const struct value *at, int n, int **steps, struct reconstruction_builder *b,
		       struct arena *arena)
{
	*steps = ARENA_ARRAY(arena, int, (size_t)n + 1);
	if (!*steps)
		return entry_no_memory(b->err);
	for (int i = 0; i < n; i++) {
		(*steps)[i] = reconstruction_add(b, at[i]);
		if ((*steps)[i] < 0)
			return false;
	}
	return true;
}

/* What a frame has when it goes on: locals, all operands; a new one also its
 * function and cells. */
static bool add_frame(struct entry_frame *to, struct reconstruction_builder *b,
		      const struct frame *f, int calls, struct arena *arena)
{
	to->function = -1;
	to->inst = f->inst;
	to->n_operands = (int)(f->top - f->stack);
	if (!f->shadow_of) {
		to->n_cells = f->code->n_cells;
		to->function = reconstruction_add(b, value_of(f->function));
		if (to->function < 0 || !add_values(f->cells, to->n_cells, &to->cells, b, arena))
			return false;
	}
	return add_locals(to, b, f, calls, arena) &&
	       add_values(f->stack, to->n_operands, &to->operands, b, arena);
}

/* Frames that wait in the call where the piece found them are as they were. */
static bool add_frames(struct entry *e, struct reconstruction_builder *b, const struct attempt *a)
{
	const struct frame *last = attempt_last(a, &e->n_left), *f = a->trace.vm->frame;
	int n = 1;

	for (; f != last; f = f->up)
		n++;
	e->frames = ARENA_ARRAY(&e->arena, struct entry_frame, (size_t)n);
	if (!e->frames)
		return entry_no_memory(b->err);
	e->n_frames = n;
	for (f = a->trace.vm->frame; n-- > 0; f = f->up)
		if (!add_frame(&e->frames[n], b, f, e->n_left, &e->arena))
			return false;
	return true;
}

static bool add_end(struct entry *e, struct reconstruction_builder *b, const struct attempt *a)
{
	e->rest_eager = a->stopped && a->rest_eager;
	e->at_return = a->stopped && (a->idle || a->ends_at_return);
	if (a->stopped)
		return add_frames(e, b, a);
	e->result = reconstruction_add(b, a->result);
	return e->result >= 0;
}

/* As torch: an item that nothing takes is no call, as one half of x.max(dim). */
static bool drop_items(struct graph *g, const struct reconstruction_builder *b)
{
	int *readers = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);

	if (!readers)
		return false;
	for (int i = 0; i < g->n_outputs; i++)
		readers[g->outputs[i]]++;
	for (size_t i = 0; i < b->viewed.len; i++)
		readers[b->viewed.at[i]]++;
	for (int i = g->n_nodes - 1; i >= 0; i--) {
		const struct node *n = g->nodes[i];

		if (readers[i] == 0 && strcmp(n->fx, "getitem") == 0) {
			if (!graph_set_fx(g, i, ""))
				return false;
			continue;
		}
		for (int a = 0; a < n->n_args; a++)
			if (n->args[a].kind == ARG_NODE)
				readers[n->args[a].node]++;
	}
	return true;
}

/* The trace's prints, with texts and conditions in the reconstruction. */
static bool describe_print(struct entry_print *to, const struct traced_print *p,
			   struct reconstruction_builder *b)
{
	struct value condition = { .kind = VALUE_DEFERRED_BOOL, .i = p->condition };

	*to = (struct entry_print){ .condition = -1 };
	if (p->condition >= 0) {
		to->condition = reconstruction_add(b, condition);
		if (to->condition < 0)
			return false;
	}
	to->text = reconstruction_add(b, p->text);
	return to->text >= 0;
}

static bool prints_describe(struct prints *p, struct reconstruction_builder *b, struct arena *arena)
{
	const struct trace *t = b->trace;

	p->n = 0;
	p->at = ARENA_ARRAY(arena, struct entry_print, t->prints.len + 1);
	if (!p->at)
		return trace_no_memory(b->err);
	for (size_t i = 0; i < t->prints.len; i++, p->n++)
		if (!describe_print(&p->at[i], &t->prints.at[i], b))
			return false;
	return true;
}

bool entry_describe(struct entry *e, struct attempt *a, const struct entry_options *options,
		    struct err *err)
{
	struct trace *t = &a->trace;
	struct reconstruction_builder b = { .trace = t, .err = err, .returns = !a->stopped };
	bool ok = add_end(e, &b, a) && effects_find(&e->effects, &b, &e->arena) &&
		  prints_describe(&e->prints, &b, &e->arena) &&
		  (!t->failed || entry_no_memory(err));

	e->captured = t->graph;
	if (ok && (!keep_writes(e, t, &b) || !keep_asserts(e, t, &b) ||
		   !graph_set_outputs(t->graph, b.outputs.at, (int)b.outputs.len) ||
		   !drop_items(t->graph, &b)))
		ok = entry_no_memory(err);
	e->n_outputs = ok ? (int)b.outputs.len : 0;
	ok = ok && entry_grad_make(e, a, options, err);
	if (ok && !keep_inputs(e, t, options->env->allocator)) /* the gradient may have its own */
		ok = entry_no_memory(err);
	e->autograd = t->autograd;
	e->record = options->record;
	ok = reconstruction_create(&e->reconstruction, &b, &e->arena, ok);
	if (!ok)
		return false;
	e->output_tensors = ARENA_ARRAY(&e->arena, struct tensor *, (size_t)e->n_outputs + 1);
	if (!e->output_tensors || !guards_create(&e->guards, t, &e->arena) ||
	    !count_placeholders(e, (int)t->homes.len))
		return entry_no_memory(err);
	e->grad_off_after = a->stopped ? t->grad_off_at_stop : t->grad_off;
	e->autocast_after = t->autocast_mode;
	e->sets_modes = e->grad_off_after != t->vm->modes.grad_off ||
			e->autocast_after != t->vm->modes.autocast;
	e->graph = t->n_ops > 0 || t->computes_sizes ? 0 : -1; /* the session numbers it */
	return true;
}

void entry_undescribe(struct entry *e)
{
	reconstruction_finish(&e->reconstruction);
	effects_finish(&e->effects);
	for (int i = 0; i < e->n_inputs; i++) {
		value_unref(e->lifted[i]);
		tensor_unref(e->numbers[i]);
	}
	for (int i = 0; i < e->n_writes; i++)
		value_unref(e->writes[i].lifted);
	memset(&e->reconstruction, 0, sizeof(e->reconstruction));
	memset(&e->effects, 0, sizeof(e->effects));
	memset(&e->prints, 0, sizeof(e->prints));
	e->spent = NULL;
	e->n_inputs = e->n_writes = e->n_asserts = e->n_frames = e->n_left = 0;
}

/* ---- Results that are written where they belong at once.
 *
 * What an in-place op makes is an output of the graph, which is copied into the
 * argument after the kernels.  The step of an optimiser is made of such outputs:
 * held together they are more than all activations.  Where the kernel that makes one
 * is the last to read the argument, each element at its own point, it writes into the
 * argument's memory.  Nothing may go wrong after that: so not in a graph with an
 * assertion, or an index that may be out of bounds. */

/* A kernel of another kind may find a fault when some have been written. */
static bool cannot_fail(const struct exec *x)
{
	for (int k = 0; k < x->lowered->n_kernels; k++)
		if (x->lowered->kernels[k].library &&
		    !op_is_product(x->lowered->kernels[k].library->op))
			return false;
	return true;
}

static bool is_given_back(const struct exec *x, int buffer)
{
	for (int i = 0; i < x->n_outputs; i++)
		if (x->outputs[i].buffer == buffer)
			return true;
	return false;
}

/* Whether output `o` may lie in the memory of input `in`; -1: no kernel reads it. */
static bool may_replace(const struct exec *x, int in, int o)
{
	const struct buffer *buffers = x->lowered->buffers, *to = &buffers[x->outputs[o].buffer];
	int from = in < 0 ? -1 : x->inputs[in];

	if (x->outputs[o].copy || to->first_kernel < 0 || x->over[x->outputs[o].buffer] >= 0)
		return false;
	if (from < 0)
		return true;
	return buffers[from].dtype == to->dtype && buffers[from].numel == to->numel &&
	       !is_given_back(x, from) && buffers[from].last_kernel <= to->first_kernel &&
	       (buffers[from].last_kernel < to->first_kernel ||
		kernel_overwrites(&x->lowered->kernels[to->first_kernel], from,
				  x->outputs[o].buffer));
}

static struct tensor *target_of(const struct entry *e, const struct entry_write *w)
{
	struct value to = w->source >= 0 ? e->guards.values[w->source] : w->lifted;

	return to.tensor->memory;
}

/* The graph's input that is the argument of a write; -1. */
static int input_of(const struct entry *e, const struct entry_write *w)
{
	for (int i = 0; i < e->n_inputs; i++)
		if (w->source >= 0 ? e->inputs[i].source == w->source
				   : e->inputs[i].source < 0 && e->lifted[i].kind == VALUE_TENSOR &&
					 e->lifted[i].tensor == w->lifted.tensor)
			return i;
	return -1;
}

/* Finds the writes that kernels may do in place. */
static void in_place_plan(struct entry *e)
{
	const struct exec *x = e->exec;

	if (!x || x->parts || e->grad || e->n_asserts > 0 || !cannot_fail(x))
		return;
	e->given = ARENA_ARRAY(&e->arena, struct tensor *, (size_t)e->n_outputs + 1);
	for (int i = 0; i < e->n_writes; i++) {
		struct entry_write *w = &e->writes[i];

		w->input = input_of(e, w);
		w->in_place = e->given && may_replace(x, w->input, w->output);
	}
}

/* Whether the memory is of the output's form, and nobody else's in this call. */
static bool fits(const struct entry *e, const struct entry_write *w, const struct tensor *t)
{
	const struct exec_output *out = &e->exec->outputs[w->output];

	size_t bytes = (size_t)tensor_numel(t) * dtype_bytes(t->dtype);

	/* All of its storage: vectors write beyond the end. */
	if (t->dtype != out->dtype || t->rank != out->rank || !tensor_contiguous(t) ||
	    bytes != t->storage->bytes || bytes < LEAST_BYTES)
		return false;
	for (int d = 0; d < t->rank; d++)
		if (t->size[d] != out->size[d])
			return false;
	for (int i = 0; i < e->n_inputs; i++)
		if (i != w->input && e->input_tensors[i]->storage == t->storage)
			return false;
	for (int i = 0; i < e->n_writes; i++)
		if (&e->writes[i] != w && target_of(e, &e->writes[i])->storage == t->storage)
			return false;
	return true;
}

/* *given: the tensors of the call under way for exec_run(), by output; NULL where there are
 * none.  The exec is bound. */
static bool in_place_find(struct entry *e, struct tensor *const **given, struct err *err)
{
	bool any = false;

	for (int i = 0; i < e->n_writes && e->given; i++) {
		struct entry_write *w = &e->writes[i];
		struct tensor *t = w->in_place ? target_of(e, w) : NULL;

		e->given[w->output] = t && fits(e, w, t) ? t : NULL;
		if (!e->given[w->output])
			continue;
		any = true;
		if (!storage_before_write(t->storage, err))
			return false;
	}
	*given = any ? e->given : NULL;
	return true;
}

bool entry_compile(struct entry *e, const struct entry_options *options, struct err *err)
{
	struct compile_options how = { .env = options->env,
				       .backend = options->backend,
				       .passes = { .disabled = options->passes_disabled },
				       .lowering = options->lowering };
	struct graph *g;

	if (e->n_outputs == 0)
		return true;
	g = graph_copy(e->grad ? e->grad->forward : e->captured, &e->arena);
	if (!g)
		return entry_no_memory(err);
	e->exec = compile_graph(&how, g, &e->arena, err);
	in_place_plan(e);
	return e->exec != NULL;
}

/* ---- An entry as a whole. */

void entry_destroy(struct entry *e)
{
	if (!e)
		return;
	if (e->replay.kept.kind == VALUE_TENSOR)
		value_unref(e->replay.kept);
	exec_destroy(e->exec);
	entry_grad_finish(e->grad);
	reconstruction_finish(&e->reconstruction);
	effects_finish(&e->effects);
	for (int i = 0; i < e->n_inputs; i++) {
		value_unref(e->lifted[i]);
		tensor_unref(e->numbers[i]);
	}
	for (int i = 0; i < e->n_writes; i++)
		value_unref(e->writes[i].lifted);
	sources_finish(&e->sources);
	arena_finish(&e->arena);
	free(e);
}

const char *entry_why_guarded(const struct entry *e)
{
	if (!entry_returns(e))
		return "the function goes on in eager after it, which may change what is guarded";
	if (e->grad)
		return "gradients are recorded, which may change what is guarded";
	if (e->effects.n > 0)
		return "it changes objects of the program";
	if (e->sets_modes)
		return "it leaves another grad or autocast mode";
	if (e->guards.n_vars > 0)
		return "its sizes or numbers are symbols";
	return NULL;
}

/* ---- A run. */

static void gather(struct entry *e)
{
	for (int i = 0; i < e->n_inputs; i++) {
		const struct trace_input *in = &e->inputs[i];
		/* guards have loaded what inputs are read from */
		struct value v = in->source >= 0 ? e->guards.values[in->source] : e->lifted[i];

		if (in->real)
			v = value_float(symreal_eval(in->real, e->guards.vars));
		if (v.kind == VALUE_FLOAT) {
			*(double *)tensor_host_writes(e->numbers[i]) = v.f;
			e->input_tensors[i] = e->numbers[i];
		} else {
			e->input_tensors[i] = v.tensor->memory;
		}
	}
}

static bool write_back(struct entry *e, struct grad_node *node, struct err *err)
{
	bool ok = true;

	for (int i = 0; i < e->n_writes; i++) {
		const struct entry_write *w = &e->writes[i];
		struct value to = w->source >= 0 ? e->guards.values[w->source] : w->lifted;

		if (to.tensor->memory != e->output_tensors[w->output]) { /* else in place */
			ok = ok && storage_before_write(to.tensor->memory->storage, err);
			tensor_copy(to.tensor->memory, e->output_tensors[w->output]);
		}
		storage_written(to.tensor->memory->storage);
		ok = ok && (!node || entry_grad_give(e, node, w->output, to, err));
		tensor_unref(e->output_tensors[w->output]);
		e->output_tensors[w->output] = NULL;
	}
	return ok;
}

static bool run_exec(struct entry *e, const struct fusion_observer *observer, struct err *err)
{
	struct exec_call call = { .inputs = e->input_tensors,
				  .outputs = e->output_tensors,
				  .observer = observer,
				  .graph = e->graph };
	bool watched = __builtin_expect(observer && observer->phase, 0);
	int64_t begin = watched ? clock_ns() : 0;

	gather(e);
	if (!exec_bind(e->exec, e->guards.vars, err))
		return false;
	if (__builtin_expect(e->record && !e->recorded.tried, 0))
		exec_record(e->exec, e->record, &e->recorded);
	if (watched)
		observer->phase(observer->self, PHASE_DISPATCH, begin, clock_ns());
	if (e->grad)
		return entry_grad_run(e, observer, err);
	return in_place_find(e, &call.given, err) && exec_run(e->exec, &call, err);
}

/* Locals and operands as the piece left them. */
static void restore_frame(const struct entry_frame *from, const struct value *made, struct frame *f)
{
	for (int i = 0; i < from->n_places; i++) {
		struct value *place = &f->locals[from->places[i].index], old = *place;

		*place = (struct value){ .kind = VALUE_UNSET };
		if (from->places[i].step >= 0)
			*place = value_ref(made[from->places[i].step]);
		value_unref(old);
	}
	for (int i = 0; i < from->n_cells; i++)
		f->cells[i] = value_ref(made[from->cells[i]]);
	while (f->top > f->stack)
		value_unref(*--f->top);
	for (int i = 0; i < from->n_operands; i++)
		*f->top++ = value_ref(made[from->operands[i]]);
	f->inst = from->inst;
}

/* The frames as they are where the piece ends. */
static bool restore(struct entry *e, struct vm *vm, struct err *err)
{
	const struct value *made = e->reconstruction.made;

	for (int i = 0; i < e->n_left; i++)
		frame_pop(vm);
	for (int i = 0; i < e->n_frames; i++) {
		const struct entry_frame *from = &e->frames[i];
		struct function *function = i > 0 ? made[from->function].function : NULL;

		if (function && !frame_push(vm, function->unit, function, err))
			return false;
		restore_frame(from, made, vm->frame);
	}
	return true;
}

/* Eager would have failed on its way to the frames that the piece leaves. */
static bool too_deep(const struct entry *e, const struct vm *vm)
{
	return e->n_frames > 1 && vm->depth - e->n_left + e->n_frames - 1 > vm->limits.depth;
}

static void drop_outputs(struct entry *e)
{
	for (int i = 0; i < e->n_outputs; i++) {
		tensor_unref(e->output_tensors[i]);
		e->output_tensors[i] = NULL;
	}
}

static bool all_hold(struct entry *e)
{
	bool ok = true;

	for (int i = 0; i < e->n_asserts; i++) {
		struct tensor **t = &e->output_tensors[e->asserts[i]];

		ok &= tensor_get_double(*t, 0) != 0;
		tensor_unref(*t);
		*t = NULL;
	}
	return ok;
}

/* Of a node, which has what it needs of them. */
static void drop_saved(struct entry *e)
{
	for (int i = e->n_outputs; e->grad && i < e->grad->n_outputs; i++) {
		tensor_unref(e->grad->outputs[i]);
		e->grad->outputs[i] = NULL;
	}
}

static void prints_write(const struct prints *p, const struct reconstruction *r, struct vm *vm)
{
	struct vm_host *host = vm->host;

	for (int i = 0; i < p->n; i++) {
		const struct str *text = r->made[p->at[i].text].str;

		if (host->print && (p->at[i].condition < 0 || r->made[p->at[i].condition].b))
			host->print(host->self, text->text, text->len);
	}
}

bool entry_run(struct entry *e, const struct roots *roots, struct vm *vm, struct value *out,
	       const struct fusion_observer *observer, struct err *err)
{
	struct reconstruction_call call = { .sources = &e->sources,
					    .roots = roots,
					    .vm = vm,
					    .outputs = e->output_tensors,
					    .vars = e->guards.vars,
					    .entry = e,
					    .autograd = e->autograd };
	struct generators *random, before;
	struct grad_node *node = NULL;
	bool ok = true;

	e->uses++;
	if (too_deep(e, vm))
		return err_set(err, ERR_BREAK, "the calls would be nested too deeply");
	random = e->exec && e->n_asserts > 0 ? e->exec->env->backend_env.random : NULL;
	if (random)
		before = *random;
	if (e->exec && !run_exec(e, observer, err))
		return false;
	if (e->n_asserts > 0 && !all_hold(e)) {
		drop_outputs(e);
		drop_saved(e);
		if (random) /* eager draws the same numbers once more */
			*random = before;
		e->refuted++;
		return err_set(err, ERR_BREAK, "an assertion does not hold");
	}
	if (e->grad) {
		node = call.node = entry_grad_note(e, err);
		ok = node != NULL;
	}
	if (ok && e->n_writes > 0)
		ok = write_back(e, node, err);
	if (ok && e->grad)
		ok = entry_grad_watch(e, node, err);
	ok = ok && reconstruction_follow(&e->reconstruction, &call, err);
	if (ok && e->effects.n > 0)
		ok = effects_apply(&e->effects, &e->reconstruction, &call, err);
	if (ok && e->prints.n > 0)
		prints_write(&e->prints, &e->reconstruction, vm);
	if (ok && entry_returns(e))
		*out = value_ref(e->reconstruction.made[e->result]);
	else if (ok)
		ok = restore(e, vm, err);
	reconstruction_drop(&e->reconstruction);
	drop_saved(e);
	grad_node_unref(node);
	if (!ok) /* what was not handed out yet */
		drop_outputs(e);
	return ok;
}

void entry_set_modes(const struct entry *e, struct vm *vm, struct autocast *autocast)
{
	struct torch_modes *modes = &vm->modes;

	/* the outermost block ends, or begins, where eager does not see it */
	if (modes->autocast < AUTOCAST_BLOCK)
		autocast_forget(autocast);
	modes->grad_off = e->grad_off_after;
	modes->autocast = e->autocast_after;
	autocast_settle(autocast, modes->autocast);
}
