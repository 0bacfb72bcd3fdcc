/* fusion/capture/guards/guards.c -- makes guards from a capture; guards/check.c checks them.
 *
 * A tensor that the program never looked at is guarded by type alone: FX drops
 * such inputs too.  So a symbol is named for the first dim of its class whose
 * tensor was looked at, which need not be the class's root.
 */
#include "fusion/capture/guards/guards.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/eager/autograd.h"

struct guard_maker {
	struct guards *g;
	const struct trace *t;
	VEC(struct guard) list;
	bool failed;
};

static void add(struct guard_maker *m, struct guard guard)
{
	if (!VEC_PUSH(&m->list, guard))
		m->failed = true;
}

static bool looked_at(const struct source *s)
{
	return s->kind == VALUE_TENSOR && s->live && s->same_as < 0 && s->touched;
}

/* How the type of a source is checked; after that it may be read. */
static struct guard type_guard(const struct source *s, int source)
{
	struct guard guard = { .kind = GUARD_VALUE, .source = source };

	switch (s->kind) {
	case VALUE_UNSET:
		guard.kind = GUARD_UNSET;
		break;
	case VALUE_TENSOR:
		guard.kind = GUARD_TYPE;
		guard.number = looked_at(s) ? s->value.tensor->dynamic_dims : ~0u;
		break;
	case VALUE_TUPLE:
	case VALUE_LIST:
		guard.kind = GUARD_LENGTH;
		guard.number = s->value.list->len;
		guard.dim = guard_sequence_type(s->value.list);
		break;
	case VALUE_DICT:
		guard.kind = GUARD_KEYS;
		break;
	case VALUE_CELL:
		guard.kind = GUARD_LOAD;
		break;
	case VALUE_SET:
	case VALUE_RANGE:
	case VALUE_SLICE:
		guard.kind = GUARD_EQUAL;
		break;
	case VALUE_FUNCTION:
		guard.kind = GUARD_FUNCTION;
		guard.pointer = s->value.function->code;
		guard.number = s->value.function->attributes ? s->value.function->attributes->len
							     : 0;
		break;
	case VALUE_NATIVE:
		guard.kind = GUARD_NATIVE;
		break;
	case VALUE_MODULE:
	case VALUE_CLASS:
	case VALUE_DESCRIPTOR:
		guard.kind = s->kind == VALUE_MODULE ? GUARD_MODULE : GUARD_OBJECT;
		guard.pointer = s->value.object;
		break;
	case VALUE_INSTANCE:
		guard.kind = GUARD_INSTANCE;
		guard.pointer = s->value.instance->class;
		break;
	case VALUE_ITER:
		guard.kind = GUARD_ITERATOR;
		guard.dim = s->value.iter->iter_kind;
		guard.number = s->value.iter->position;
		guard.other = (int)s->value.iter->length;
		break;
	case VALUE_METHOD:
		guard.kind = GUARD_KIND;
		guard.number = s->kind;
		break;
	default:
		break;
	}
	return guard;
}

/* What the step of an optimiser is a method of: torch compiles the step of each. */
static bool is_own_optimizer(const struct trace *t, const struct source *s)
{
	return !t->native && code_is_frame(t->base->code) && s->access == SOURCE_LOCAL &&
	       s->index == 0;
}

/* Where a class is a source of its own, its instances need no pointer to it, but
 * the class may not be another one: its guard says so. */
static void add_type(struct guard_maker *m, int source)
{
	const struct source *s = &m->t->sources->at[source];
	struct guard guard = type_guard(s, source);

	if (s->kind == VALUE_FLOAT && s->symbolic && !s->pinned) {
		guard.kind = GUARD_FLOAT;
		guard.number = s->var;
	} else if (s->var >= 0) {
		guard.kind = GUARD_INT;
		guard.number = s->var;
	}
	if (s->var >= 0)
		m->g->homes[s->var] = (struct guard_home){ .source = source, .dim = -1 };
	if (guard.kind == GUARD_INSTANCE && is_own_optimizer(m->t, s))
		guard.number = 1 + (int64_t)s->value.object->birth;
	add(m, guard);
}

static void add_size(struct guard_maker *m, int source, int dim)
{
	const struct source *s = &m->t->sources->at[source];
	int var = m->t->sources->dims[sources_root(m->t->sources, s->first_dim + dim)].var;
	struct guard guard = { .source = source, .dim = dim, .number = var };

	if (var < 0) {
		guard.kind = GUARD_SIZE;
		guard.number = s->size[dim];
	} else if (m->g->homes[var].source < 0) {
		guard.kind = GUARD_SYMBOL;
		m->g->homes[var] = (struct guard_home){ .source = source, .dim = dim };
	} else {
		guard.kind = GUARD_SAME_SIZE;
	}
	add(m, guard);
}

