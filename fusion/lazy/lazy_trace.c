/* fusion/lazy/lazy_trace.c -- ops as nodes of the pending trace.
 *
 * In-place ops are functionalised as in capture: the object is a new
 * node, and its memory, where it has some, is written at the barrier.  Where
 * other objects share that memory, the trace is run first and the op at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/graph/lay.h"
#include "fusion/torch/bind.h"
#include "fusion/graph/symreal.h"
#include "fusion/graph/view.h"
#include "fusion/lazy/lazy.h"
#include "fusion/tensor/view.h"

/* ---- views in a pending trace
 *
 * In the trace a view is a node like any other.  What it was made of is noted
 * beside it: a write to it puts new elements into its ROOT, and the other views
 * become nodes over the new root; when elements are there, the view is made
 * again for real, over the same memory. */

/* The call as a node, perhaps of an object; -1 with *err. */
static int lazy_node(struct lazy *l, const struct op_call *c, struct err *err);

static struct lazy_entry *entry_of(const struct lazy *l, const struct vtensor *t)
{
	return t->owner == l ? &l->entries.at[t->input] : NULL;
}

/* What a registered tensor is a view of in the end; itself where it is none. */
static struct vtensor *lazy_root(const struct lazy *l, struct vtensor *t)
{
	const struct lazy_entry *entry = entry_of(l, t);

	while (entry && entry->view) {
		t = entry->view->values[0].tensor;
		entry = entry_of(l, t);
	}
	return t;
}

static bool keep_call(struct lazy_entry *entry, const struct op_call *c)
{
	struct lazy_view *v = calloc(1, sizeof(*v));

	if (!v)
		return false;
	v->op = c->op;
	v->n = c->n;
	for (int i = 0; i < c->n; i++)
		v->values[i] = value_ref(c->values[i]);
	v->kw.n = c->kw ? c->kw->n : 0;
	v->kw.names = v->names;
	for (int i = 0; i < v->kw.n; i++)
		v->names[i] = value_ref(c->kw->names[i]);
	entry->view = v;
	return true;
}

/* Notes that `view` was made by c, if it shares memory with what it was made of.  A reshape
 * that has to copy shares nothing. */
static bool lazy_view_note(struct lazy *l, struct value view, const struct op_call *c,
			   struct err *err)
{
	struct vtensor *root = lazy_root(l, c->values[0].tensor);
	struct view_layout layout;

	if (view_layout_in(l->graph, view.tensor->node, root->node, &layout))
		return keep_call(entry_of(l, view.tensor), c) || torch_no_memory(err);
	if (c->op == OP_view || c->op == OP_view_as)
		return err_set(err, ERR_OP,
			       "view: the strides of the tensor do not allow these sizes without "
			       "a copy; write x.reshape(...)");
	return true;
}

/* The entry is empty before its operands go: their releases look at it. */
static void lazy_view_drop(struct lazy_entry *entry)
{
	struct lazy_view *v = entry->view;

	entry->view = NULL;
	if (!v)
		return;
	for (int i = 0; i < v->n; i++)
		value_unref(v->values[i]);
	for (int i = 0; i < v->kw.n; i++)
		value_unref(v->names[i]);
	free(v);
}

static struct op_call call_of(const struct lazy_view *v, const char *name)
{
	return (struct op_call){ .op = v->op,
				 .name = name,
				 .values = v->values,
				 .n = v->n,
				 .kw = v->kw.n ? &v->kw : NULL };
}

/* Views of `root`, in the order in which they were made, over its new node. */
static bool refresh(struct lazy *l, const struct vtensor *root, struct err *err)
{
	for (size_t i = 0; i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];
		struct op_call c;
		int node;

		if (!entry->at || !entry->view || lazy_root(l, entry->at) != root)
			continue;
		autograd_deferred_written(entry->at);
		c = call_of(entry->view, "fx:");
		node = lazy_node(l, &c, err);
		if (node < 0)
			return false;
		entry->at->node = node;
	}
	return true;
}

/* The tensor has the value of the node from here on: so have all views of its
 * root that see it. */
