/* fusion/capture/guards/check.c -- checks guards, one by one or all in one go.
 *
 * Checking loads the sources and gathers the symbols' values: the entry that is
 * then run reads them.
 */
#include <string.h>

#include "fusion/eager/autograd.h"
#include "fusion/capture/guards/guards.h"
#include "fusion/tensor/view.h"

/* Exact: True is not 1 here, 0.0 not -0.0, and a NaN equals itself. */
static bool same_value(struct value a, struct value b)
{
	if (a.head != b.head)
		return false;
	switch (a.kind) {
	case VALUE_NONE:
		return true;
	case VALUE_BOOL:
		return a.b == b.b;
	case VALUE_DTYPE:
		return a.dtype == b.dtype;
	case VALUE_STR:
		return a.str->len == b.str->len && a.str->is_device == b.str->is_device &&
		       memcmp(a.str->text, b.str->text, a.str->len) == 0;
	default:
		return a.i == b.i; /* floats by their bits */
	}
}

static bool same_keys(const struct dict *a, const struct dict *b)
{
	if (a->len != b->len)
		return false;
	for (int i = 0; i < a->len; i++)
		if (a->keys[i].kind != b->keys[i].kind || !value_equal(a->keys[i], b->keys[i]))
			return false;
	return true;
}

static bool identical(const struct guards *g, const struct guard *at)
{
	struct value a = g->values[at->source], b = g->values[at->other];

	return a.kind == b.kind && a.object == b.object;
}

static bool same_function(struct value v, const void *code, int64_t n_attributes,
			  struct value defaults)
{
	const struct list *now;

	if (v.kind != VALUE_FUNCTION || v.function->code != code ||
	    (v.function->attributes ? v.function->attributes->len : 0) != n_attributes)
		return false;
	now = v.function->defaults;
	if (!now || defaults.kind != VALUE_TUPLE || now == defaults.list)
		return true;
	if (now->len != defaults.list->len)
		return false;
	for (int i = 0; i < now->len; i++)
		if (!same_value(now->at[i], defaults.list->at[i]))
			return false;
	return true;
}

static bool same_iterator(struct value v, const struct guard *at)
{
	return v.kind == VALUE_ITER && (int)v.iter->iter_kind == at->dim &&
	       v.iter->position == at->number && (int)v.iter->length == at->other;
}

/* The value of a source; its parents have been checked. */
static inline struct value load(struct guards *g, int source, const struct roots *roots)
{
	const struct source *s = &g->sources->at[source];

	if (__builtin_expect(s->access == SOURCE_LOCAL, 1))
		return g->values[source] = roots->locals[s->index];
	return g->values[source] = source_load(
		   s, s->parent < 0 ? value_none() : g->values[s->parent], roots);
}

static inline const struct tensor *tensor_of(const struct guards *g, int source)
{
	return g->values[source].tensor->memory;
}

/* Guards that load a source and are seldom alone. */
static bool check_object(struct guards *g, const struct guard *at, struct value v)
{
	struct value was = g->sources->at[at->source].value;

	switch (at->kind) {
	case GUARD_KIND:
		return v.kind == (enum value_kind)at->number;
	case GUARD_SET:
		return v.kind != VALUE_UNSET;
	case GUARD_UNSET:
		return v.kind == VALUE_UNSET;
	case GUARD_KEYS:
		return v.kind == VALUE_DICT && same_keys(v.dict, was.dict);
	case GUARD_EQUAL:
		return v.kind == was.kind && value_equal(v, was);
	case GUARD_OBJECT:
		return value_counted(v) && v.object == at->pointer;
	case GUARD_FUNCTION:
		return same_function(v, at->pointer, at->number, was);
	case GUARD_NATIVE:
		return v.kind == VALUE_NATIVE && v.native->id == was.native->id &&
		       v.native->builtin == was.native->builtin &&
		       strcmp(v.native->name, was.native->name) == 0;
	case GUARD_MODULE:
		return v.kind == VALUE_MODULE && v.object == at->pointer;
	case GUARD_INSTANCE:
		return v.kind == VALUE_INSTANCE && v.instance->class == at->pointer &&
		       (at->number == 0 || v.object->birth == at->number - 1);
	case GUARD_ITERATOR:
		return same_iterator(v, at);
	default:
		return true;
	}
}

static bool modes_hold(const struct guards *g, const struct torch_modes *modes)
{
	return modes->grad_off == g->grad_off && modes->derivatives == g->derivatives &&
	       modes->function_modes == g->function_modes && modes->real == g->real &&
	       modes->ordered == g->ordered && (modes->autocast & AUTOCAST_STATE) == g->autocast;
}

/* Whether one lies in the other, or both in a third: other guards are about these. */
static bool are_parts(const struct guards *g, int a, int b)
{
	int of_a = g->sources->at[a].view_of, of_b = g->sources->at[b].view_of;

	return of_a == b || of_b == a || (of_a >= 0 && of_a == of_b);
}

