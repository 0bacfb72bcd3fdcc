/* fusion/capture/trace/view.c -- views while capturing, and tensors from outside that share memory.
 */
#include "fusion/capture/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/eager/autograd.h"

static void release_view(struct vtensor *t)
{
	value_unref(t->view->base);
	value_unref(t->view->detached_of);
	free(t->view);
	t->view = NULL;
}

/* How often the tensor was written, by itself or through views. */
static int writes_of(const struct trace *t, struct value tensor)
{
	int lifted = trace_lifted(t, tensor);

	return lifted >= 0 ? t->lifted.at[lifted].writes : tensor.tensor->writes;
}

/* The result of detach() that a view of `of` belongs to. */
static struct value detached_root(const struct trace *t, struct value of)
{
	const struct traced_view *up = of.tensor->owner == t->serial ? of.tensor->view : NULL;

	if (!up || t->grad_off)
		return (struct value){ .kind = VALUE_UNSET };
	return up->steps[up->n_steps - 1].op == OP_detach ? of : up->detached_of;
}

/* The steps to `of`, and the node's as the last one. */
static struct traced_view *new_view(struct trace *t, struct value of, const struct node *n)
{
	const struct traced_view *up = of.tensor->owner == t->serial ? of.tensor->view : NULL;
	int steps = up ? up->n_steps : 0;
	struct traced_view *view = calloc(1, sizeof(*view) +
						 sizeof(view->steps[0]) * (size_t)(steps + 1));

	if (!view)
		return NULL;
	view->base = value_ref(up ? up->base : of);
	if (n->op != OP_detach)
		view->detached_of = value_ref(detached_root(t, of));
	view->n_steps = steps + 1;
	view->of_leaf = up && (up->of_leaf || trace_is_leaf(t, of));
	view->part = n->op != OP_detach && (n->op == OP_parts || trace_is_part(t, of));
	view->detached = (up && up->detached) || n->op == OP_detach || t->grad_off;
	if (up)
		memcpy(view->steps, up->steps, sizeof(view->steps[0]) * (size_t)steps);
	view->steps[steps].op = n->op;
	memcpy(view->steps[steps].args, n->args, sizeof(n->args));
	return view;
}

/* The steps in a graph, from `node` on; -1 with *err.  Report no FX names. */
static int view_steps_add(struct graph *g, int node, const struct view_step *steps, int n,
			  struct err *err)
{
	for (int i = 0; i < n; i++) {
		struct arg args[MAX_ARGS];

		memcpy(args, steps[i].args, sizeof(args));
		args[0] = arg_node(node);
		node = graph_add(
		    g,
		    &(struct node_spec){ steps[i].op, args, op_info(steps[i].op)->n_params, 0, 0 },
		    err);
		if (node < 0)
			return -1;
		if (!graph_set_fx(g, node, "")) {
			err_set(err, ERR_MEMORY, "out of memory while building a graph");
			return -1;
		}
	}
	return node;
}

/* The layout in the base's elements; through a chain of its own where the node
 * is what was written last. */
static bool find_layout(struct trace *t, struct traced_view *view, int node, int base,
			struct err *err)
{
	view->writable = view_layout_in(t->graph, node, base, &view->layout);
	if (view->writable)
		return true;
	node = view_steps_add(t->graph, base, view->steps, view->n_steps, err);
	if (node < 0)
		return false;
	view->writable = view_layout_in(t->graph, node, base, &view->layout);
	return true;
}

/* A reshape that has to copy is a tensor of its own. */
static bool is_copy(const struct trace *t, int node, bool *refused)
{
	const struct node *n = t->graph->nodes[node];
	struct view_layout layout;
	bool copies = !view_layout(t->graph, node, &layout);

	*refused = copies && (n->op == OP_view || n->op == OP_view_as);
	return copies;
}

/* Guards that two sizes, which differ now, do. */
static bool trace_guard_unlike(struct trace *t, const struct sym *a, const struct sym *b,
			       struct err *err)
{
	struct value v;
	bool truth;

	return trace_size_compare(t, CMP_NE, trace_size_value(a), trace_size_value(b), &v, err) &&
	       trace_size_truth(t, v, &truth, err);
}

/* Whether a reshape copies may depend on sizes: that it does is guarded; where it
 * does not at these sizes, they are taken as they are. */