static bool lazy_write(struct lazy *l, struct vtensor *t, int node, struct err *err)
{
	struct vtensor *root = lazy_root(l, t);
	struct lazy_entry *entry = entry_of(l, root);
	struct view_layout layout;

	if (root != t) {
		if (!view_layout_in(l->graph, t->node, root->node, &layout))
			return err_set(err, ERR_INTERNAL, "a pending view without a layout");
		if (view_repeats(&layout))
			return torch_writes_expanded(err);
		node = view_write(
		    l->graph,
		    &(struct view_write){ root->node, &layout, node, l->host.line, l->host.column },
		    err);
		if (node < 0)
			return false;
	} else if (t->memory && tensor_repeats(t->memory)) {
		return torch_writes_expanded(err);
	}
	graph_lay_as(l->graph, node, root->node);
	root->node = node;
	if (root->memory && !entry->dirty) {
		entry->dirty = true;
		l->n_dirty++;
	}
	return refresh(l, root, err);
}

bool lazy_layout(const struct lazy *l, struct vtensor *t, struct view_layout *out)
{
	/* What a copy has made, as some reshapes do, is a tensor of its own. */
	int base = entry_of(l, t)->view ? lazy_root(l, t)->node : t->node;

	if (view_base(l->graph, t->node) == base)
		return view_layout(l->graph, t->node, out);
	return view_layout_in(l->graph, t->node, base, out);
}

/* Nobody else has what such a view is of, and that is no view itself: the view
 * may be all there is, if it lies as a tensor of its own would.  First made first, so that a
 * chain settles at once. */
static bool is_alone(const struct lazy *l, const struct lazy_entry *entry)
{
	const struct vtensor *of = entry->view->values[0].tensor;
	struct view_layout layout;

	return of->head.refs == 1 && !of->memory && lazy_root(l, entry->at) == of &&
	       lazy_layout(l, entry->at, &layout) && view_contiguous(l->graph, &layout) &&
	       sym_is(layout.offset, 0);
}

void lazy_views_settle(struct lazy *l)
{
	for (size_t i = 0; i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];

		if (entry->at && entry->view && is_alone(l, entry))
			lazy_view_drop(entry);
	}
}

bool lazy_view_replay(struct lazy *l, struct lazy_entry *entry, struct err *err)
{
	struct op_call c = call_of(entry->view, op_info(entry->view->op)->id);
	struct value made;

	if (!eager_run_op(l->eager, &c, &made, err))
		return false;
	tensor_unref(entry->at->memory);
	entry->at->memory = tensor_ref(made.tensor->memory);
	autograd_deferred_made(entry->at);
	value_unref(made);
	lazy_view_drop(entry);
	return true;
}

/* ---- ops as nodes */

static void release_memory(struct vtensor *t)
{
	if (t->grad)
		autograd_forget(t);
	tensor_unref(t->memory);
	t->memory = NULL;
}

/* Whether someone else may look at the memory: beside the object only the trace's
 * inputs hold it. */
static bool is_seen(const struct tensor *memory)
{
	return memory->refs > 2 || memory->storage->refs > 1;
}

/* A registered object dies: its entry forgets it, but not what it has to write. */
static void release(struct vtensor *t)
{
	struct lazy *l = t->owner;
	struct lazy_entry *entry = &l->entries.at[t->input];
	void (*before)(struct vtensor *) = entry->release;

	lazy_view_drop(entry);
	entry->at = NULL;
	if (entry->dirty && is_seen(t->memory)) {
		entry->orphan = tensor_ref(t->memory);
		entry->orphan_node = t->node;
	} else {
		l->n_dirty -= entry->dirty;
		entry->dirty = false;
	}
	t->owner = NULL;
	if (before)
		before(t);
}

static bool add_entry(struct lazy *l, struct vtensor *t, int node)
{
	struct lazy_entry entry = { .at = t, .release = t->release };

	if (!VEC_PUSH(&l->entries, entry))
		return false;
	t->owner = l;
	t->node = node;
	t->input = (int)l->entries.len - 1;
	t->release = release;
	return true;
}

