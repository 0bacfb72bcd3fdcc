/* fusion/runtime/entry.c -- runs a compiled entry.
 *
 * What an in-place op wrote is computed aside and copied into the argument when
 * all kernels are done: they may still read its old elements.
 */
#include "fusion/runtime/entry.h"

#include <stdlib.h>

#include "fusion/base/clock.h"

void entry_destroy(struct entry *e)
{
	if (!e)
		return;
	exec_destroy(e->exec);
	recipe_finish(&e->recipe);
	for (int i = 0; i < e->n_inputs; i++)
		value_unref(e->lifted[i]);
	for (int i = 0; i < e->n_writes; i++)
		value_unref(e->writes[i].lifted);
	slots_finish(&e->slots);
	arena_finish(&e->arena);
	free(e);
}

static void gather(struct entry *e, const struct value *args)
{
	for (int i = 0; i < e->n_inputs; i++) {
		const struct trace_input *in = &e->inputs[i];
		struct value v = in->slot >= 0 ? slot_value(&e->slots, in->slot, args)
					       : e->lifted[i];

		e->input_tensors[i] = v.tensor->memory;
	}
}

static void write_back(struct entry *e, const struct value *args)
{
	for (int i = 0; i < e->n_writes; i++) {
		const struct entry_write *w = &e->writes[i];
		struct value to = w->slot >= 0 ? slot_value(&e->slots, w->slot, args) : w->lifted;

		tensor_copy(to.tensor->memory, e->output_tensors[w->output]);
		tensor_unref(e->output_tensors[w->output]);
		e->output_tensors[w->output] = NULL;
	}
}

static bool run_exec(struct entry *e, const struct value *args,
		     const struct fusion_observer *observer, struct err *err)
{
	bool watched = __builtin_expect(observer && observer->phase, 0);
	int64_t begin = watched ? clock_ns() : 0;

	gather(e, args);
	if (!exec_bind(e->exec, e->guards.vars, err))
		return false;
	if (watched)
		observer->phase(observer->self, PHASE_DISPATCH, begin, clock_ns());
	return exec_run(e->exec, e->input_tensors, e->output_tensors, NULL, observer, e->graph,
			err);
}

bool entry_run(struct entry *e, const struct value *args, struct value *out,
	       const struct fusion_observer *observer, struct err *err)
{
	struct recipe_call call = { .slots = &e->slots,
				    .args = args,
				    .outputs = e->output_tensors,
				    .vars = e->guards.vars };
	bool ok;

	e->uses++;
	if (e->exec && !run_exec(e, args, observer, err))
		return false;
	if (e->n_writes > 0)
		write_back(e, args);
	ok = recipe_follow(&e->recipe, &call, out, err);
	if (!ok) /* what was not handed out yet */
		for (int i = 0; i < e->n_outputs; i++) {
			tensor_unref(e->output_tensors[i]);
			e->output_tensors[i] = NULL;
		}
	return ok;
}