static bool guard_copy(struct trace *t, int node, struct err *err)
{
	struct symtab *syms = t->graph->syms;
	const struct sym *one = sym_const(syms, 1);
	const struct shape *from = &t->graph->nodes[t->graph->nodes[node]->args[0].node]->shape;
	struct view_seam seams[MAX_RANK];
	int n = view_seams(t->graph, node, seams);
	bool fits = view_at_hints(t->graph, node);

	for (int d = 0; d < from->rank; d++) {
		if (fits)
			t->restart |= trace_pin_quietly(t, from->size[d]);
		else if (!sym_is_const(from->size[d]) &&
			 !sym_at_least(syms, from->size[d], sym_const(syms, 2)) &&
			 !trace_guard_unlike(t, from->size[d], one, err))
			return false;
	}
	for (int i = 0; i < n; i++) {
		if (fits) {
			t->restart |= trace_pin_quietly(t, seams[i].a);
			t->restart |= trace_pin_quietly(t, seams[i].b);
		} else if (!trace_guard_unlike(t, seams[i].a, seams[i].b, err)) {
			return false;
		}
	}
	return !t->restart || err_set(err, ERR_UNSUPPORTED, "sizes are specialised");
}

/* The reshape of a copy: views of that are views of memory. */
static int copy_first(struct trace *t, int node, struct err *err)
{
	const struct node *n = t->graph->nodes[node];
	struct arg args[MAX_ARGS];
	int ids[2];

	memcpy(args, n->args, sizeof(args));
	ids[0] = graph_add(t->graph,
			   &(struct node_spec){ OP_contiguous, args, 1, n->line, n->column }, err);
	args[0].node = ids[0];
	ids[1] = ids[0] < 0
		     ? -1
		     : graph_add(t->graph,
				 &(struct node_spec){ n->op, args, n->n_args, n->line, n->column },
				 err);
	for (int i = 0; i < 2; i++) {
		if (ids[i] < 0)
			return -1;
		if (!graph_set_fx(t->graph, ids[i], "")) {
			trace_no_memory(err);
			return -1;
		}
	}
	return ids[1];
}

bool trace_wrap_view(struct trace *t, struct value of, int node, struct value *out, struct err *err)
{
	struct traced_view *view;
	bool refused;
	int base;

	if (is_copy(t, node, &refused)) {
		if (!guard_copy(t, node, err))
			return false;
		if (refused)
			return err_set(err, ERR_OP,
				       "view: the strides of the tensor do not allow these sizes "
				       "without a copy; write x.reshape(...)");
		node = copy_first(t, node, err);
		return node >= 0 && trace_wrap(t, node, out, err);
	}
	if (!trace_wrap(t, node, out, err))
		return false;
	view = new_view(t, of, t->graph->nodes[node]);
	if (!view) {
		value_unref(*out);
		return trace_no_memory(err);
	}
	out->tensor->view = view;
	out->tensor->release = release_view;
	base = trace_node(t, view->base, err);
	view->made_at = view->written = writes_of(t, view->base);
	if (base >= 0 && find_layout(t, view, node, base, err))
		return true;
	value_unref(*out);
	return false;
}

/* Whether its base has other memory since it was made. */
static bool is_left(const struct trace *t, const struct traced_view *view)
{
	int source = trace_source(t, view->base);

	return source >= 0 && t->sources->at[source].replaced > view->made_at;
}

/* What it had before is needed as memory: the next attempt ends where .data is set. */
static bool keep_memory(struct trace *t, int source, struct err *err)
{
	t->sources->at[source].keeps_memory = t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "a tensor's .data is set");
}

bool trace_view_stale(const struct trace *t, struct value tensor)
{
	const struct traced_view *view = tensor.tensor->view;

	return view->made_at != writes_of(t, view->base);
}

int trace_view_node(struct trace *t, struct value tensor, struct err *err)
{
	struct vtensor *v = tensor.tensor;
	struct traced_view *view = v->view;
	int written = writes_of(t, view->base), base, node;

	if (view->written == written || is_left(t, view))
		return v->node;
	base = trace_node(t, view->base, err);
	if (base < 0)
		return -1;
	node = view_steps_add(t->graph, base, view->steps, view->n_steps, err);
	if (node < 0)
		return -1;
	t->graph->nodes[node]->detached |= view->detached;
	if (!trace_note_view(t, tensor, &node)) {
		trace_no_memory(err);
		return -1;
	}
	v->node = node;
	view->written = written;
	return node;
}

