/* fusion/capture/entry_describe.c -- what an attempt has found, as an entry: inputs, side effects,
 * frames, and how its results are made again.
 *
 * The piece's results, and what in-place ops wrote, become outputs of the graph.
 */

#include "fusion/capture/entry.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/capture/attempt.h"
#include "fusion/vm/call_path.h"

/* ---- Side effects: what the piece did to objects of the program.
 *
 * A stand-in that ends otherwise than it began shows it; a run does the same to the real object,
 * after the kernels. */

struct effects_finder {
	struct reconstruction_builder *b;
	struct sources *sources;
	VEC(struct effect) list;
};

static bool effects_no_memory(struct effects_finder *f)
{
	return err_set(f->b->err, ERR_MEMORY, "out of memory while capturing the call");
}

static bool add_effect(struct effects_finder *f, struct effect effect)
{
	value_ref(effect.key);
	if (VEC_PUSH(&f->list, effect))
		return true;
	value_unref(effect.key);
	return effects_no_memory(f);
}

/* `v` is still what the source began with. */
static bool is_same(const struct effects_finder *f, int source, struct value v)
{
	const struct source *s = &f->sources->at[source];

	if (v.kind == VALUE_LAZY)
		return v.i == source;
	if (s->stand_in.kind == VALUE_UNSET)
		return v.kind == VALUE_UNSET && s->kind == VALUE_UNSET;
	if (s->stand_in.kind != v.kind)
		return false;
	if (v.kind == VALUE_BOOL || v.kind == VALUE_DTYPE)
		return v.kind == VALUE_BOOL ? v.b == s->stand_in.b : v.dtype == s->stand_in.dtype;
	return v.kind == VALUE_NONE || v.kind == VALUE_ELLIPSIS || s->stand_in.i == v.i;
}

/* An object that is a key is found again in each call. */
static bool set_key(struct effects_finder *f, struct effect *e, struct value key)
{
	e->key = key;
	e->key_step = -1;
	if (!source_key_is_object(key))
		return true;
	e->key = value_none();
	e->key_step = reconstruction_add(f->b, key);
	return e->key_step >= 0;
}

static bool add_store(struct effects_finder *f, int source, enum effect_kind kind, struct value key,
		      struct value v)
{
	struct effect effect = { .kind = kind, .source = source, .step = -1 };

	if (!set_key(f, &effect, key))
		return false;
	if (v.kind != VALUE_UNSET) {
		effect.step = reconstruction_add(f->b, v);
		if (effect.step < 0)
			return false;
	}
	return add_effect(f, effect);
}

static bool find_list(struct effects_finder *f, int source, struct value stand_in)
{
	const struct source *s = &f->sources->at[source];
	bool same = stand_in.list->len == s->n_children;
	struct value copy;
	bool ok;

	for (int i = 0; same && i < stand_in.list->len; i++)
		same = is_same(f, s->first_child + i, stand_in.list->at[i]);
	if (same)
		return true;
	/* not the stand-in itself, which the reconstruction takes for the real list */
	copy = value_list(stand_in.list->at, stand_in.list->len);
	ok = copy.kind != VALUE_UNSET && VEC_PUSH(&f->b->kept, copy);
	if (!ok) {
		value_unref(copy);
		return effects_no_memory(f);
	}
	return add_store(f, source, EFFECT_ITEMS, (struct value){ .kind = VALUE_UNSET }, copy);
}

/* A key as the stand-in of its dict has it, and the other way round. */
static struct value key_inside(const struct effects_finder *f, struct value key)
{
	int source = source_key_is_object(key) ? pointers_get(&f->b->trace->reals, key.object) : -1;

	return source >= 0 ? f->sources->at[source].stand_in : key;
}

static struct value key_outside(const struct effects_finder *f, struct value key)
{
	int source = source_key_is_object(key) ? variables_source(f->b->trace, key) : -1;

	return source >= 0 ? f->sources->at[source].value : key;
}

static bool remove_key(struct effects_finder *f, int source, struct value key)
{
	struct effect effect = { .kind = EFFECT_REMOVE, .source = source, .step = -1 };

	return set_key(f, &effect, key) && add_effect(f, effect);
}

/* How many keys, from the first on, are still where they were, those that are gone left out:
 * the others were taken out and put in again. */
static int in_order(const struct effects_finder *f, const struct dict *was, const struct dict *is)
{
	struct value v, key;
	int at = 0, i;

	for (i = 0; was && is && i < is->len; i++) {
		while (at < was->len && !value_dict_get(is, key_inside(f, was->keys[at]), &v))
			at++;
		key = key_outside(f, is->keys[i]);
		if (at == was->len || !value_equal(was->keys[at++], key))
			break;
	}
	return i;
}

