/* fusion/capture/crossing.c -- see crossing.h.
 *
 * A tensor that one piece leaves and the next reads would have stayed in registers
 * or a cache, had both been one kernel: it is written once and read once more than
 * needed.  That holds for what a kernel reads element by element; the operand of a
 * library's function lies in memory in any case.
 */
#include "fusion/capture/crossing.h"

#include "fusion/vm/frame.h"
#include "fusion/capture/capture.h"

enum { DEPTH = 3 }; /* of lists within lists */

static bool has(const struct storages *s, const struct storage *storage)
{
	for (size_t i = 0; i < s->list.len; i++)
		if (s->list.at[i] == storage)
			return true;
	return false;
}

/* Short of memory some are not counted. */
static void gather(struct storages *s, struct value v, int depth)
{
	if (v.kind == VALUE_CELL && depth > 0) {
		gather(s, v.cell->content, depth - 1);
	} else if ((v.kind == VALUE_LIST || v.kind == VALUE_TUPLE) && depth > 0) {
		for (int i = 0; i < v.list->len; i++)
			gather(s, v.list->at[i], depth - 1);
	} else if (v.kind == VALUE_TENSOR && v.tensor->memory &&
		   !has(s, v.tensor->memory->storage)) {
		VEC_PUSH(&s->list, v.tensor->memory->storage);
	}
}

static void gather_frame(struct storages *s, const struct frame *f)
{
	for (int i = 0; i < f->code->n_locals; i++)
		gather(s, f->locals[i], DEPTH);
	for (int i = 0; i < f->code->n_cells; i++)
		gather(s, f->cells[i], DEPTH);
	for (const struct value *v = f->stack; v < f->top; v++)
		gather(s, *v, DEPTH);
}

static bool wanted(const struct session *s)
{
	return __builtin_expect(s->report.observer && s->report.observer->crossed, 0);
}

void crossing_begin(struct session *s, const struct value *args, int n)
{
	struct crossing *c = &s->crossing;

	if (!wanted(s))
		return;
	c->given.list.len = c->held.list.len = 0;
	c->index = -1;
	c->used_bytes = allocator_used_bytes(s->options.env->allocator);
	for (int i = 0; i < n; i++)
		gather(&c->given, args[i], DEPTH);
}

void crossing_leave(struct session *s, int index)
{
	struct crossing *c = &s->crossing;
	size_t used;

	if (!wanted(s) || index < 0)
		return;
	c->index = index;
	c->held.list.len = 0;
	for (const struct frame *f = s->vm->frame; f; f = f->up)
		gather_frame(&c->held, f);
	used = allocator_used_bytes(s->options.env->allocator);
	s->report.observer->crossed(s->report.observer->self, index,
				    used > c->used_bytes ? (int64_t)(used - c->used_bytes) : 0, 0);
}

static bool loads(const struct inst *list, int n, int buffer)
{
	for (int i = 0; i < n; i++) {
		if (list[i].kind != INST_LOAD)
			continue;
		for (int p = 0; list[i].join && p < list[i].join->n; p++)
			if (list[i].join->part[p].at.buffer == buffer)
				return true;
		if (!list[i].join && list[i].at.buffer == buffer)
			return true;
	}
	return false;
}

/* Whether a kernel reads the graph's input element by element. */
static bool reads(const struct exec *e, int input)
{
	int buffer;

	if (e->parts) /* its pieces know; some of them is likely to */
		return true;
	buffer = e->inputs[input];
	for (int i = 0; buffer >= 0 && i < e->lowered->n_kernels; i++) {
		const struct kernel *k = &e->lowered->kernels[i];

		if (loads(k->setup, k->n_setup, buffer) ||
		    loads(k->prologue, k->n_prologue, buffer))
			return true;
		for (int g = 0; g < k->n_stages; g++)
			if (loads(k->stages[g].body, k->stages[g].n_body, buffer) ||
			    loads(k->stages[g].post, k->stages[g].n_post, buffer))
				return true;
	}
	return false;
}

void crossing_enter(struct session *s, const struct entry *e)
{
	struct crossing *c = &s->crossing;
	int64_t moved = 0;

	if (!wanted(s) || c->index < 0 || !e->exec)
		return;
	for (int i = 0; i < e->n_inputs; i++) {
		struct value v = e->inputs[i].slot >= 0 ? e->guards.values[e->inputs[i].slot]
							: e->lifted[i];
		const struct tensor *t = v.kind == VALUE_TENSOR ? v.tensor->memory : NULL;

		if (!t || i >= e->exec->n_inputs || has(&c->given, t->storage) ||
		    !has(&c->held, t->storage) || !reads(e->exec, i))
			continue;
		moved += 2 * tensor_numel(t) * (int64_t)dtype_bytes(t->dtype);
	}
	if (moved)
		s->report.observer->crossed(s->report.observer->self, c->index, 0, moved);
	c->index = -1;
}

void crossing_finish(struct crossing *c)
{
	VEC_FREE(&c->given.list);
	VEC_FREE(&c->held.list);
}