void lazy_reset(struct lazy *l)
{
	for (size_t i = 0; i < l->entries.len; i++)
		lazy_view_drop(&l->entries.at[i]); /* may release others */
	for (size_t i = 0; i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];

		tensor_unref(entry->orphan);
		if (!entry->at)
			continue;
		entry->at->owner = NULL;
		entry->at->node = entry->at->input = -1;
		entry->at->release = entry->release;
		entry->at = NULL;
	}
	for (size_t i = 0; i < l->inputs.len; i++)
		tensor_unref(l->inputs.at[i]);
	l->entries.len = l->inputs.len = l->numbers.len = l->unsure.len = 0;
	l->n_dirty = 0;
	l->graph = NULL;
	arena_finish(&l->arena);
}

static bool ready(struct lazy *l, struct err *err)
{
	if (!l->graph) {
		l->graph = graph_create(&l->arena);
		if (!l->graph)
			return torch_no_memory(err);
		l->graph->custom = l->eager->env->custom;
		l->modules.path.n = 0;
		l->begin_ns = clock_ns();
	}
	l->graph->real = l->eager->modes->real;
	l->graph->ordered = l->eager->modes->ordered;
	return true;
}

static const struct tensor *memory_of(const struct lazy_entry *entry)
{
	return entry->at ? entry->at->memory : entry->orphan;
}

static bool shares(const struct lazy *l, const struct vtensor *t, bool dirty_only)
{
	if (!t->memory)
		return false;
	for (size_t i = 0; i < l->entries.len; i++) {
		const struct lazy_entry *entry = &l->entries.at[i];
		const struct tensor *memory = memory_of(entry);

		if (memory && entry->at != t && (entry->dirty || !dirty_only) &&
		    memory->storage == t->memory->storage)
			return true;
	}
	for (size_t i = 0; !dirty_only && i < l->inputs.len; i++)
		if (l->inputs.at[i] != t->memory && l->inputs.at[i]->storage == t->memory->storage)
			return true;
	return false;
}

bool lazy_touches(const struct lazy *l, struct value v, int depth)
{
	if (v.kind == VALUE_TENSOR)
		return v.tensor->owner == l || shares(l, v.tensor, false);
	if ((v.kind != VALUE_TUPLE && v.kind != VALUE_LIST) || depth > MAX_RANK)
		return false;
	for (int i = 0; i < v.list->len; i++)
		if (lazy_touches(l, v.list->at[i], depth + 1))
			return true;
	return false;
}

/* An operand whose memory a dirty tensor will change must wait for that. */
static bool is_stale(const struct lazy *l, struct value v, int depth)
{
	if (l->n_dirty == 0 || depth > MAX_RANK)
		return false;
	if (v.kind == VALUE_TENSOR)
		return v.tensor->owner != l && shares(l, v.tensor, true);
	if (v.kind != VALUE_TUPLE && v.kind != VALUE_LIST)
		return false;
	for (int i = 0; i < v.list->len; i++)
		if (is_stale(l, v.list->at[i], depth + 1))
			return true;
	return false;
}

static int no_node(struct err *err)
{
	torch_no_memory(err);
	return -1;
}

static int add_input(struct lazy *l, struct vtensor *v, struct err *err)
{
	const struct tensor *t = v->memory;
	const struct sym *stride[MAX_RANK] = { 0 };
	struct shape shape = { .rank = t->rank };
	int node;

	for (int d = 0; d < t->rank; d++) {
		shape.size[d] = sym_const(l->graph->syms, t->size[d]);
		stride[d] = sym_const(l->graph->syms, t->stride[d]);
		if (!shape.size[d] || !stride[d])
			return no_node(err);
	}
	node = graph_input(l->graph, t->dtype, &shape, tensor_contiguous(t) ? NULL : stride);
	if (node < 0 || !VEC_PUSH(&l->inputs, v->memory))
		return no_node(err);
	tensor_ref(v->memory);
	return add_entry(l, v, node) ? node : no_node(err);
}

static int node_of(void *self, struct value tensor, struct err *err)
{
	struct lazy *l = self;

	if (tensor.tensor->owner == l)
		return tensor.tensor->node;
	if (!tensor_check_memory(tensor, err))
		return -1;
	return add_input(l, tensor.tensor, err);
}