/* Keys and values, which the last child sources but `after` are. */
static bool find_dict(struct effects_finder *f, int source, const struct dict *was,
		      const struct dict *is, int after)
{
	const struct source *s = &f->sources->at[source];
	int first = s->first_child + s->n_children - after - (was ? was->len : 0), kept;
	struct value v, *place;

	for (int i = 0; was && i < was->len; i++)
		if ((!is || !value_dict_get(is, key_inside(f, was->keys[i]), &v)) &&
		    !remove_key(f, source, key_inside(f, was->keys[i])))
			return false;
	kept = in_order(f, was, is);
	for (int i = 0; is && i < is->len; i++) {
		struct value key = key_outside(f, is->keys[i]);

		place = was ? value_dict_place((struct dict *)was, key) : NULL;
		if (i < kept && place &&
		    is_same(f, first + (int)(place - was->values), is->values[i]))
			continue;
		if (i >= kept && place && !remove_key(f, source, is->keys[i]))
			return false;
		if (!add_store(f, source, EFFECT_STORE, is->keys[i], is->values[i]))
			return false;
	}
	return true;
}

/* Whether a stand-in has the members of the real set, and no others. */
static bool has_members_of(const struct effects_finder *f, const struct dict *is,
			   const struct dict *was)
{
	struct value none;

	for (int i = 0; i < is->len; i++)
		if (!value_dict_get(was, key_outside(f, is->keys[i]), &none))
			return false;
	return is->len == was->len;
}

static bool find_set(struct effects_finder *f, int source, struct value stand_in)
{
	struct value copy;

	if (has_members_of(f, stand_in.dict, f->sources->at[source].value.dict))
		return true;
	copy = value_set(stand_in.dict->frozen);
	for (int i = 0; copy.kind != VALUE_UNSET && i < stand_in.dict->len; i++)
		if (!value_dict_set(copy.dict, stand_in.dict->keys[i], value_none()))
			return effects_no_memory(f);
	if (copy.kind == VALUE_UNSET || !VEC_PUSH(&f->b->kept, copy))
		return effects_no_memory(f);
	return add_store(f, source, EFFECT_KEYS, (struct value){ .kind = VALUE_UNSET }, copy);
}

static bool find_cell(struct effects_finder *f, int source, struct value stand_in)
{
	const struct source *s = &f->sources->at[source];
	struct value content = stand_in.cell->content;

	if (s->value.kind == VALUE_UNSET) { /* the frame's own, fresh */
		if (f->b->returns)
			return true;
		if (s->first_child < 0 ? content.kind == VALUE_UNSET
				       : is_same(f, s->first_child, content))
			return true;
	} else if (is_same(f, s->first_child, content)) {
		return true;
	}
	return add_store(f, source, EFFECT_CONTENT, (struct value){ .kind = VALUE_UNSET }, content);
}

static int count_objects(const struct dict *dict)
{
	int n = 0;

	for (int i = 0; i < dict->len; i++)
		n += source_key_is_object(dict->keys[i]);
	return n;
}

/* Whether its dict was read by itself before: that tells what became of it. */
static bool has_dict_of_another(const struct effects_finder *f, const struct instance *stand_in)
{
	int source = stand_in->attributes
			 ? variables_source(f->b->trace, value_of(stand_in->attributes))
			 : -1;

	return source >= 0 && f->sources->at[source].access != SOURCE_DICT;
}

static bool find_in(struct effects_finder *f, int source)
{
	struct value real = f->sources->at[source].value,
		     stand_in = f->sources->at[source].stand_in;

	switch (stand_in.kind) {
	case VALUE_LIST:
		return find_list(f, source, stand_in);
	case VALUE_DICT:
		if (f->sources->at[source].access == SOURCE_DICT) /* the instance tells */
			return true;
		return find_dict(f, source, real.dict, stand_in.dict, count_objects(real.dict));
	case VALUE_SET:
		return find_set(f, source, stand_in);
	case VALUE_CELL:
		return find_cell(f, source, stand_in);
	case VALUE_INSTANCE:
		if (has_dict_of_another(f, stand_in.instance))
			return true;
		return find_dict(f, source, real.instance->attributes,
				 stand_in.instance->attributes, 2);
	case VALUE_FUNCTION:
		return find_dict(f, source, real.function->attributes,
				 stand_in.function->attributes, 0);
	case VALUE_CLASS:
		return find_dict(f, source, real.class->attributes, stand_in.class->attributes,
				 (real.class->mro ? real.class->mro->len : 0) +
				     (real.class->meta != NULL));
	case VALUE_TENSOR:
		return find_dict(f, source, real.tensor->attributes, stand_in.tensor->attributes,
				 1);
	case VALUE_ITER:
		return stand_in.iter->position == real.iter->position ||
		       add_effect(f, (struct effect){ .kind = EFFECT_POSITION,
						      .source = source,
						      .key_step = -1,
						      .number = stand_in.iter->position });
	default:
		return true;
	}
}