bool trace_view_write(struct trace *t, struct value tensor, int node, struct err *err)
{
	struct traced_view *view = tensor.tensor->view;
	int base = trace_node(t, view->base, err);
	bool written;

	if (base < 0)
		return false;
	if (is_left(t, view))
		return keep_memory(t, trace_source(t, view->base), err);
	if (view->writable && view_repeats(&view->layout))
		return torch_writes_expanded(err);
	if (trace_repeats(t, view->base)) /* the view may repeat elements, too */
		return err_set(
		    err, ERR_UNSUPPORTED,
		    "a view of an expanded argument is written in place; write to a copy");
	if (!view->writable)
		return err_set(err, ERR_UNSUPPORTED,
			       "a view of a transposed argument is written in place; write to the "
			       "argument, or to a copy");
	if (!trace_note_memory(t, base, &node, false))
		return trace_no_memory(err);
	base = view_write(
	    t->graph,
	    &(struct view_write){ base, &view->layout, node, t->host.line, t->host.column }, err);
	if (base < 0)
		return false;
	t->unrecorded = view->detached;
	written = trace_rewrite(t, view->base, base, true);
	t->unrecorded = false;
	if (!written)
		return false;
	if (t->autograd->recording && t->grad_off && !view->detached && !trace_is_leaf(t, tensor))
		return true; /* a part of the base, whose gradient is as it was */
	if (!trace_note_view(t, tensor, &node))
		return trace_no_memory(err);
	tensor.tensor->node = node;
	view->written = writes_of(t, view->base);
	return true;
}

/* The node that has the strides of the base's memory. */
static int memory_node(struct trace *t, struct value base, struct err *err)
{
	int source = trace_source(t, base), lifted = trace_lifted(t, base);

	for (size_t i = 0; i < t->inputs.len; i++)
		if ((source >= 0 && t->inputs.at[i].source == source) ||
		    (lifted >= 0 && t->inputs.at[i].lifted == lifted))
			return t->graph->inputs[i];
	return trace_node(t, base, err);
}

bool trace_view_layout(struct trace *t, struct value tensor, struct value *base,
		       struct view_layout *out, struct err *err)
{
	struct traced_view *view = tensor.tensor->view;
	int node = memory_node(t, view->base, err);

	*base = view->base;
	if (node < 0)
		return false;
	if (is_left(t, view))
		return keep_memory(t, trace_source(t, view->base), err);
	node = view_steps_add(t->graph, node, view->steps, view->n_steps, err);
	if (node < 0)
		return false;
	return view_layout(t->graph, node, out) ||
	       err_set(err, ERR_UNSUPPORTED,
		       "a result is a view of an argument that was changed in place, and whose "
		       "strides do not allow it; return a copy");
}

/* ---- Tensors from outside that share memory.
 *
 * A write to one shows in the other.  Where one of them covers the other, that one
 * is a view of it while capturing, at the place that it has in memory: then a
 * functional graph says what the write means.  Sizes and places are constants then,
 * which guards check. */

static const struct tensor *memory_of(const struct trace *t, int source)
{
	return t->sources->at[source].value.tensor->memory;
}

static bool covers(const struct tensor *a, const struct tensor *b)
{
	struct tensor_extent x = tensor_extent(a), y = tensor_extent(b);

	if (sources_same_tensor(a, b))
		return true;
	for (int d = 0; d < b->rank; d++)
		if (b->stride[d] < 0)
			return false;
	return a->storage == b->storage && tensor_contiguous(a) && a->dtype == b->dtype &&
	       x.first <= y.first && y.end <= x.end;
}

static bool is_tensor(const struct source *s)
{
	return s->live && s->kind == VALUE_TENSOR && s->same_as < 0;
}

/* A local that the piece only passes on is a tensor as well. */
static bool may_be_read(const struct source *s)
{
	return s->kind == VALUE_TENSOR && s->same_as < 0 &&
	       (s->live || s->access == SOURCE_LOCAL) && s->value.tensor->memory;
}

/* Its gradient is not that of a view of another one. */
static bool is_taped(const struct sources *s, int source)
{
	return autograd_requires(s->at[source].value);
}

/* What the piece writes to it gives it a gradient that it did not have. */
static bool becomes_taped(struct trace *t, int source)
{
	struct source *s = &t->sources->at[source];
	struct err unknown = { 0 };
	bool requires = false;

	return t->autograd->recording && !is_taped(t->sources, source) &&
	       s->stand_in.kind == VALUE_TENSOR &&
	       (!trace_requires(t, s->stand_in, &requires, &unknown) || requires);
}

/* A write to `a` matters for `b`, which is only passed on, too: its memory shows the write, but its
 * gradient becomes another one, which no view in a graph can say. */
static bool is_left_behind(struct trace *t, int a, int b)
{
	return is_taped(t->sources, a) || is_taped(t->sources, b) || becomes_taped(t, a);
}

/* Views of one tensor write through it. */
static bool is_known(const struct sources *s, int a, int b)
{
	int of_a = s->at[a].view_of, of_b = s->at[b].view_of;

	return of_a == b || of_b == a || (of_a >= 0 && of_a == of_b);
}