/* The strides of what is not row-major are constants. */
static void add_layout(struct guard_maker *m, int source)
{
	const struct source *s = &m->t->sources->at[source];
	const struct tensor *t = s->value.tensor->memory;

	add(m, (struct guard){ .kind = GUARD_DTYPE, .source = source, .number = s->dtype });
	if (m->t->autograd->recording || s->grad_read)
		add(m, (struct guard){ .kind = GUARD_GRAD,
				       .source = source,
				       .number = autograd_requires(s->value) });
	if (s->leaf_read || (s->written && m->t->autograd->recording)) /* eager refuses a leaf */
		add(m, (struct guard){ .kind = GUARD_LEAF,
				       .source = source,
				       .number = autograd_is_leaf(s->value) });
	if (s->contiguous) {
		add(m, (struct guard){ .kind = GUARD_CONTIGUOUS, .source = source });
		return;
	}
	for (int d = 0; d < s->rank; d++)
		if (s->size[d] > 1)
			add(m, (struct guard){ .kind = GUARD_STRIDE,
					       .source = source,
					       .dim = d,
					       .number = t->stride[d] });
}

/* What may be written to has to be the same thing, or another one, as it was. */
static bool has_identity(const struct source *s)
{
	return s->live &&
	       (s->kind == VALUE_TENSOR || s->kind == VALUE_LIST || s->kind == VALUE_DICT ||
		s->kind == VALUE_SET || s->kind == VALUE_CELL || s->kind == VALUE_INSTANCE);
}

/* A source whose memory is that of another (trace/view.c). */
static void add_place(struct guard_maker *m, int source)
{
	const struct sources *s = m->t->sources;
	int whole = s->at[source].view_of;

	if (sources_alias(s, source)) {
		add(m, (struct guard){ .kind = GUARD_ALIAS, .source = source, .other = whole });
		return;
	}
	add(m, (struct guard){ .kind = GUARD_WITHIN,
			       .source = source,
			       .other = whole,
			       .number = s->at[source].value.tensor->memory->offset -
					 s->at[whole].value.tensor->memory->offset });
}

static void put_apart(struct guard_maker *m, bool written)
{
	const struct sources *s = m->t->sources;

	for (int i = 0; i < s->n; i++)
		if (s->at[i].kind == VALUE_TENSOR && has_identity(&s->at[i]) &&
		    s->at[i].same_as < 0 && s->at[i].written == written)
			m->g->apart[m->g->n_apart++] = i;
	if (written)
		m->g->n_written = m->g->n_apart;
}

static void add_apart(struct guard_maker *m, struct arena *arena)
{
	m->g->apart = ARENA_ARRAY(arena, int, (size_t)m->t->sources->n + 1);
	m->failed |= !m->g->apart;
	if (m->failed)
		return;
	put_apart(m, true);
	put_apart(m, false);
	if (m->g->n_written && m->g->n_apart > 1)
		add(m, (struct guard){ .kind = GUARD_APART, .source = m->g->apart[0] });
}

/* Tensors that are no parameters are each another one, as they were (torch's NO_TENSOR_ALIASING);
 * of many nobody asks. */
static void add_distinct(struct guard_maker *m)
{
	enum { MOST = 12 };
	const struct sources *s = m->t->sources;
	int found[MOST], n = 0;

	for (int i = 0; i < s->n; i++) {
		if (s->at[i].kind != VALUE_TENSOR || !has_identity(&s->at[i]) ||
		    s->at[i].same_as >= 0 || s->at[i].view_of >= 0 ||
		    s->at[i].value.tensor->is_parameter)
			continue;
		if (n == MOST)
			return;
		found[n++] = i;
	}
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			if (!s->at[found[i]].found_distinct || !s->at[found[j]].found_distinct)
				add(m, (struct guard){ .kind = GUARD_OTHER,
						       .source = found[i],
						       .other = found[j] });
}

static void add_aliases(struct guard_maker *m)
{
	const struct sources *s = m->t->sources;

	for (int i = 0; i < s->n; i++) {
		if (!has_identity(&s->at[i]))
			continue;
		if (s->at[i].same_as >= 0) {
			add(m, (struct guard){ .kind = GUARD_IDENTICAL,
					       .source = i,
					       .other = s->at[i].same_as });
			continue;
		}
		if (s->at[i].kind == VALUE_TENSOR && s->at[i].view_of >= 0)
			add_place(m, i);
		for (int j = 0; s->at[i].written && s->at[i].kind != VALUE_TENSOR && j < s->n; j++)
			if (j != i && has_identity(&s->at[j]) && s->at[j].kind == s->at[i].kind &&
			    s->at[j].same_as < 0 && (j > i || !s->at[j].written) &&
			    s->at[i].access != SOURCE_CELL && s->at[j].access != SOURCE_CELL)
				add(m, (struct guard){
					   .kind = GUARD_DISJOINT, .source = i, .other = j });
		for (int j = i + 1; s->at[i].found_distinct && j < s->n; j++)
			if (s->at[j].found_distinct && s->at[j].live && s->at[j].same_as < 0 &&
			    s->at[j].kind == s->at[i].kind)
				add(m,
				    (struct guard){ .kind = GUARD_OTHER, .source = i, .other = j });
	}
}