static bool find_globals(struct effects_finder *f)
{
	const struct trace *t = f->b->trace;

	for (size_t i = 0; i < t->globals.len; i++) {
		const struct variables_global *g = &t->globals.at[i];
		struct effect effect = {
			.kind = EFFECT_GLOBAL,
			.source = -1,
			.number = g->index,
			.step = -1,
			.key_step = -1,
		};

		if (!g->written || is_same(f, g->source, g->stand_in))
			continue;
		if (g->stand_in.kind != VALUE_UNSET) {
			effect.step = reconstruction_add(f->b, g->stand_in);
			if (effect.step < 0)
				return false;
		}
		if (!add_effect(f, effect))
			return false;
	}
	return true;
}

static bool find_grads(struct effects_finder *f)
{
	const struct trace *t = f->b->trace;

	for (size_t i = 0; i < t->grads.len; i++) {
		const struct traced_grad *g = &t->grads.at[i];
		struct effect effect = { .kind = EFFECT_GRAD,
					 .source = trace_source(t, g->of),
					 .key_step = -1 };

		if (effect.source < 0) {
			effect.number = pointers_get(&f->b->made, g->of.object);
			if (effect.number < 0) /* it goes with the piece */
				continue;
		}
		effect.step = reconstruction_add(f->b, g->grad);
		if (effect.step < 0 || !add_effect(f, effect))
			return false;
	}
	return true;
}

/* Those that the piece has added, and not removed. */
static bool find_hooks(struct effects_finder *f)
{
	const struct trace *t = f->b->trace;

	for (size_t i = 0; i < t->hooks.len; i++) {
		const struct traced_grad *h = &t->hooks.at[i];
		struct effect effect = { .kind = EFFECT_HOOKS,
					 .source = trace_source(t, h->of),
					 .key_step = -1 };

		if (h->grad.list->len == 0)
			continue;
		effect.step = reconstruction_add(f->b, h->grad);
		if (effect.step < 0 || !add_effect(f, effect))
			return false;
	}
	return true;
}

/* What the program has given tensors that the piece made and leaves. */
static bool find_given(struct effects_finder *f)
{
	for (size_t i = 0; i < f->b->given.len; i++) { /* the values may be more of them */
		const struct vtensor *of = f->b->given.at[i].tensor;
		int made = pointers_get(&f->b->made, of);

		for (int k = 0; k < of->attributes->len; k++) {
			if (!add_store(f, -1, EFFECT_STORE, of->attributes->keys[k],
				       of->attributes->values[k]))
				return false;
			f->list.at[f->list.len - 1].number = made;
		}
	}
	return true;
}

/* Compares stand-ins with what they began as; parts of new values go into the
 * reconstruction.  False with *err. */
static bool effects_find(struct effects *e, struct reconstruction_builder *b, struct arena *arena)
{
	struct effects_finder f = { .b = b, .sources = b->trace->sources };
	bool ok = true;

	for (int i = 0; ok && i < f.sources->n; i++) {
		const struct source *s = &f.sources->at[i];

		if (value_counted(s->stand_in) && s->same_as < 0 &&
		    s->stand_in.object != s->value.object) {
			size_t before = f.list.len;

			ok = find_in(&f, i);
			if (f.list.len > before && f.sources->at[i].kind != VALUE_TENSOR)
				f.sources->at[i].written = true;
		}
	}
	ok = ok && find_globals(&f) && find_grads(&f) && find_hooks(&f) && find_given(&f);
	e->at = ARENA_ARRAY(arena, struct effect, f.list.len + 1);
	ok = ok && (e->at || effects_no_memory(&f));
	for (size_t i = 0; i < f.list.len; i++) {
		if (ok)
			e->at[i] = f.list.at[i];
		else
			value_unref(f.list.at[i].key);
	}
	e->n = ok ? (int)f.list.len : 0;
	VEC_FREE(&f.list);
	return ok;
}

/* ---- The entry. */

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
		e->writes[e->n_writes++] = (struct entry_write){
			.source = i,
			.output = (int)b->outputs.len,
			.replaces = t->sources->at[i].replaced > 0,
		};
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

/* A piece that hands out nothing draws its numbers all the same. */
static bool keep_draws(struct entry *e, const struct trace *t, struct reconstruction_builder *b)
{
	e->draws_alone = false;
	for (int i = t->graph->n_nodes - 1; i >= 0 && b->outputs.len == 0; i--) {
		e->draws_alone = graph_draws(t->graph->nodes[i]);
		if (e->draws_alone && !VEC_PUSH(&b->outputs, i))
			return false;
	}
	return true;
}