/* `part` is a view of `whole` from the next attempt on; views of it are, too. */
static void cover(struct sources *s, int whole, int part)
{
	if (part == whole)
		return;
	s->at[part].view_of = whole;
	for (int i = 0; i < s->n; i++)
		if (s->at[i].view_of == part)
			s->at[i].view_of = whole;
}

/* A tensor, perhaps one of the two, whose memory both lie in; -1: none. */
static int find_whole(const struct trace *t, int a, int b)
{
	const struct sources *s = t->sources;

	for (int i = 0; i < s->n; i++)
		if (may_be_read(&s->at[i]) && covers(memory_of(t, i), memory_of(t, a)) &&
		    covers(memory_of(t, i), memory_of(t, b)))
			return s->at[i].view_of >= 0 ? s->at[i].view_of : i;
	return -1;
}

/* A tensor without elements may be a part of another one that autograd watches. */
static bool meet(const struct trace *t, int a, int b)
{
	const struct tensor *x = memory_of(t, a), *y = memory_of(t, b);

	return tensors_overlap(x, y) || (t->autograd->splits && x->storage == y->storage &&
					 (tensor_numel(x) == 0 || tensor_numel(y) == 0));
}

enum trace_overlap overlap_find(struct trace *t)
{
	struct sources *s = t->sources;
	enum trace_overlap found = OVERLAP_NONE;

	for (int i = 0; i < s->n; i++) {
		if (!is_tensor(&s->at[i]) || !s->at[i].written)
			continue;
		for (int j = 0; j < s->n; j++) {
			bool passed_on;
			int whole;

			if (j == i || !may_be_read(&s->at[j]) || !meet(t, i, j))
				continue;
			passed_on = !is_tensor(&s->at[j]);
			if (s->at[i].replaced && !passed_on) {
				s->at[i].keeps_memory = true;
				return OVERLAP_COVERED;
			}
			if (s->at[i].replaced || is_known(s, i, j))
				continue;
			if (passed_on && !is_left_behind(t, i, j))
				continue;
			whole = find_whole(t, i, j);
			if (whole < 0 || passed_on || is_taped(s, i) || is_taped(s, j))
				return OVERLAP_UNKNOWN;
			cover(s, whole, i);
			cover(s, whole, j);
			found = OVERLAP_COVERED;
		}
	}
	return found;
}

/* Sizes and places are those of this call. */
static bool has_numbers(struct trace *t, int source, struct err *err)
{
	struct sources *s = t->sources;
	bool changed = false;

	for (int d = 0; d < s->at[source].rank; d++) {
		struct source_dim *dim = &s->dims[sources_root(s, s->at[source].first_dim + d)];

		changed |= !dim->pinned;
		dim->pinned = true;
	}
	t->restart |= changed;
	return !changed || err_set(err, ERR_UNSUPPORTED, "sizes are specialised");
}

/* The part's place in the whole, in numbers. */
static int add_part(struct trace *t, int source, int base, struct err *err)
{
	int whole = t->sources->at[source].view_of;
	const struct tensor *part = memory_of(t, source), *all = memory_of(t, whole);
	const struct sym *size[MAX_RANK], *stride[MAX_RANK];
	struct arg args[MAX_ARGS] = { 0 };

	if (!has_numbers(t, whole, err) || !has_numbers(t, source, err))
		return -1;
	for (int d = 0; d < part->rank; d++) {
		size[d] = sym_const(t->graph->syms, part->size[d]);
		stride[d] = sym_const(t->graph->syms, part->stride[d]);
	}
	args[0] = arg_node(base);
	args[1] = arg_ints(size, part->rank);
	args[2] = arg_ints(stride, part->rank);
	args[3] = arg_sym(sym_const(t->graph->syms, part->offset - all->offset));
	return graph_add(t->graph, &(struct node_spec){ OP_as_strided, args, 4, 0, 0 }, err);
}

bool overlap_stand_in(struct trace *t, int source, struct value *out, struct err *err)
{
	struct arg args[MAX_ARGS] = { 0 };
	struct value base;
	int node;

	if (!variables_read(t, t->sources->at[source].view_of, &base, err))
		return false;
	node = trace_node(t, base, err);
	if (node < 0)
		return false;
	args[0] = arg_node(node);
	node = sources_alias(t->sources, source)
		   ? graph_add(t->graph, &(struct node_spec){ OP_alias, args, 1, 0, 0 }, err)
		   : add_part(t, source, node, err);
	if (node < 0)
		return false;
	if (!graph_set_fx(t->graph, node, ""))
		return trace_no_memory(err);
	if (!trace_wrap_view(t, base, node, out, err))
		return false;
	out->tensor->input = source;
	t->sources->at[source].touched = true;
	return true;
}