static bool wrap(struct lazy *l, int node, struct value *out, struct err *err)
{
	*out = value_tensor();
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->tensor->release = release_memory;
	if (add_entry(l, out->tensor, node))
		return true;
	value_unref(*out);
	return torch_no_memory(err);
}

static bool set_fx(struct lazy *l, int node, const struct op_call *c)
{
	char fx[64];

	if (strncmp(c->name, "fx:", 3) == 0)
		return graph_set_fx(l->graph, node, c->name + 3);
	if (!c->inplace)
		return graph_set_fx(l->graph, node, op_fx_name(c->name, c->op));
	snprintf(fx, sizeof(fx), "i%s", op_info(c->op)->fx);
	return graph_set_fx(l->graph, node, fx);
}

/* Memory that does not lie row by row has views that the trace cannot describe. */
static bool is_real_view(const struct lazy *l, const struct op_call *c)
{
	const struct tensor *memory;

	if (op_info(c->op)->kind != KIND_VIEW || c->n == 0 || c->values[0].kind != VALUE_TENSOR)
		return false;
	memory = lazy_root(l, c->values[0].tensor)->memory;
	return memory && !tensor_contiguous(memory);
}

static bool any_pending(const struct lazy *l, const struct op_call *c)
{
	for (int i = 0; i < c->n; i++)
		if (lazy_pending(l, c->values[i]))
			return true;
	return false;
}

/* Whether an in-place op reads, through another tensor, the memory that it writes. */
static bool reads_written(const struct op_call *c)
{
	const struct vtensor *to = c->values[0].tensor;

	for (int i = 1; i < c->n; i++) {
		const struct vtensor *from = c->values[i].tensor;

		if (c->values[i].kind == VALUE_TENSOR && from != to && from->memory && to->memory &&
		    from->memory->storage == to->memory->storage)
			return true;
	}
	return false;
}

/* Barriers that an op asks for before it is bound: node ids do not outlive one. */
static bool prepare(struct lazy *l, const struct op_call *c, bool *at_once, struct err *err)
{
	struct lazy_reason why = { .id = BREAK_SHARED_WRITE };
	bool stale = false, shared = false;

	for (int i = 0; i < c->n && !stale; i++)
		stale = is_stale(l, c->values[i], 0);
	if (c->inplace && c->n > 0 && c->values[0].kind == VALUE_TENSOR)
		shared = shares(l, lazy_root(l, c->values[0].tensor), false) || reads_written(c);
	*at_once = shared || is_real_view(l, c);
	if (stale || shared || (*at_once && any_pending(l, c)))
		return lazy_sync(l, why, err);
	why.id = BREAK_TRACE_LIMIT;
	if (l->graph && l->graph->n_nodes >= LAZY_MAX_NODES)
		return lazy_sync(l, why, err);
	return true;
}

/* For messages: what the composer runs bears an FX name alone, or none. */
static const char *spelling(const struct op_call *c)
{
	if (strncmp(c->name, "fx:", 3) != 0)
		return c->name;
	return c->name[3] ? c->name + 3 : op_info(c->op)->id;
}

/* The symbol of a float of this trace, which is each value's own; NULL: out of memory, or
 * *full: there are too many. */
static const struct sym *symbol_of(struct lazy *l, double f, bool *full)
{
	int64_t bits = real_bits(f);
	const struct sym *sym;

	for (size_t i = 0; i < l->numbers.len; i++)
		if (l->numbers.at[i] == bits)
			return sym_var_at(l->graph->syms, (int)i);
	*full = l->numbers.len >= LAZY_MAX_NUMBERS;
	sym = *full ? NULL : sym_var_from(l->graph->syms, bits, INT64_MIN);
	return sym && VEC_PUSH(&l->numbers, bits) ? sym : NULL;
}

/* The call's values with symbols in place of floats.  Zero stays: ops may ask for it. */
static bool symbols_for_floats(struct lazy *l, const struct op_call *c,
			       struct value values[MAX_ARGS])
{
	bool full = false;

	for (int i = 0; i < c->n; i++) {
		const struct sym *sym = NULL;

		values[i] = c->values[i];
		if (values[i].kind != VALUE_FLOAT || values[i].f == 0)
			continue;
		sym = symbol_of(l, values[i].f, &full);
		if (!sym && full)
			continue;
		values[i] = (struct value){ .kind = VALUE_SYMREAL,
					    .real = sym ? symreal_var(l->graph->syms, sym) : NULL };
		if (!values[i].real)
			return false;
	}
	return true;
}