static bool adds_tensor(const struct value *known, int n, struct value v)
{
	for (int i = 0; i < n; i++)
		if (known[i].kind == v.kind && known[i].object == v.object)
			return false;
	return v.kind == VALUE_TENSOR;
}

/* A local that is only handed on has nobody looked at. */
static bool is_tensor(const struct trace *t, struct value v)
{
	return v.kind == VALUE_TENSOR ||
	       (v.kind == VALUE_LAZY && t->sources->at[v.i].kind == VALUE_TENSOR);
}

/* As torch: where a piece without ops ends, and all that the frame goes on with are tensors,
 * each a different one, they are the outputs of a graph.  A piece that returns is one only
 * where nodes were made and erased. */
static bool is_graph_of_none(const struct entry *e, const struct attempt *a)
{
	const struct frame *f = a->trace.base;
	struct value known[16];
	int n = 0;

	if (a->trace.native || e->effects.n > 0 || e->n_writes > 0 || e->prints.n > 0)
		return false;
	if (!a->stopped)
		return a->trace.erased_marks && is_tensor(&a->trace, a->result) &&
		       (!f->function || f->function->grad == GRAD_AS_IS);
	if (e->n_frames != 1)
		return false;
	for (const struct value *v = f->stack; v < f->top; v++) {
		if (n == 16 || !adds_tensor(known, n, *v))
			return false;
		known[n++] = *v;
	}
	for (int i = 0; i < e->frames[0].n_places; i++) {
		const struct entry_place *place = &e->frames[0].places[i];

		if (place->step < 0)
			continue;
		if (n == 16 || !adds_tensor(known, n, f->locals[place->index]))
			return false;
		known[n++] = f->locals[place->index];
	}
	return n > 0;
}

/* The module whose method the frame runs, though nothing reads it any more: what is captured
 * of the frame later says whose it is.  Not one that the call itself has made; NULL. */
static struct instance *unused_module(const struct reconstruction_builder *b, const struct frame *f,
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
	struct instance *unused;

	to->places = ARENA_ARRAY(arena, struct entry_place, (size_t)f->code->n_locals + 1);
	if (!live || !to->places)
		return entry_no_memory(b->err);
	unused = unused_module(b, f, live);
	for (int i = 0; i < f->code->n_locals; i++) {
		struct entry_place place = { .index = i, .step = -1 };
		struct value v = f->locals[i];

		if (f->shadow_of && v.kind == VALUE_LAZY &&
		    source_is_root(&s->at[v.i], SOURCE_LOCAL, calls, i))
			continue;
		if (i == 0 && unused) {
			if (f->shadow_of) /* it has it */
				continue;
			v = value_of(unused);
		}
		if ((live[i] || (i == 0 && unused)) && v.kind != VALUE_UNSET) {
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

/* How outputs lie, which no node says from now on.  What is written to an argument lies as that
 * does. */
static bool lay_outputs(struct entry *e)
{
	struct graph *g = e->captured;

	e->orders = ARENA_ARRAY(&e->arena, uint32_t, (size_t)g->n_outputs + 1);
	if (!e->orders)
		return false;
	for (int i = 0; i < g->n_outputs; i++)
		e->orders[i] = g->nodes[g->outputs[i]]->order;
	for (int i = 0; i < e->n_writes; i++)
		e->orders[e->writes[i].output] = 0;
	for (int id = 0; id < g->n_nodes; id++)
		g->nodes[id]->order = 0;
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
	if (ok && (!keep_writes(e, t, &b) || !keep_asserts(e, t, &b) || !keep_draws(e, t, &b) ||
		   !graph_set_outputs(t->graph, b.outputs.at, (int)b.outputs.len) ||
		   !drop_items(t->graph, &b)))
		ok = entry_no_memory(err);
	e->n_outputs = ok ? (int)b.outputs.len : 0;
	ok = ok && (lay_outputs(e) || entry_no_memory(err));
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
	e->derivatives_after = t->derivatives;
	e->function_modes_after = a->stopped ? t->function_modes_at_stop
					     : t->vm->modes.function_modes;
	e->autocast_after = t->autocast_mode;
	e->sets_modes = e->grad_off_after != t->vm->modes.grad_off ||
			e->derivatives_after != t->vm->modes.derivatives ||
			e->function_modes_after != t->function_modes_first ||
			e->autocast_after != t->vm->modes.autocast;
	e->graph = t->n_ops > 0 || t->computes_sizes || is_graph_of_none(e, a)
		       ? 0
		       : -1; /* the session numbers it */
	return true;
}

static void effects_finish(struct effects *e)
{
	for (int i = 0; i < e->n; i++)
		value_unref(e->at[i].key);
	e->n = 0;
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