/* What a program hardly ever changes, and nothing else is read from: its guard
 * comes last. */
static bool is_steady(const struct sources *s, int source)
{
	const struct source *at = &s->at[source];

	if (at->kind != VALUE_MODULE && at->kind != VALUE_FUNCTION && at->kind != VALUE_NATIVE &&
	    at->kind != VALUE_CLASS)
		return false;
	for (int i = 0; i < at->n_children; i++)
		if (s->at[at->first_child + i].live)
			return false;
	return true;
}

static void add_types(struct guard_maker *m, bool steady)
{
	const struct sources *s = m->t->sources;

	for (int i = 0; i < s->n; i++)
		if (s->at[i].live && is_steady(s, i) == steady)
			add_type(m, i);
}

/* What was only passed on has none yet. */
static bool has_name(struct guard_maker *m, int source)
{
	m->failed |= !m->t->sources->at[source].name && !sources_describe(m->t->sources, source);
	return !m->failed;
}

static void add_all(struct guard_maker *m, struct arena *arena)
{
	const struct sources *s = m->t->sources;

	add_types(m, false);
	for (int i = 0; i < s->n; i++)
		if (!s->at[i].live && s->at[i].may_be_unset && has_name(m, i))
			add(m, (struct guard){ .kind = GUARD_SET, .source = i });
	for (int i = 0; i < s->n; i++)
		if (looked_at(&s->at[i]))
			add(m, (struct guard){
				   .kind = GUARD_RANK, .source = i, .number = s->at[i].rank });
	for (int i = 0; i < s->n; i++)
		for (int d = 0; looked_at(&s->at[i]) && d < s->at[i].rank; d++)
			add_size(m, i, d);
	for (int i = 0; i < s->n; i++)
		if (looked_at(&s->at[i]))
			add_layout(m, i);
	add_aliases(m);
	add_distinct(m);
	add_apart(m, arena);
	for (size_t i = 0; i < m->t->conditions.len; i++)
		add(m,
		    (struct guard){ .kind = GUARD_CONDITION, .source = -1, .number = (int64_t)i });
	add_types(m, true);
	add(m, (struct guard){ .kind = GUARD_MODES, .source = -1 });
}

static bool is_of_tensor(enum guard_kind kind)
{
	return kind == GUARD_RANK || kind == GUARD_SIZE || kind == GUARD_SYMBOL ||
	       kind == GUARD_SAME_SIZE || kind == GUARD_DTYPE || kind == GUARD_CONTIGUOUS;
}

static void set_strides(struct guards *g, struct guard_step *step)
{
	int64_t *size = g->sizes + step->sizes;
	uint64_t stride = 1;

	step->fixed = true;
	for (int d = step->rank - 1; d >= 0; d--) {
		step->fixed &= size[d] >= 0;
		size[step->rank + d] = (int64_t)stride;
		if (size[d] > 1)
			stride *= (uint64_t)size[d];
	}
}

/* The step of a tensor that was looked at: its other guards go into it. */
static struct guard_step tensor_step(const struct guards *g, int source, int sizes)
{
	const struct source *s = &g->sources->at[source];

	return (struct guard_step){ .source = source,
				    .local = s->access == SOURCE_LOCAL ? s->index : -1,
				    .guard = -1,
				    .rank = (int8_t)s->rank,
				    .dtype = (int8_t)s->dtype,
				    .marked = s->value.tensor->dynamic_dims,
				    .sizes = sizes };
}

static void add_to_step(struct guards *g, struct guard_step *step, const struct guard *at)
{
	int64_t *size = g->sizes + step->sizes;

	step->contiguous |= at->kind == GUARD_CONTIGUOUS;
	if (at->kind == GUARD_SIZE)
		size[at->dim] = at->number;
	if (at->kind == GUARD_SYMBOL)
		size[at->dim] = ~(2 * at->number);
	if (at->kind == GUARD_SAME_SIZE)
		size[at->dim] = ~(2 * at->number + 1);
}

