/* fusion/runtime/entry_create.c -- from a call to a compiled entry.
 *
 * Attempts at capture repeat while they teach the slots something; each pins or
 * merges at least one class of sizes, so their number is bounded by the dims.
 */
#include <stdlib.h>

#include "fusion/base/clock.h"
#include "fusion/runtime/entry.h"

bool entry_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while compiling the call");
}

/* Captures until an attempt stands; its graph lives in e->arena. */
static bool capture(struct entry *e, struct trace *t, struct vm *vm, struct value callee,
		    struct value *result, struct err *err)
{
	for (int left = 2 * e->slots.n_dims + 2; left > 0; left--) {
		struct err why = { 0 };

		if (trace_run(t, &e->arena, vm, callee, result, &why))
			return true;
		if (!t->restart) {
			if (err)
				*err = why;
			return false;
		}
	}
	return err_set(err, ERR_INTERNAL, "the capture does not settle on its sizes");
}

static bool mark_vars(const struct sym *s, bool *used)
{
	if (s->kind == SYM_CONST)
		return false;
	if (s->kind == SYM_VAR) {
		bool first = !used[s->value];

		used[s->value] = true;
		return first;
	}
	mark_vars(s->a, used);
	return mark_vars(s->b, used);
}

/* As FX counts them: tensors that are used, and distinct symbols in their sizes. */
static bool count_placeholders(struct entry *e, int n_vars)
{
	bool *used = ARENA_ARRAY(&e->arena, bool, (size_t)n_vars + 1);

	if (!used)
		return false;
	e->n_placeholders = e->captured->n_inputs;
	for (int i = 0; i < e->captured->n_inputs; i++) {
		const struct node *n = e->captured->nodes[e->captured->inputs[i]];

		for (int d = 0; d < n->shape.rank; d++)
			e->n_placeholders += mark_vars(n->shape.size[d], used);
	}
	return true;
}

static bool keep_inputs(struct entry *e, const struct trace *t)
{
	size_t n = t->inputs.len;

	e->inputs = ARENA_ARRAY(&e->arena, struct trace_input, n + 1);
	e->lifted = ARENA_ARRAY(&e->arena, struct value, n + 1);
	e->input_tensors = ARENA_ARRAY(&e->arena, struct tensor *, n + 1);
	if (!e->inputs || !e->lifted || !e->input_tensors)
		return false;
	for (size_t i = 0; i < n; i++) {
		e->inputs[i] = t->inputs.at[i];
		if (e->inputs[i].lifted >= 0)
			e->lifted[i] = value_ref(t->lifted.at[e->inputs[i].lifted].value);
	}
	e->n_inputs = (int)n;
	return true;
}

/* Adds what in-place ops changed to the graph's outputs. */
static bool keep_writes(struct entry *e, const struct trace *t, struct recipe_builder *b)
{
	size_t most = (size_t)t->slots->n + t->lifted.len;

	e->writes = ARENA_ARRAY(&e->arena, struct entry_write, most + 1);
	if (!e->writes)
		return false;
	for (int i = 0; i < t->slots->n; i++) {
		if (!t->slots->at[i].written)
			continue;
		e->writes[e->n_writes++] = (struct entry_write){ .slot = i,
								 .output = (int)b->outputs.len };
		if (!VEC_PUSH(&b->outputs, t->tensors[i].tensor->node))
			return false;
	}
	for (size_t i = 0; i < t->lifted.len; i++) {
		if (!t->lifted.at[i].written)
			continue;
		e->writes[e->n_writes++] = (struct entry_write){ .slot = -1,
								 .lifted = value_ref(
								     t->lifted.at[i].value),
								 .output = (int)b->outputs.len };
		if (!VEC_PUSH(&b->outputs, t->lifted.at[i].node))
			return false;
	}
	return true;
}

/* Two arguments that overlap without being the same tensor: what one write
 * means for the other is beyond a functional graph. */
static bool check_overlap(const struct trace *t, struct err *err)
{
	const struct slots *s = t->slots;

	for (int i = 0; i < s->n; i++) {
		if (s->at[i].kind != VALUE_TENSOR || !s->at[i].written)
			continue;
		for (int j = 0; j < s->n; j++)
			if (j != i && s->at[j].kind == VALUE_TENSOR && s->at[j].same_as != i &&
			    s->at[j].value.tensor->memory->storage ==
				s->at[i].value.tensor->memory->storage)
				return err_set(err, ERR_UNSUPPORTED,
					       "%s is changed in place and shares memory with %s; "
					       "pass a copy, or run the function in mode eager",
					       s->at[i].name, s->at[j].name);
	}
	return true;
}

/* Result, guards and outputs of a capture that stands. */
static bool describe(struct entry *e, struct trace *t, struct value result, struct err *err)
{
	struct recipe_builder b = { .trace = t, .err = err };
	bool ok = check_overlap(t, err) && recipe_add(&b, result, 0);

	e->captured = t->graph;
	if (ok && (!keep_inputs(e, t) || !keep_writes(e, t, &b) ||
		   !graph_set_outputs(t->graph, b.outputs.at, (int)b.outputs.len)))
		ok = entry_no_memory(err);
	e->n_outputs = ok ? (int)b.outputs.len : 0;
	ok = recipe_create(&e->recipe, &b, &e->arena, ok);
	if (!ok)
		return false;
	e->output_tensors = ARENA_ARRAY(&e->arena, struct tensor *, (size_t)e->n_outputs + 1);
	if (!e->output_tensors || !guards_create(&e->guards, t, &e->arena) ||
	    !count_placeholders(e, t->n_homes))
		return entry_no_memory(err);
	return true;
}

/* Passes, lowering, backend; the captured graph stays as it was. */
static bool compile(const struct entry_options *options, struct entry *e, struct err *err)
{
	struct pass_options passes = { .disabled = options->passes_disabled };
	struct graph *g;

	if (e->n_outputs == 0)
		return true;
	g = graph_copy(e->captured, &e->arena);
	if (!g)
		return entry_no_memory(err);
	e->exec = partition_create(options->env, options->backend, g, &passes, &options->lowering,
				   &e->arena, err);
	if (!e->exec)
		return false;
	e->kernel_names = ARENA_ARRAY(&e->arena, const char *,
				      (size_t)e->exec->lowered->n_kernels + 1);
	if (!e->kernel_names)
		return entry_no_memory(err);
	for (int i = 0; i < e->exec->lowered->n_kernels; i++)
		e->kernel_names[i] = e->exec->lowered->kernels[i].name;
	return true;
}

struct entry *entry_create(const struct entry_options *options, struct entry *e, struct vm *vm,
			   struct value callee, struct err *err)
{
	struct value result = value_none();
	int64_t begin = clock_ns();
	struct trace t = { 0 };
	bool ok;

	e->graph = -1;
	trace_init(&t, options->names, options->operators, &e->slots, options->dynamic);
	vm_set_host(vm, &t.host);
	ok = capture(e, &t, vm, callee, &result, err);
	if (ok) {
		ok = describe(e, &t, result, err);
		e->capture_ns = clock_ns() - begin;
		if (t.n_ops > 0)
			e->graph = 0; /* the session numbers it */
		value_unref(result);
	}
	trace_finish(&t);
	ok = ok && compile(options, e, err);
	if (ok && !slots_release_tensors(&e->slots))
		ok = entry_no_memory(err);
	e->compile_ns = clock_ns() - begin;
	if (ok)
		return e;
	entry_destroy(e);
	return NULL;
}
