/* fusion/capture/replay.c -- see replay.h. */
#include "fusion/capture/replay.h"

#include "fusion/capture/capture.h"

void replay_finish(struct replay *r)
{
	if (r->kept.kind == VALUE_TENSOR)
		value_unref(r->kept);
	*r = (struct replay){ 0 };
}

/* ---- what an entry allows */

const char *replay_why_not(const struct entry *e)
{
	if (!entry_returns(e))
		return "the function goes on in eager behind it, which may change what is guarded";
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

static bool has_numbers(const struct entry *e)
{
	for (int i = 0; i < e->n_inputs; i++)
		if (e->numbers[i])
			return true;
	return false;
}

static bool is_plain(const struct entry *e)
{
	const struct recipe *r = &e->recipe;

	return e->exec && e->exec->record && e->n_outputs == 1 && e->n_writes == 0 &&
	       e->n_asserts == 0 && e->prints.n == 0 && !has_numbers(e) && e->result == 0 &&
	       r->n == 1 && r->steps[0].kind == RECIPE_OUTPUT && r->steps[0].index == 0 &&
	       !r->steps[0].n && !r->steps[0].leaf && !(e->spent && e->spent[0]);
}

static bool find_inputs(struct replay *r, struct entry *e, int self)
{
	r->inputs = ARENA_ARRAY(&e->arena, int, (size_t)e->n_inputs + 1);
	for (int i = 0; r->inputs && i < e->n_inputs; i++)
		if (e->inputs[i].slot >= 0 &&
		    guards_is_of_call(&e->guards, e->inputs[i].slot, self))
			r->inputs[r->n_inputs++] = i;
	return r->inputs != NULL;
}

/* Local `self`, where there is one, is the same object in each call. */
static void look(struct replay *r, struct entry *e, int self)
{
	r->ready = true;
	r->possible = !replay_why_not(e) &&
		      guards_of_arguments(&e->guards, self, &e->arena, &r->steps, &r->n_steps) &&
		      find_inputs(r, e, self);
	r->plain = r->possible && is_plain(e);
}

bool replay_note(struct session *s, struct entry *e)
{
	struct replay *r = &e->replay;

	if (!s->options.env->changes)
		return false;
	if (!r->ready)
		look(r, e, s->self.kind != VALUE_UNSET ? 0 : -1);
	if (!r->possible)
		return false;
	r->changes = *s->options.env->changes;
	s->replayed = e;
	return true;
}

/* ---- a call */

struct entry *replay_find(struct session *s, const struct roots *roots, int n)
{
	struct entry *e = s->replayed;

	if (!e || e->replay.changes != *s->options.env->changes ||
	    n != e->slots.code->n_positional ||
	    !guards_hold_among(&e->guards, roots, e->replay.steps, e->replay.n_steps))
		return NULL;
	e->replay.left_out++;
	return e;
}

/* The last result, where nobody but the recording and `kept` has a part in it: it can be
 * the next one. */
static struct tensor *last_result(const struct replay *r, const struct exec *exec)
{
	const struct vtensor *v = r->kept.tensor;
	struct tensor *t = exec_recorded_output(exec);

	if (r->kept.kind != VALUE_TENSOR || !t || v->memory != t || t->refs != 2 ||
	    t->storage->refs != 1 || v->head.refs != 1 || v->head.heap || v->grad || v->owner ||
	    v->is_parameter || v->written || v->dynamic_dims)
		return NULL;
	storage_renew(t->storage);
	return t;
}

/* Wraps what was made (the reference is taken), and keeps it if the recording does. */
static bool keep_result(struct replay *r, const struct exec *exec, struct tensor *made,
			struct value *out)
{
	struct value old = r->kept;

	*out = tensor_wrap(made);
	if (out->kind == VALUE_UNSET)
		return false;
	r->kept = (struct value){ .kind = VALUE_UNSET };
	if (exec_recorded_output(exec) == out->tensor->memory)
		r->kept = value_ref(*out);
	if (old.kind == VALUE_TENSOR)
		value_unref(old);
	return true;
}

bool replay_run(struct entry *e, struct value *out, const struct fusion_observer *observer,
		struct err *err)
{
	struct replay *r = &e->replay;
	struct tensor *into = last_result(r, e->exec), *made;

	e->uses++;
	for (int i = 0; i < r->n_inputs; i++) { /* the others are where they were */
		int input = r->inputs[i];

		e->input_tensors[input] = e->guards.values[e->inputs[input].slot].tensor->memory;
	}
	if (!exec_run(e->exec, e->input_tensors, &made, into, observer, e->graph, err))
		return false;
	if (into) {
		tensor_unref(made);
		*out = value_ref(r->kept);
		return true;
	}
	return keep_result(r, e->exec, made, out) ||
	       err_set(err, ERR_MEMORY, "out of memory for the result");
}
