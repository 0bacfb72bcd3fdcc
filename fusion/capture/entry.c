/* fusion/capture/entry.c -- compiles an entry, and runs it.
 *
 * A run copies
 * what was written into its argument when all kernels are done, for they may still read the old
 * elements.  Where the kernel that makes it is the last to do so, the kernel writes it there.
 */
#include "fusion/capture/entry.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/generators.h"
#include "fusion/graph/lay.h"
#include "fusion/tensor/keep.h"
#include "fusion/tensor/view.h"
#include "fusion/vm/classes.h"

enum { LEAST_BYTES = 4096 }; /* less is copied as fast as it is looked at */

/* ---- Results that are written where they belong at once.
 *
 * What an in-place op makes is an output of the graph, which is copied into the
 * argument after the kernels.  The step of an optimiser is made of such outputs:
 * held together they are more than all activations.  Where the kernel that makes one
 * is the last to read the argument, each element at its own point, it writes into the
 * argument's memory.  Nothing may go wrong after that: so not in a graph with an
 * assertion, or, on the host, with an index that may be out of bounds.  A device tells of
 * such an index when all kernels have run, as PyTorch's does, whose memory is lost then. */

/* A kernel of another kind may find a fault when some have been written. */
static bool may_fail(const struct node *library, bool on_device)
{
	if (op_is_product(library->op))
		return false;
	return !on_device || (!op_has(library->op, FACT_UPDATES) && library->op != OP_attention);
}

static bool cannot_fail(const struct exec *x)
{
	bool on_device = allocator_device(x->env->allocator) != NULL;

	for (int k = 0; k < x->lowered->n_kernels; k++)
		if (x->lowered->kernels[k].library &&
		    may_fail(x->lowered->kernels[k].library, on_device))
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
		w->in_place = e->given && !w->replaces && may_replace(x, w->input, w->output);
	}
}

/* Whether the memory is of the output's form, and no other output's in this call. */
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
	if (!graph_lay_outputs(g, e->orders, e->n_outputs))
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
	entry_undescribe(e);
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

/* ---- Side effects of a run. */

static bool replace_items(struct list *list, const struct list *with)
{
	struct value old = value_list(list->at, list->len);
	bool ok = old.kind != VALUE_UNSET;

	while (ok && list->len > 0)
		value_unref(list->at[--list->len]);
	for (int i = 0; ok && i < with->len; i++)
		ok = value_list_push(list, with->at[i]);
	value_unref(old);
	return ok;
}

static bool replace_keys(struct dict *dict, const struct dict *with)
{
	bool ok = true;

	while (dict->len > 0)
		value_dict_remove(dict, dict->keys[dict->len - 1]);
	for (int i = 0; ok && i < with->len; i++)
		ok = value_dict_set(dict, with->keys[i], value_none());
	return ok;
}

static struct dict *entries_of(struct value object, struct vm *vm)
{
	if (object.kind == VALUE_DICT)
		return object.dict;
	if (object.kind == VALUE_CLASS)
		return object.class->attributes;
	return object.kind == VALUE_TENSOR ? tensor_attributes(vm->heap, object)
					   : object_attributes(object);
}

static void put(struct value *place, struct value v)
{
	struct value old = *place;

	*place = value_ref(v);
	value_unref(old);
}

static bool apply(const struct effect *e, struct value object, struct value v,
		  const struct value *made, const struct reconstruction_call *call)
{
	struct dict *dict;
	struct value key = e->key_step >= 0 ? made[e->key_step] : e->key;

	switch (e->kind) {
	case EFFECT_ITEMS:
		return replace_items(object.list, v.list);
	case EFFECT_KEYS:
		return replace_keys(object.dict, v.dict);
	case EFFECT_STORE:
	case EFFECT_REMOVE:
		dict = entries_of(object, call->vm);
		if (!dict || (e->kind == EFFECT_STORE && !value_dict_set(dict, key, v)))
			return false;
		if (e->kind == EFFECT_REMOVE)
			value_dict_remove(dict, key);
		if (object.kind == VALUE_CLASS)
			class_note(object.class);
		return true;
	case EFFECT_CONTENT:
		put(&object.cell->content, v);
		return true;
	case EFFECT_GLOBAL:
		put(&call->vm->globals[e->number].value, v);
		return true;
	case EFFECT_POSITION:
		object.iter->position = e->number;
		return true;
	case EFFECT_GRAD:
		return autograd_set_gradient(call->autograd, object, v, NULL);
	case EFFECT_HOOKS:
		return autograd_add_hooks(call->autograd, object, v, NULL);
	}
	return true;
}

