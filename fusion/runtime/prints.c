/* fusion/runtime/prints.c -- print() as something that a piece leaves. */
#include "fusion/runtime/prints.h"

#include <stdlib.h>
#include <string.h>

bool prints_begin(struct trace *t, bool *known, struct err *err)
{
	(void)err;
	*known = t->native && t->prints.len < MAX_PRINTS;
	t->printing = *known ? t->vm->frame : NULL;
	t->first_gap = t->gaps.len;
	return true;
}

/* The tensor as it is now: it may be written to behind the print(). */
static bool keep_tensor(struct trace *t, struct value tensor, struct value *out, struct err *err)
{
	struct arg args[MAX_ARGS] = { arg_node(trace_node(t, tensor, err)) };
	int node = args[0].node;

	if (node >= 0 && t->graph->nodes[node]->input >= 0)
		node = graph_add(t->graph, OP_clone, args, op_info(OP_clone)->n_params,
				 t->host.line, t->host.column, err);
	return node >= 0 && trace_wrap(t, node, out, err);
}

bool prints_gap(struct trace *t, struct value v, size_t at, bool *known, struct err *err)
{
	struct print_gap gap = { .at = at, .value = v, .step = -1 };

	*known = t->printing && t->printing == t->vm->frame;
	if (!*known)
		return true;
	if (v.kind == VALUE_TENSOR && !keep_tensor(t, v, &gap.value, err))
		return false;
	if (VEC_PUSH(&t->gaps, gap))
		return true;
	if (v.kind == VALUE_TENSOR)
		value_unref(gap.value);
	return trace_no_memory(err);
}

bool prints_end(struct trace *t, const char *text, size_t len)
{
	struct traced_print p = { .text = arena_strndup(t->graph->arena, text ? text : "", len),
				  .len = len,
				  .first_gap = t->first_gap,
				  .n_gaps = t->gaps.len - t->first_gap,
				  .condition = -1 };

	t->printing = NULL;
	return p.text && VEC_PUSH(&t->prints, p);
}

void prints_drop(struct trace *t, size_t n)
{
	const struct traced_print *last = n > 0 ? &t->prints.at[n - 1] : NULL;
	size_t gaps = last ? last->first_gap + last->n_gaps : 0;

	for (size_t i = gaps; i < t->gaps.len; i++)
		value_unref(t->gaps.at[i].value);
	t->gaps.len = gaps;
	t->prints.len = n;
	t->printing = NULL;
}

static bool describe(struct entry_print *to, const struct traced_print *p, struct recipe_builder *b,
		     struct arena *arena)
{
	struct value condition = { .kind = VALUE_LATEBOOL, .i = p->condition };

	*to = (struct entry_print){ .text = p->text, .len = p->len, .condition = -1 };
	to->gaps = ARENA_ARRAY(arena, struct print_gap, p->n_gaps + 1);
	if (!to->gaps)
		return trace_no_memory(b->err);
	if (p->condition >= 0) {
		to->condition = recipe_add(b, condition);
		if (to->condition < 0)
			return false;
	}
	for (size_t i = 0; i < p->n_gaps; i++) {
		struct print_gap gap = b->trace->gaps.at[p->first_gap + i];

		gap.step = recipe_add(b, gap.value);
		if (gap.step < 0)
			return false;
		gap.value = value_none();
		to->gaps[to->n_gaps++] = gap;
	}
	return true;
}

bool prints_describe(struct prints *p, struct recipe_builder *b, struct arena *arena)
{
	const struct trace *t = b->trace;

	p->n = 0;
	p->at = ARENA_ARRAY(arena, struct entry_print, t->prints.len + 1);
	if (!p->at)
		return trace_no_memory(b->err);
	for (size_t i = 0; i < t->prints.len; i++, p->n++)
		if (!describe(&p->at[i], &t->prints.at[i], b, arena))
			return false;
	return true;
}

static bool fill(const struct entry_print *p, const struct recipe *r, struct vm_host *host,
		 struct buf *text, struct err *err)
{
	size_t at = 0;

	for (int i = 0; i < p->n_gaps; i++) {
		struct value v = r->made[p->gaps[i].step];

		buf_add(text, p->text + at, p->gaps[i].at - at);
		at = p->gaps[i].at;
		if (v.kind != VALUE_TENSOR)
			value_print(text, v, false);
		else if (!host->repr(host->self, v, text, err))
			return false;
	}
	buf_add(text, p->text + at, p->len - at);
	return true;
}

bool prints_write(const struct prints *p, const struct recipe *r, struct vm *vm, struct err *err)
{
	struct vm_host *host = vm->host;
	bool ok = true;

	for (int i = 0; i < p->n && ok; i++) {
		struct buf text;

		if (p->at[i].condition >= 0 && !r->made[p->at[i].condition].b)
			continue;
		buf_init(&text, 0);
		ok = fill(&p->at[i], r, host, &text, err);
		if (ok && host->print)
			host->print(host->self, text.data, text.len);
		buf_finish(&text);
	}
	return ok;
}