/* Such an op may fail where it runs, at an index or a divisor, if an operand holds whole
 * numbers. */
static bool looks_at_numbers(enum op op)
{
	return op_info(op)->kind == KIND_LIBRARY || op_info(op)->kind == KIND_COMPOSITE ||
	       op_divides(op);
}

static bool may_fail(const struct graph *g, const struct node *n)
{
	if (!looks_at_numbers(n->op))
		return false;
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE &&
		    dtype_category(g->nodes[n->args[i].node]->dtype) == CATEGORY_INT)
			return true;
	return false;
}

static bool call_path_equal(const struct call_path *a, const struct call_path *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->modules[i] != b->modules[i] || a->births[i] != b->births[i])
			return false;
	return true;
}

/* The next nodes of the pending graph are of the module whose method is under
 * way.  False when out of memory. */
static bool lazy_place(struct lazy *l)
{
	struct call_path now;
	struct buf words;
	bool ok;

	if (l->modules.off)
		return true;
	call_path_find(l->vm, NULL, &now);
	if (call_path_equal(&now, &l->modules.path))
		return true;
	buf_init(&words, 0);
	call_path_print(&now, &words);
	ok = !words.failed && graph_set_module(l->graph, words.len ? words.data : NULL);
	buf_finish(&words);
	l->modules.path = now;
	return ok;
}

static int lazy_node(struct lazy *l, const struct op_call *c, struct err *err)
{
	struct bind_target target = { .reals = true, .node = node_of, .self = l };
	struct value values[MAX_ARGS];
	const struct value *given = c->values;
	struct arg args[MAX_ARGS];
	int node;

	if (!ready(l, err))
		return -1;
	if (!lazy_place(l))
		return no_node(err);
	if (c->n <= MAX_ARGS && eager_takes_any_number(l->eager, c)) {
		given = values;
		if (!symbols_for_floats(l, c, values))
			return no_node(err);
	}
	target.graph = l->graph;
	if (!bind_call(&target, c->op, spelling(c), &(struct arguments){ given, c->n, c->kw }, args,
		       err))
		return -1;
	node = graph_add(l->graph,
			 &(struct node_spec){ c->op, args, op_info(c->op)->n_params, l->host.line,
					      l->host.column },
			 err);
	if (node < 0)
		return -1;
	if (!set_fx(l, node, c) ||
	    (may_fail(l->graph, l->graph->nodes[node]) && !VEC_PUSH(&l->unsure, node)))
		return no_node(err);
	return node;
}

/* What x.contiguous() is of, when it is x itself. */
static bool lies_row_by_row(const struct lazy *l, int node)
{
	struct view_layout layout;

	return view_layout(l->graph, l->graph->nodes[node]->args[0].node, &layout) &&
	       view_contiguous(l->graph, &layout);
}

static bool trace(struct lazy *l, const struct op_call *c, struct value *out, struct err *err)
{
	int node = lazy_node(l, c, err);

	if (node < 0)
		return false;
	if (c->inplace) {
		struct vtensor *to = c->values[0].tensor;

		node = bind_inplace(l->graph, to->node, node, l->host.line, l->host.column, err);
		if (node < 0 || !lazy_write(l, to, node, err))
			return false;
		*out = value_ref(c->values[0]);
		return true;
	}
	if (c->op == OP_contiguous && lies_row_by_row(l, node)) {
		*out = value_ref(c->values[0]);
		return true;
	}
	if (op_info(c->op)->kind != KIND_VIEW)
		graph_lay(l->graph, node);
	if (!wrap(l, node, out, err))
		return false;
	if (op_info(c->op)->kind != KIND_VIEW || lazy_view_note(l, *out, c, err))
		return true;
	value_unref(*out);
	return false;
}

/* What leaves a node of the tape is run at once; so are views, which may be written
 * to by such an op later. */