static bool shares_memory(const struct guards *g, int a, int b)
{
	return !are_parts(g, a, b) && tensors_overlap(tensor_of(g, a), tensor_of(g, b));
}

bool guards_find_shared(const struct guards *g, int *a, int *b)
{
	for (int i = 0; i < g->n_written; i++)
		for (int j = i + 1; j < g->n_apart; j++)
			if (shares_memory(g, g->apart[i], g->apart[j])) {
				*a = g->apart[i];
				*b = g->apart[j];
				return true;
			}
	return false;
}

/* Most tensors have a storage of their own, which one walk over them tells. */
static bool are_apart(const struct guards *g)
{
	int a, b;

	for (int i = 0; i < g->n_apart; i++)
		tensor_of(g, g->apart[i])->storage->met = -1;
	for (int i = 0; i < g->n_apart; i++) {
		struct storage *s = tensor_of(g, g->apart[i])->storage;

		if (s->met < 0)
			s->met = g->apart[i];
		else if (!are_parts(g, s->met, g->apart[i]))
			return !guards_find_shared(g, &a, &b);
	}
	return true;
}

static bool same_form(const struct list *list, const struct guard *at)
{
	return list->len == at->number && guard_sequence_type(list) == at->dim;
}

/* Whether only dims of `dims` are marked dynamic. */
static bool is_marked_tensor(struct value v, unsigned dims)
{
	return v.kind == VALUE_TENSOR && v.tensor->memory && !(v.tensor->dynamic_dims & ~dims);
}

static bool check(struct guards *g, const struct guard *at, const struct roots *roots)
{
	struct value v;

	switch (at->kind) {
	case GUARD_TYPE:
		v = load(g, at->source, roots);
		return is_marked_tensor(v, (unsigned)at->number);
	case GUARD_LENGTH:
		v = load(g, at->source, roots);
		return v.kind == g->sources->at[at->source].kind && same_form(v.list, at);
	case GUARD_VALUE:
		return same_value(load(g, at->source, roots), g->sources->at[at->source].value);
	case GUARD_INT:
		v = load(g, at->source, roots);
		g->vars[at->number] = v.i;
		return v.head == VALUE_INT;
	case GUARD_FLOAT:
		v = load(g, at->source, roots);
		if (at->number >= 0)
			memcpy(&g->vars[at->number], &v.f, sizeof(v.f));
		return v.head == g->sources->at[at->source].value.head;
	case GUARD_RANK:
		return tensor_of(g, at->source)->rank == at->number;
	case GUARD_SIZE:
		return tensor_of(g, at->source)->size[at->dim] == at->number;
	case GUARD_SYMBOL:
		g->vars[at->number] = tensor_of(g, at->source)->size[at->dim];
		return g->vars[at->number] >= 2;
	case GUARD_SAME_SIZE:
		return tensor_of(g, at->source)->size[at->dim] == g->vars[at->number];
	case GUARD_DTYPE:
		return tensor_of(g, at->source)->dtype == (enum dtype)at->number;
	case GUARD_GRAD:
		return autograd_requires(g->values[at->source]) == (at->number != 0);
	case GUARD_LEAF:
		return autograd_is_leaf(g->values[at->source]) == (at->number != 0);
	case GUARD_CONTIGUOUS:
		return tensor_contiguous(tensor_of(g, at->source));
	case GUARD_STRIDE:
		return tensor_of(g, at->source)->stride[at->dim] == at->number;
	case GUARD_IDENTICAL:
	case GUARD_OTHER:
		return identical(g, at) == (at->kind == GUARD_IDENTICAL);
	case GUARD_DISJOINT:
		return g->values[at->source].object != g->values[at->other].object;
	case GUARD_APART:
		return are_apart(g);
	case GUARD_ALIAS:
		return sources_same_tensor(tensor_of(g, at->source), tensor_of(g, at->other));
	case GUARD_WITHIN:
		return tensor_of(g, at->source)->storage == tensor_of(g, at->other)->storage &&
		       tensor_of(g, at->source)->offset - tensor_of(g, at->other)->offset ==
			   at->number;
	case GUARD_MODES:
		return modes_hold(g, &roots->vm->modes);
	case GUARD_CONDITION:
		return size_condition_holds(&g->conditions[at->number], g->vars) ==
		       g->conditions[at->number].outcome;
	default:
		return check_object(g, at, load(g, at->source, roots));
	}
}

int guards_check(struct guards *g, const struct roots *roots)
{
	for (int i = 0; i < g->n; i++)
		if (!check(g, &g->at[i], roots))
			return i;
	return g->n;
}

/* Most tensors are as they were, to the last stride. */
static inline bool is_as_it_was(const struct guards *g, const struct guard_step *step,
				const struct tensor *t)
{
	const int64_t *size = g->sizes + step->sizes, *stride = size + step->rank;
	int64_t differ = !step->fixed;

	for (int d = 0; d < step->rank; d++)
		differ |= (t->size[d] ^ size[d]) | (t->stride[d] ^ stride[d]);
	return differ == 0;
}