/* What an effect is done to; a reference. */
static struct value object_of(const struct effect *e, const struct reconstruction *r,
			      const struct reconstruction_call *call)
{
	if (e->source >= 0)
		return value_ref(source_value(call->sources, e->source, call->roots));
	return e->kind == EFFECT_GRAD || e->kind == EFFECT_STORE ? value_ref(r->made[e->number])
								 : value_none();
}

/* Does them to the objects of a call; parts by reconstruction_follow(). */
static bool effects_apply(const struct effects *e, const struct reconstruction *r,
			  const struct reconstruction_call *call, struct err *err)
{
	/* all objects first: an effect may cut the way to the next one */
	struct value few[8], *objects = few;
	bool ok = true;

	if (e->n > 8)
		objects = calloc((size_t)e->n, sizeof(*objects));
	if (!objects)
		return err_set(err, ERR_MEMORY, "out of memory for the result");
	for (int i = 0; i < e->n; i++)
		objects[i] = object_of(&e->at[i], r, call);
	for (int i = 0; i < e->n && ok; i++) {
		struct value v = { .kind = VALUE_UNSET };

		if (e->at[i].step >= 0)
			v = r->made[e->at[i].step];
		ok = apply(&e->at[i], objects[i], v, r->made, call);
	}
	for (int i = 0; i < e->n; i++)
		value_unref(objects[i]);
	if (objects != few)
		free(objects);
	return ok || err_set(err, ERR_MEMORY, "out of memory for the result");
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

/* What lies there is an output of the entry's graph: for graphs that take it. */
static void sign(const struct entry *e, struct storage *storage, int output)
{
	storage->graph = e->graph + 1;
	storage->output = output;
}

static bool write_back(struct entry *e, struct grad_node *node, struct err *err)
{
	bool ok = true;

	for (int i = 0; i < e->n_writes; i++) {
		const struct entry_write *w = &e->writes[i];
		struct value to = w->source >= 0 ? e->guards.values[w->source] : w->lifted;

		if (w->replaces) {
			e->writes[i].old = to.tensor->memory;
			to.tensor->memory = tensor_ref(e->output_tensors[w->output]);
		} else if (to.tensor->memory != e->output_tensors[w->output]) { /* else in place */
			ok = ok && storage_before_write(to.tensor->memory->storage, err);
			tensor_copy(to.tensor->memory, e->output_tensors[w->output]);
			sign(e, to.tensor->memory->storage, w->output);
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
	if (e->grad ? !entry_grad_run(e, observer, err)
		    : !in_place_find(e, &call.given, err) || !exec_run(e->exec, &call, err))
		return false;
	for (int i = 0; i < e->n_outputs; i++) {
		struct tensor **t = &e->output_tensors[i];

		if (e->orders[i] && !(*t = tensor_lay(*t, e->orders[i], err)))
			return false;
		sign(e, (*t)->storage, i);
	}
	return true;
}

/* The call needs it no more: its own inputs are what it has had. */
static void drop_replaced(struct entry *e)
{
	for (int i = 0; i < e->n_writes; i++) {
		tensor_unref(e->writes[i].old);
		e->writes[i].old = NULL;
	}
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
	drop_replaced(e);
	drop_saved(e);
	grad_node_unref(node);
	if (!ok || e->draws_alone) /* what was not handed out yet */
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
	modes->derivatives = e->derivatives_after;
	modes->function_modes = e->function_modes_after;
	modes->autocast = e->autocast_after;
	autocast_settle(autocast, modes->autocast);
}