static bool is_recorded(const struct lazy *l, const struct op_call *c)
{
	const struct autograd *a = &l->eager->autograd;

	if (!a->recording || !autograd_enabled(a))
		return false;
	for (int i = 0; i < c->n; i++)
		if (c->values[i].kind == VALUE_TENSOR && autograd_requires(c->values[i]))
			return true;
	return op_info(c->op)->kind == KIND_VIEW;
}

/* Another shape of what does not lie row by row: whether it copies depends on how that lies. */
static bool is_reshape_of_laid(const struct lazy *l, const struct op_call *c)
{
	const struct value *x = &c->values[0];
	struct vtensor *root;

	if (op_info(c->op)->kind != KIND_VIEW || c->n == 0 || x->kind != VALUE_TENSOR ||
	    x->tensor->owner != l || x->tensor->memory)
		return false;
	root = lazy_root(l, x->tensor);
	return l->graph->nodes[root->node]->order != 0 && c->op != OP_permute &&
	       c->op != OP_transpose && c->op != OP_t && c->op != OP_movedim;
}

/* trace(), and what eager would know of the result, where it may refuse its use. */
static bool trace_noted(struct lazy *l, const struct op_call *c, struct value *out, struct err *err)
{
	struct autograd *a = &l->eager->autograd;
	bool noted = a->notes && !a->recording && autograd_enabled(a);

	if ((noted && !autograd_check_deferred(a, c, err)) || !trace(l, c, out, err))
		return false;
	if (!noted || out->tensor->owner != l ||
	    autograd_note_deferred(a, c, l->graph->nodes[out->tensor->node]->dtype, *out, err))
		return true;
	value_unref(*out);
	return false;
}

static bool has_whole(const struct lazy *l, struct value v, int depth)
{
	bool whole = false;

	if (v.kind == VALUE_TENSOR && v.tensor->owner == l)
		return dtype_category(l->graph->nodes[v.tensor->node]->dtype) == CATEGORY_INT;
	if (v.kind == VALUE_TENSOR)
		return v.tensor->memory && dtype_category(v.tensor->memory->dtype) == CATEGORY_INT;
	if ((v.kind != VALUE_TUPLE && v.kind != VALUE_LIST) || depth > MAX_RANK)
		return false;
	for (int i = 0; i < v.list->len && !whole; i++)
		whole = has_whole(l, v.list->at[i], depth + 1);
	return whole;
}

/* Inside a try the program may catch what such an op fails with. */
static bool may_be_caught(const struct lazy *l, const struct op_call *c)
{
	const struct frame *f = l->eager->autograd.vm->frame;
	bool whole = false;

	if (!looks_at_numbers(c->op))
		return false;
	for (int i = 0; i < c->n && !whole; i++)
		whole = has_whole(l, c->values[i], 0);
	while (whole && f && !frame_is_tried(f))
		f = f->up;
	return whole && f;
}

static bool run(struct lazy *l, const struct op_call *c, struct value *out, struct err *err)
{
	bool tried = may_be_caught(l, c);
	struct lazy_reason why = { .id = BREAK_AT_ONCE,
				   .subject = tried ? "an op in a try" : "a gradient" };
	struct op_call now = *c;
	bool at_once = tried || is_recorded(l, c) || is_reshape_of_laid(l, c);

	if (at_once ? !lazy_sync(l, why, err) : !prepare(l, c, &at_once, err))
		return false;
	if (!at_once)
		return trace_noted(l, c, out, err);
	l->eager->host.line = l->host.line;
	l->eager->host.column = l->host.column;
	now.name = spelling(c);
	return eager_run_given(l->eager, &now, out, err);
}

bool lazy_op(struct lazy *l, const struct op_call *c, struct value *out, struct err *err)
{
	unsigned mode = l->eager->modes->autocast;
	struct value cast[MAX_ARGS + 1];
	struct op_call with = *c;
	bool any = false, ok;

	if (autocast_wants(mode) && !c->inplace &&
	    !autocast_values(&l->autocast, mode, &(struct autocast_call){ c->op, c->values, c->n },
			     &any, cast, err))
		return false;
	if (!any)
		return run(l, c, out, err);
	with.values = cast;
	ok = run(l, &with, out, err);
	autocast_drop(cast, c->n);
	return ok;
}