/* Sizes, and strides in passing: a tensor that lies row by row has the strides
 * that its sizes say. */
static inline bool check_sizes(struct guards *g, const struct guard_step *step,
			       const struct tensor *t)
{
	const int64_t *want = g->sizes + step->sizes;
	bool row_major = true;
	uint64_t stride = 1;

	for (int d = step->rank - 1; d >= 0; d--) {
		int64_t size = t->size[d];

		row_major &= size == 1 || (uint64_t)t->stride[d] == stride;
		stride *= (uint64_t)size;
		if (__builtin_expect(want[d] >= 0, 1)) {
			if (size != want[d])
				return false;
		}
	}
	if (step->contiguous && !row_major && !tensor_contiguous(t))
		return false;
	return true;
}

/* In the order of dims: an earlier one may name the symbol of a later one. */
static bool check_symbols(struct guards *g, const struct guard_step *step, const struct tensor *t)
{
	const int64_t *want = g->sizes + step->sizes;

	for (int d = 0; d < step->rank; d++) {
		int64_t var = ~want[d] >> 1;

		if (want[d] >= 0)
			continue;
		if (~want[d] & 1) {
			if (t->size[d] != g->vars[var])
				return false;
			continue;
		}
		if (t->size[d] < 2)
			return false;
		g->vars[var] = t->size[d];
	}
	return true;
}

static inline bool check_tensor(struct guards *g, const struct guard_step *step,
				const struct roots *roots)
{
	struct value v;
	const struct tensor *t;

	if (__builtin_expect(step->local >= 0, 1))
		v = g->values[step->source] = roots->locals[step->local];
	else
		v = load(g, step->source, roots);
	if (v.kind != VALUE_TENSOR)
		return false;
	t = v.tensor->memory;
	return t && t->rank == step->rank && (int8_t)t->dtype == step->dtype &&
	       !(v.tensor->dynamic_dims & ~step->marked) &&
	       (is_as_it_was(g, step, t) ||
		(check_sizes(g, step, t) && (step->fixed || check_symbols(g, step, t))));
}

bool guards_hold(struct guards *g, const struct roots *roots)
{
	if (__builtin_expect(!modes_hold(g, &roots->vm->modes), 0))
		return false;
	for (int i = 0; i < g->n_steps; i++) {
		const struct guard_step *step = &g->steps[i];

		if (!(step->guard < 0 ? check_tensor(g, step, roots)
				      : check(g, &g->at[step->guard], roots)))
			return false;
	}
	return true;
}

bool guards_hold_among(struct guards *g, const struct roots *roots, const int *steps, int n)
{
	if (__builtin_expect(!modes_hold(g, &roots->vm->modes), 0))
		return false;
	for (int i = 0; i < n; i++) {
		const struct guard_step *step = &g->steps[steps[i]];

		if (!(step->guard < 0 ? check_tensor(g, step, roots)
				      : check(g, &g->at[step->guard], roots)))
			return false;
	}
	return true;
}

/* Cells of the frame itself are new in each call, as locals are; and gradients are
 * dropped by what has the tensor. */
bool guards_is_of_call(const struct guards *g, int source, int self)
{
	const struct source *s = &g->sources->at[source];

	for (; s->parent >= 0; s = &g->sources->at[s->parent])
		if (s->access == SOURCE_GRAD)
			return true;
	switch (s->access) {
	case SOURCE_GLOBAL:
		return false;
	case SOURCE_LOCAL:
		return s->index != self;
	case SOURCE_CELL:
		return s->index < g->sources->code->n_own_cells;
	default:
		return true;
	}
}

static bool is_of_two(enum guard_kind kind)
{
	return kind == GUARD_IDENTICAL || kind == GUARD_WITHIN || kind == GUARD_DISJOINT ||
	       kind == GUARD_ALIAS || kind == GUARD_OTHER;
}

static bool any_apart_is_of_call(const struct guards *g, int self)
{
	for (int i = 0; i < g->n_apart; i++)
		if (guards_is_of_call(g, g->apart[i], self))
			return true;
	return false;
}

bool guards_of_arguments(const struct guards *g, int self, struct arena *arena, int **steps, int *n)
{
	*steps = ARENA_ARRAY(arena, int, (size_t)g->n_steps + 1);
	*n = 0;
	for (int i = 0; *steps && i < g->n_steps; i++) {
		const struct guard_step *step = &g->steps[i];
		const struct guard *at = step->guard < 0 ? NULL : &g->at[step->guard];
		bool keep = at && (at->kind == GUARD_CONDITION || at->kind == GUARD_MODES);

		keep = keep || guards_is_of_call(g, at ? at->source : step->source, self);
		keep = keep ||
		       (at && is_of_two(at->kind) && guards_is_of_call(g, at->other, self)) ||
		       (at && at->kind == GUARD_APART && any_apart_is_of_call(g, self));
		if (keep)
			(*steps)[(*n)++] = i;
	}
	return *steps != NULL;
}