static bool add_steps(struct guards *g, struct arena *arena)
{
	int n_sizes = 0, *step_of = ARENA_ARRAY(arena, int, (size_t)g->sources->n + 1);

	for (int i = 0; i < g->n; i++)
		n_sizes += 2 * is_of_tensor(g->at[i].kind);
	g->steps = ARENA_ARRAY(arena, struct guard_step, (size_t)g->n + 1);
	g->sizes = ARENA_ARRAY(arena, int64_t, (size_t)n_sizes + 1);
	if (!g->steps || !g->sizes || !step_of)
		return false;
	n_sizes = 0;
	for (int i = 0; i < g->n; i++) {
		const struct guard *at = &g->at[i];
		struct guard_step *step = &g->steps[g->n_steps];

		if (is_of_tensor(at->kind) || at->kind == GUARD_MODES)
			continue;
		*step = (struct guard_step){ .source = at->source, .local = -1, .guard = i };
		if (at->kind == GUARD_TYPE && looked_at(&g->sources->at[at->source])) {
			*step = tensor_step(g, at->source, n_sizes);
			n_sizes += 2 * step->rank;
			step_of[at->source] = g->n_steps;
		}
		g->n_steps++;
	}
	for (int i = 0; i < g->n; i++)
		if (is_of_tensor(g->at[i].kind))
			add_to_step(g, &g->steps[step_of[g->at[i].source]], &g->at[i]);
	for (int i = 0; i < g->n_steps; i++)
		if (g->steps[i].guard < 0)
			set_strides(g, &g->steps[i]);
	return true;
}

bool guards_create(struct guards *g, const struct trace *t, struct arena *arena)
{
	struct guard_maker m = { .g = g, .t = t };
	size_t n_conditions = t->conditions.len;
	int64_t *was;

	g->sources = t->sources;
	g->grad_off = t->vm->modes.grad_off;
	g->derivatives = t->vm->modes.derivatives;
	g->function_modes = t->function_modes_first;
	g->autocast = t->vm->modes.autocast & AUTOCAST_STATE;
	g->real = t->vm->modes.real;
	g->ordered = t->vm->modes.ordered;
	g->n_vars = (int)t->homes.len;
	g->homes = ARENA_ARRAY(arena, struct guard_home, (size_t)g->n_vars + 1);
	g->vars = ARENA_ARRAY(arena, int64_t, (size_t)g->n_vars + 1);
	g->was = was = ARENA_ARRAY(arena, int64_t, (size_t)g->n_vars + 1);
	g->values = ARENA_ARRAY(arena, struct value, (size_t)t->sources->n + 1);
	g->conditions = ARENA_ARRAY(arena, struct size_condition, n_conditions + 1);
	if (!g->homes || !g->vars || !was || !g->values || !g->conditions)
		return false;
	if (n_conditions)
		memcpy(g->conditions, t->conditions.at, n_conditions * sizeof(*g->conditions));
	for (int i = 0; i < g->n_vars; i++)
		was[i] = sym_var_hint(t->graph->syms, i);
	for (int i = 0; i < g->n_vars; i++)
		g->homes[i] = (struct guard_home){ .source = -1, .dim = -1 };
	add_all(&m, arena);
	g->at = ARENA_ARRAY(arena, struct guard, m.list.len + 1);
	g->texts = ARENA_ARRAY(arena, const char *, m.list.len + 1);
	m.failed |= !g->at || !g->texts;
	for (size_t i = 0; i < m.list.len && !m.failed; i++) {
		g->at[i] = m.list.at[i];
		g->texts[i] = guard_text(g, &g->at[i], arena);
		m.failed |= !g->texts[i];
	}
	g->n = (int)m.list.len;
	VEC_FREE(&m.list);
	return !m.failed && add_steps(g, arena);
}

bool guards_symbols(const struct guards *g, struct arena *arena, struct fusion_symbol **out, int *n)
{
	struct fusion_symbol *at = ARENA_ARRAY(arena, struct fusion_symbol, (size_t)g->n_vars + 1);

	*out = at;
	*n = 0;
	if (!at)
		return false;
	for (int i = 0; i < g->n_vars; i++) {
		const struct guard_home *home = &g->homes[i];
		const char *name = home->source < 0 ? NULL : g->sources->at[home->source].name;

		if (!name) /* nothing reads it */
			continue;
		at[*n].name = arena_printf(arena, "s%d", i);
		at[*n].source = home->dim < 0 ? name
					      : arena_printf(arena, "%s.size(%d)", name, home->dim);
		at[*n].range = home->dim < 0 ? NULL : arena_printf(arena, "2 <= s%d", i);
		if (!at[*n].name || !at[*n].source)
			return false;
		(*n)++;
	}
	return true;
}
